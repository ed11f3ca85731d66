//! ETags of answers: a tag that changes with the bytes, and whether a client has it. Not for
//! secrets, because anybody can make two bodies with the same tag.

use axum::http::{HeaderMap, header};

/// Returns the tag of a body, in quotes as HTTP writes it. FNV-1a gives the same tag in every
/// release and on every machine.
pub fn tag(body: &[u8]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in body.iter().chain([&0xff]) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("\"{:016x}\"", hash ^ (hash >> 32))
}

/// Whether `If-None-Match` names this tag. `None` if the header is missing.
pub fn is_known(request: &HeaderMap, tag: &str) -> Option<bool> {
    let tags = request.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    Some(
        tags.split(',')
            .any(|t| matches!(t.trim(), t if t.trim_start_matches("W/") == tag || t == "*")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_known_by_any_of_its_spellings() {
        let known = |sent: &'static str| {
            let headers = HeaderMap::from_iter([(
                header::IF_NONE_MATCH,
                axum::http::HeaderValue::from_static(sent),
            )]);
            is_known(&headers, "\"a\"")
        };
        for sent in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert_eq!(known(sent), Some(true), "{sent}");
        }
        assert_eq!(known("\"b\""), Some(false));
        assert_eq!(is_known(&HeaderMap::new(), "\"a\""), None);
        assert_ne!(tag(b"a"), tag(b"b"));
    }
}

//! Validators of what we serve: a tag that changes with the bytes, and whether a client has it.
//! Not for secrets: anybody can make two bodies with one tag.

use axum::http::{HeaderMap, header};

/// The tag of a body, in quotes as HTTP writes it.
pub fn tag(body: &[u8]) -> String {
    format!("\"{:016x}\"", hash(&[body]))
}

/// Whether `If-None-Match` names this tag; `None` where it was not sent.
pub fn is_known(asked: &HeaderMap, tag: &str) -> Option<bool> {
    let tags = asked.get(header::IF_NONE_MATCH)?.to_str().ok()?;
    Some(
        tags.split(',')
            .any(|t| matches!(t.trim(), t if t.trim_start_matches("W/") == tag || t == "*")),
    )
}

/// FNV-1a: the same in every release and on every machine.
pub fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.iter().flat_map(|p| p.iter().chain([&0xff])) {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^ (hash >> 32)
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

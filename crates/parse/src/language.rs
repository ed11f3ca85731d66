//! Checks the language tags of items. A text that is not a tag is left out, not repaired.

/// The longest tag that RFC 5646 requires implementations to accept.
const TAG_BYTES_MAX: usize = 35;

/// Returns the tag of a language with the form of RFC 5646. Some software writes `en_US` for
/// `en-US`.
pub(crate) fn language_tag(text: &str) -> Option<String> {
    let tag = text.trim().replace('_', "-");
    let is_part = |part: &str| {
        (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let begins = tag.split('-').next()?.bytes().all(|byte| byte.is_ascii_alphabetic());
    (tag.len() <= TAG_BYTES_MAX && begins && tag.split('-').all(is_part)).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_kept_and_other_texts_are_not() {
        assert_eq!(language_tag(" en_US ").as_deref(), Some("en-US"));
        assert_eq!(language_tag("zh-Hant-TW").as_deref(), Some("zh-Hant-TW"));
        for text in ["", "english (uk)", "-", "de-", "1a", "a\"b", &"abcdefgh-".repeat(9)] {
            assert_eq!(language_tag(text), None, "{text}");
        }
    }
}

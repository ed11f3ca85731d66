//! Whole values that are compared, not searched: authors, categories, titles, languages.

use super::scan::scan;

/// Returns a value for comparison: its folded words, separated by spaces. Punctuation alone folds
/// to an empty text, which equals nothing.
pub(crate) fn folded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    scan(value, |token| {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&token.text());
    });
    out
}

/// Returns a language tag and its wider ranges: `de-AT` is `de-at` and `de`.
pub(crate) fn language_ranges(tag: &str) -> Vec<String> {
    let mut tag = tag.trim().to_ascii_lowercase().replace('_', "-");
    let mut ranges = Vec::new();
    while !tag.is_empty() {
        ranges.push(tag.clone());
        let end = tag.rfind('-').unwrap_or(0);
        tag.truncate(end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_without_case_accent_and_punctuation() {
        assert_eq!(folded("  Jane  O'Neill-Müller "), "jane o neill muller");
        assert_eq!(folded("…"), "");
    }

    #[test]
    fn a_language_belongs_to_its_wider_ones() {
        assert_eq!(language_ranges("zh_Hant-TW"), ["zh-hant-tw", "zh-hant", "zh"]);
        assert!(language_ranges(" ").is_empty());
    }
}

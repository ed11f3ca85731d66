//! The three forms of an entry id: `42`, `000000000000002a`, and the long one that begins with
//! `tag:google.com`. All are accepted everywhere.

use feed::EntryId;

const LONG: &str = "tag:google.com,2005:reader/item/";

/// Returns the long form.
pub fn long(entry: EntryId) -> String {
    format!("{LONG}{:016x}", entry.0)
}

/// Parses an id in any form; `None` if it is not an id.
pub fn parse(text: &str) -> Option<EntryId> {
    let hex = |digits: &str| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        i64::from_str_radix(digits, 16).ok().filter(|_| plain)
    };
    let number = match text.trim().strip_prefix(LONG) {
        Some(digits) => hex(digits),
        // Our numbers have at most ten digits, so sixteen digits are hexadecimal.
        None if text.trim().len() == 16 => hex(text.trim()),
        None => text.trim().parse().ok(),
    };
    number.filter(|number| *number > 0).map(EntryId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_name_the_same_entry() {
        assert_eq!(long(EntryId(42)), "tag:google.com,2005:reader/item/000000000000002a");
        for text in ["42", "000000000000002a", &long(EntryId(42)), " 42 ", "000000000000002A"] {
            assert_eq!(parse(text), Some(EntryId(42)), "{text}");
        }
        assert_eq!(parse("tag:google.com,2005:reader/item/2a"), Some(EntryId(42)));
        for text in ["", "0", "-1", "2a", "x", "tag:google.com,2005:reader/item/", "+42_", LONG] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse("tag:google.com,2005:reader/item/+00000000000002a"), None);
        assert_eq!(parse("ffffffffffffffff"), None, "negative numbers are nobody's");
    }
}

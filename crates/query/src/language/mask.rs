//! Masks the secrets in the addresses of a statement, so that it can be shown.

use feed::FeedUrl;

use crate::language::lexer::{Token, lex};

/// Masks the secrets of every address in quotes and in comments, because people comment sources
/// out.
///
/// ```
/// let text = r#"RETURN "https://a.org/?token=abc" WHERE TITLE CONTAINS "say \"hi""#;
/// let shown = r#"RETURN "https://a.org/?token=***" WHERE TITLE CONTAINS "say \"hi""#;
/// assert_eq!(query::masked(text), shown);
/// ```
pub fn masked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for lexeme in lex(text) {
        let secret = match &lexeme.token {
            Token::Text(value) => without_secrets(value),
            Token::Pattern(..) => None,
            _ => continue,
        };
        out.push_str(&loose(&text[at..lexeme.span.start]));
        match secret {
            Some(shown) => out.extend(["\"", shown.as_str(), "\""]),
            None => out.push_str(&text[lexeme.span.clone()]),
        }
        at = lexeme.span.end;
    }
    out.push_str(&loose(&text[at..]));
    out
}

/// Masks keywords, operators and comments. Quotes in comments may be unbalanced, so this treats
/// each line and each part between quotes separately. An address in a comment may also have no
/// quotes.
fn loose(text: &str) -> String {
    let lines = text.split('\n').map(|line| {
        let parts = line.split('"').map(|part| without_secrets(part).unwrap_or_else(|| bare(part)));
        parts.collect::<Vec<_>>().join("\"")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Masks addresses between words.
fn bare(text: &str) -> String {
    let words = text.split_inclusive(char::is_whitespace).map(|word| {
        let (address, space) = word.split_at(word.trim_end().len());
        let begin = address.to_ascii_lowercase().find("http").unwrap_or(address.len());
        let (before, address) = address.split_at(begin);
        let shown = without_secrets(address);
        [before, shown.as_deref().unwrap_or(address), space].concat()
    });
    words.collect()
}

/// Returns an address with its secrets masked; `None` if the value is not an address or has no
/// secret.
fn without_secrets(value: &str) -> Option<String> {
    let url = FeedUrl::parse(value).ok()?;
    Some(url.masked()).filter(|shown| shown != url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(masked(text), expect);
    }

    #[test]
    fn only_addresses_with_secrets_are_changed() {
        check(
            "RETURN \"https://u:p@a.org/?token=abc\" | \"https://B.org/x\" WHERE TITLE = \"x\"",
            "RETURN \"https://***@a.org/?token=***\" | \"https://B.org/x\" WHERE TITLE = \"x\"",
        );
    }

    #[test]
    fn quotes_inside_texts_comments_and_expressions_hide_no_address() {
        let hook = "DELIVER TO WEBHOOK \"https://a.org/?token=abc\"";
        let shown = "DELIVER TO WEBHOOK \"https://a.org/?token=***\"";
        for before in [
            "WHERE TITLE CONTAINS \"say \\\"hi\"\n",
            "-- the 24\" screen\n",
            "WHERE TITLE MATCHES /24\"/\n",
            "WHERE TITLE CONTAINS \"\\\\\" ",
        ] {
            check(&format!("{before}{hook}"), &format!("{before}{shown}"));
        }
    }

    #[test]
    fn a_source_that_was_taken_out_is_masked_too() {
        check(
            "RETURN ALL FEEDS -- \"https://a.org/?key=abc\" |\nPUBLISH",
            "RETURN ALL FEEDS -- \"https://a.org/?key=***\" |\nPUBLISH",
        );
        check(
            "RETURN ALL FEEDS -- not (https://u:p@a.org/ or\thttps://b.org/?a=1&key=abc yet\n;",
            "RETURN ALL FEEDS -- not (https://***@a.org/ or\thttps://b.org/?a=1&key=*** yet\n;",
        );
    }
}

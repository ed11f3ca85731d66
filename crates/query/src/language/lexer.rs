//! Splits text into tokens. An invalid token carries its reason, so that the parser reports it only
//! if it matters. The lexer does not know the grammar, except that `/` opens an expression after
//! `MATCHES`.

mod search;

use std::ops::Range;

use crate::limits::TEXT_BYTES_MAX;

pub(crate) use search::lex_search;

/// A token and its range in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub span: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A keyword or a name.
    Word(String),
    /// A text in quotes, without escapes.
    Text(String),
    /// An expression between slashes, as written, and the letters after it.
    Pattern(String, String),
    Number(u64),
    /// `|`, `;`, `(`, `)`, `=`, `!=`, `<`, `<=`, `>`, `>=`, `/`.
    Sign(&'static str),
    Bad(InvalidToken),
    End,
}

/// The reason why a token is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InvalidToken {
    /// A text without its closing quote.
    OpenText,
    LongText,
    /// `\` before a character other than `"` or `\`.
    Escape(char),
    OpenPattern,
    BigNumber,
    /// `'`, `“` and similar quotes.
    Quote(char),
    /// An operator of another language, and ours for it.
    Foreign(&'static str, &'static str),
    Character(char),
}

const SIGNS: [&str; 11] = ["!=", "<=", ">=", "|", ";", "(", ")", "=", "<", ">", "/"];

/// Operators of other languages, and ours for them.
const FOREIGN: [(&str, &str); 12] = [
    ("||", "OR between conditions, `|` between sources"),
    ("&&", "AND"),
    ("&", "AND"),
    ("==", "`=`"),
    ("<>", "`!=`"),
    ("!", "NOT"),
    (",", "`|` between sources, OR between texts"),
    ("≠", "`!=`"),
    ("{", "`(`"),
    ("}", "`)`"),
    ("[", "`(`"),
    ("]", "`)`"),
];

/// Splits a text into tokens. The last is always [`Token::End`].
pub(crate) fn lex(text: &str) -> Vec<Lexeme> {
    let mut lexemes: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    loop {
        at += space(&text[at..]);
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { break };
        let after_matches = matches!(lexemes.last().map(|l| &l.token),
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("MATCHES"));
        let (token, len) = match first {
            '"' => quoted(rest),
            '/' if after_matches => pattern(rest),
            '0'..='9' => number(rest),
            _ if first.is_alphabetic() || first == '_' => word(rest),
            _ => sign(rest, first),
        };
        lexemes.push(Lexeme { token, span: at..at + len });
        at += len;
    }
    lexemes.push(Lexeme { token: Token::End, span: at..at });
    lexemes
}

/// Returns the length of white space and comments.
fn space(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if !rest.starts_with("--") {
            return text.len() - rest.len();
        }
        rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
    }
}

/// Reads words of any script; the parser reports names that are not ASCII. A comment ends a word,
/// but a name may contain single hyphens.
fn word(rest: &str) -> (Token, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    let end = rest[..end].find("--").unwrap_or(end);
    (Token::Word(rest[..end].to_owned()), end)
}

fn number(rest: &str) -> (Token, usize) {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let token = rest[..end].parse().map_or(Token::Bad(InvalidToken::BigNumber), Token::Number);
    (token, end)
}

/// A text ends on its line. An unclosed quote would otherwise swallow the rest of the file.
fn quoted(rest: &str) -> (Token, usize) {
    let mut out = String::new();
    let mut wrong = None;
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' if out.len() > TEXT_BYTES_MAX => {
                return (Token::Bad(InvalidToken::LongText), at + 1);
            }
            '"' => return (wrong.map_or(Token::Text(out), Token::Bad), at + 1),
            '\n' => return (Token::Bad(InvalidToken::OpenText), at),
            '\\' => match chars.next() {
                Some((_, escaped @ ('"' | '\\'))) => out.push(escaped),
                Some((at, '\n')) => return (Token::Bad(InvalidToken::OpenText), at),
                Some((_, other)) => wrong = wrong.or(Some(InvalidToken::Escape(other))),
                None => break,
            },
            _ => out.push(c),
        }
    }
    (Token::Bad(InvalidToken::OpenText), rest.len())
}

/// `\/` stays as it is, because it also means a slash inside an expression.
fn pattern(rest: &str) -> (Token, usize) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            '\n' => return (Token::Bad(InvalidToken::OpenPattern), at),
            '/' if !escaped => {
                let flags = &rest[at + 1..];
                let end = flags.find(|c: char| !c.is_alphanumeric()).unwrap_or(flags.len());
                let token = Token::Pattern(rest[1..at].to_owned(), flags[..end].to_owned());
                return (token, at + 1 + end);
            }
            _ => escaped = c == '\\' && !escaped,
        }
    }
    (Token::Bad(InvalidToken::OpenPattern), rest.len())
}

fn sign(rest: &str, first: char) -> (Token, usize) {
    if let Some((theirs, ours)) = FOREIGN
        .iter()
        .find(|(theirs, _)| rest.starts_with(theirs) && !(*theirs == "!" && rest.starts_with("!=")))
    {
        return (Token::Bad(InvalidToken::Foreign(theirs, ours)), theirs.len());
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return (Token::Sign(sign), sign.len());
    }
    let token = match first {
        '≥' => Token::Sign(">="),
        '≤' => Token::Sign("<="),
        '\'' | '`' | '‘' | '’' | '“' | '”' | '„' | '«' | '»' => {
            Token::Bad(InvalidToken::Quote(first))
        }
        _ => Token::Bad(InvalidToken::Character(first)),
    };
    (token, first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let shown: Vec<String> = lex(text).iter().map(|l| format!("{:?}", l.token)).collect();
        assert_eq!(shown.join(" "), format!("{expect} End").trim(), "{text}");
    }

    #[test]
    fn tokens_are_cut() {
        check("create FEED a-b_1;", r#"Word("create") Word("FEED") Word("a-b_1") Sign(";")"#);
        check(r#""a\"b\\" 12 >= ≥"#, r#"Text("a\"b\\") Number(12) Sign(">=") Sign(">=")"#);
        check("a--b\nc -- d", r#"Word("a") Word("c")"#);
        check(r"MATCHES /a\/b/i", r#"Word("MATCHES") Pattern("a\\/b", "i")"#);
        check("NEAR/5", r#"Word("NEAR") Sign("/") Number(5)"#);
    }

    #[test]
    fn what_is_no_token_says_why() {
        check("\"abc\nd", r#"Bad(OpenText) Word("d")"#);
        check(r#""a\n""#, "Bad(Escape('n'))");
        check("MATCHES /abc", r#"Word("MATCHES") Bad(OpenPattern)"#);
        check("&& !", r#"Bad(Foreign("&&", "AND")) Bad(Foreign("!", "NOT"))"#);
        check("== 'x", r#"Bad(Foreign("==", "`=`")) Bad(Quote('\'')) Word("x")"#);
        check("99999999999999999999 %", "Bad(BigNumber) Bad(Character('%'))");
    }
}

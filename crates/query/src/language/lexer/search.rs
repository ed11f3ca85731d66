//! Splits the text of a search field into the tokens of statements. Words need no quotes and become
//! texts; only capitals make a word an operator. A field name is a plain word unless an operator
//! follows it.

use super::{InvalidToken, Lexeme, Token, number, pattern, quoted, word};
use crate::text::scan;

const FIELDS: [&str; 12] = [
    "ITEM",
    "TITLE",
    "SUMMARY",
    "CONTENT",
    "AUTHOR",
    "CATEGORY",
    "LINK",
    "LANGUAGE",
    "FEED",
    "PUBLISHED",
    "ARTICLE",
    "TOPIC",
];
const OPERATORS: [&str; 3] = ["CONTAINS", "MATCHES", "TAGGED"];
/// Longer operators come first.
const COMPARISONS: [(&str, &str); 8] = [
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("≤", "<="),
    ("≥", ">="),
    ("=", "="),
    ("<", "<"),
    (">", ">"),
];

/// Splits a search into tokens. The last is always [`Token::End`].
pub(crate) fn lex_search(text: &str) -> Vec<Lexeme> {
    let mut cut = SearchLexer { text, at: 0, lexemes: Vec::new() };
    while let Some(first) = cut.next_char() {
        cut.one(first);
    }
    let end = text.len();
    cut.lexemes.push(Lexeme { token: Token::End, span: end..end });
    cut.lexemes
}

struct SearchLexer<'a> {
    text: &'a str,
    at: usize,
    lexemes: Vec<Lexeme>,
}

impl<'a> SearchLexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Returns the next character that is not a space.
    fn next_char(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn push(&mut self, (token, len): (Token, usize)) {
        self.lexemes.push(Lexeme { token, span: self.at..self.at + len });
        self.at += len;
    }

    fn one(&mut self, first: char) {
        match first {
            '(' => self.push((Token::Sign("("), 1)),
            ')' => self.push((Token::Sign(")"), 1)),
            '"' => self.push(quoted(self.rest())),
            '“' | '„' | '«' => self.push(typeset(self.rest())),
            '-' if self.rest()[1..].starts_with(|c: char| c.is_alphanumeric() || is_quote(c)) => {
                self.push((Token::Word("NOT".to_owned()), 1));
            }
            _ => self.run(),
        }
    }

    /// Reads letters up to the next space, quote or bracket.
    fn run(&mut self) {
        let rest = self.rest();
        let end = |c: char| c.is_whitespace() || is_quote(c) || c == '(' || c == ')';
        let run = &rest[..rest.find(end).unwrap_or(rest.len())];
        let name = run.split(['=', '<', '>', '!', '≤', '≥']).next().unwrap_or(run);
        let after_text = matches!(self.lexemes.last().map(|l| &l.token), Some(Token::Text(_)));
        if matches!(run, "AND" | "OR" | "NOT") {
            self.push((Token::Word(run.to_owned()), run.len()));
        } else if after_text && (run == "NEAR" || run.starts_with("NEAR/")) {
            self.near(run);
        } else if FIELDS.contains(&name) && self.operator_follows(name) {
            self.test(name);
        } else if is_wordless(run) {
            self.at += run.len();
        } else {
            self.push((Token::Text(run.to_owned()), run.len()));
        }
    }

    fn near(&mut self, run: &str) {
        self.push((Token::Word("NEAR".to_owned()), "NEAR".len()));
        if run.len() > "NEAR".len() {
            self.push((Token::Sign("/"), 1));
            if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
                self.push(number(self.rest()));
            }
        }
    }

    /// Returns whether the word is a field with an operator, rather than a word to search for.
    fn operator_follows(&self, field: &str) -> bool {
        let rest = self.rest()[field.len()..].trim_start();
        if COMPARISONS.iter().any(|(sign, _)| rest.starts_with(sign)) {
            return true;
        }
        let mut words = rest.split_whitespace();
        let first = words.next().unwrap_or("");
        let operator = if first == "NOT" { words.next().unwrap_or("") } else { first };
        match field {
            "PUBLISHED" => first.eq_ignore_ascii_case("WITHIN"),
            _ => starts_with_operator(operator).is_some(),
        }
    }

    /// Reads a field and its operator. The texts after it are read like all others.
    fn test(&mut self, field: &str) {
        self.push((Token::Word(field.to_owned()), field.len()));
        self.next_char();
        if let Some((sign, token)) = COMPARISONS.iter().find(|(s, _)| self.rest().starts_with(s)) {
            return self.push((Token::Sign(token), sign.len()));
        }
        if self.rest().starts_with("NOT") {
            self.push((Token::Word("NOT".to_owned()), "NOT".len()));
            self.next_char();
        }
        let (operator, len) = word(self.rest());
        let len = starts_with_operator(self.rest()).map_or(len, str::len);
        self.push((operator, len));
        let matches = starts_with_operator(&self.text[self.at - len..]) == Some("MATCHES");
        match self.next_char() {
            Some('/') if matches => self.push(pattern(self.rest())),
            Some('0'..='9') if field == "PUBLISHED" => {
                self.push(number(self.rest()));
                if self.next_char().is_some_and(char::is_alphabetic) {
                    self.push(word(self.rest()));
                }
            }
            _ => {}
        }
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '„' | '«')
}

fn starts_with_operator(text: &str) -> Option<&'static str> {
    let letters = text.split(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    OPERATORS.into_iter().find(|operator| letters.eq_ignore_ascii_case(operator))
}

/// Dashes and dots between words do not count.
fn is_wordless(run: &str) -> bool {
    let mut n_words = 0;
    scan(run, |_| n_words += 1);
    n_words == 0
}

/// Phones replace `"` with these quotes.
fn typeset(rest: &str) -> (Token, usize) {
    let mut chars = rest.char_indices();
    let open = chars.next().map_or(0, |(_, c)| c.len_utf8());
    let close = chars.find(|(_, c)| matches!(c, '”' | '“' | '»' | '"'));
    match close {
        Some((at, c)) => (Token::Text(rest[open..at].to_owned()), at + c.len_utf8()),
        None => (Token::Bad(InvalidToken::OpenText), rest.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let shown: Vec<String> = lex_search(text)
            .iter()
            .map(|lexeme| match &lexeme.token {
                Token::Text(text) => format!("[{text}]"),
                Token::Word(word) => word.clone(),
                Token::Sign(sign) => (*sign).to_owned(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(shown.join(" "), format!("{expect} End").trim(), "{text}");
    }

    #[test]
    fn words_are_texts_and_operators_have_capitals() {
        check("volcano iceland", "[volcano] [iceland]");
        check("sense and sensibility", "[sense] [and] [sensibility]");
        check("ash AND (fire OR ice) NOT lava", "[ash] AND ( [fire] OR [ice] ) NOT [lava]");
        check("C++ l'Islande COVID-19 3com", "[C++] [l'Islande] [COVID-19] [3com]");
        check("rock & roll – live", "[rock] [roll] [live]");
        check("-sport -\"big data\" a-b", "NOT [sport] NOT [big data] [a-b]");
    }

    #[test]
    fn quotes_of_all_kinds_make_phrases() {
        check("\"volcanic ash\"now", "[volcanic ash] [now]");
        check("“volcanic ash” „Vulkan“ «volcan»", "[volcanic ash] [Vulkan] [volcan]");
        check("\"open", "Bad(OpenText)");
        check("“open", "Bad(OpenText)");
    }

    #[test]
    fn a_field_is_one_only_where_something_is_asked_of_it() {
        check("TITLE", "[TITLE]");
        check("NOT TITLE deed", "NOT [TITLE] [deed]");
        check("title contains ash", "[title] [contains] [ash]");
        check("TITLE CONTAINS ash", "TITLE CONTAINS [ash]");
        check("TITLE NOT contains \"x y\"", "TITLE NOT contains [x y]");
        check(
            "AUTHOR=Jane LINK = https://e.org/?a=b",
            "AUTHOR = [Jane] LINK = [https://e.org/?a=b]",
        );
        check("FEED TAGGED news", "FEED TAGGED [news]");
        check("TITLE MATCHES /a b/i c", "TITLE MATCHES Pattern(\"a b\", \"i\") [c]");
    }

    #[test]
    fn dates_and_nearness() {
        check("PUBLISHED>=2024-05 x", "PUBLISHED >= [2024-05] [x]");
        check("PUBLISHED WITHIN 3 days ash", "PUBLISHED WITHIN Number(3) days [ash]");
        check("a NEAR b NEAR/5 c", "[a] NEAR [b] NEAR / Number(5) [c]");
        check("NEAR far", "[NEAR] [far]");
    }
}

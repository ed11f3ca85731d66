//! A position in the list of tokens, the tokens that may follow, and the faults for others.

use crate::language::ast::QueryName;
use crate::language::fault::listed;
use crate::language::lexer::{InvalidToken, Lexeme, Token, lex};
use crate::language::position::Lines;
use crate::language::suggest::{is_keyword, meant};
use crate::limits::{NESTING_MAX, PATTERNS_MAX, TERMS_MAX, TEXT_BYTES_MAX};
use crate::{Fault, Position};

/// The name of a text in lists of expected tokens.
pub(super) const A_TEXT: &str = "a text in quotes";
pub(super) const A_NAME: &str = "a name";
pub(super) const A_NUMBER: &str = "a number";

/// The kind of input for a search; otherwise it is a file.
const SEARCH: &str = "search";

pub(super) struct TokenCursor<'a> {
    text: &'a str,
    lines: Lines<'a>,
    lexemes: Vec<Lexeme>,
    at: usize,
    depth: usize,
    n_terms: usize,
    n_patterns: usize,
    /// The token before which `NEAR` may come.
    near: Option<usize>,
    /// The kind of input, for messages: a file or a search.
    whole: &'static str,
}

impl<'a> TokenCursor<'a> {
    pub(super) fn new(text: &'a str) -> TokenCursor<'a> {
        TokenCursor::over(text, lex(text), "file")
    }

    /// Creates a cursor over the tokens of a search.
    pub(super) fn of_search(text: &'a str, lexemes: Vec<Lexeme>) -> TokenCursor<'a> {
        TokenCursor::over(text, lexemes, SEARCH)
    }

    pub(super) fn is_search(&self) -> bool {
        self.whole == SEARCH
    }

    fn over(text: &'a str, lexemes: Vec<Lexeme>, whole: &'static str) -> TokenCursor<'a> {
        TokenCursor {
            text,
            lines: Lines::of(text),
            lexemes,
            at: 0,
            depth: 0,
            n_terms: 0,
            n_patterns: 0,
            near: None,
            whole,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        *self.token() == Token::End
    }

    pub(super) fn token(&self) -> &Token {
        self.peek(0)
    }

    /// Returns the token `further` positions ahead; after the end always the end.
    pub(super) fn peek(&self, further: usize) -> &Token {
        let last = self.lexemes.len() - 1;
        &self.lexemes[(self.at + further).min(last)].token
    }

    pub(super) fn advance(&mut self) {
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
    }

    pub(super) fn position(&self) -> Position {
        self.lines.position(self.lexemes[self.at].span.start)
    }

    /// Returns the start of the next token in bytes.
    pub(super) fn offset(&self) -> usize {
        self.lexemes[self.at].span.start
    }

    /// Returns the text from `start` to the end of the previous token.
    pub(super) fn text_since(&self, start: usize) -> &'a str {
        let end = self.lexemes[self.at.saturating_sub(1)].span.end;
        self.text.get(start..end).unwrap_or("")
    }

    /// Resets the counters of a statement.
    pub(super) fn start_statement(&mut self) {
        (self.depth, self.n_terms, self.n_patterns) = (0, 0, 0);
    }

    pub(super) fn statement_bytes(&self) -> usize {
        let end = self.lexemes[self.at..].iter().find(|l| l.token == Token::Sign(";"));
        let end = end.or(self.lexemes.last()).map_or(0, |l| l.span.start);
        end - self.lexemes[self.at].span.start
    }

    /// Moves to the next statement: after a `;`, or to a line that begins with `CREATE` or `DROP`,
    /// since an open quote may hide the `;`.
    pub(super) fn skip_statement(&mut self) {
        while !self.is_at_end() && !self.accept_sign(";") {
            self.advance();
            let starts = self.is_word("CREATE") || self.is_word("DROP");
            if starts && self.is_first_on_its_line() {
                return;
            }
        }
    }

    /// Looks back one token only, because a whole file may be one line.
    fn is_first_on_its_line(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(0, |before| self.lexemes[before].span.end);
        self.text[before..self.lexemes[self.at].span.start].contains('\n')
    }

    pub(super) fn is_word(&self, keyword: &str) -> bool {
        matches!(self.token(), Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    pub(super) fn accept(&mut self, keyword: &str) -> bool {
        let found = self.is_word(keyword);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, keyword: &'static str) -> Result<(), Fault> {
        if self.accept(keyword) { Ok(()) } else { Err(self.expected(&[keyword])) }
    }

    pub(super) fn accept_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.token(), Token::Sign(s) if *s == sign);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect_sign(&mut self, sign: &'static str) -> Result<(), Fault> {
        let quoted = match sign {
            ";" => "`;`",
            "(" => "`(`",
            _ => "`)`",
        };
        if self.accept_sign(sign) { Ok(()) } else { Err(self.expected(&[quoted])) }
    }

    pub(super) fn text(&mut self) -> Result<String, Fault> {
        let Token::Text(text) = self.token() else { return Err(self.expected(&[A_TEXT])) };
        let text = text.clone();
        self.advance();
        Ok(text)
    }

    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        let Token::Number(number) = *self.token() else { return Err(self.expected(&[A_NUMBER])) };
        self.advance();
        Ok(number)
    }

    /// Parses the name of a query. In the position of a name, keywords are names too.
    pub(super) fn name(&mut self) -> Result<QueryName, Fault> {
        let Token::Word(word) = self.token() else { return Err(self.expected(&[A_NAME])) };
        let good = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
            && word.starts_with(|c: char| c.is_ascii_alphabetic());
        if !good {
            let help =
                "start a name with a letter A to Z; use letters, digits, `_` and `-` after it";
            return Err(self.fault(format!("`{word}` is not a name")).help(help));
        }
        let name = QueryName { text: word.clone(), at: self.position() };
        self.advance();
        Ok(name)
    }

    /// Enters a bracket or `NOT`.
    pub(super) fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let message = format!("the condition is nested more than {NESTING_MAX} deep");
            return Err(self.fault(message).help("move the inner part into a query of its own"));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn count_term(&mut self) -> Result<(), Fault> {
        self.n_terms += 1;
        if self.n_terms > TERMS_MAX {
            let message = format!("the statement searches for more than {TERMS_MAX} texts");
            return Err(self.fault(message).help("split it into queries that read each other"));
        }
        Ok(())
    }

    pub(super) fn count_pattern(&mut self) -> Result<(), Fault> {
        self.n_patterns += 1;
        if self.n_patterns > PATTERNS_MAX {
            let message = format!("the statement has more than {PATTERNS_MAX} expressions");
            return Err(self.fault(message).help("combine them with `|` in one expression"));
        }
        Ok(())
    }

    /// Notes that `NEAR` may follow here, for error messages.
    pub(super) fn allow_near(&mut self) {
        self.near = Some(self.at);
    }

    pub(super) fn allows_near(&self) -> bool {
        self.near == Some(self.at)
    }

    /// Returns whether the previous token is a text.
    pub(super) fn is_after_text(&self) -> bool {
        self.at > 0 && matches!(self.lexemes[self.at - 1].token, Token::Text(_))
    }

    /// Returns a fault at the next token.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.position(), message)
    }

    /// Returns the fault for an unexpected token: the token, those expected, and the probable
    /// intention.
    pub(super) fn expected(&self, expected: &[&'static str]) -> Fault {
        if let Token::Bad(bad) = self.token()
            && let Some((message, help)) = broken(bad)
        {
            return self.fault(message).help(help);
        }
        let found = found(self.token(), self.whole);
        let mut fault = self.fault(format!("{found}, expected {}", listed(expected)));
        fault.expected = expected.to_vec();
        fault.help = self.advice(expected);
        fault
    }

    fn advice(&self, expected: &[&'static str]) -> Option<String> {
        let wants_text = expected.contains(&A_TEXT);
        match self.token() {
            Token::Word(word) => {
                let starts =
                    word.eq_ignore_ascii_case("CREATE") || word.eq_ignore_ascii_case("DROP");
                if starts && expected.contains(&"`;`") {
                    return Some("end the previous statement with `;`".to_owned());
                }
                let meant = meant(word, expected).map(|word| format!("did you mean {word}?"));
                let unquoted = wants_text && !is_keyword(word);
                meant.or_else(|| unquoted.then(|| format!("write it in quotes: \"{word}\"")))
            }
            Token::Number(number) if wants_text => {
                Some(format!("write it in quotes: \"{number}\""))
            }
            Token::Text(_) if expected == [A_NAME] => Some("write names without quotes".to_owned()),
            Token::Bad(InvalidToken::Quote(_)) => {
                Some("put texts between `\"` and `\"`".to_owned())
            }
            Token::Bad(InvalidToken::Foreign(_, ours)) => Some(format!("write {ours}")),
            _ => None,
        }
    }
}

fn found(token: &Token, whole: &str) -> String {
    match token {
        Token::Word(word) => format!("found `{}`", shortened(word)),
        Token::Text(text) => format!("found the text \"{}\"", shortened(text)),
        Token::Pattern(pattern, _) => format!("found the expression /{}/", shortened(pattern)),
        Token::Number(number) => format!("found the number {number}"),
        Token::Sign(";") => "found the end of the statement".to_owned(),
        Token::Sign(sign) => format!("found `{sign}`"),
        Token::End => format!("found the end of the {whole}"),
        Token::Bad(InvalidToken::Foreign(theirs, _)) => format!("found `{theirs}`"),
        Token::Bad(InvalidToken::Quote(c) | InvalidToken::Character(c)) => {
            format!("found `{}`", visible(*c))
        }
        Token::Bad(_) => "found something that cannot be parsed".to_owned(),
    }
}

/// Returns the message and advice for texts, expressions and numbers that are invalid anywhere.
fn broken(bad: &InvalidToken) -> Option<(String, &'static str)> {
    Some(match bad {
        InvalidToken::OpenText => {
            ("the text is not closed".to_owned(), "end it with `\"` on the same line")
        }
        InvalidToken::OpenPattern => {
            ("the expression is not closed".to_owned(), "end it with `/` on the same line")
        }
        InvalidToken::LongText => {
            (format!("the text has more than {TEXT_BYTES_MAX} bytes"), "search for a part of it")
        }
        InvalidToken::Escape(c) => (
            format!("`\\{}` is not an escape", visible(*c)),
            "only `\\\"` and `\\\\` are escapes; for `\\` write `\\\\`",
        ),
        InvalidToken::BigNumber => ("the number is too big".to_owned(), "write a smaller one"),
        InvalidToken::Quote(_) | InvalidToken::Foreign(..) | InvalidToken::Character(_) => {
            return None;
        }
    })
}

/// Returns the start of a text, for a message of one line.
fn shortened(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    let mut short: String = text.chars().take(CHARS_MAX).map(visible).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

/// Returns a character in a form that messages can show.
fn visible(c: char) -> String {
    if c.is_control() { c.escape_debug().to_string() } else { c.to_string() }
}

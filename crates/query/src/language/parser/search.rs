//! Parses a search: the conditions of `WHERE`, where a bare word means that the entry contains it.
//! Parts without an operator between them are combined with `AND`.

use super::condition::{all_of, alternatives, nested};
use super::cursor::TokenCursor;
use super::test::{is_field, near, test};
use crate::language::ast::{Condition, Field};
use crate::language::lexer::{Token, lex_search};
use crate::limits::SEARCH_BYTES_MAX;
use crate::{Fault, Position};

pub(crate) fn search(text: &str) -> Result<Condition, Fault> {
    if text.len() > SEARCH_BYTES_MAX {
        let message =
            format!("the search has {} bytes; the limit is {SEARCH_BYTES_MAX}", text.len());
        return Err(Fault::new(Position { line: 1, column: 1 }, message).help("shorten it"));
    }
    let mut cursor = TokenCursor::of_search(text, lex_search(text));
    if cursor.is_at_end() {
        return Err(cursor.fault("the search is empty").help("write a word"));
    }
    let condition = any(&mut cursor)?;
    if cursor.is_at_end() { Ok(condition) } else { Err(cursor.expected(&[A_WORD, "AND", "OR"])) }
}

const A_WORD: &str = "a word";

fn any(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    alternatives(cursor, all)
}

fn all(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    let mut parts = vec![unary(cursor)?];
    while cursor.accept("AND") || begins(cursor) {
        parts.push(unary(cursor)?);
    }
    Ok(all_of(parts))
}

/// Returns whether another part follows without an operator.
fn begins(cursor: &TokenCursor<'_>) -> bool {
    matches!(cursor.token(), Token::Text(_) | Token::Bad(_) | Token::Sign("("))
        || cursor.is_word("NOT")
        || is_field(cursor)
}

fn unary(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    nested(cursor, unary, any, |cursor| match cursor.token() {
        Token::Text(_) => near(cursor, Field::Item),
        _ if is_field(cursor) => test(cursor),
        _ => Err(cursor.expected(&[A_WORD, "NOT", "`(`"])),
    })
}

//! Parses `WHERE …`: tests combined with `AND`, `OR`, `NOT` and brackets.
//!
//! The texts after one `CONTAINS` or `=` can be combined too: `ITEM CONTAINS "a" OR "b" AND AUTHOR
//! = "c"` means a or b, and the author.

use super::cursor::{A_TEXT, TokenCursor};
use super::test::test;
use crate::Fault;
use crate::language::ast::Condition;
use crate::language::lexer::Token;

pub(super) fn condition(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    alternatives(cursor, all)
}

/// Parses `x OR y OR …`, for conditions and for searches.
pub(super) fn alternatives(
    cursor: &mut TokenCursor<'_>,
    part: impl Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>,
) -> Result<Condition, Fault> {
    let mut parts = vec![part(cursor)?];
    while cursor.accept("OR") {
        parts.push(part(cursor)?);
    }
    Ok(any_of(parts))
}

fn all(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    let mut parts = vec![unary(cursor)?];
    while cursor.accept("AND") {
        parts.push(unary(cursor)?);
    }
    Ok(all_of(parts))
}

fn unary(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    nested(cursor, unary, condition, test)
}

/// Parses `NOT x`, `( x )` or x, for conditions and for texts.
pub(super) fn nested(
    cursor: &mut TokenCursor<'_>,
    negated: impl Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>,
    bracketed: impl Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>,
    plain: impl Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>,
) -> Result<Condition, Fault> {
    if cursor.accept("NOT") {
        cursor.enter()?;
        let inner = negated(cursor)?;
        cursor.leave();
        return Ok(Condition::Not(Box::new(inner)));
    }
    if cursor.accept_sign("(") {
        cursor.enter()?;
        let inner = bracketed(cursor)?;
        cursor.leave();
        if !cursor.accept_sign(")") {
            return Err(open_bracket(cursor));
        }
        return Ok(inner);
    }
    plain(cursor)
}

/// Returns the fault for a bracket that is not closed.
fn open_bracket(cursor: &mut TokenCursor<'_>) -> Fault {
    if cursor.is_word("AND") || cursor.is_word("OR") {
        // A condition would have continued here, so these are brackets around texts.
        cursor.advance();
        let help = "brackets after CONTAINS can contain only texts";
        return cursor.expected(&[A_TEXT]).help(help);
    }
    cursor.expected(&["`)`", "AND", "OR"])
}

/// Combines parts with `AND`, without nesting.
pub(super) fn all_of(parts: Vec<Condition>) -> Condition {
    let flat = parts.into_iter().flat_map(|part| match part {
        Condition::All(inner) => inner,
        other => vec![other],
    });
    alone(flat.collect(), Condition::All)
}

/// Combines parts with `OR`, without nesting.
fn any_of(parts: Vec<Condition>) -> Condition {
    let flat = parts.into_iter().flat_map(|part| match part {
        Condition::Any(inner) => inner,
        other => vec![other],
    });
    alone(flat.collect(), Condition::Any)
}

fn alone(mut parts: Vec<Condition>, many: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.len() {
        1 => parts.remove(0),
        _ => many(parts),
    }
}

/// Reads one text after an operator.
pub(super) type Leaf<'l> = &'l dyn Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>;

/// Parses texts after one operator, combined with `OR` and `AND`. An `OR` or `AND` belongs to the
/// texts only if a text follows it.
pub(super) fn texts(cursor: &mut TokenCursor<'_>, leaf: Leaf<'_>) -> Result<Condition, Fault> {
    let mut parts = vec![texts_all(cursor, leaf)?];
    while cursor.is_word("OR") && text_follows(cursor) {
        cursor.advance();
        parts.push(texts_all(cursor, leaf)?);
    }
    Ok(any_of(parts))
}

fn texts_all(cursor: &mut TokenCursor<'_>, leaf: Leaf<'_>) -> Result<Condition, Fault> {
    let mut parts = vec![texts_unary(cursor, leaf)?];
    while cursor.is_word("AND") && text_follows(cursor) {
        cursor.advance();
        parts.push(texts_unary(cursor, leaf)?);
    }
    Ok(all_of(parts))
}

fn texts_unary(cursor: &mut TokenCursor<'_>, leaf: Leaf<'_>) -> Result<Condition, Fault> {
    nested(cursor, |c| texts_unary(c, leaf), |c| texts(c, leaf), leaf)
}

/// Returns whether a text follows the next word, with only `NOT` and brackets between.
fn text_follows(cursor: &TokenCursor<'_>) -> bool {
    let mut further = 1;
    loop {
        match cursor.peek(further) {
            Token::Word(word) if word.eq_ignore_ascii_case("NOT") => further += 1,
            // Brackets in a search contain conditions, since every word of it is a text.
            Token::Sign("(") if !cursor.is_search() => further += 1,
            Token::Text(_) => return true,
            _ => return false,
        }
    }
}

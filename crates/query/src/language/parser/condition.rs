//! `WHERE …`: tests joined with `AND`, `OR`, `NOT` and brackets.
//!
//! The texts behind one `CONTAINS` or `=` may be joined as well, and belong to it:
//! `ITEM CONTAINS "a" OR "b" AND AUTHOR = "c"` wants a or b, and the author.

use super::cursor::{A_TEXT, TokenCursor};
use super::test::test;
use crate::Fault;
use crate::language::ast::Condition;
use crate::language::lexer::Token;

pub(super) fn condition(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    let mut parts = vec![all(cursor)?];
    while cursor.accept("OR") {
        parts.push(all(cursor)?);
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

/// `NOT x`, `( x )` or x itself, at the level of conditions or of texts.
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

/// Something else stands where a bracket should close.
fn open_bracket(cursor: &mut TokenCursor<'_>) -> Fault {
    if cursor.is_word("AND") || cursor.is_word("OR") {
        // Conditions would have gone on here: these are brackets around texts.
        cursor.advance();
        let help = "the brackets behind CONTAINS hold texts only";
        return cursor.expected(&[A_TEXT]).help(help);
    }
    cursor.expected(&["`)`", "AND", "OR"])
}

/// Parts joined by `AND`, flat.
pub(super) fn all_of(parts: Vec<Condition>) -> Condition {
    let flat = parts.into_iter().flat_map(|part| match part {
        Condition::All(inner) => inner,
        other => vec![other],
    });
    alone(flat.collect(), Condition::All)
}

/// Parts joined by `OR`, flat.
pub(super) fn any_of(parts: Vec<Condition>) -> Condition {
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

/// Reads one text behind an operator.
pub(super) type Leaf<'l> = &'l dyn Fn(&mut TokenCursor<'_>) -> Result<Condition, Fault>;

/// Texts behind one operator, joined with `OR` and `AND`. A word that joins belongs here only if
/// a text follows it.
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

/// Whether a text comes after the next word, with nothing but `NOT` and brackets between.
fn text_follows(cursor: &TokenCursor<'_>) -> bool {
    let mut further = 1;
    loop {
        match cursor.peek(further) {
            Token::Word(word) if word.eq_ignore_ascii_case("NOT") => further += 1,
            // Brackets in a search hold conditions, since every word of it is a text.
            Token::Sign("(") if !cursor.is_search() => further += 1,
            Token::Text(_) => return true,
            _ => return false,
        }
    }
}

//! Parses one test of a condition: a field, an operator and values. Suggests another operator if
//! the field does not support the given one.

use feed::FeedUrl;

use super::condition::{all_of, texts};
use super::cursor::{A_TEXT, TokenCursor};
use super::value::{date, duration};
use crate::Fault;
use crate::language::ast::{Comparison, Condition, Field, Test};
use crate::language::lexer::Token;
use crate::language::pattern::RegexPattern;
use crate::language::suggest::is_keyword;
use crate::limits::{NEAR_WORDS_DEFAULT, NEAR_WORDS_MAX};
use crate::text::{Phrase, canonical_link, folded};

const FIELDS: [(&str, Field); 11] = [
    ("ITEM", Field::Item),
    ("TITLE", Field::Title),
    ("SUMMARY", Field::Summary),
    ("CONTENT", Field::Content),
    ("AUTHOR", Field::Author),
    ("CATEGORY", Field::Category),
    ("LINK", Field::Link),
    ("LANGUAGE", Field::Language),
    ("FEED", Field::Feed),
    ("ARTICLE", Field::Article),
    ("TOPIC", Field::Topic),
];

pub(super) fn test(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    if cursor.accept("PUBLISHED") {
        return published(cursor);
    }
    let Some((_, field)) = FIELDS.iter().find(|(word, _)| cursor.is_word(word)) else {
        let mut expected: Vec<&'static str> = FIELDS.iter().map(|(word, _)| *word).collect();
        expected.extend(["PUBLISHED", "NOT", "`(`"]);
        let fault = cursor.expected(&expected);
        return Err(match cursor.token() {
            Token::Text(text) => {
                let shown: String = text.chars().take(40).collect();
                fault.help(format!("name the field: ITEM CONTAINS \"{shown}\""))
            }
            Token::Word(word) if fault.help.is_none() && !is_keyword(word) => {
                let help = format!("put the text in quotes: \"{word}\"");
                fault.help(help)
            }
            _ => fault,
        });
    };
    cursor.advance();
    let not = cursor.is_word("NOT");
    if not {
        cursor.advance();
    }
    let test = operator(cursor, *field, not)?;
    Ok(if not { Condition::Not(Box::new(test)) } else { test })
}

/// Returns the operators of a field. Long texts are searched, not compared; languages are compared,
/// not searched.
fn operators(field: Field, not: bool) -> Vec<&'static str> {
    let mut operators: Vec<&'static str> = match field {
        Field::Language | Field::Topic => vec![],
        _ => vec!["CONTAINS", "MATCHES"],
    };
    if !not && !matches!(field, Field::Item | Field::Summary | Field::Content | Field::Article) {
        operators.extend(["`=`", "`!=`"]);
    }
    if field == Field::Feed {
        operators.push("TAGGED");
    }
    operators
}

fn operator(cursor: &mut TokenCursor<'_>, field: Field, not: bool) -> Result<Condition, Fault> {
    let allowed = operators(field, not);
    let may = |operator: &str| allowed.contains(&operator);
    if may("CONTAINS") && cursor.accept("CONTAINS") {
        return texts(cursor, &|cursor: &mut TokenCursor<'_>| near(cursor, field));
    }
    if may("MATCHES") && cursor.accept("MATCHES") {
        return matches(cursor, field);
    }
    if may("`=`") && cursor.accept_sign("=") {
        return texts(cursor, &|cursor: &mut TokenCursor<'_>| equals(cursor, field));
    }
    if may("`!=`") && cursor.accept_sign("!=") {
        return Ok(Condition::Not(Box::new(equals(cursor, field)?)));
    }
    if may("TAGGED") && cursor.accept("TAGGED") {
        return texts(cursor, &|cursor: &mut TokenCursor<'_>| {
            cursor.count_term()?;
            Ok(Condition::Test(Test::Tagged(cursor.text()?)))
        });
    }
    if allowed.is_empty() {
        return Err(cursor.expected(&["`=`"]).help("write NOT before the field"));
    }
    let fault = cursor.expected(&allowed);
    Err(match wrong_operator(cursor, field, not).filter(|_| fault.help.is_none()) {
        Some(help) => fault.help(help),
        None => fault,
    })
}

/// Suggests what to write instead of an operator that the field does not support.
fn wrong_operator(cursor: &TokenCursor<'_>, field: Field, not: bool) -> Option<String> {
    let may_equal = operators(field, false).contains(&"`=`");
    match cursor.token() {
        Token::Sign("=" | "!=") if not => Some("write NOT before the field, or `!=`".to_owned()),
        Token::Sign("=" | "!=") if !may_equal => Some(format!("use CONTAINS for {field}")),
        Token::Sign("<" | "<=" | ">" | ">=") => {
            Some("only PUBLISHED supports `<` and `>`".to_owned())
        }
        Token::Text(_) if matches!(field, Field::Language | Field::Topic) => {
            Some("write `=` before it".to_owned())
        }
        Token::Text(_) => Some("write CONTAINS before it".to_owned()),
        Token::Word(_) if matches!(field, Field::Language | Field::Topic) => {
            Some(format!("use `=` for {field}"))
        }
        _ => None,
    }
}

/// `"a"`, or `"a" NEAR "b" NEAR/3 "c"`: each near the next.
pub(super) fn near(cursor: &mut TokenCursor<'_>, field: Field) -> Result<Condition, Fault> {
    let mut first = phrase(cursor)?;
    cursor.allow_near();
    if !cursor.is_word("NEAR") {
        return Ok(Condition::Test(Test::Contains { field, phrase: first }));
    }
    let mut parts = Vec::new();
    while cursor.accept("NEAR") {
        let words = if cursor.accept_sign("/") { near_words(cursor)? } else { NEAR_WORDS_DEFAULT };
        if let Token::Number(number) = *cursor.token() {
            return Err(cursor.expected(&[A_TEXT]).help(format!("write NEAR/{number}")));
        }
        let second = phrase(cursor)?;
        cursor.allow_near();
        let next = second.clone();
        parts.push(Condition::Test(Test::Near { field, first, second, words }));
        first = next;
    }
    Ok(all_of(parts))
}

fn near_words(cursor: &mut TokenCursor<'_>) -> Result<u16, Fault> {
    let at = cursor.position();
    let number = cursor.number()?;
    let words = u16::try_from(number).ok().filter(|n| (1..=NEAR_WORDS_MAX).contains(n));
    words.ok_or_else(|| {
        Fault::new(at, format!("the distance of NEAR must be between 1 and {NEAR_WORDS_MAX} words"))
    })
}

fn phrase(cursor: &mut TokenCursor<'_>) -> Result<Phrase, Fault> {
    cursor.count_term()?;
    let at = cursor.position();
    let text = cursor.text()?;
    Phrase::new(&text).map_err(|why| {
        let (message, help) = why.advice();
        Fault::new(at, message).help(help)
    })
}

fn matches(cursor: &mut TokenCursor<'_>, field: Field) -> Result<Condition, Fault> {
    cursor.count_pattern()?;
    let Token::Pattern(written, flags) = cursor.token() else {
        let fault = cursor.expected(&["an expression between slashes"]);
        let is_text = matches!(cursor.token(), Token::Text(_));
        return Err(if is_text { fault.help("write it as /…/") } else { fault });
    };
    let pattern = RegexPattern::new(written, flags).map_err(|why| cursor.fault(why))?;
    cursor.advance();
    Ok(Condition::Test(Test::Matches { field, pattern }))
}

fn equals(cursor: &mut TokenCursor<'_>, field: Field) -> Result<Condition, Fault> {
    cursor.count_term()?;
    let at = cursor.position();
    if !matches!(cursor.token(), Token::Text(_)) {
        return Err(cursor.expected(&[A_TEXT]));
    }
    let mut value = cursor.text()?;
    match field {
        Field::Feed => {
            let url = FeedUrl::parse(&value).map_err(|e| Fault::new(at, e.to_string()))?;
            value = url.as_str().to_owned();
        }
        Field::Link if canonical_link(&value).is_none() => {
            let help = "write the whole link, or use CONTAINS";
            return Err(Fault::new(at, "this is not a web address").help(help));
        }
        Field::Link => {}
        _ if folded(&value).is_empty() => {
            let help = "write the value of the field";
            return Err(Fault::new(at, "the text contains no word to compare").help(help));
        }
        _ => {}
    }
    Ok(Condition::Test(Test::Equals { field, value }))
}

fn published(cursor: &mut TokenCursor<'_>) -> Result<Condition, Fault> {
    if cursor.accept("WITHIN") {
        return Ok(Condition::Test(Test::Recent(duration(cursor)?)));
    }
    let comparison = match cursor.token() {
        Token::Sign("<") => Comparison::Before,
        Token::Sign("<=") => Comparison::Until,
        Token::Sign(">") => Comparison::After,
        Token::Sign(">=") => Comparison::Since,
        Token::Sign("=" | "!=") => Comparison::On,
        _ => {
            let signs = ["`<`", "`<=`", "`>`", "`>=`", "`=`", "`!=`", "WITHIN"];
            return Err(cursor.expected(&signs));
        }
    };
    let not = *cursor.token() == Token::Sign("!=");
    cursor.advance();
    let test = Condition::Test(Test::Published { comparison, date: date(cursor)? });
    Ok(if not { Condition::Not(Box::new(test)) } else { test })
}

/// Returns whether a condition could begin here.
pub(super) fn is_field(cursor: &TokenCursor<'_>) -> bool {
    cursor.is_word("PUBLISHED") || FIELDS.iter().any(|(word, _)| cursor.is_word(word))
}

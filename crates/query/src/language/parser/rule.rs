//! Parses `CREATE RULE`, one statement at a time: a rule belongs to one person, and each is saved
//! alone.

use super::condition::condition;
use super::cursor::{A_NAME, TokenCursor};
use super::source::sources;
use crate::language::ast::QuerySource;
use crate::language::lexer::{InvalidToken, Token};
use crate::language::rule::{Rule, RuleAction};
use crate::limits::{ACTIONS_MAX, LABEL_CHARS_MAX, RULE_BYTES_MAX};
use crate::{Fault, Position};

/// Reads the text of one rule.
///
/// ```
/// let text = r#"CREATE RULE quiet ON TAG "news" WHERE TITLE CONTAINS "football" DO MARK READ"#;
/// let rule = query::parse_rule(text).unwrap();
/// assert_eq!(rule.name.text, "quiet");
/// let fault = query::parse_rule("CREATE RULE quiet ON ALL FEEDS DO HID").unwrap_err();
/// assert!(fault.to_string().ends_with("did you mean HIDE?"), "{fault}");
/// ```
pub fn parse_rule(text: &str) -> Result<Rule, Fault> {
    if text.len() > RULE_BYTES_MAX {
        let message = format!("the rule has {} bytes; the limit is {RULE_BYTES_MAX}", text.len());
        let at = Position { line: 1, column: 1 };
        return Err(Fault::new(at, message).help("make several rules"));
    }
    let mut cursor = TokenCursor::new(text);
    cursor.start_statement();
    let rule = rule(&mut cursor)?;
    let is_ended = cursor.accept_sign(";");
    match cursor.token() {
        Token::End => Ok(rule),
        _ if is_ended => {
            Err(cursor.fault("a second statement follows").help("save each rule alone"))
        }
        _ => Err(cursor.expected(&["`,`", "`;`"])),
    }
}

fn rule(cursor: &mut TokenCursor<'_>) -> Result<Rule, Fault> {
    let start = cursor.offset();
    if !cursor.accept("CREATE") {
        let fault = cursor.expected(&["CREATE"]);
        return Err(fault.help("a rule begins with CREATE RULE name ON …"));
    }
    let replace = cursor.accept("OR");
    if replace {
        cursor.expect("REPLACE")?;
    }
    if !cursor.accept("RULE") {
        let or_replace: &[&str] = if replace { &["RULE"] } else { &["RULE", "OR REPLACE"] };
        let fault = cursor.expected(or_replace);
        return Err(match cursor.is_word("FEED") {
            true => fault.help("CREATE FEED makes a query; save it on the page of queries"),
            false => fault,
        });
    }
    let name = cursor.name()?;
    cursor.expect("ON")?;
    let at = cursor.position();
    let sources = sources(cursor)?;
    if sources.iter().any(|source| matches!(source, QuerySource::Feed(_))) {
        let help = "name tags, addresses or ALL FEEDS";
        return Err(Fault::new(at, "a rule cannot read a query").help(help));
    }
    let mut tested = None;
    if cursor.is_word("WHERE") {
        let at = cursor.position();
        cursor.advance();
        let condition = condition(cursor)?;
        if condition.uses_article() {
            let message = "a rule decides before the page behind an entry is loaded";
            return Err(Fault::new(at, message).help("test ITEM instead of ARTICLE"));
        }
        tested = Some(condition);
    }
    if !cursor.is_word("DO") {
        return Err(cursor.expected(match (&tested, cursor.allows_near()) {
            (None, _) => &["`|`", "WHERE", "DO"],
            (Some(_), true) => &["AND", "OR", "NEAR", "DO"],
            (Some(_), false) => &["AND", "OR", "DO"],
        }));
    }
    cursor.advance();
    let actions = actions(cursor)?;
    let text = cursor.text_since(start).to_owned();
    Ok(Rule { name, replace, sources, condition: tested, actions, text })
}

fn actions(cursor: &mut TokenCursor<'_>) -> Result<Vec<RuleAction>, Fault> {
    let mut actions: Vec<RuleAction> = Vec::new();
    loop {
        let at = cursor.position();
        let action = action(cursor)?;
        if actions.contains(&action) {
            return Err(Fault::new(at, format!("{action} is given twice")));
        }
        if actions.len() == ACTIONS_MAX {
            let message = format!("a rule has at most {ACTIONS_MAX} actions");
            return Err(Fault::new(at, message).help("make a second rule"));
        }
        actions.push(action);
        if is_comma(cursor.token()) {
            cursor.advance();
        } else if !cursor.accept("AND") {
            return Ok(actions);
        }
    }
}

/// The lexer knows a comma only as a sign of other languages.
fn is_comma(token: &Token) -> bool {
    matches!(token, Token::Bad(InvalidToken::Foreign(theirs, _)) if *theirs == ",")
}

fn action(cursor: &mut TokenCursor<'_>) -> Result<RuleAction, Fault> {
    if cursor.accept("MARK") {
        cursor.expect("READ")?;
        return Ok(RuleAction::MarkRead);
    }
    if cursor.accept("STAR") {
        return Ok(RuleAction::Star);
    }
    if cursor.accept("HIDE") {
        return Ok(RuleAction::Hide);
    }
    if cursor.accept("NOTIFY") {
        return Ok(RuleAction::Notify);
    }
    if !cursor.accept("LABEL") {
        return Err(cursor.expected(&["MARK READ", "STAR", "HIDE", "LABEL", "NOTIFY"]));
    }
    let at = cursor.position();
    let label = cursor.text()?;
    match label_name(&label) {
        Some(label) => Ok(RuleAction::Label(label)),
        None => {
            let message = format!("{A_NAME} of a label has 1 to {LABEL_CHARS_MAX} letters");
            Err(Fault::new(at, message).help("shorten it"))
        }
    }
}

/// Returns the name of a label in its stored form; `None` if it cannot be one.
///
/// ```
/// assert_eq!(query::label_name("  to read "), Some("to read".to_owned()));
/// assert_eq!(query::label_name(" \n"), None);
/// ```
pub fn label_name(text: &str) -> Option<String> {
    let name: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let fits = !name.trim().is_empty() && name.chars().count() <= LABEL_CHARS_MAX;
    fits.then_some(name)
}

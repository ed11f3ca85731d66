//! Parses `CREATE FEED` and `DROP FEED`, and the clauses of a query in any order.

use std::time::Duration;

use super::condition::condition;
use super::cursor::TokenCursor;
use super::delivery::deliver;
use super::source::sources;
use super::test::is_field;
use super::value::{at_least, duration, look_back};
use crate::Fault;
use crate::language::ast::{
    Access, Condition, Count, Create, Distinct, Drop, Join, Likeness, LookBack, Query, QuerySource,
    Statement,
};
use crate::language::lexer::Token;
use crate::limits::DELIVERIES_MAX;

/// The time within which a join finds the same story, by default.
const JOIN_DEFAULT: LookBack = LookBack::Time(Duration::from_secs(86_400));
/// The time for which `DISTINCT` remembers an entry, by default: stories return within days.
const DISTINCT_DEFAULT: LookBack = LookBack::Time(Duration::from_secs(7 * 86_400));

pub(super) fn statement(cursor: &mut TokenCursor<'_>) -> Result<Statement, Fault> {
    if cursor.is_word("CREATE") {
        return create(cursor).map(|create| Statement::Create(Box::new(create)));
    }
    if cursor.accept("DROP") {
        cursor.expect("FEED")?;
        // `IF` alone may be a name; only `IF EXISTS` is a clause.
        let if_exists = cursor.is_word("IF")
            && matches!(cursor.peek(1), Token::Word(w) if w.eq_ignore_ascii_case("EXISTS"));
        if if_exists {
            cursor.advance();
            cursor.advance();
        }
        let name = cursor.name()?;
        if !is_end(cursor) {
            let is_question = name.text.eq_ignore_ascii_case("IF");
            return Err(cursor.expected(if is_question { &["EXISTS"] } else { &["`;`"] }));
        }
        return Ok(Statement::Drop(Drop { name, if_exists }));
    }
    let fault = cursor.expected(&["CREATE", "DROP"]);
    Err(match fault.help {
        Some(_) => fault,
        None => fault.help("a query begins with CREATE FEED name AS RETURN …"),
    })
}

fn create(cursor: &mut TokenCursor<'_>) -> Result<Create, Fault> {
    let start = cursor.offset();
    cursor.expect("CREATE")?;
    let replace = cursor.accept("OR");
    if replace {
        cursor.expect("REPLACE")?;
    }
    if !cursor.accept("FEED") {
        let or_replace: &[&str] = if replace { &["FEED"] } else { &["FEED", "OR REPLACE"] };
        return Err(cursor.expected(or_replace));
    }
    let name = cursor.name()?;
    cursor.expect("AS")?;
    cursor.expect("RETURN")?;
    let query = query(cursor)?;
    Ok(Create { name, replace, query, text: cursor.text_since(start).to_owned() })
}

fn is_end(cursor: &TokenCursor<'_>) -> bool {
    matches!(cursor.token(), Token::Sign(";") | Token::End)
}

/// A query before its defaults are known, because they depend on later clauses.
#[derive(Default)]
struct QueryDraft {
    distinct: Option<(Likeness, Option<LookBack>)>,
    count: Option<Count>,
    window: Option<LookBack>,
    access: Option<Access>,
    with_articles: bool,
    title: Option<String>,
}

fn query(cursor: &mut TokenCursor<'_>) -> Result<Query, Fault> {
    let read = sources(cursor)?;
    let mut condition = where_clause(cursor)?;
    let join = if cursor.accept("JOIN") { Some(join(cursor)?) } else { None };
    let mut left_condition = None;
    if join.is_some() {
        // The condition before a join is that of the first side.
        left_condition = condition.take();
        condition = where_clause(cursor)?;
    }
    let mut draft = QueryDraft::default();
    let mut deliveries = Vec::new();
    let read_so_far = ClausesRead { join: join.is_some(), condition: condition.is_some() };
    while !is_end(cursor) {
        if cursor.accept("DELIVER") {
            if deliveries.len() == DELIVERIES_MAX {
                let message = format!("a query delivers to at most {DELIVERIES_MAX} receivers");
                return Err(cursor.fault(message).help("make a second query that reads this one"));
            }
            deliveries.push(deliver(cursor)?);
        } else {
            clause(cursor, &mut draft, &read_so_far)?;
        }
    }
    let join = join.map(|JoinDraft { sources, right_condition, on, within }| {
        let within = within.or(draft.window).unwrap_or(JOIN_DEFAULT);
        Join { left_condition, sources, right_condition, on, within }
    });
    let distinct = draft.distinct.map(|(on, within)| {
        let within = within.or(draft.window).unwrap_or(DISTINCT_DEFAULT);
        Distinct { on, within }
    });
    Ok(Query {
        sources: read,
        join,
        condition,
        distinct,
        count: draft.count,
        window: draft.window,
        access: draft.access.unwrap_or_default(),
        with_articles: draft.with_articles,
        title: draft.title,
        deliveries,
    })
}

fn where_clause(cursor: &mut TokenCursor<'_>) -> Result<Option<Condition>, Fault> {
    if cursor.accept("WHERE") { condition(cursor).map(Some) } else { Ok(None) }
}

/// The clauses read so far, for messages about what may follow.
struct ClausesRead {
    join: bool,
    condition: bool,
}

fn clause(
    cursor: &mut TokenCursor<'_>,
    draft: &mut QueryDraft,
    read_so_far: &ClausesRead,
) -> Result<(), Fault> {
    let twice =
        |cursor: &TokenCursor<'_>, what: &str| cursor.fault(format!("{what} is given twice"));
    if cursor.is_word("DISTINCT") {
        if draft.distinct.is_some() {
            return Err(twice(cursor, "DISTINCT"));
        }
        cursor.advance();
        draft.distinct = Some((likeness(cursor)?, within(cursor)?));
    } else if cursor.is_word("COUNT") {
        if draft.count.is_some() {
            return Err(twice(cursor, "COUNT"));
        }
        cursor.advance();
        let at_least = at_least(cursor)?;
        cursor.expect("WITHIN")?;
        draft.count = Some(Count { at_least, within: duration(cursor)? });
    } else if cursor.is_word("WINDOW") {
        if draft.window.is_some() {
            return Err(twice(cursor, "WINDOW"));
        }
        cursor.advance();
        draft.window = Some(look_back(cursor)?);
    } else if cursor.is_word("TITLED") {
        if draft.title.is_some() {
            return Err(twice(cursor, "TITLED"));
        }
        cursor.advance();
        draft.title = Some(cursor.text()?);
    } else if cursor.is_word("PUBLISH") || cursor.is_word("PRIVATE") {
        if draft.access.is_some() {
            return Err(twice(cursor, "PUBLISH or PRIVATE"));
        }
        let access = access(cursor)?;
        draft.access = Some(access);
        if access != Access::Private && cursor.accept("WITH") {
            cursor.expect("ARTICLES")?;
            draft.with_articles = true;
        }
    } else {
        return Err(misplaced(cursor, read_so_far));
    }
    Ok(())
}

fn misplaced(cursor: &TokenCursor<'_>, read_so_far: &ClausesRead) -> Fault {
    for (word, said, rule) in [
        ("WHERE", read_so_far.condition, "WHERE must follow the sources, before other clauses"),
        ("JOIN", read_so_far.join, "JOIN must follow the sources and their WHERE"),
    ] {
        if cursor.is_word(word) {
            let message = if said { format!("{word} is given twice") } else { rule.to_owned() };
            let help = match (said, word) {
                (false, _) => "move it there",
                (true, "WHERE") => "combine conditions with AND",
                (true, _) => "make a second query that reads this one",
            };
            return cursor.fault(message).help(help);
        }
    }
    let mut expected: Vec<&'static str> = Vec::new();
    if read_so_far.condition {
        expected.extend(if cursor.allows_near() {
            &["AND", "OR", "NEAR"][..]
        } else {
            &["AND", "OR"]
        });
        if !read_so_far.join {
            expected.push("JOIN");
        }
    } else if read_so_far.join {
        expected.extend(["WHERE"]);
    } else {
        expected.extend(["`|`", "JOIN", "WHERE"]);
    }
    expected.extend(["DISTINCT", "COUNT", "WINDOW", "TITLED", "PUBLISH", "PRIVATE", "DELIVER"]);
    expected.push("`;`");
    let fault = cursor.expected(&expected);
    let help = joints(cursor, read_so_far);
    match help.filter(|_| fault.help.is_none()) {
        Some(help) => fault.help(help),
        None => fault,
    }
}

/// Guesses the word that is missing between two parts.
fn joints(cursor: &TokenCursor<'_>, read_so_far: &ClausesRead) -> Option<&'static str> {
    let is_text = matches!(cursor.token(), Token::Text(_)) && cursor.is_after_text();
    let is_field = is_field(cursor);
    match (read_so_far.condition, cursor.token()) {
        (true, Token::Sign("|")) => Some("combine texts with OR"),
        (true, _) if is_text => Some("combine texts with OR or AND"),
        (true, _) if cursor.is_word("NEAR") => Some("use NEAR after CONTAINS"),
        (true, _) if is_field => Some("combine conditions with AND or OR"),
        (false, _) if is_text => Some("separate sources with `|`"),
        (false, _) if cursor.is_word("OR") || cursor.is_word("AND") => {
            Some("separate sources with `|`")
        }
        (false, _) if is_field => Some("put conditions after WHERE"),
        _ => None,
    }
}

/// A join before its default look-back is known.
struct JoinDraft {
    sources: Vec<QuerySource>,
    right_condition: Option<Condition>,
    on: Likeness,
    within: Option<LookBack>,
}

/// The part after `JOIN`.
fn join(cursor: &mut TokenCursor<'_>) -> Result<JoinDraft, Fault> {
    let sources = sources(cursor)?;
    let right_condition = where_clause(cursor)?;
    if !cursor.is_word("ON") {
        return Err(match (&right_condition, cursor.allows_near()) {
            (None, _) => cursor.expected(&["ON"]),
            (Some(_), true) => cursor.expected(&["AND", "OR", "NEAR", "ON"]),
            (Some(_), false) => cursor.expected(&["AND", "OR", "ON"]),
        });
    }
    Ok(JoinDraft { sources, right_condition, on: likeness(cursor)?, within: within(cursor)? })
}

/// `ON LINK` or `ON TITLE SIMILAR`.
fn likeness(cursor: &mut TokenCursor<'_>) -> Result<Likeness, Fault> {
    cursor.expect("ON")?;
    if cursor.accept("LINK") {
        return Ok(Likeness::Link);
    }
    if !cursor.accept("TITLE") {
        return Err(cursor.expected(&["LINK", "TITLE SIMILAR"]));
    }
    cursor.expect("SIMILAR")?;
    Ok(Likeness::Title)
}

fn within(cursor: &mut TokenCursor<'_>) -> Result<Option<LookBack>, Fault> {
    if cursor.accept("WITHIN") { look_back(cursor).map(Some) } else { Ok(None) }
}

fn access(cursor: &mut TokenCursor<'_>) -> Result<Access, Fault> {
    if cursor.accept("PRIVATE") {
        return Ok(Access::Private);
    }
    cursor.expect("PUBLISH")?;
    if cursor.is_word("SECRET") || cursor.is_word("LINK") {
        return Err(cursor.expected(&["BY"]).help("write PUBLISH BY SECRET LINK"));
    }
    if !cursor.accept("BY") {
        return Ok(Access::Public);
    }
    cursor.expect("SECRET")?;
    cursor.expect("LINK")?;
    Ok(Access::SecretLink)
}

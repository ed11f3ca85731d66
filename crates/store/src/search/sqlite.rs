//! The index of words on SQLite: a table of FTS5.

use feed::{EntryId, SearchColumn, SearchExpression, Time};

use super::SearchWords;
use crate::db::sql::{Connection, Result, params};

/// Adds or replaces entries. An entry that was deleted or edited meanwhile must not keep its old
/// words: the first is left out, the second marked to be indexed again.
pub(super) fn put(conn: &Connection, entries: &[SearchWords]) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "insert or replace into search (rowid, title, body) \
         select id, $1, $2 from entries where id = $3",
    )?;
    let mut fresh = conn.prepare_cached("delete from search_stale where entry = $1")?;
    let mut stale = conn.prepare_cached(
        "insert into search_stale (entry) select id from entries \
         where id = $1 and (edited_at is distinct from $2 or \
         (select fetched_at from articles where entry = $1 and why_not is null) \
         is distinct from $3)",
    )?;
    for words in entries {
        let id = words.entry.0;
        statement.execute(params![words.title, words.body, id])?;
        fresh.execute([id])?;
        let article_at = words.article_at.map(Time::millis);
        stale.execute(params![id, words.edited_at.map(Time::millis), article_at])?;
    }
    Ok(())
}

pub(super) fn remove(conn: &Connection, entries: &[EntryId]) -> Result<()> {
    let mut statement = conn.prepare_cached("delete from search where rowid = $1")?;
    let mut stale = conn.prepare_cached("delete from search_stale where entry = $1")?;
    for entry in entries {
        statement.execute([entry.0])?;
        stale.execute([entry.0])?;
    }
    Ok(())
}

/// Returns the entries below a number that fit, the newest first.
pub(super) fn candidates(
    conn: &Connection,
    expression: &SearchExpression,
    below: i64,
    limit: u32,
) -> Result<Vec<EntryId>> {
    let sql = "select rowid from search where search match $1 and rowid < $2 \
               order by rowid desc limit $3";
    let mut statement = conn.prepare_cached(sql)?;
    let expression = fts5(expression);
    let found =
        statement.query_map(params![expression, below, limit], |row| row.get(0).map(EntryId))?;
    found.collect()
}

/// Writes an expression in the language of FTS5.
fn fts5(expression: &SearchExpression) -> String {
    let joined = |parts: &[SearchExpression], sign: &str| {
        format!("({})", parts.iter().map(fts5).collect::<Vec<_>>().join(sign))
    };
    match expression {
        SearchExpression::All(parts) => joined(parts, " AND "),
        SearchExpression::Any(parts) => joined(parts, " OR "),
        SearchExpression::Phrase(phrase) => {
            let column = match phrase.column() {
                None => "",
                Some(SearchColumn::Title) => "title : ",
                Some(SearchColumn::Body) => "body : ",
            };
            let star = if phrase.is_prefix() { " *" } else { "" };
            // No word has a quote: it would end the word.
            format!("{column}\"{}\"{star}", phrase.words().join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_fts5() {
        let phrase = |column, words: &[&str], is_prefix| {
            SearchExpression::phrase(column, words.iter().copied(), is_prefix).unwrap()
        };
        let title = phrase(Some(SearchColumn::Title), &["big", "ash"], true);
        let either = SearchExpression::any(vec![phrase(None, &["火", "山"], false), title]);
        let body = phrase(Some(SearchColumn::Body), &["o'neill"], false);
        let all = SearchExpression::all(vec![either.unwrap(), body]).unwrap();
        let expect = "((\"火 山\" OR title : \"big ash\" *) AND body : \"o neill\")";
        assert_eq!(fts5(&all), expect);
    }
}

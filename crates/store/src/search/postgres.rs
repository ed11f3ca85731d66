//! The index of words on PostgreSQL: a `tsvector` for each entry, and a GIN index over them.

use feed::{EntryId, SearchExpression, Time};

use super::SearchWords;
use super::tsquery::WordQuery;
use super::tsvector::WordList;
use crate::db::postgres::{Parameter, PgConnection};
use crate::db::sql::{Connection, Result, Value, params};

/// Entries that a search reads one by one before it asks the GIN index. Most searches are for a
/// common word and end here. The index would collect all entries with the word first.
const NEWEST: u32 = 4096;

/// Adds or replaces entries, each of them once. An entry that was deleted or edited meanwhile must
/// not keep its old words: the first is left out, the second marked to be indexed again.
pub(super) fn put(conn: &PgConnection, entries: &[SearchWords]) -> Result<()> {
    let lists: Vec<WordList> =
        entries.iter().map(|words| WordList::new(&words.title, &words.body)).collect();
    let ids: Vec<Value<'_>> = entries.iter().map(|words| Value::Int(words.entry.0)).collect();
    let literals: Vec<Value<'_>> = lists.iter().map(|list| Value::Text(&list.literal)).collect();
    let long: Vec<Value<'_>> =
        lists.iter().map(|list| Value::Int(i64::from(list.is_long))).collect();
    let edited = |words: &SearchWords| words.edited_at.map_or(Value::Null, edit_time);
    let edited: Vec<Value<'_>> = entries.iter().map(edited).collect();
    let (ids, edited) = (Parameter::List(&ids), Parameter::List(&edited));
    conn.execute_lists(
        "insert into search (entry, words, is_long) \
         select e.id, n.words::tsvector, n.is_long \
         from unnest($1::bigint[], $2::text[], $3::boolean[]) as n (entry, words, is_long) \
         join entries e on e.id = n.entry \
         on conflict (entry) do update set words = excluded.words, is_long = excluded.is_long",
        &[ids, Parameter::List(&literals), Parameter::List(&long)],
    )?;
    conn.execute_lists("delete from search_stale where entry = any($1::bigint[])", &[ids])?;
    conn.execute_lists(
        "insert into search_stale (entry) select e.id \
         from unnest($1::bigint[], $2::bigint[]) as n (entry, edited_at) \
         join entries e on e.id = n.entry where e.edited_at is distinct from n.edited_at",
        &[ids, edited],
    )?;
    Ok(())
}

fn edit_time(at: Time) -> Value<'static> {
    Value::Int(at.millis())
}

pub(super) fn remove(conn: &PgConnection, entries: &[EntryId]) -> Result<()> {
    let ids: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let ids = Parameter::List(&ids);
    conn.execute_lists("delete from search where entry = any($1::bigint[])", &[ids])?;
    conn.execute_lists("delete from search_stale where entry = any($1::bigint[])", &[ids])?;
    Ok(())
}

/// Returns the entries below a number that may fit, the newest first.
pub(super) fn candidates(
    conn: &Connection,
    expression: &SearchExpression,
    below: i64,
    limit: u32,
) -> Result<Vec<EntryId>> {
    let query = WordQuery::new(expression);
    let mut found = ask(conn, newest, &query, below, limit)?;
    let n_missing = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
    if n_missing > 0 {
        found.extend(ask(conn, older, &query, below, n_missing)?);
    }
    Ok(found)
}

fn ask(
    conn: &Connection,
    sql: fn(&str) -> String,
    query: &WordQuery,
    below: i64,
    limit: u32,
) -> Result<Vec<EntryId>> {
    // A query in a `select` of its own is read once, not once for each row. It also keeps the
    // planner from guessing how common the words are.
    let loose = "words @@ (select $1::text::tsquery)";
    let read = |row: &crate::db::sql::Row<'_>| row.get(0).map(EntryId);
    match &query.exact {
        None => {
            let mut statement = conn.prepare_cached(&sql(loose))?;
            statement.query_map(params![query.loose, below, limit], read)?.collect()
        }
        Some(exact) => {
            let both = format!("{loose} and (is_long or words @@ (select $4::text::tsquery))");
            let mut statement = conn.prepare_cached(&sql(&both))?;
            statement.query_map(params![query.loose, below, limit, exact], read)?.collect()
        }
    }
}

/// Tests the newest entries below `$2` one by one.
fn newest(condition: &str) -> String {
    format!(
        "select entry from \
         (select entry, words, is_long from search where entry < $2 order by entry desc \
         limit {NEWEST}) as newest \
         where {condition} order by entry desc limit $3"
    )
}

/// Asks the GIN index for all entries, and takes those below the newest. Without the fence of
/// `materialized`, the planner would read the entries one by one.
fn older(condition: &str) -> String {
    let last = NEWEST - 1;
    format!(
        "with found as materialized (select entry from search where {condition}) \
         select entry from found where entry < \
         (select entry from search where entry < $2 order by entry desc offset {last} limit 1) \
         order by entry desc limit $3"
    )
}

//! The stored queries and the state that they remember, as the matcher gets and changes them.

use feed::EntryId;

use crate::db::sql::{Connection, Row, params};

use super::{EntryMatcher, QueryId, QueryScope, QueryStateChange};
use crate::AccountId;
use crate::error::DbError;

/// Loads one stored query into the matcher.
pub(crate) fn put_stored(
    conn: &Connection,
    matcher: &mut dyn EntryMatcher,
    id: QueryId,
) -> Result<(), DbError> {
    let sql = "select name, text, since_entry, owner, shared from queries where id = $1";
    let found = conn
        .prepare_cached(sql)?
        .query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, scope(row, 3)?)));
    let (name, text, since, scope): (String, String, i64, QueryScope) = found?;
    matcher.set_scope(id, scope);
    let foreign = matcher.put(id, &name, &text, &records(conn, id)?);
    matcher.note_since(id, EntryId(since));
    foreign.into_iter().try_for_each(|number| forget_state(conn, id, number))
}

/// Loads all stored queries into the matcher, with or without their state.
pub(crate) fn load(
    conn: &Connection,
    matcher: &mut dyn EntryMatcher,
    memory: bool,
) -> Result<(), DbError> {
    let sql = "select id, name, text, since_entry, owner, shared from queries order by id";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let texts = (row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        Ok((QueryId(row.get(0)?), texts, row.get(3).map(EntryId)?, scope(row, 4)?))
    })?;
    for row in rows {
        let (id, (name, text), since, scope) = row?;
        matcher.set_scope(id, scope);
        let records = if memory { records(conn, id)? } else { Vec::new() };
        for foreign in matcher.put(id, &name, &text, &records) {
            forget_state(conn, id, foreign)?;
        }
        matcher.note_since(id, since);
    }
    Ok(())
}

/// Reads two columns: the owner and whether the query is shared.
pub(crate) fn scope(row: &Row<'_>, first: usize) -> crate::db::sql::Result<QueryScope> {
    let owner: Option<i64> = row.get(first)?;
    Ok(QueryScope { owner: owner.map(AccountId), shared: row.get::<_, i64>(first + 1)? != 0 })
}

fn records(conn: &Connection, id: QueryId) -> Result<Vec<(u64, Vec<u8>)>, DbError> {
    let sql = "select number, bytes from query_states where query = $1 order by number";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement
        .query_map([id.0], |row| Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn change_states(
    conn: &Connection,
    changes: &[QueryStateChange],
) -> Result<(), DbError> {
    for change in changes {
        match change {
            QueryStateChange::Remember { query, number, bytes } => {
                let sql = "insert into query_states (query, number, bytes) values ($1, $2, $3) \
                           on conflict (query, number) do update set bytes = excluded.bytes";
                conn.prepare_cached(sql)?.execute(params![query.0, number.cast_signed(), bytes])?;
            }
            QueryStateChange::Forget { query, number } => forget_state(conn, *query, *number)?,
        }
    }
    Ok(())
}

pub(crate) fn forget_state(conn: &Connection, query: QueryId, number: u64) -> Result<(), DbError> {
    let sql = "delete from query_states where query = $1 and number = $2";
    conn.prepare_cached(sql)?.execute(params![query.0, number.cast_signed()])?;
    Ok(())
}

//! The stored queries and the state that they remember, as the matcher gets and changes them.

use crate::db::sql::{Connection, params};

use super::{EntryMatcher, QueryId, QueryStateChange};
use crate::error::DbError;

/// Loads one stored query into the matcher.
pub(crate) fn put_stored(
    conn: &Connection,
    matcher: &mut dyn EntryMatcher,
    id: QueryId,
) -> Result<(), DbError> {
    let sql = "select name, text from queries where id = $1";
    let (name, text): (String, String) =
        conn.prepare_cached(sql)?.query_row([id.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let foreign = matcher.put(id, &name, &text, &records(conn, id)?);
    foreign.into_iter().try_for_each(|number| forget_state(conn, id, number))
}

/// Loads all stored queries into the matcher, with or without their state.
pub(crate) fn load(
    conn: &Connection,
    matcher: &mut dyn EntryMatcher,
    memory: bool,
) -> Result<(), DbError> {
    let mut statement = conn.prepare_cached("select id, name, text from queries order by id")?;
    let rows = statement.query_map([], |row| {
        Ok((QueryId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    })?;
    for row in rows {
        let (id, name, text) = row?;
        let records = if memory { records(conn, id)? } else { Vec::new() };
        for foreign in matcher.put(id, &name, &text, &records) {
            forget_state(conn, id, foreign)?;
        }
    }
    Ok(())
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

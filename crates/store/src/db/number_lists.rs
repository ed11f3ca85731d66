//! Long lists of feeds as one value. PostgreSQL sends a message for each row, and twenty thousand
//! messages take longer than the search for their rows. SQLite needs no messages.

use feed::FeedId;

use crate::db::sql::{Connection, Result, Row, SqlError};

/// Returns SQL for a column with numbers of feeds, which [`each`] reads. On PostgreSQL it is one
/// value for all rows of a group. So a statement has to name its groups, or there is one.
pub(crate) fn column(conn: &Connection, name: &str) -> String {
    match conn {
        Connection::Sqlite(_) => name.to_owned(),
        Connection::Postgres(_) => format!("string_agg(int8send({name}), '')"),
    }
}

/// Returns SQL for the groups of such a statement.
pub(crate) fn grouped_by(conn: &Connection, name: &str) -> String {
    match conn {
        Connection::Sqlite(_) => String::new(),
        Connection::Postgres(_) => format!("group by {name}"),
    }
}

/// Calls a function with each feed in such a column of a row.
pub(crate) fn each(
    conn: &Connection,
    row: &Row<'_>,
    column: usize,
    mut visit: impl FnMut(FeedId),
) -> Result<()> {
    let Connection::Postgres(_) = conn else {
        visit(FeedId(row.get(column)?));
        return Ok(());
    };
    let bytes: Option<Vec<u8>> = row.get(column)?;
    for number in bytes.unwrap_or_default().as_chunks::<8>().0 {
        let number = u32::try_from(i64::from_be_bytes(*number));
        visit(FeedId(number.map_err(|_| SqlError::value("a feed has a number out of range"))?));
    }
    Ok(())
}

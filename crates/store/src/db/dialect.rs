//! The SQL that must differ between SQLite and PostgreSQL. Everything else is one text for both.

use crate::db::sql::{Connection, Result, params};

/// Counts the tables of the database, to tell an empty one.
pub(crate) fn n_tables(conn: &Connection) -> Result<i64> {
    let sql = match conn {
        Connection::Sqlite(_) => "select count(*) from sqlite_schema where type = 'table'",
        Connection::Postgres(_) => {
            "select count(*) from pg_catalog.pg_tables where schemaname = current_schema()"
        }
    };
    conn.query_row(sql, [], |row| row.get(0))
}

/// Returns the names of all tables, as a list for a statement that locks them. The lock of SQLite
/// covers the whole file.
pub(crate) fn table_names(conn: &Connection) -> Result<String> {
    match conn {
        Connection::Sqlite(_) => Ok(String::new()),
        Connection::Postgres(_) => {
            let sql = "select coalesce(string_agg(quote_ident(tablename), ', '), '') \
                       from pg_catalog.pg_tables where schemaname = current_schema()";
            conn.query_row(sql, [], |row| row.get(0))
        }
    }
}

/// Reads the feed of every entry from an index. PostgreSQL chooses the index by itself; SQLite
/// would read the table.
pub(crate) fn feeds_of_entries(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => {
            "select id, feed from entries indexed by entries_newest where $1 = 0"
        }
        Connection::Postgres(_) => "select id, feed from entries where $1 = 0",
    }
}

/// The table with the orders of feeds that few polls change. It has the columns of `feed_state` by
/// these names. On PostgreSQL they are a table of their own: an index on `feed_state` would cost
/// every poll an entry, also if its columns stay the same.
pub(crate) fn feed_orders(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => "feed_state",
        Connection::Postgres(_) => "feed_orders",
    }
}

/// Locks the rows that a statement reads, so that no other process changes them before this one
/// writes them. SQLite has one writer.
pub(crate) fn for_update(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => "",
        Connection::Postgres(_) => " for update",
    }
}

/// Locks rows against other changes. Unlike [`for_update`], it lets others insert rows that refer
/// to them. SQLite has one writer.
pub(crate) fn for_no_key_update(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => "",
        Connection::Postgres(_) => " for no key update",
    }
}

/// Keeps the rows that a statement reads from being deleted before this transaction ends. The
/// statement skips a row that another process deletes at the same time. SQLite has one writer.
pub(crate) fn for_key_share(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => "",
        Connection::Postgres(_) => " for key share",
    }
}

/// Lets one transaction at a time change the rows of a subject, until it ends. It is for changes
/// that count rows first, or that make a row which another process may make too. It waits for no
/// answer of the server. SQLite has one writer.
pub(crate) fn one_at_a_time(conn: &Connection, subject: LockSubject, number: i64) -> Result<()> {
    let Connection::Postgres(_) = conn else { return Ok(()) };
    let name = subject.name();
    conn.control(&format!(
        "select pg_advisory_xact_lock(hashtextextended('tidings {name} ' || current_schema(), \
         {number}))"
    ))
}

/// The rows that one transaction at a time may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockSubject {
    /// The rows of one account that have a limit: labels, tokens and shared services.
    Account,
    /// The lists of one account that can be undone.
    Undo,
    /// Identities at login providers.
    Identities,
    /// Devices for push notifications.
    Devices,
    /// Requests to our hub.
    HubRequests,
    /// The addresses of feeds.
    Addresses,
}

impl LockSubject {
    const fn name(self) -> &'static str {
        match self {
            LockSubject::Account => "account",
            LockSubject::Undo => "undo",
            LockSubject::Identities => "identities",
            LockSubject::Devices => "devices",
            LockSubject::HubRequests => "hub requests",
            LockSubject::Addresses => "addresses",
        }
    }
}

/// The elements of a JSON array, which is a parameter, as rows with the column `value`. Statements
/// use this for long lists: one statement instead of one for each element.
pub(crate) fn json_elements(conn: &Connection, parameter: &str) -> String {
    match conn {
        Connection::Sqlite(_) => format!("json_each({parameter})"),
        Connection::Postgres(_) => {
            format!("json_array_elements(cast(cast({parameter} as text) as json))")
        }
    }
}

/// Selects the numbers of such an array.
pub(crate) fn json_numbers(conn: &Connection, parameter: &str) -> String {
    let elements = json_elements(conn, parameter);
    format!("select cast(cast(value as text) as bigint) from {elements}")
}

/// The bytes that a text of hexadecimal digits stands for.
pub(crate) fn bytes_of_hex(conn: &Connection, text: &str) -> String {
    match conn {
        Connection::Sqlite(_) => format!("unhex({text})"),
        Connection::Postgres(_) => format!("decode({text}, 'hex')"),
    }
}

/// The clock of the database in milliseconds.
pub(crate) fn now_ms(conn: &Connection) -> &'static str {
    match conn {
        Connection::Sqlite(_) => "cast(unixepoch('subsec') * 1000 as integer)",
        Connection::Postgres(_) => "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
    }
}

/// Returns the last number that the database gave to a row of a table, whose column is `id`; 0
/// before the first. PostgreSQL does not count numbers that a statement gave itself.
pub(crate) fn last_number(conn: &Connection, table: &str) -> Result<i64> {
    let sql = match conn {
        Connection::Sqlite(_) => {
            "select coalesce((select seq from sqlite_sequence where name = $1), 0)"
        }
        Connection::Postgres(_) => {
            "select coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass), 0)"
        }
    };
    conn.query_row(sql, [table], |row| row.get(0))
}

/// Sets the last number that the database gave. The next row gets the one after it.
pub(crate) fn set_last_number(conn: &Connection, table: &str, last: i64) -> Result<()> {
    match conn {
        Connection::Sqlite(_) => {
            conn.execute("delete from sqlite_sequence where name = $1", [table])?;
            let sql = "insert into sqlite_sequence (name, seq) select $1, $2 where $2 > 0";
            conn.execute(sql, params![table, last])?;
        }
        Connection::Postgres(_) => {
            // A sequence cannot stand at 0. It can say that it has not given its first number.
            let sql = "select setval(pg_get_serial_sequence($1, 'id'), $2::bigint, $3)";
            conn.query_row(sql, params![table, last.max(1), last > 0], |_| Ok(()))?;
        }
    }
    Ok(())
}

/// Returns the bytes of all tables with their indexes. The files of SQLite say this themselves.
pub(crate) fn table_bytes(conn: &Connection) -> Result<u64> {
    let Connection::Postgres(_) = conn else { return Ok(0) };
    let sql = "select coalesce(sum(pg_total_relation_size(oid)), 0)::bigint from pg_class \
               where relkind = 'r' and relnamespace = current_schema()::regnamespace";
    let bytes: i64 = conn.query_row(sql, [], |row| row.get(0))?;
    Ok(bytes.max(0).unsigned_abs())
}

/// Completes a store that was filled at once: PostgreSQL counts the rows for its plans, SQLite
/// moves its log into the file.
pub(crate) fn after_filling<'a>(
    conn: &Connection,
    tables: impl Iterator<Item = &'a str>,
) -> Result<()> {
    match conn {
        Connection::Sqlite(_) => conn.execute_batch("pragma wal_checkpoint(truncate)"),
        Connection::Postgres(_) => {
            let tables: Vec<String> = tables.map(|name| format!("\"{name}\"")).collect();
            conn.execute_batch(&format!("analyze {}", tables.join(", ")))
        }
    }
}

/// The steps whose text for PostgreSQL is written by hand, by name.
const OWN_STEPS: &[(&str, &str)] =
    &[("orders", include_str!("../../migrations/17_orders.postgres.sql"))];

/// The steps from before stores on PostgreSQL. There they run in an empty database, and SQLite has
/// its own statements for old rows.
const FIRST_STEPS: [&str; 14] = [
    "start",
    "queries",
    "people",
    "push",
    "tag numbers",
    "waiting",
    "validators",
    "reading choices",
    "warnings",
    "kinds",
    "hub limits",
    "provenance",
    "counts",
    "stream",
];

/// Translates a step of the schema.
///
/// PostgreSQL gets the same tables with its own names of types. Texts compare byte by byte, as in
/// SQLite, whatever the locale of the database is. Statements of [`FIRST_STEPS`] that rewrite rows
/// are left out.
pub(crate) fn schema_step(conn: &Connection, name: &str, sql: &str) -> String {
    match conn {
        Connection::Sqlite(_) => sql.to_owned(),
        Connection::Postgres(_) => {
            if let Some((_, own)) = OWN_STEPS.iter().find(|(step, _)| *step == name) {
                return (*own).to_owned();
            }
            let plain = without_comments(sql);
            let statements = plain.split(';').map(str::trim).filter(|text| !text.is_empty());
            let rewrites = !FIRST_STEPS.contains(&name);
            statements
                .filter_map(|text| postgres_statement(text, rewrites))
                .collect::<Vec<_>>()
                .join(";\n")
        }
    }
}

fn without_comments(sql: &str) -> String {
    sql.lines()
        .map(|line| line.split("--").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Translates a statement. `rewrites` tells whether the database may have rows that it rewrites.
fn postgres_statement(sql: &str, rewrites: bool) -> Option<String> {
    if sql.starts_with("create virtual table search") {
        return Some(SEARCH.to_owned());
    }
    if sql.contains("randomblob") {
        let own = "insert into settings (key, value) select 'instance', gen_random_uuid()::text";
        return Some(own.to_owned());
    }
    let is_rewrite = sql.starts_with("update ") || sql.starts_with("delete ");
    if is_rewrite && rewrites {
        return Some(sql.to_owned());
    }
    if is_rewrite || sql.contains("sqlite_sequence") {
        return None;
    }
    if sql.starts_with("insert into tag_numbers") {
        // The sequence does not know about a number that a statement gave itself.
        let on = "alter table tag_numbers alter column id restart with 2";
        return Some(format!("{sql};\n{on}"));
    }
    let is_definition = sql.starts_with("create table") || sql.starts_with("alter table");
    if !is_definition {
        return Some(sql.to_owned());
    }
    let identity = "bigint generated by default as identity primary key";
    let typed = sql
        .replace("integer primary key autoincrement", identity)
        .replace("integer primary key", "bigint primary key")
        .replace(") without rowid", ")")
        .replace(" blob", " bytea");
    let typed = collated(&typed);
    // Every poll rewrites these rows. With room on its page, a row needs no new index entries.
    let is_rewritten = typed.starts_with("create table feed_window")
        || typed.starts_with("create table feed_state")
        || typed.starts_with("create table domains");
    Some(if is_rewritten { format!("{typed} with (fillfactor = 70)") } else { typed })
}

/// The index of words: a list of words with their places. Title words have the weight A and body
/// words B. `is_long` marks texts whose last words have no place of their own.
const SEARCH: &str = "create table search (
  entry bigint primary key references entries (id) on delete cascade,
  words tsvector not null,
  is_long boolean not null
);
create index search_by_word on search using gin (words)";

/// Declares the texts of a table to compare byte by byte.
fn collated(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 64);
    let mut before = "";
    for word in sql.split_inclusive(|c: char| c.is_whitespace()) {
        let bare = word.trim_end();
        let name = bare.trim_end_matches([',', ')']);
        // A type follows the name of its column.
        let column = before.trim_start_matches('(');
        let is_type = name == "text" && column.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_type && !column.is_empty() {
            out.push_str("text collate \"C\"");
            out.push_str(&word["text".len()..]);
        } else {
            out.push_str(word);
        }
        before = bare;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_compare_by_bytes_and_columns_may_be_called_text() {
        let sql =
            "create table q (\n  name text not null unique,\n  text text not null, note text)";
        let expect = "create table q (\n  name text collate \"C\" not null unique,\n  \
                      text text collate \"C\" not null, note text collate \"C\")";
        assert_eq!(collated(sql), expect);
        assert_eq!(
            collated("create table m (key text)"),
            "create table m (key text collate \"C\")"
        );
    }
}

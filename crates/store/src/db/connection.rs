//! Opens connections and sets them up: durability, cache sizes and timeouts.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use crate::db::sql::{Connection, Result};

/// Another process locks the database for one group commit at a time. A longer lock means that it
/// hangs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Pages in the write-ahead log before a checkpoint. Every poll rewrites the same pages, so a
/// longer log saves most of these writes. After a crash, SQLite reads 16 MB back in well under a
/// second.
const LOG_PAGES: i64 = 4000;

/// The size to which SQLite truncates the log after a burst.
const LOG_BYTES_MAX: i64 = 32 << 20;

/// Page cache in KiB (SQLite expects a negative number). The writer rewrites the same pages;
/// readers rely on the cache of the operating system.
const WRITER_CACHE_KIB: i64 = 8 * 1024;
const READER_CACHE_KIB: i64 = 1024;

/// More than there are statements, so that no statement is prepared twice.
const STATEMENTS_MAX: usize = 256;

/// Opens a database for writing and creates it if it is missing.
pub(crate) fn writing(path: &Path) -> Result<Connection> {
    make_private(path);
    open_writing(path, OpenFlags::SQLITE_OPEN_CREATE)
}

/// Opens a database for writing that another process has created.
pub(crate) fn sharing(path: &Path) -> Result<Connection> {
    open_writing(path, OpenFlags::empty())
}

fn open_writing(path: &Path, more: OpenFlags) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let conn = rusqlite::Connection::open_with_flags(path, flags)?;
    set_up(&conn, WRITER_CACHE_KIB)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    // A commit that was confirmed survives a power cut.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    Ok(Connection::Sqlite(conn))
}

/// Creates the file before SQLite does, readable by its owner only: feed addresses may contain
/// passwords. SQLite gives the log the same mode. If this fails, opening the file reports the
/// reason.
fn make_private(path: &Path) {
    let mut options = OpenOptions::new();
    let _ = options.write(true).create(true).truncate(false).mode(0o600).open(path);
}

pub(crate) fn reading(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = rusqlite::Connection::open_with_flags(path, flags)?;
    set_up(&conn, READER_CACHE_KIB)?;
    Ok(Connection::Sqlite(conn))
}

fn set_up(conn: &rusqlite::Connection, cache_kib: i64) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Without this setting SQLite may plan a prepared statement again for every bound value, which
    // costs ten times as much as running it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    // Savepoints and sorts need temporary space. A full disk must not make a read fail.
    conn.pragma_update(None, "temp_store", "memory")
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_prepared_statement_is_planned_once_whatever_is_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let conn = writing(&path).unwrap();
        conn.execute_batch(include_str!("../../migrations/01_start.sql")).unwrap();
        let sql = "select f.url, t.tag from feeds f join feed_tags t on t.feed = f.id \
                   join tag_settings s on s.tag = t.tag where f.id = $1 order by t.tag";
        for conn in [conn, reading(&path).unwrap()] {
            let mut statement = conn.sqlite().unwrap().prepare(sql).unwrap();
            for n in 0..10 {
                assert!(!statement.exists([n]).unwrap());
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}

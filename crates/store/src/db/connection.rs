//! How a connection is opened and set up; the figures behind durability and memory are here.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

/// Another process holds the database for one group commit at a time; longer means it hangs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Pages in the log before they go into the file. Hot pages are rewritten by every poll, so a
/// longer log saves most of that; 16 MB are read back in a blink after a crash.
const LOG_PAGES: i64 = 4000;

/// The log shrinks back to this after a burst.
const LOG_BYTES_MAX: i64 = 32 << 20;

/// Page cache in KiB (SQLite counts it as negative). The writer rewrites the same pages; readers
/// live from the system's cache.
const WRITER_CACHE_KIB: i64 = 8 * 1024;
const READER_CACHE_KIB: i64 = 1024;

/// More than there are statements, so that none is ever prepared twice.
const STATEMENTS_MAX: usize = 128;

/// Opens a database to write, and makes it where there is none.
pub(crate) fn writing(path: &Path) -> rusqlite::Result<Connection> {
    make_private(path);
    open_writing(path, OpenFlags::SQLITE_OPEN_CREATE)
}

/// Opens a database to write that another process has made.
pub(crate) fn sharing(path: &Path) -> rusqlite::Result<Connection> {
    open_writing(path, OpenFlags::empty())
}

fn open_writing(path: &Path, more: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let conn = Connection::open_with_flags(path, flags)?;
    set_up(&conn, WRITER_CACHE_KIB)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    // A commit that was answered survives a power cut.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES_MAX)?;
    Ok(conn)
}

/// Makes the file before SQLite does, for its owner alone: passwords stand in the addresses of
/// feeds. The log beside it gets the same mode. Where that fails, opening it says why.
fn make_private(path: &Path) {
    let mut options = OpenOptions::new();
    let _ = options.write(true).create(true).truncate(false).mode(0o600).open(path);
}

pub(crate) fn reading(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    set_up(&conn, READER_CACHE_KIB)?;
    Ok(conn)
}

fn set_up(conn: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // Without it SQLite may plan a prepared statement anew for every value bound to it, which
    // costs ten times what running it does.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    // Savepoints and sorts need scratch space; a full disk must not fail a read.
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
            let mut statement = conn.prepare(sql).unwrap();
            for n in 0..10 {
                assert!(!statement.exists([n]).unwrap());
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}

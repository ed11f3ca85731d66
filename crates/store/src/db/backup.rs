//! Makes and restores backups of the store, also while it is in use. A copy is one file. It is
//! complete and checked before it gets its name.
//!
//! Nothing here schedules backups or deletes old ones: that is the operator's task.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::OpenFlags;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use tempfile::NamedTempFile;

use crate::db::FILE_NAME;
use crate::db::connection;
use crate::db::file_identity::with_ending;
use crate::db::integrity;
use crate::db::migrations;
use crate::db::schema;
use crate::db::sql::{Connection, params};
use crate::error::{DbError, shown};
use crate::{Lock, StoreError};

/// Pages copied between two reports of progress: 16 MB, a fraction of a second.
const STEP_PAGES: std::ffi::c_int = 4096;
const CHUNK_BYTES: usize = 1 << 20;

/// Added to the next entry number of a restored store, and to the next position of each query.
/// Entries recorded after the backup are lost, but readers may hold their numbers as cursors. If
/// the store gave these numbers again, such a reader would skip new entries. No instance records so
/// many entries between two backups.
const ENTRIES_SKIP: i64 = 10_000_000;
/// The same for query numbers, which are part of cursors, and for tag numbers, which reader apps
/// store.
const QUERIES_SKIP: i64 = 1000;
const TAGS_SKIP: i64 = 1000;
/// The same for feed numbers, which apps and scripts store: the number of a lost feed must not name
/// another feed. The largest list that can be imported at once names fewer feeds.
const FEEDS_SKIP: i64 = 100_000;

/// The name of the file that a restore has replaced.
const REPLACED: &str = "tidings.db.replaced";

/// The contents of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    pub feeds: u64,
    pub entries: u64,
    pub bytes: u64,
    /// An older program wrote it. The store migrates it when it is opened for writing.
    pub is_older: bool,
}

/// Copies the store of a data folder to a file. The copy shows the store at one moment, however
/// much is recorded meanwhile. `progress` gets the bytes done and the total.
pub fn backup(
    folder: &Path,
    to: &Path,
    overwrite: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<BackupSummary, StoreError> {
    let path = folder.join(FILE_NAME);
    let file = shown(&path);
    if !path.exists() {
        return Err(StoreError::Missing { file });
    }
    if !overwrite && to.exists() {
        return Err(StoreError::Exists { file: shown(to) });
    }
    let target = folder_of(to);
    let copy = NamedTempFile::new_in(&target).map_err(|e| StoreError::file(to, &e))?;
    copy_pages(&path, copy.path(), progress).map_err(|fault| fault.at(&file))?;
    let copied = examine(copy.path(), CopySource::Own)?;
    copy.as_file().sync_all().map_err(|e| StoreError::file(to, &e))?;
    let named = if overwrite { copy.persist(to) } else { copy.persist_noclobber(to) };
    named.map_err(|e| StoreError::file(to, &e.error))?;
    sync_folder(&target)?;
    Ok(copied)
}

/// Replaces the store of a data folder by a backup. The replaced file stays in the folder under
/// another name. The lock proves that no other process uses the folder.
pub fn restore(
    folder: &Path,
    mut from: impl Read,
    overwrite: bool,
    _lock: &Lock,
    progress: &mut dyn FnMut(u64),
) -> Result<BackupSummary, StoreError> {
    let path = folder.join(FILE_NAME);
    if !overwrite && path.exists() {
        return Err(StoreError::Exists { file: shown(&path) });
    }
    let failed = |e: std::io::Error| StoreError::file(&path, &e);
    let mut copy = NamedTempFile::new_in(folder).map_err(failed)?;
    let (mut chunk, mut done) = (vec![0; CHUNK_BYTES], 0);
    loop {
        let n = from.read(&mut chunk).map_err(failed)?;
        if n == 0 {
            break;
        }
        copy.write_all(&chunk[..n]).map_err(failed)?;
        done += n as u64;
        progress(done);
    }
    let copied = examine(copy.path(), CopySource::Foreign)?;
    skip_numbers(copy.path()).map_err(|fault| fault.at(&shown(&path)))?;
    copy.as_file().sync_all().map_err(failed)?;
    set_aside(folder)?;
    copy.persist(&path).map_err(|e| StoreError::file(&path, &e.error))?;
    sync_folder(folder)?;
    Ok(copied)
}

/// The origin of a copy, which decides how strictly it is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CopySource {
    /// This process has just made it. An index that the operator added must not make the backup
    /// fail.
    Own,
    /// It may come from anywhere, so its schema must be exactly the one that this program makes.
    Foreign,
}

/// Checks every page and index of a copy, and that this program can use it.
fn examine(path: &Path, trust: CopySource) -> Result<BackupSummary, StoreError> {
    let file: Arc<str> = Arc::from("the copy");
    let look = || -> Result<BackupSummary, DbError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let conn = rusqlite::Connection::open_with_flags(path, flags)?;
        // Until the schema is compared, nothing in it may run functions with side effects.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        let conn = Connection::Sqlite(conn);
        let version = migrations::known_version(&conn, &file)?;
        let altered = |what| StoreError::Altered { file: Arc::clone(&file), what };
        if trust == CopySource::Foreign
            && let Some(what) = schema::differences(&conn, version)?.into_iter().next()
        {
            return Err(altered(what).into());
        }
        let said: String =
            conn.query_row("pragma integrity_check(1)", [], |row| row.get::<_, String>(0))?;
        if said != "ok" {
            return Err(StoreError::damaged(&file, said).into());
        }
        if trust == CopySource::Foreign
            && let Some((table, parent)) = integrity::broken_references(&conn)?.into_iter().next()
        {
            let what = format!("a row of {table} refers to a row of {parent} that is missing");
            return Err(altered(what).into());
        }
        let sql = "select count(*), coalesce(sum(entries), 0) from feed_state";
        let (feeds, entries) = conn.query_row(sql, [], |row| {
            Ok((crate::db::columns::count(row, 0)?, crate::db::columns::count(row, 1)?))
        })?;
        let bytes = std::fs::metadata(path).map_or(0, |meta| meta.len());
        let is_older = version < migrations::current_version();
        Ok(BackupSummary { feeds, entries, bytes, is_older })
    };
    look().map_err(|fault| fault.at(&file))
}

fn copy_pages(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), DbError> {
    let from_name = shown(from);
    let from = connection::reading(from)?;
    migrations::known_version(&from, &from_name)?;
    // One read transaction spans the whole copy. Without it every commit of the daemon would
    // restart the copy, and under load it would never end.
    from.execute_batch("begin")?;
    from.query_row("select count(*) from meta", [], |_| Ok(()))?;
    let page: u64 =
        from.query_row("pragma page_size", [], |row| crate::db::columns::count(row, 0))?;
    let mut to = rusqlite::Connection::open(to)?;
    // A power cut during the copy loses only the temporary file. The complete copy is synced at the
    // end.
    to.pragma_update(None, "synchronous", "off")?;
    let copy = Backup::new(from.sqlite()?, &mut to)?;
    loop {
        let stepped = copy.step(STEP_PAGES)?;
        let (left, all) = (copy.progress().remaining, copy.progress().pagecount);
        let pages = |n: std::ffi::c_int| u64::from(n.unsigned_abs()) * page;
        progress(pages(all - left), pages(all));
        match stepped {
            StepResult::Done => break,
            StepResult::More => {}
            // No other process uses the copy, and readers of the source never wait for a lock.
            _ => {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                )
                .into());
            }
        }
    }
    drop(copy);
    // The copy is one file without a write-ahead log.
    to.pragma_update(None, "journal_mode", "delete")?;
    to.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn skip_numbers(path: &Path) -> Result<(), DbError> {
    let conn = rusqlite::Connection::open(path)?;
    // A copy made with other tools may still be in WAL mode.
    conn.pragma_update(None, "journal_mode", "delete")?;
    let conn = Connection::Sqlite(conn);
    skip_table_numbers(&conn, "feeds", FEEDS_SKIP)?;
    skip_table_numbers(&conn, "tag_numbers", TAGS_SKIP)?;
    let sql = "select 1 from sqlite_schema where name = 'account_tags'";
    if conn.prepare_cached(sql)?.exists([])? {
        conn.execute("update accounts set last_tag = last_tag + $1", [TAGS_SKIP])?;
    }
    skip_entries(&conn)?;
    let sql = "select 1 from sqlite_schema where name = 'queries'";
    if conn.prepare_cached(sql)?.exists([])? {
        skip_positions(&conn)?;
    }
    Ok(())
}

/// Moves the next entry number on, and notes the gap. For a copy of an older program, a migration
/// adds what is missing.
fn skip_entries(conn: &Connection) -> Result<(), DbError> {
    let mut exists =
        conn.prepare_cached("select 1 from sqlite_schema where type = 'table' and name = $1")?;
    let gap = if exists.exists(["stream"])? {
        conn.execute("update stream set last_entry = last_entry + $1", [ENTRIES_SKIP])?;
        "insert into entry_gaps (first, last) select last_entry - $1 + 1, last_entry from stream"
    } else {
        skip_table_numbers(conn, "entries", ENTRIES_SKIP)?;
        "insert into entry_gaps (first, last) select seq - $1 + 1, seq \
         from sqlite_sequence where name = 'entries'"
    };
    if exists.exists(["entry_gaps"])? {
        conn.execute(gap, [ENTRIES_SKIP])?;
    }
    Ok(())
}

/// Moves receivers that were up to date along with the query. Other receivers find a gap after
/// their remaining matches.
fn skip_positions(conn: &Connection) -> Result<(), DbError> {
    for table in ["deliveries", "hub_subscriptions"] {
        let sql = format!(
            "update {table} set position = position + $1 where position = \
             (select q.last_position from queries q where q.id = {table}.query)"
        );
        conn.execute(&sql, [ENTRIES_SKIP])?;
    }
    conn.execute("update queries set last_position = last_position + $1", [ENTRIES_SKIP])?;
    skip_table_numbers(conn, "queries", QUERIES_SKIP)
}

/// Moves the next number of a table on. Tables without a number count too: the lost store may have
/// given some.
fn skip_table_numbers(conn: &Connection, table: &str, by: i64) -> Result<(), DbError> {
    let sql = "insert into sqlite_sequence (name, seq) select $1, 0 where not exists \
               (select 1 from sqlite_sequence where name = $1) \
               and exists (select 1 from sqlite_schema where name = $1)";
    conn.execute(sql, [table])?;
    let sql = "update sqlite_sequence set seq = seq + $1 where name = $2";
    conn.execute(sql, params![by, table])?;
    Ok(())
}

/// Renames the store to its backup name and moves its log away. SQLite would otherwise play that
/// log into the restored file.
fn set_aside(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        return Ok(());
    }
    // An intact store takes its log into the file. A damaged one keeps its log.
    let _ = connection::writing(&path)
        .and_then(|conn| conn.execute_batch("pragma wal_checkpoint(truncate)"));
    let kept = folder.join(REPLACED);
    let failed = |e: std::io::Error| StoreError::file(&kept, &e);
    for old in [kept.clone(), with_ending(&kept, "-wal")] {
        remove(&old).map_err(failed)?;
    }
    std::fs::hard_link(&path, &kept).map_err(failed)?;
    let log = with_ending(&path, "-wal");
    if log.exists() {
        std::fs::rename(&log, with_ending(&kept, "-wal")).map_err(failed)?;
    }
    remove(&with_ending(&path, "-shm")).map_err(failed)
}

fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A new name survives a power cut only once its folder is synced.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let synced = std::fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| StoreError::file(folder, &e))
}

//! Files that are missing, damaged, foreign, locked, read-only, older or newer.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use store::{ErrorKind, LockError, OpenMode, Store, StoreError};

use crate::db::full_disk::SmallDisk;
use crate::sample::{T0, add, at, fresh, guids, items, new_feed, poll, seen};

fn database(folder: &Path) -> std::path::PathBuf {
    folder.join("tidings.db")
}

fn refusal(folder: &Path, mode: OpenMode) -> StoreError {
    match Store::open(store::testing::location(folder), mode) {
        Ok(_) => panic!("opened"),
        Err(error) => error,
    }
}

#[test]
fn to_read_there_must_be_something() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(refusal(folder.path(), OpenMode::ReadOnly), StoreError::Missing { .. }));
    assert!(!database(folder.path()).exists(), "reading makes no file");
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let f = fresh();
    add(&f.store, "https://me:secret@example.org/f");
    let folder = f.store.path().parent().unwrap();
    for name in ["tidings.db", "tidings.db-wal", "tidings.db-shm"] {
        let mode = fs::metadata(folder.join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[test]
fn a_reading_store_refuses_to_write_and_names_the_file() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    add(&f.store, "https://example.org/a");
    let reading =
        Store::open(store::testing::location(f.folder.path()), OpenMode::ReadOnly).unwrap();
    assert_eq!(reading.feed_count().unwrap(), 1);
    let error = reading.add_feed(&new_feed("https://example.org/b"), T0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly);
    assert!(error.to_string().contains("tidings.db"), "{error}");
}

#[test]
fn a_read_only_file_gives_a_clear_error() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(1));
    let folder = f.folder;
    drop(f.store);
    let path = database(folder.path());
    let mut mode = fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).unwrap();
    // Root may write read-only files, so the file system is mounted read-only.
    if fs::OpenOptions::new().write(true).open(&path).is_err() {
        check_read_only(folder.path());
        let readable =
            Store::open(store::testing::location(folder.path()), OpenMode::ReadOnly).unwrap();
        return assert_eq!(guids(&readable), ["1"]);
    }
    let Some(disk) = SmallDisk::mount() else { return };
    for file in fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), disk.path().join(file.file_name())).unwrap();
    }
    disk.remount_read_only();
    check_read_only(disk.path());
}

#[track_caller]
fn check_read_only(folder: &Path) {
    let error = Store::open(store::testing::location(folder), OpenMode::ReadWrite)
        .and_then(|store| store.set_setting("x", Some("y")))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
}

#[test]
fn what_is_no_database_is_refused() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(database(folder.path()), "this is not a database, but it is long enough ".repeat(99))
        .unwrap();
    for mode in [OpenMode::ReadWrite, OpenMode::ReadOnly] {
        let error = refusal(folder.path(), mode);
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("tidings.db"), "{error}");
        assert!(error.to_string().contains("backup"), "{error}");
    }
}

#[test]
fn another_program_s_database_is_left_alone() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let other = Connection::open(database(folder.path())).unwrap();
    other.execute_batch("create table songs (title text)").unwrap();
    assert!(matches!(refusal(folder.path(), OpenMode::ReadWrite), StoreError::Foreign { .. }));
    let tables: i64 =
        other.query_row("select count(*) from sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_newer_database_is_refused() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let folder = f.folder;
    drop(f.store);
    let conn = Connection::open(database(folder.path())).unwrap();
    conn.execute("update meta set value = '999' where key = 'version'", []).unwrap();
    for mode in [OpenMode::ReadWrite, OpenMode::ReadOnly] {
        let error = refusal(folder.path(), mode);
        assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
    }
}

#[test]
fn a_database_of_version_1_is_read_and_goes_on() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(database(folder.path())).unwrap();
    conn.execute_batch(include_str!("../../../migrations/01_start.sql")).unwrap();
    conn.execute_batch(include_str!("../../data/version-1.sql")).unwrap();
    drop(conn);
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    assert_eq!(store.check().unwrap(), []);
    let id = store.find_feed("https://example.org/a").unwrap().unwrap();
    assert_eq!(store.feed(id).unwrap().tags, ["old"]);
    assert_eq!(guids(&store), ["1", "2"]);
    assert_eq!(
        store.poll_input(id).unwrap().document.validators.etag.as_deref(),
        Some(&b"\"84\""[..])
    );
    assert_eq!(poll(&store, id, &["3", "2"], at(1000)), [3], "known entries stay known");
    assert_eq!(store.check().unwrap(), []);
}

#[test]
fn a_damaged_page_is_found() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    for n in 0..40 {
        let names: Vec<String> = (0..10).map(|i| format!("{n}-{i}")).collect();
        let mut shown = items(&names.iter().map(String::as_str).collect::<Vec<_>>());
        shown.iter_mut().for_each(|item| item.content = Some("word ".repeat(300)));
        let record = seen(&f.store, id, &shown, at(n));
        f.store.record_blocking(record).unwrap();
    }
    let folder = f.folder;
    drop(f.store);
    let path = database(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xA5);
    fs::write(&path, bytes).unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    match store.check() {
        Ok(findings) => {
            assert!(findings.iter().any(|f| f.what.contains("damaged")), "{findings:?}");
            assert!(findings.iter().all(|f| f.remedy.contains("backup")), "{findings:?}");
        }
        Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
    }
}

#[test]
fn what_others_changed_behind_our_back_is_found() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1", "2"], at(1));
    assert_eq!(f.store.check().unwrap(), []);
    let conn = Connection::open(database(f.folder.path())).unwrap();
    conn.execute_batch("pragma foreign_keys = off").unwrap();
    let found = |change: &str, word: &str, undo: &str| {
        conn.execute_batch(change).unwrap();
        let findings = f.store.check().unwrap();
        assert!(findings.iter().any(|one| one.what.contains(word)), "{word}: {findings:?}");
        conn.execute_batch(undo).unwrap();
    };
    let undo = "update feed_state set entries = 2";
    found("update feed_state set entries = 7", "counts 7 entries", undo);
    for (change, word, undo) in [
        ("update totals set n = n + 1 where name = 'polls'", "Polls", "n - 1 where name = 'polls'"),
        (
            "update totals set n = n - 1 where name = 'feeds 0'",
            "Active",
            "n + 1 where name = 'feeds 0'",
        ),
    ] {
        found(change, word, &format!("update totals set n = {undo}"));
    }
    let undo = "update feed_state set state = 0";
    found("update feed_state set state = 5", "stored state", undo);
    let undo = "update feed_state set sort_title = 'https://example.org/a'";
    found("update feed_state set sort_title = 'x'", "stored state", undo);
    let undo = "update domains set feeds = 1";
    found("update domains set feeds = 7", "load of example.org", undo);
    let undo = "update entry_keys set left_window_at = null";
    found("update entry_keys set left_window_at = 5", "marked as left", undo);
    let undo = "delete from feed_tags";
    found("insert into feed_tags values (99, 'x')", "does not exist", undo);
    let undo = "select 1";
    found("delete from entry_keys", "unknown entries", undo);
    found("update feed_window set shown = x'0900'", "window is damaged", undo);
    found("delete from feed_window", "validators", undo);
}

#[test]
fn a_damaged_window_is_rebuilt_by_the_next_poll() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1", "2"], at(1));
    let conn = Connection::open(database(f.folder.path())).unwrap();
    conn.execute("update feed_window set shown = x'0900'", []).unwrap();
    assert!(f.store.poll_input(id).unwrap().document.window.entries().is_empty());
    assert_eq!(poll(&f.store, id, &["2", "3"], at(2)), [3], "known by key, not by window");
    assert_eq!(f.store.check().unwrap(), []);
    let left: i64 = conn
        .query_row("select count(*) from entry_keys where left_window_at is not null", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(left, 1, "what the unreadable window held is marked as left all the same");
}

#[test]
fn a_locked_database_says_busy_and_works_again_afterwards() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let other = Connection::open(database(f.folder.path())).unwrap();
    other.execute_batch("begin immediate").unwrap();
    let error = f.store.set_setting("x", Some("y")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    assert_eq!(f.store.setting("x").unwrap(), None, "reading goes on");
    other.execute_batch("rollback").unwrap();
    f.store.set_setting("x", Some("y")).unwrap();
}

#[test]
fn a_folder_has_one_holder_who_is_named() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let first = store::lock(folder.path()).unwrap();
    let second = store::lock(folder.path()).unwrap_err();
    assert!(matches!(second, LockError::By { pid, .. } if pid == std::process::id()), "{second}");
    assert!(second.is_held());
    drop(first);
    store::lock(folder.path()).unwrap();
}

#[test]
fn what_is_written_into_a_file_that_lost_its_name_is_an_error() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    for name in ["tidings.db", "tidings.db-wal", "tidings.db-shm"] {
        let f = fresh();
        let id = add(&f.store, "https://example.org/a");
        let (path, away) = (f.folder.path().join(name), f.folder.path().join("away"));
        fs::rename(&path, &away).unwrap();
        let record = seen(&f.store, id, &items(&["1"]), at(1));
        let error = f.store.record_blocking(record.clone()).unwrap_err();
        assert!(matches!(error, StoreError::Removed { .. }), "{name}: {error}");
        assert!(f.store.trouble().is_some_and(|why| why.contains(name)), "{name}");
        fs::copy(&away, &path).unwrap();
        let error = f.store.record_blocking(record.clone()).unwrap_err();
        assert!(matches!(error, StoreError::Replaced { .. }), "{name}: {error}");
        fs::rename(&away, &path).unwrap();
        f.store.record_blocking(record).unwrap();
        assert_eq!((f.store.trouble(), guids(&f.store)), (None, vec!["1".to_owned()]), "{name}");
    }
}

#[test]
fn a_shared_store_is_neither_made_nor_brought_up_to_date() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(refusal(folder.path(), OpenMode::Shared), StoreError::Missing { .. }));
    assert!(!database(folder.path()).exists());
    drop(Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap());
    let conn = Connection::open(database(folder.path())).unwrap();
    conn.execute("update meta set value = '1' where key = 'version'", []).unwrap();
    drop(conn);
    assert!(matches!(refusal(folder.path(), OpenMode::Shared), StoreError::Older { .. }));
}

#[test]
fn the_lock_names_the_file_that_its_holder_writes_to() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let held = store::lock(f.folder.path()).unwrap();
    let seen_by_others = || store::lock(f.folder.path()).unwrap_err().has_store(f.folder.path());
    assert_eq!(seen_by_others(), None, "the holder has not opened its store yet");
    held.name_store(f.store.path()).unwrap();
    assert_eq!(seen_by_others(), Some(true));
    let path = database(f.folder.path());
    fs::rename(&path, f.folder.path().join("away")).unwrap();
    assert_eq!(seen_by_others(), Some(false));
    fs::write(&path, "another").unwrap();
    assert_eq!(seen_by_others(), Some(false));
}

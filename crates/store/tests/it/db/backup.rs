//! Backups: complete while the store is in use, refused if they are damaged, foreign or newer, and
//! restored without mixing two stores.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use store::{BackupSummary, ErrorKind, OpenMode, Store, StoreError, backup, lock, restore};

use crate::record::retention::MatchesAll;
use crate::sample::{add, at, fresh, guids, items, poll, seen};

fn quietly(folder: &Path, to: &Path) -> Result<BackupSummary, StoreError> {
    backup(folder, to, false, &mut |_, _| {})
}

fn put_back(folder: &Path, from: &Path, overwrite: bool) -> Result<BackupSummary, StoreError> {
    let held = lock(folder).unwrap();
    restore(folder, File::open(from).unwrap(), overwrite, &held, &mut |_| {})
}

fn database(folder: &Path) -> PathBuf {
    folder.join("tidings.db")
}

#[test]
fn a_copy_made_under_load_is_one_moment_of_the_store() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["first"], at(0));
    // Larger than one step, so that polls are recorded between two of them.
    let mut fat = items(&["fat"]);
    fat[0].content = Some("x".repeat(40 << 20));
    f.store.record_blocking(seen(&f.store, id, &fat, at(1))).unwrap();
    let copy = f.folder.path().join("copy.db");
    let (mut during, mut reports) = (0, Vec::new());
    let copied = backup(f.folder.path(), &copy, false, &mut |done, all| {
        during += 1;
        poll(&f.store, id, &[&format!("during {during}")], at(10 + during));
        reports.push((done, all));
    });
    let copied = copied.unwrap();
    assert!(during > 1 && reports.is_sorted(), "{reports:?}");
    assert_eq!(reports.last().map(|r| r.0), reports.last().map(|r| r.1));
    assert_eq!((copied.feeds, copied.entries, copied.is_older), (1, 2, false));
    assert_eq!(copied.bytes, fs::metadata(&copy).unwrap().len());
    assert_eq!(guids(&f.store).len() as i64, 2 + during, "polls went on meanwhile");

    let elsewhere = tempfile::tempdir().unwrap();
    put_back(elsewhere.path(), &copy, false).unwrap();
    let restored =
        Store::open(store::testing::location(elsewhere.path()), OpenMode::ReadWrite).unwrap();
    assert_eq!(guids(&restored), ["first", "fat"]);
    assert_eq!(restored.check().unwrap(), []);
}

#[test]
fn no_cursor_that_was_handed_out_lies_ahead_of_a_restored_stream() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(1));
    let copy = f.folder.path().join("copy.db");
    quietly(f.folder.path(), &copy).unwrap();
    let lost = poll(&f.store, id, &["2", "1"], at(2));
    let folder = f.folder;
    drop(f.store);
    put_back(folder.path(), &copy, true).unwrap();
    let restored =
        Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    assert_eq!(guids(&restored), ["1"]);
    let again = poll(&restored, id, &["2", "1"], at(3));
    assert!(again[0] > lost[0], "{again:?} after {lost:?}");
}

/// Apps and scripts store the numbers of feeds and tags, and the first copy may contain none.
#[test]
fn no_number_that_was_handed_out_is_given_again_after_a_restore() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let copy = f.folder.path().join("copy.db");
    quietly(f.folder.path(), &copy).unwrap();
    let lost = add(&f.store, "https://example.org/a");
    let (entries, tag) = (poll(&f.store, lost, &["1"], at(2)), f.store.make_tag("a").unwrap());
    let folder = f.folder;
    drop(f.store);
    put_back(folder.path(), &copy, true).unwrap();
    let restored =
        Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    let feed = add(&restored, "https://example.org/b");
    assert!(feed > lost, "{feed} after {lost}");
    assert!(restored.make_tag("b").unwrap() > tag);
    assert!(poll(&restored, feed, &["1"], at(3))[0] > entries[0]);
    assert_eq!(restored.read_marks(store::AccountId::LOCAL).unwrap().n_unread(), 1);
    assert_eq!(restored.check().unwrap(), []);
}

/// The same for matches: the positions of a query are cursors too, and so is its number.
#[tokio::test]
async fn no_cursor_that_was_handed_out_lies_ahead_of_a_restored_query() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let query = |name: &str| {
        store::QueryChange::Put(store::NewQuery {
            name: name.to_owned(),
            text: "x".to_owned(),
            urls: Vec::new(),
            receivers: vec!["file got".to_owned(), "file late".to_owned()],
            scope: store::QueryScope::default(),
            link_key: String::new(),
            signing_key: String::new(),
        })
    };
    let f = fresh();
    f.store.install(Box::new(MatchesAll)).unwrap();
    f.store.change_queries(vec![query("Q")], None, at(0)).unwrap();
    let id = f.store.query("Q").unwrap().unwrap().id;
    let feed = add(&f.store, "https://example.org/a");
    poll(&f.store, feed, &["1"], at(1));
    let got = f.store.deliveries(Some(id)).unwrap().remove(0).id;
    f.store.delivered(got, 0, 1, None, at(2)).await.unwrap();
    let copy = f.folder.path().join("copy.db");
    quietly(f.folder.path(), &copy).unwrap();
    poll(&f.store, feed, &["2", "1"], at(3));
    let lost = f.store.query_entries(id, 1, 9).unwrap().next;
    f.store.change_queries(vec![query("Later")], None, at(4)).unwrap();
    let later = f.store.query("Later").unwrap().unwrap().id;
    let folder = f.folder;
    drop(f.store);

    put_back(folder.path(), &copy, true).unwrap();
    let store = Store::open(store::testing::location(folder.path()), OpenMode::ReadWrite).unwrap();
    store.install(Box::new(MatchesAll)).unwrap();
    assert_eq!(store.check().unwrap(), []);
    assert_eq!(store.status(at(5)).unwrap().deliveries_waiting, 1, "one had not got the first");
    let due: Vec<String> =
        store.deliveries_due(at(5)).unwrap().into_iter().map(|due| due.receiver).collect();
    assert_eq!(due, ["file late"]);
    poll(&store, feed, &["3", "2", "1"], at(6));
    let page = store.query_entries(id, lost, 9).unwrap();
    assert_eq!((page.entries.len(), page.gap), (2, true), "what the reader saw last is gone");
    store.change_queries(vec![query("Other")], None, at(7)).unwrap();
    assert_ne!(store.query("Other").unwrap().unwrap().id, later);
}

#[test]
fn what_exists_is_replaced_only_when_asked_and_then_kept() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(1));
    let copy = f.folder.path().join("copy.db");
    quietly(f.folder.path(), &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    let refused = quietly(f.folder.path(), &copy).unwrap_err();
    assert!(matches!(refused, StoreError::Exists { .. }), "{refused}");
    assert_eq!(fs::read(&copy).unwrap(), before);

    poll(&f.store, id, &["2", "1"], at(2));
    // A log without a checkpoint, as after a crash.
    let killed = tempfile::tempdir().unwrap();
    for name in ["tidings.db", "tidings.db-wal"] {
        fs::copy(f.folder.path().join(name), killed.path().join(name)).unwrap();
    }
    let refused = put_back(killed.path(), &copy, false).unwrap_err();
    assert!(matches!(refused, StoreError::Exists { .. }), "{refused}");
    put_back(killed.path(), &copy, true).unwrap();
    assert_eq!(
        guids(&Store::open(store::testing::location(killed.path()), OpenMode::ReadWrite).unwrap()),
        ["1"]
    );
    let kept = Connection::open(killed.path().join("tidings.db.replaced")).unwrap();
    let n: i64 = kept.query_row("select count(*) from entries", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 2, "the replaced store is whole, its log included");
}

#[test]
fn damaged_foreign_newer_and_cut_copies_change_nothing() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(1));
    let folder = f.folder.path().to_owned();
    let good = folder.join("good.db");
    quietly(&folder, &good).unwrap();
    drop(f.store);
    let bad = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let bytes = fs::read(&good).unwrap();
    let cut = bad("cut.db", &bytes[..bytes.len() / 2]);
    let text = bad("text.db", &b"not a database ".repeat(4096));
    let empty = bad("empty.db", b"");
    let foreign = folder.join("foreign.db");
    Connection::open(&foreign).unwrap().execute_batch("create table t (x)").unwrap();
    let newer = bad("newer.db", &bytes);
    let conn = Connection::open(&newer).unwrap();
    conn.execute("update meta set value = '999' where key = 'version'", []).unwrap();
    drop(conn);

    for path in [&cut, &text] {
        assert_eq!(put_back(&folder, path, true).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    for path in [&empty, &foreign] {
        let error = put_back(&folder, path, true).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    }
    let error = put_back(&folder, &newer, true).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
    assert_eq!(
        guids(&Store::open(store::testing::location(&folder), OpenMode::ReadOnly).unwrap()),
        ["1"]
    );
    assert!(!folder.join("tidings.db.replaced").exists());
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|n| !n.to_string_lossy().starts_with(".tmp")), "{left:?}");
}

#[test]
fn an_older_store_can_be_copied_before_it_is_brought_up_to_date() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let conn = Connection::open(database(folder.path())).unwrap();
    conn.execute_batch(include_str!("../../../migrations/01_start.sql")).unwrap();
    conn.execute_batch(
        "create table meta (key text primary key, value text not null) without rowid; \
         insert into meta values ('version', '1')",
    )
    .unwrap();
    drop(conn);
    let copy = folder.path().join("copy.db");
    assert!(quietly(folder.path(), &copy).unwrap().is_older);
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(put_back(elsewhere.path(), &copy, false).unwrap().is_older);
    Store::open(store::testing::location(elsewhere.path()), OpenMode::ReadWrite).unwrap();
}

/// A trigger would run with every later write; a missing table fails only when it is needed.
#[test]
fn a_copy_with_another_schema_than_ours_is_not_restored() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["1"], at(1));
    let folder = f.folder.path().to_owned();
    let good = folder.join("good.db");
    quietly(&folder, &good).unwrap();
    drop(f.store);
    let changes = [
        ("create trigger t after insert on entries begin delete from feeds; end", "trigger `t`"),
        ("create view v as select 1", "view `v`"),
        ("create table extra (x)", "table `extra`"),
        ("create virtual table words using fts5(x)", "table `words`"),
        ("create index i on entries (title)", "index `i`"),
        ("drop table revisions", "table `revisions` is missing"),
        ("alter table feeds add column evil as (length(url))", "table `feeds`"),
        ("drop table query_states; create view query_states as select 1", "`query_states`"),
        ("pragma foreign_keys = off; delete from feeds", "refers to"),
    ];
    for (change, says) in changes {
        let bad = folder.join("bad.db");
        fs::copy(&good, &bad).unwrap();
        let conn = Connection::open(&bad).unwrap();
        conn.execute_batch(change).unwrap();
        drop(conn);
        let error = put_back(&folder, &bad, true).unwrap_err();
        assert!(
            matches!(&error, StoreError::Altered { what, .. } if what.contains(says)),
            "{error}"
        );
    }
    assert_eq!(
        guids(&Store::open(store::testing::location(&folder), OpenMode::ReadOnly).unwrap()),
        ["1"]
    );
    put_back(&folder, &good, true).unwrap();
}

#[test]
fn an_object_that_somebody_added_is_named_and_costs_no_backup() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    add(&f.store, "https://example.org/a");
    let conn = Connection::open(database(f.folder.path())).unwrap();
    conn.execute_batch("analyze; create index mine on entries (title)").unwrap();
    let found = f.store.check().unwrap();
    assert!(found.len() == 1 && found[0].what.contains("index `mine`"), "{found:?}");
    quietly(f.folder.path(), &f.folder.path().join("copy.db")).unwrap();
}

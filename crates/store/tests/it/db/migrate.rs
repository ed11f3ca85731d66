//! Moves a store with rows in every table to another place and back. Every row, number and cursor
//! stays the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use feed::EntryId;
use store::{
    AccountId, Location, MigrationError, MigrationPhase, MigrationProgress, MigrationSummary,
    OpenMode, Store, StoreError, migrate, testing,
};
use tempfile::TempDir;

use super::everything;
use crate::sample::{add, at, poll};

fn quietly(from: &Location, to: &Location) -> Result<MigrationSummary, MigrationError> {
    migrate(from, to, &mut |_| {})
}

fn refused(from: &Location, to: &Location) -> StoreError {
    match quietly(from, to) {
        Err(MigrationError::Store(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn in_folder(folder: &Path) -> Location {
    Location::Folder(folder.to_owned())
}

/// A full store in a folder (SQLite).
async fn full() -> (TempDir, Location) {
    let folder = tempfile::tempdir().unwrap();
    let location = in_folder(folder.path());
    let store = Store::open(&location, OpenMode::ReadWrite).unwrap();
    everything::fill(&store, &location).await;
    assert_eq!(store.check().unwrap(), []);
    drop(store);
    (folder, location)
}

/// The place to move to: PostgreSQL if the tests have a server, else a folder.
fn elsewhere() -> (TempDir, Location) {
    let folder = tempfile::tempdir().unwrap();
    let location = testing::location(folder.path());
    (folder, location)
}

/// Runs a migration that ends at a report of progress, as if the process was killed there.
fn interrupted(
    from: &Location,
    to: &Location,
    mut ends_at: impl FnMut(&MigrationProgress<'_>) -> bool,
) {
    let cut = catch_unwind(AssertUnwindSafe(|| {
        let _ = migrate(from, to, &mut |progress| assert!(!ends_at(progress), "cut here"));
    }));
    assert!(cut.is_err(), "the migration did not get there");
}

#[tokio::test]
async fn there_and_back_every_row_is_the_same() {
    let (_first, from) = full().await;
    let before = testing::rows(&from);
    let empty: Vec<_> = before.iter().filter(|(_, rows)| rows.is_empty()).collect();
    assert!(empty.is_empty(), "the test must cover these tables too: {empty:?}");

    let (_second, middle) = elsewhere();
    let moved = quietly(&from, &middle).unwrap();
    assert_eq!(testing::rows(&middle), before);
    assert_eq!(testing::rows(&from), before, "the source is not changed");
    assert_eq!((moved.findings.len(), moved.n_resumed, moved.is_started_over), (0, 0, false));
    let of = |name: &str| moved.tables.iter().find(|table| table.name == name).unwrap();
    assert_eq!(of("entries").rows, 254);
    assert_eq!(of("entries").hash.len(), 32);

    let third = tempfile::tempdir().unwrap();
    let back = in_folder(third.path());
    let returned = quietly(&middle, &back).unwrap();
    assert_eq!(testing::rows(&back), before);
    assert_eq!(returned.tables, moved.tables, "the hashes are the same in both databases");
}

#[tokio::test]
async fn the_moved_store_continues_where_the_old_one_ended() {
    let (_first, from) = full().await;
    let (_second, to) = elsewhere();
    quietly(&from, &to).unwrap();
    let store = Store::open(&to, OpenMode::ReadWrite).unwrap();
    assert_eq!(store.check().unwrap(), []);
    assert_eq!(store.last_entry_id().unwrap(), EntryId(254));
    assert_eq!(store.indexed_to().unwrap(), EntryId(0), "the index is built again");
    assert_eq!(store.unindexed(500).unwrap().len(), 254);
    let anna = store.session(&[1; 32], at(50)).unwrap().unwrap().id;
    assert_eq!(store.token(&[5; 32]).unwrap().unwrap().1.name, "phone");
    assert!(store.read_marks(anna).unwrap().is_read(EntryId(2)));
    assert!(!store.read_marks(AccountId::LOCAL).unwrap().is_read(EntryId(1)));
    assert_eq!(store.undoable(anna, at(401)).unwrap(), Some(2));
    // Numbers of removed feeds and accounts are not given again.
    let feed = add(&store, "https://example.org/after");
    assert_eq!(feed.0, 6);
    assert_eq!(store.add_account("bert", "hash", at(0)).unwrap().unwrap().0, anna.0 + 2);
    assert_eq!(poll(&store, feed, &["1"], at(500)), [255]);
    let id = store.query("Q").unwrap().unwrap().id;
    assert_eq!(store.last_position(id).unwrap(), Some(254));
    assert_eq!(store.check().unwrap(), []);
}

#[tokio::test]
async fn an_interrupted_migration_continues_and_nobody_uses_it_before() {
    let (_first, from) = full().await;
    let before = testing::rows(&from);
    let (_second, to) = elsewhere();
    let mut tables = Vec::new();
    interrupted(&from, &to, |progress| {
        tables.push(progress.table.to_owned());
        progress.table == "entries" && progress.rows > 0
    });
    for mode in [OpenMode::ReadWrite, OpenMode::Shared, OpenMode::ReadOnly] {
        let error = Store::open(&to, mode).err().unwrap();
        assert!(matches!(error, StoreError::Unfinished { .. }), "{error}");
    }
    // Another store must not continue it.
    let (_other, other) = full().await;
    let error = refused(&other, &to);
    assert!(matches!(error, StoreError::OtherMigration { .. }), "{error}");

    let mut again = Vec::new();
    let moved = migrate(&from, &to, &mut |progress| {
        if progress.phase == MigrationPhase::Copying {
            again.push(progress.table.to_owned());
        }
    })
    .unwrap();
    assert_eq!(testing::rows(&to), before);
    assert!(moved.n_resumed > 3 && !moved.is_started_over, "{moved:?}");
    assert_eq!(again[0], "entries", "the unfinished table is the first that is copied");
    assert!(!again.contains(&tables[0]));
    let store = Store::open(&to, OpenMode::ReadWrite).unwrap();
    assert_eq!(store.check().unwrap(), []);
}

#[tokio::test]
async fn each_place_of_an_interruption_gives_the_same_store() {
    let (_first, from) = full().await;
    let before = testing::rows(&from);
    let (_second, to) = elsewhere();
    // Every run gets a little further than the one before.
    for reports in (5..).step_by(11) {
        let mut left = reports;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            migrate(&from, &to, &mut |_| {
                left -= 1;
                assert!(left > 0, "cut here");
            })
            .unwrap();
        }));
        if ended.is_ok() {
            assert!(reports > 50, "{reports}");
            break;
        }
    }
    assert_eq!(testing::rows(&to), before);
}

#[tokio::test]
async fn a_source_that_went_on_meanwhile_is_copied_from_the_start() {
    let (_first, from) = full().await;
    let (_second, to) = elsewhere();
    interrupted(&from, &to, |progress| progress.phase == MigrationPhase::Verifying);
    let store = Store::open(&from, OpenMode::ReadWrite).unwrap();
    add(&store, "https://example.org/meanwhile");
    drop(store);
    let moved = quietly(&from, &to).unwrap();
    assert!(moved.is_started_over && moved.n_resumed == 0, "{moved:?}");
    assert_eq!(testing::rows(&to), testing::rows(&from));
}

#[tokio::test]
async fn a_damaged_row_is_found() {
    let (_first, from) = full().await;
    let before = testing::rows(&from);
    let (_second, to) = elsewhere();
    let damages = [
        ("update entries set title = 'other' where id = 7", "entries", "other values"),
        ("delete from sessions", "sessions", "0 rows instead of 1"),
        ("update feed_window set learned = shown where feed = 1", "feed_window", "other values"),
    ];
    for (sql, table, says) in damages {
        let mut is_done = false;
        let ended = migrate(&from, &to, &mut |progress| {
            if progress.phase == MigrationPhase::Verifying && !is_done {
                testing::execute(&to, sql);
                is_done = true;
            }
        });
        let Err(MigrationError::Store(error)) = ended else { panic!("{sql}: {ended:?}") };
        assert!(
            matches!(&error, StoreError::CopyDiffers { table: found, what, .. }
                if found == table && what.contains(says)),
            "{error}"
        );
        let error = Store::open(&to, OpenMode::ReadWrite).err().unwrap();
        assert!(matches!(error, StoreError::Unfinished { .. }), "{error}");
    }
    quietly(&from, &to).unwrap();
    assert_eq!(testing::rows(&to), before);
}

#[tokio::test]
async fn only_an_empty_place_is_filled() {
    let (_first, from) = full().await;
    let (_second, used) = elsewhere();
    let store = Store::open(&used, OpenMode::ReadWrite).unwrap();
    add(&store, "https://example.org/own");
    drop(store);
    let before = testing::rows(&used);
    let error = refused(&from, &used);
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
    assert_eq!(testing::rows(&used), before);

    // A store that was opened once and left empty is as good as a new one.
    let (_third, opened) = elsewhere();
    drop(Store::open(&opened, OpenMode::ReadWrite).unwrap());
    quietly(&from, &opened).unwrap();
    assert_eq!(testing::rows(&opened), testing::rows(&from));
    // A second run does not overwrite the moved store.
    let error = refused(&from, &opened);
    assert!(matches!(error, StoreError::NotEmpty { .. }), "{error}");
}

#[tokio::test]
async fn a_source_that_is_missing_or_in_use_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    let (_second, to) = elsewhere();
    let none = empty.path().join("none");
    let error = refused(&in_folder(&none), &to);
    assert!(error.to_string().contains("--from"), "{error}");
    assert!(!none.exists(), "a wrong name creates nothing");

    let (first, from) = full().await;
    let held = store::lock(first.path()).unwrap();
    let error = quietly(&from, &to).unwrap_err();
    assert!(matches!(error, MigrationError::Lock(_)), "{error}");
    drop(held);
    // Commands that write next to a daemon fail, so that no change is forgotten.
    let guest = Store::open(&from, OpenMode::Shared).unwrap();
    let mut tried = None;
    migrate(&from, &to, &mut |progress| {
        if progress.phase == MigrationPhase::Verifying && tried.is_none() {
            tried = Some(guest.set_setting("late", Some("x")));
        }
    })
    .unwrap();
    assert_eq!(tried.unwrap().unwrap_err().kind(), store::ErrorKind::Busy);
    assert_eq!(testing::rows(&to), testing::rows(&from));
}

/// PostgreSQL cannot store U+0000 in a text. Old stores may hold some.
#[tokio::test]
async fn a_text_with_a_zero_byte_does_not_stop_a_migration() {
    let (_first, from) = full().await;
    let sql = "update entries set title = 'a' || char(0) || 'b' where id = 3";
    testing::execute(&from, sql);
    let (_second, to) = elsewhere();
    quietly(&from, &to).unwrap();
    assert_eq!(testing::rows(&to), testing::rows(&from));
    let store = Store::open(&to, OpenMode::ReadOnly).unwrap();
    let title = store.entry(EntryId(3)).unwrap().unwrap().title.unwrap();
    assert_eq!(title.replace('\0', ""), "ab");
}

#[tokio::test]
async fn texts_that_postgresql_cannot_index_are_named_before_anything_is_copied() {
    if !testing::is_postgres() {
        eprintln!("skipped: this test needs PostgreSQL; see `xtask postgres`");
        return;
    }
    let (_first, from) = full().await;
    let url = "update feeds set url = 'https://example.org/' || hex(randomblob(1400)) where id = 1";
    testing::execute(&from, url);
    let (_second, to) = elsewhere();
    let error = refused(&from, &to).to_string();
    for part in ["feeds, id 1: url with 2820 bytes", "Nothing was copied", "`tidings feed move`"] {
        assert!(error.contains(part), "{error}");
    }
    testing::execute(&from, "update feeds set url = 'https://example.org/short' where id = 1");
    quietly(&from, &to).unwrap();
    assert_eq!(testing::rows(&to), testing::rows(&from));
}

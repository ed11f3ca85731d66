//! Moves a store whose schema is older than that of the program. The source keeps its schema.

use store::{Location, OpenMode, Store, StoreError, migrate, testing};

use feed::FeedId;

/// Rows that every version can hold: a feed with two entries and a gap between their numbers.
fn fill(location: &Location) {
    let key = |hex: &str| match location {
        Location::Folder(_) => format!("x'{hex}'"),
        Location::Postgres(_) => format!("'\\x{hex}'"),
    };
    let (first, second) = (key("01"), key("02"));
    testing::execute(
        location,
        &format!(
            "insert into domains (id, name) values (1, 'example.org'); \
             insert into feeds (id, url, added_at) values (1, 'https://example.org/', 0); \
             insert into feed_state (feed, domain, entries) values (1, 1, 2); \
             insert into entries (id, feed, key, published_at, seen_at, content_hash) \
             values (1, 1, {first}, 0, 0, 0), (4, 1, {second}, 0, 0, 0)"
        ),
    );
}

fn in_folder(folder: &tempfile::TempDir) -> Location {
    Location::Folder(folder.path().to_owned())
}

#[test]
fn every_older_source_is_copied_in_the_present_form_and_stays_as_it_is() {
    for version in [1, 5, 12, 15] {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = (in_folder(&from), testing::location(to.path()));
        testing::make_older(&from, version);
        fill(&from);
        if version > 13 {
            // From here on, the last number has a table of its own.
            testing::execute(&from, "update stream set last_entry = 4");
        }
        let moved = migrate(&from, &to, &mut |_| {}).unwrap();
        assert_eq!(moved.older_version, Some(version));
        assert_eq!(testing::schema_version(&from), Some(version), "the source is unchanged");
        let store = Store::open(&to, OpenMode::ReadWrite).unwrap();
        assert_eq!(store.last_entry_id().unwrap().0, 4, "from version {version}");
        assert_eq!(store.feed(FeedId(1)).unwrap().location.url.as_str(), "https://example.org/");
        drop(store);
        // The source can be opened, and updates itself as before.
        let store = Store::open(&from, OpenMode::ReadWrite).unwrap();
        assert_eq!(store.last_entry_id().unwrap().0, 4);
    }
}

#[test]
fn an_interrupted_copy_of_a_very_old_source_continues() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, to) = (in_folder(&from), testing::location(to.path()));
    testing::make_older(&from, 3);
    fill(&from);
    let cut = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = migrate(&from, &to, &mut |progress| assert_ne!(progress.table, "entries"));
    }));
    assert!(cut.is_err());
    let error = Store::open(&to, OpenMode::ReadWrite).err().unwrap();
    assert!(matches!(error, StoreError::Unfinished { .. }), "{error}");
    let moved = migrate(&from, &to, &mut |_| {}).unwrap();
    assert!(moved.n_resumed > 0 && !moved.is_started_over, "{moved:?}");
    assert_eq!(testing::schema_version(&from), Some(3));
    assert_eq!(testing::count(&Store::open(&to, OpenMode::ReadOnly).unwrap(), "entries"), 2);
}

#[test]
fn an_older_source_on_a_server_is_copied_too() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(url) = testing::url(from.path()) else { return };
    let (from, to) = (Location::parse(&url, &|_| None).unwrap(), in_folder(&to));
    testing::make_older(&from, 15);
    fill(&from);
    testing::execute(&from, "update stream set last_entry = 4");
    let moved = migrate(&from, &to, &mut |_| {}).unwrap();
    assert_eq!(moved.older_version, Some(15));
    assert_eq!(testing::schema_version(&from), Some(15), "the source is unchanged");
    let store = Store::open(&to, OpenMode::ReadWrite).unwrap();
    assert_eq!(store.last_entry_id().unwrap().0, 4);
}

#[test]
fn a_newer_store_is_refused_on_both_databases() {
    let folder = tempfile::tempdir().unwrap();
    let place = testing::location(folder.path());
    drop(Store::open(&place, OpenMode::ReadWrite).unwrap());
    testing::execute(&place, "update meta set value = '999' where key = 'version'");
    for mode in [OpenMode::ReadWrite, OpenMode::Shared, OpenMode::ReadOnly] {
        let error = Store::open(&place, mode).err().unwrap();
        assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
        assert!(error.to_string().contains("start the newer program"), "{error}");
    }
    let to = tempfile::tempdir().unwrap();
    let refused = migrate(&place, &in_folder(&to), &mut |_| {}).unwrap_err();
    assert!(refused.to_string().contains("newer Tidings"), "{refused}");
}

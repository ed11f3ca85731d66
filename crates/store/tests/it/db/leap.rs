//! A restored dump of PostgreSQL gets the same new numbers as a restored backup of SQLite.

use store::{Location, OpenMode, Store, backup, migrate, restore, testing};

use super::everything;

/// The statements that an operator runs after a restore.
const LEAP: &str = include_str!("../../../../../operating/postgres-leap.sql");

/// The statements for a server, without the commands for psql.
fn statements() -> String {
    LEAP.lines().filter(|line| !line.starts_with('\\')).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_restored_database_leaps_as_far_as_a_restored_file() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let Some(url) = testing::url(second.path()) else { return };
    let file = Location::Folder(first.path().to_owned());
    let server = Location::parse(&url, &|_| None).unwrap();
    let store = Store::open(&file, OpenMode::ReadWrite).unwrap();
    everything::fill(&store, &file).await;
    drop(store);
    migrate(&file, &server, &mut |_| {}).unwrap();
    assert_eq!(testing::rows(&file), testing::rows(&server));

    testing::execute(&server, &statements());
    let copy = first.path().join("copy.db");
    backup(first.path(), &copy, false, &mut |_, _| {}).unwrap();
    let lock = store::lock(first.path()).unwrap();
    let copy = std::fs::File::open(copy).unwrap();
    restore(first.path(), copy, true, &lock, &mut |_| {}).unwrap();
    drop(lock);
    // The numbers of a file are in another table there, which names more tables.
    let rows = |location| {
        let mut rows = testing::rows(location);
        rows.values_mut().for_each(|rows| rows.retain(|row| !row.starts_with("last number")));
        rows
    };
    assert_eq!(rows(&file), rows(&server));
    let open = |location| Store::open(location, OpenMode::ReadWrite).unwrap();
    let (file, server) = (open(&file), open(&server));
    for store in [&file, &server] {
        assert_eq!(store.check().unwrap(), []);
    }
    assert!(server.epoch() > 1000, "numbers of lost grants are not given again");
    let epochs = testing::pairs(&server, "select epoch, (select epoch from stream) from seat");
    assert_eq!(epochs, [(server.epoch(), server.epoch())]);
    assert_eq!(file.last_entry_id().unwrap(), server.last_entry_id().unwrap());
    let add = |store: &Store| crate::sample::add(store, "https://example.org/after");
    assert_eq!(add(&file), add(&server));
    let make = |store: &Store| store.make_tag("after").unwrap();
    assert_eq!(make(&file), make(&server));
}

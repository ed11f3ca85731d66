//! Groups of changes on a full disk.

use std::sync::mpsc::channel;
use std::time::Duration;

use feed::{EntryKey, FeedId};
use feed::{FeedUrl, Item, Outcome, Published, Time};

use crate::{ErrorKind, NewEntry, NewFeed, OpenMode, PollRecord, Store};

const T0: Time = Time::from_secs(1_700_000_000);

fn open() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::open(folder.path(), OpenMode::ReadWrite).unwrap(), folder)
}

fn add(store: &Store, n: u32) -> FeedId {
    let url = FeedUrl::parse(&format!("https://example.org/{n}")).unwrap();
    store.add_feed(&NewFeed { url, title: None, site: None, tags: Vec::new() }, T0).unwrap().id
}

/// A poll with one entry of so many bytes, and a validator for it.
fn poll(store: &Store, feed: FeedId, bytes: usize) -> PollRecord {
    let n = store.poll_input(feed).unwrap().generation;
    let mut record = PollRecord::empty(feed, n, T0, Outcome::Seen, T0);
    let item = Item { content: Some("x".repeat(bytes)), ..Item::default() };
    let mut key = [0; 16];
    key[..4].copy_from_slice(&n.to_le_bytes());
    record.document_mut().entries.new.push(NewEntry {
        key: EntryKey::from_bytes(key),
        item,
        published: Published { claim: None, at: T0 },
        content: 0,
        facts: crate::EntryFacts::default(),
    });
    record.document_mut().validators.etag = Some(n.to_le_bytes().to_vec());
    record
}

/// Simulates a full disk: the file may grow by so many pages only.
fn leave_room(store: &Store, pages: i64) {
    store
        .write(move |conn| {
            let conn = conn.sqlite()?;
            let used: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
            conn.pragma_update(None, "max_page_count", used + pages)?;
            Ok(())
        })
        .unwrap();
}

#[test]
fn on_a_full_disk_nothing_is_half_written_and_later_it_goes_on() {
    let (store, _folder) = open();
    let feed = add(&store, 1);
    store.record_blocking(poll(&store, feed, 100)).unwrap();
    leave_room(&store, 4);
    let before = store.poll_input(feed).unwrap();
    let error = store.record_blocking(poll(&store, feed, 100_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DiskFull);
    assert!(error.to_string().contains("tidings.db"), "{error}");
    assert_eq!(store.poll_input(feed).unwrap(), before, "no validator ahead of its entries");
    assert_eq!(store.feed(feed).unwrap().entries, 1);
    store.record_blocking(poll(&store, feed, 10)).unwrap();
    leave_room(&store, 1000);
    store.record_blocking(poll(&store, feed, 100_000)).unwrap();
    assert_eq!(store.feed(feed).unwrap().entries, 3);
}

#[test]
fn a_group_lost_to_a_full_disk_is_lost_for_all_of_it_and_the_rest_goes_on() {
    let (store, _folder) = open();
    let feeds: Vec<FeedId> = (0..20).map(|n| add(&store, n)).collect();
    let records: Vec<PollRecord> = feeds
        .iter()
        .map(|feed| poll(&store, *feed, if feed.0 == 10 { 200_000 } else { 50 }))
        .collect();
    leave_room(&store, 20);
    let (tell, told) = channel();
    // The writer waits so that all jobs become one group.
    let (go, wait) = channel::<()>();
    let held = store.clone();
    let holder = std::thread::spawn(move || {
        held.write(move |_| {
            let _ = wait.recv();
            Ok(())
        })
    });
    std::thread::sleep(Duration::from_millis(50));
    for record in records {
        let (tell, feed) = (tell.clone(), record.feed);
        let slot = store.matcher();
        let keep = move |conn: &crate::db::sql::Connection| {
            crate::record::apply::record_poll(conn, record, &slot, |_, _| Ok(()))
        };
        store
            .send(false, keep, move |result| {
                let _ = tell.send((feed, result.map(|_| ()).map_err(|e| e.kind())));
            })
            .unwrap();
    }
    go.send(()).unwrap();
    holder.join().unwrap().unwrap();
    let answers: Vec<_> = told.iter().take(20).collect();
    assert!(answers.contains(&(FeedId(10), Err(ErrorKind::DiskFull))));
    for (feed, answer) in answers {
        // Every answer agrees with the stored rows.
        assert_eq!(store.feed(feed).unwrap().entries, u64::from(answer.is_ok()), "{feed}");
    }
    assert!(store.feed(FeedId(20)).unwrap().entries == 1, "what came after it was kept");
    assert_eq!(store.counts(T0).unwrap().polls, store.counts(T0).unwrap().entries);
}

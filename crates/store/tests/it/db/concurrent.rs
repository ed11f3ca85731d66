//! Several readers and writers at once: every poll is recorded completely or not at all.

use std::sync::atomic::{AtomicBool, Ordering};

use feed::{EntryId, FeedId, Outcome};
use store::{EntryFilter, NewFeed, OpenMode, PollRecord, Store, StoreError};

use crate::sample::{T0, add, at, doubles, fresh, guids, items, new_feed, seen};

#[test]
fn readers_see_whole_polls_while_they_are_written() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let mut reads = 0_u64;
                    while !done.load(Ordering::Relaxed) || reads == 0 {
                        // Every poll brings two entries and one row of its own.
                        let row = f.store.feed(id).unwrap();
                        assert_eq!(row.entries, 2 * u64::from(row.generation));
                        let input = f.store.poll_input(id).unwrap();
                        assert_eq!(
                            input.document.window.entries().is_empty(),
                            input.generation == 0
                        );
                        reads += 1;
                    }
                    reads
                })
            })
            .collect();
        for n in 0..50 {
            let names = [format!("a{n}"), format!("b{n}")];
            let record = seen(&f.store, id, &items(&[&names[0], &names[1]]), at(n));
            f.store.record_blocking(record).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() > 0));
    });
    assert_eq!(guids(&f.store).len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn polls_in_one_group_fail_alone() {
    let f = fresh();
    let new: Vec<NewFeed> =
        (0..300).map(|n| new_feed(&format!("https://example.org/{n}"))).collect();
    let ids: Vec<FeedId> =
        f.store.add_feeds(&new, T0).unwrap().iter().map(|added| added.id).collect();
    let mut running = tokio::task::JoinSet::new();
    for (n, id) in ids.iter().enumerate() {
        let mut record = seen(&f.store, *id, &items(&["1", "2"]), at(1));
        // Every seventh is stale, and only that one may fail.
        record.generation = u32::from(n % 7 == 0);
        let store = f.store.clone();
        running.spawn(async move { (n, store.record(record).await) });
    }
    let mut n_stale = 0;
    while let Some(done) = running.join_next().await {
        let (n, result) = done.unwrap();
        match result {
            Ok(recorded) => assert_eq!((recorded.new_ids.len(), n % 7 == 0), (2, false)),
            Err(StoreError::Stale { .. }) => n_stale += usize::from(n % 7 == 0),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(n_stale, 43);
    assert_eq!(f.store.counts(at(2)).unwrap().entries, 2 * (300 - 43));
    assert_eq!(f.store.check().unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_polls_with_one_generation_one_is_kept() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    for generation in 0..20 {
        let poll = PollRecord::empty(id, generation, at(1), Outcome::Unchanged, at(2));
        let results = tokio::join!(f.store.record(poll.clone()), f.store.record(poll));
        assert!(results.0.is_ok() != results.1.is_ok());
    }
    assert_eq!(f.store.poll_input(id).unwrap().generation, 20);
}

#[tokio::test]
async fn a_cancelled_caller_s_poll_is_kept_or_not_but_never_half() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let record = seen(&f.store, id, &items(&["1", "2", "3"]), at(1));
    {
        let waiting = f.store.record(record);
        tokio::pin!(waiting);
        // Started, then dropped, most likely before its commit.
        std::future::poll_fn(|cx| std::task::Poll::Ready(waiting.as_mut().poll(cx).is_ready()))
            .await;
    }
    // The next job in the queue waits for it.
    f.store.set_setting("x", Some("y")).unwrap();
    assert_eq!(f.store.feed(id).unwrap().entries, 3);
}

#[test]
fn two_stores_on_one_folder_write_in_turn() {
    let f = fresh();
    let other = Store::open(store::testing::location(f.folder.path()), OpenMode::Shared).unwrap();
    std::thread::scope(|scope| {
        for (name, store) in [("one", &f.store), ("two", &other)] {
            scope.spawn(move || {
                for n in 0..40 {
                    store.leave_request(name, &n.to_string(), at(n)).unwrap();
                }
            });
        }
    });
    let bodies: Vec<String> = f
        .store
        .pending_requests()
        .unwrap()
        .into_iter()
        .map(|request| format!("{} {}", request.kind, request.body))
        .collect();
    assert_eq!((bodies.len(), doubles(&bodies).len()), (80, 0));
}

#[test]
fn what_was_sent_is_written_before_the_store_closes() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let record = seen(&f.store, id, &items(&["1"]), at(1));
    let folder = f.folder;
    f.store.record_blocking(record).unwrap();
    drop(f.store);
    assert!(!folder.path().join("tidings.db-wal").exists(), "the log was folded into the file");
    let again = Store::open(store::testing::location(folder.path()), OpenMode::ReadOnly).unwrap();
    let all = EntryFilter { feed: None, limit: 9 };
    assert_eq!(again.entries(EntryId(0), &all).unwrap().len(), 1);
}

//! Queries inside the transaction of a poll: positions, state, undone jobs, and the feeds that only
//! queries need.

use std::sync::Arc;

use feed::{EntryId, FeedId};
use store::{FeedState, QueryChange, Store};

use super::words::{Words, apply, kept, put, watched};
use crate::sample::{Fresh, T0, add, at, items, new_feed, poll, seen};

#[test]
fn positions_ascend_for_each_query_by_itself() {
    let (fresh, shown) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    poll(store, feed, &["red 1"], at(0));
    apply(store, vec![put("Red", "red", &[]), put("Any", "title", &[])]);
    poll(store, feed, &["red 2", "blue 3"], at(10));
    poll(store, feed, &["blue 4", "red 5"], at(20));
    // `poll` records the oldest first, which is the last of the document.
    let red: Vec<i64> = kept(store, "Red").iter().map(|(position, _)| *position).collect();
    assert_eq!(red, [1, 2], "what was recorded before the query is not its matter");
    assert_eq!(kept(store, "Any").len(), 4);
    assert_eq!(*shown.lock().unwrap(), [("red".to_owned(), 2), ("title".to_owned(), 4)]);
    let share = store.share(feed).unwrap().unwrap();
    assert_eq!((share.seen, share.kept), (4.0, 4.0));
    assert_eq!(store.poll_input(feed).unwrap().share, Some(share));
    let unread = add(store, "https://example.org/unread");
    poll(store, unread, &["red 9"], at(30));
    assert_eq!(store.share(unread).unwrap(), None, "no query reads it");
}

#[test]
fn what_is_undone_is_forgotten_by_the_memory_too() {
    let (fresh, shown) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    apply(store, vec![put("Red", "red", &[])]);
    poll(store, feed, &["red 1"], at(0));
    // The second entry makes the matcher panic after the first one.
    let record = seen(store, feed, &items(&["bomb", "red 2", "red 1"]), at(10));
    let error = store.record_blocking(record).unwrap_err();
    assert!(error.to_string().contains("internal error"), "{error}");
    assert_eq!(shown.lock().unwrap()[0].1, 2, "the memory is ahead of what is stored");
    poll(store, feed, &["red 3", "red 1"], at(20));
    assert_eq!(shown.lock().unwrap()[0].1, 2, "it was loaded again: one before, one now");
    assert_eq!(kept(store, "Red").iter().map(|(p, _)| *p).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn queries_and_their_memory_survive_a_restart() {
    let (fresh, _) = watched();
    let feed = add(&fresh.store, "https://example.org/a");
    apply(&fresh.store, vec![put("Red", "red", &[])]);
    poll(&fresh.store, feed, &["red 1"], at(0));
    let Fresh { store, folder } = fresh;
    drop(store);
    let store =
        Store::open(store::testing::location(folder.path()), store::OpenMode::ReadWrite).unwrap();
    let words = Words::default();
    let shown = Arc::clone(&words.shown);
    store.install(Box::new(words)).unwrap();
    assert_eq!(*shown.lock().unwrap(), [("red".to_owned(), 1)]);
    poll(&store, feed, &["red 2", "red 1"], at(10));
    assert_eq!(kept(&store, "Red").len(), 2);
}

#[test]
fn a_replaced_query_keeps_its_number_positions_and_receivers() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    apply(store, vec![put("Q", "red", &[])]);
    poll(store, feed, &["red 1"], at(0));
    let before = store.query("Q").unwrap().unwrap();
    let waiting = store.deliveries_due(at(1)).unwrap();
    assert_eq!((waiting.len(), waiting[0].position), (1, 0));
    apply(store, vec![put("Q", "blue", &[])]);
    poll(store, feed, &["blue 2", "red 3", "red 1"], at(10));
    let after = store.query("Q").unwrap().unwrap();
    assert_eq!((after.id, after.last_position), (before.id, 2));
    assert_eq!(store.deliveries_due(at(11)).unwrap()[0].position, 0, "nothing was delivered yet");
    apply(store, vec![QueryChange::Drop("Q".to_owned())]);
    assert!(store.deliveries_due(at(12)).unwrap().is_empty());
    apply(store, vec![put("Q", "red", &[])]);
    assert!(store.query("Q").unwrap().unwrap().id > before.id, "a number is never given twice");
}

#[test]
fn feeds_that_only_queries_want_rest_when_the_last_goes() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let mine = add(store, "https://example.org/mine");
    let urls = ["https://example.org/mine", "https://example.org/new"];
    let changed = apply(store, vec![put("A", "x", &urls), put("B", "y", &urls[1..])]);
    let [new] = changed.wanted[..] else { panic!("{changed:?}") };
    let feed = store.feed(new).unwrap();
    assert_eq!(feed.tags, ["query:A", "query:B"]);
    assert!(store.feed(mine).unwrap().tags.is_empty(), "a feed of mine stays mine");
    let state = |feed: FeedId| store.feed(feed).unwrap().state();
    let gone = |name: &str| apply(store, vec![QueryChange::Drop(name.to_owned())]).unwanted;
    assert!(gone("A").is_empty(), "B wants it still");
    assert_eq!(gone("B"), [new]);
    assert_eq!((state(new), state(mine)), (FeedState::Paused, FeedState::Never));
    let back = apply(store, vec![put("C", "z", &urls[1..])]);
    assert_eq!(back.wanted, [new]);
    assert_eq!(state(new), FeedState::Never);
    // A person who adds the feed owns it.
    assert!(store.add_feed(&new_feed(urls[1]), T0).unwrap().existed);
    assert!(gone("C").is_empty());
    assert_eq!(state(new), FeedState::Never);
}

#[test]
fn a_cursor_older_than_what_is_kept_says_so() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let (first, second) = (add(store, "https://a.org/"), add(store, "https://b.org/"));
    apply(store, vec![put("Red", "red", &[])]);
    poll(store, first, &["red 1"], at(0));
    poll(store, second, &["red 2"], at(1));
    let id = store.query("Red").unwrap().unwrap().id;
    let gap = |after| store.query_entries(id, after, 10).unwrap().gap;
    assert!(!gap(0) && !gap(1) && !gap(2));
    store.remove_feed(first).unwrap();
    assert!(gap(0), "the entry at 1 is gone");
    assert!(!gap(1) && !gap(2));
    store.remove_feed(second).unwrap();
    assert!(gap(1));
    assert!(!gap(2), "there is nothing after it, and nothing was lost");
}

/// A starred old entry must not hide that the entries after it were deleted.
#[test]
fn what_was_dropped_behind_an_older_entry_is_a_gap_too() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://a.org/");
    apply(store, vec![put("Red", "red", &[])]);
    for n in 1..=6 {
        poll(store, feed, &[&format!("red {n}")], at(n));
    }
    let id = store.query("Red").unwrap().unwrap().id;
    let receiver = store.deliveries(Some(id)).unwrap().remove(0).id;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(store.delivered(receiver, 0, 6, None, at(7))).unwrap();
    store.star(store::AccountId::LOCAL, &[EntryId(1)], true, at(7)).unwrap();
    let rule = store::Retention { entries_max: Some(2), ..store::Retention::off() };
    assert_eq!(store.retain(&rule, at(8)).unwrap().entries, 3);
    let page = |after, limit| {
        let page = store.query_entries(id, after, limit).unwrap();
        let found: Vec<i64> = page.entries.iter().map(|found| found.position).collect();
        (found, page.gap, page.next)
    };
    assert_eq!(page(0, 1), (vec![1], false, 1));
    assert_eq!(page(1, 9), (vec![5, 6], true, 6));
    assert_eq!(page(2, 1), (vec![5], true, 5));
    assert_eq!(page(5, 9), (vec![6], false, 6));
    assert_eq!(page(6, 9), (vec![], false, 6));
    // If no entries are left, the reader continues after the gap, which is reported once.
    store.remove_feed(feed).unwrap();
    assert_eq!(page(3, 9), (vec![], true, 6));
    assert_eq!(page(6, 9), (vec![], false, 6));
}

#[test]
fn a_consumers_word_counts_for_the_feed() {
    let (fresh, _) = watched();
    let store = &fresh.store;
    let feed = add(store, "https://example.org/a");
    apply(store, vec![put("Red", "red", &[])]);
    let ids = poll(store, feed, &["blue 2", "red 1"], at(0));
    let share = || store.share(feed).unwrap().map(|share| (share.seen, share.kept));
    assert_eq!(share(), Some((2.0, 1.0)));
    for (entry, relevant, kept) in
        [(ids[1], true, 2.0), (ids[1], true, 2.0), (ids[0], false, 1.0), (ids[0], true, 2.0)]
    {
        assert!(store.note_relevance(EntryId(entry), relevant, at(5)).unwrap());
        assert_eq!(share(), Some((2.0, kept)));
    }
    assert!(!store.note_relevance(EntryId(999), true, at(5)).unwrap());
}

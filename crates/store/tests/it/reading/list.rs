//! Lists, read marks and stars, compared with a plain list of all entries.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use feed::{EntryId, FeedId, Item, Time};
use store::{AccountId, ReadingFilter, ReadingPosition, Retention, Scope, Store};

use crate::sample::{Fresh, T0, at, fresh, item, new_feed, poll, seen};

struct Filled {
    fresh: Fresh,
    /// Every entry: its feed and when it was published.
    all: HashMap<EntryId, (FeedId, Time)>,
}

/// Three feeds, two of them tagged `daily`, with thirty entries each, whose times interleave and
/// partly agree.
fn filled() -> Filled {
    let fresh = fresh();
    let mut all = HashMap::new();
    for n in 0..3u32 {
        let mut new = new_feed(&format!("https://f{n}.example/"));
        new.tags = if n < 2 { vec!["daily".to_owned()] } else { vec![] };
        let feed = fresh.store.add_feed(&new, T0).unwrap().id;
        for round in 0..10 {
            let now = at(i64::from(round) * 1000 + i64::from(n));
            let items: Vec<Item> = (0..3)
                .map(|k| {
                    let mut item = item(&format!("{n}-{round}-{k}"), "t");
                    let back = u64::from((round * 7 + k * 13 + n) % 5) * 400;
                    item.published = Some(now - Duration::from_secs(back));
                    item
                })
                .collect();
            let record = seen(&fresh.store, feed, &items, now);
            fresh.store.record_blocking(record).unwrap();
        }
    }
    let mut after = EntryId(0);
    loop {
        let filter = store::EntryFilter { feed: None, limit: 50 };
        let rows = fresh.store.entries(after, &filter).unwrap();
        let Some(last) = rows.last() else { break };
        after = last.id;
        all.extend(rows.iter().map(|row| (row.id, (row.feed, row.published_at))));
    }
    assert_eq!(all.len(), 90);
    Filled { fresh, all }
}

impl Filled {
    /// The expected list, calculated from the plain list.
    fn expected(
        &self,
        reading: &ReadingFilter,
        read: &HashSet<EntryId>,
        starred: &HashSet<EntryId>,
    ) -> Vec<ReadingPosition> {
        let daily = [FeedId(1), FeedId(2)];
        let mut found: Vec<ReadingPosition> = self
            .all
            .iter()
            .filter(|(id, (feed, published_at))| {
                let in_scope = match &reading.scope {
                    Scope::All => true,
                    Scope::Feed(one) => one == feed,
                    Scope::Tag(_) => daily.contains(feed),
                    Scope::Feeds(some) => some.contains(feed),
                    Scope::Query(_) | Scope::Label(_) => false,
                };
                in_scope
                    && reading.read.is_none_or(|r| read.contains(id) == r)
                    && reading.starred.is_none_or(|s| starred.contains(id) == s)
                    && reading.since.is_none_or(|since| *published_at >= since)
                    && reading.until.is_none_or(|until| *published_at < until)
                    && reading.above.is_none_or(|above| **id > above)
                    && reading.below.is_none_or(|below| **id < below)
            })
            .map(|(id, (_, published_at))| ReadingPosition {
                published_at: *published_at,
                entry: *id,
            })
            .collect();
        found.sort_unstable_by_key(|place| {
            (if reading.by_number { T0 } else { place.published_at }, place.entry)
        });
        if !reading.oldest_first {
            found.reverse();
        }
        found
    }
}

/// Reads a list page by page.
fn paged(store: &Store, reading: &ReadingFilter) -> Vec<ReadingPosition> {
    let mut reading = ReadingFilter { limit: 7, ..reading.clone() };
    let mut all = Vec::new();
    loop {
        let page = store.reading(&reading).unwrap();
        let places: Vec<ReadingPosition> = page.iter().map(store::ReadEntry::place).collect();
        assert_eq!(places, store.reading_places(&reading).unwrap());
        let Some(last) = places.last() else { return all };
        reading.from = Some(*last);
        all.extend(places);
    }
}

#[test]
fn every_list_is_what_a_plain_one_would_be() {
    let filled = filled();
    let store = &filled.fresh.store;
    let anna = store.add_account("anna", "x", at(20_000)).unwrap().unwrap();
    let read: HashSet<EntryId> = filled.all.keys().copied().filter(|id| id.0 % 3 == 0).collect();
    let starred: HashSet<EntryId> = filled.all.keys().copied().filter(|id| id.0 % 5 == 0).collect();
    let ids = |set: &HashSet<EntryId>| set.iter().copied().collect::<Vec<_>>();
    store.mark_read(anna, &ids(&read), true).unwrap();
    store.star(anna, &ids(&starred), true, at(20_001)).unwrap();
    let scopes = [
        Scope::All,
        Scope::Feed(FeedId(2)),
        Scope::Tag("daily".to_owned()),
        Scope::Feeds(vec![FeedId(3), FeedId(1)]),
    ];
    let switches = [None, Some(true), Some(false)];
    let mut n_lists = 0;
    for scope in &scopes {
        for read_only in switches {
            for star_only in switches {
                let (since, until) = (Some(at(2000)), Some(at(6000)));
                let (above, below) = (Some(EntryId(20)), Some(EntryId(75)));
                for (oldest_first, by_number, (since, until), (above, below)) in [
                    (false, false, (None, None), (None, None)),
                    (true, false, (None, None), (None, None)),
                    (false, true, (None, None), (None, None)),
                    (true, true, (None, None), (None, None)),
                    (false, false, (since, until), (None, None)),
                    (true, false, (since, until), (None, below)),
                    (false, true, (since, None), (above, below)),
                    (true, true, (None, until), (above, None)),
                    (false, false, (None, None), (above, None)),
                    (true, false, (since, None), (above, below)),
                ] {
                    let reading = ReadingFilter {
                        read: read_only,
                        starred: star_only,
                        oldest_first,
                        by_number,
                        since,
                        until,
                        above,
                        below,
                        ..ReadingFilter::newest(anna, scope.clone(), 7)
                    };
                    let expected = filled.expected(&reading, &read, &starred);
                    assert_eq!(store.reading_count(&reading).unwrap(), expected.len() as u64);
                    assert_eq!(paged(store, &reading), expected, "{reading:?}");
                    n_lists += usize::from(!expected.is_empty());
                }
            }
        }
    }
    assert!(n_lists > 130, "only {n_lists} lists had entries");
    let unread = store.unread_by_feed(anna).unwrap();
    for feed in [FeedId(1), FeedId(2), FeedId(3)] {
        let expected = filled.all.iter().filter(|(id, (f, _))| *f == feed && !read.contains(id));
        assert_eq!(unread[&feed], expected.count() as u64);
    }
    assert_eq!(store.read_marks(anna).unwrap().n_unread(), 60);
}

#[test]
fn marks_belong_to_one_account_and_can_be_taken_back() {
    let filled = filled();
    let store = &filled.fresh.store;
    let anna = store.add_account("anna", "x", T0).unwrap().unwrap();
    let bert = store.add_account("bert", "x", T0).unwrap().unwrap();
    store.mark_read(anna, &[EntryId(1), EntryId(2)], true).unwrap();
    store.mark_read(anna, &[EntryId(2), EntryId(9999)], false).unwrap();
    let marks = store.read_marks(anna).unwrap();
    assert!(marks.is_read(EntryId(1)) && !marks.is_read(EntryId(2)));
    assert_eq!(marks.n_unread(), 89);
    assert_eq!(store.read_marks(bert).unwrap().n_unread(), 90);
    let listed: Vec<EntryId> = marks.unread().collect();
    let expected: Vec<EntryId> = (2..=90).rev().map(EntryId).collect();
    assert_eq!(listed, expected);
}

#[test]
fn a_scope_is_read_up_to_what_was_shown() {
    let filled = filled();
    let store = &filled.fresh.store;
    let anna = store.add_account("anna", "x", T0).unwrap().unwrap();
    store.mark_scope_read(anna, &Scope::Feed(FeedId(3)), None, Some(EntryId(70))).unwrap();
    let unread = store.unread_by_feed(anna).unwrap();
    assert_eq!((unread[&FeedId(1)], unread[&FeedId(2)], unread[&FeedId(3)]), (30, 30, 20));
    store.mark_scope_read(anna, &Scope::Tag("daily".to_owned()), Some(at(4000)), None).unwrap();
    let places = store.reading_places(&ReadingFilter {
        read: Some(false),
        oldest_first: true,
        ..ReadingFilter::newest(anna, Scope::Tag("daily".to_owned()), 1)
    });
    assert!(places.unwrap()[0].published_at > at(4000));
    store.mark_scope_read(anna, &Scope::All, None, Some(EntryId(80))).unwrap();
    assert_eq!(store.read_marks(anna).unwrap().n_unread(), 10);
    store.mark_scope_read(anna, &Scope::All, None, None).unwrap();
    assert_eq!(store.read_marks(anna).unwrap().n_unread(), 0);
    assert!(store.unread_by_feed(anna).unwrap().is_empty());
    let feed = FeedId(1);
    let new = poll(store, feed, &["late"], at(90_000));
    assert_eq!(store.read_marks(anna).unwrap().unread().map(|id| id.0).collect::<Vec<_>>(), new);
}

#[test]
fn what_is_no_longer_kept_is_unread_for_nobody() {
    let filled = filled();
    let store = &filled.fresh.store;
    let anna = store.add_account("anna", "x", T0).unwrap().unwrap();
    store.star(anna, &[EntryId(90)], true, T0).unwrap();
    store.remove_feed(FeedId(3)).unwrap();
    assert_eq!(store.read_marks(anna).unwrap().n_unread(), 60);
    assert!(store.stars(anna).unwrap().is_empty());
    store.star(anna, &[EntryId(1)], true, T0).unwrap();
    // The newest ten of each of two feeds, and the one that is starred.
    let few = Retention { entries_per_feed_max: Some(10), ..Retention::off() };
    store.retain(&few, at(50_000)).unwrap();
    assert_eq!(store.read_marks(anna).unwrap().n_unread(), 21);
    assert_eq!(store.read_marks(AccountId::LOCAL).unwrap().n_unread(), 21);
    let late = store.add_account("late", "x", at(60_000)).unwrap().unwrap();
    assert_eq!(store.read_marks(late).unwrap().n_unread(), 21);
    for feed in [1, 2] {
        store.subscribe_to(late, FeedId(feed), &[], at(60_000)).unwrap();
    }
    assert_eq!(store.reading(&ReadingFilter::newest(late, Scope::All, 100)).unwrap().len(), 21);
    assert!(store.entry(EntryId(1)).unwrap().is_some(), "what is starred stays");
}

#[test]
fn the_numbers_that_a_restored_store_leaves_out_are_unread_for_nobody() {
    // This test is about files of SQLite.
    if store::testing::is_postgres() {
        return;
    }
    let filled = filled();
    let copy = filled.fresh.folder.path().join("copy.db");
    store::backup(filled.fresh.folder.path(), &copy, false, &mut |_, _| ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut file = std::fs::File::open(copy).unwrap();
    let lock = store::lock(folder.path()).unwrap();
    store::restore(folder.path(), &mut file, false, &lock, &mut |_| ()).unwrap();
    let store =
        Store::open(store::testing::location(folder.path()), store::OpenMode::ReadWrite).unwrap();
    let me = AccountId::LOCAL;
    assert_eq!(store.read_marks(me).unwrap().n_unread(), 90);
    let new = poll(&store, FeedId(1), &["late"], at(90_000));
    assert!(new[0] > 10_000_000, "{new:?}");
    let unread: Vec<i64> = store.read_marks(me).unwrap().unread().map(|id| id.0).collect();
    assert_eq!((unread.len(), unread[0], unread[1]), (91, new[0], 90));
    store.mark_scope_read(me, &Scope::All, None, None).unwrap();
    assert_eq!(store.read_marks(me).unwrap().n_unread(), 0);
    store.mark_read(me, &[EntryId(5000), EntryId(90)], false).unwrap();
    assert_eq!(store.read_marks(me).unwrap().n_unread(), 1);
}

#[test]
fn the_first_account_takes_over_what_was_read_starred_and_chosen_before_it() {
    let filled = filled();
    let store = &filled.fresh.store;
    store.star(AccountId::LOCAL, &[EntryId(3)], true, T0).unwrap();
    store.mark_read(AccountId::LOCAL, &[EntryId(1), EntryId(90)], true).unwrap();
    store.choose(AccountId::LOCAL, "order", Some("oldest")).unwrap();
    let anna = store.add_account("anna", "x", T0).unwrap().unwrap();
    let bert = store.add_account("bert", "x", T0).unwrap().unwrap();
    assert_eq!(store.stars(anna).unwrap(), HashSet::from([EntryId(3)]));
    assert!(store.stars(bert).unwrap().is_empty());
    let unread = |account| store.read_marks(account).unwrap().n_unread();
    assert_eq!([anna, bert, AccountId::LOCAL].map(unread), [88, 90, 90]);
    assert!(store.read_marks(anna).unwrap().is_read(EntryId(90)));
    let chosen = |account| store.choices(account).unwrap().len();
    assert_eq!([anna, bert].map(chosen), [1, 0]);
}

#[test]
fn many_unread_entries_are_walked_in_order_too() {
    let fresh = fresh();
    let store = &fresh.store;
    let mut new = new_feed("https://busy.example/");
    new.tags = vec!["busy".to_owned()];
    let busy = store.add_feed(&new, T0).unwrap().id;
    let items: Vec<Item> = (0..3000)
        .map(|n| {
            let mut item = item(&format!("{n}"), "t");
            item.published = Some(at(-(n % 1000)));
            item
        })
        .collect();
    store.record_blocking(seen(store, busy, &items, T0)).unwrap();
    let me = AccountId::LOCAL;
    let read: Vec<EntryId> = (1..=900).map(EntryId).collect();
    store.mark_read(me, &read, true).unwrap();
    for scope in [Scope::All, Scope::Feed(busy), Scope::Tag("busy".to_owned())] {
        for oldest_first in [false, true] {
            let reading = ReadingFilter {
                read: Some(false),
                oldest_first,
                ..ReadingFilter::newest(me, scope.clone(), 500)
            };
            let mut places = paged(store, &reading);
            assert_eq!(places.len(), 2100);
            if !oldest_first {
                places.reverse();
            }
            assert!(places.is_sorted());
            assert!(places.iter().all(|place| place.entry.0 > 900));
        }
    }
    assert_eq!(store.unread_by_feed(me).unwrap()[&busy], 2100);
    let offset = ReadingFilter { offset: 2090, ..ReadingFilter::newest(me, Scope::All, 500) };
    assert_eq!(store.reading(&offset).unwrap().len(), 500);
}

#[test]
fn what_was_seen_before_a_time_is_found_by_halving() {
    let filled = filled();
    let store = &filled.fresh.store;
    let filter = store::EntryFilter { feed: Some(FeedId(1)), limit: 50 };
    // The entries of one feed were recorded in the order in which they were seen.
    for feed in [FeedId(3), FeedId(2)] {
        store.remove_feed(feed).unwrap();
    }
    let rows = store.entries(EntryId(0), &filter).unwrap();
    assert_eq!(rows.len(), 30);
    for time in [T0, at(1), at(1000), at(1001), at(4500), at(9000), at(99_999)] {
        let expected = rows.iter().filter(|row| row.seen_at < time).map(|row| row.id).max();
        let expected = expected.unwrap_or(EntryId(0));
        assert_eq!(store.last_seen_before(time).unwrap(), expected, "{time}");
    }
}

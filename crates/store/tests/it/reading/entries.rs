//! Entries as they were published, their revisions, and the ordered stream over them.

use std::collections::{BTreeMap, BTreeSet};

use feed::{Enclosure, EntryId, Item, Time};
use proptest::prelude::*;
use store::{EntryFilter, Store};

use crate::sample::{add, at, doubles, fresh, guids, item, items, poll, seen};

const ALL: EntryFilter = EntryFilter { feed: None, limit: 1000 };

#[test]
fn what_was_dropped_behind_a_cursor_is_a_gap_and_what_was_never_given_is_none() {
    let f = fresh();
    let (one, two) = (add(&f.store, "https://a.org/"), add(&f.store, "https://b.org/"));
    for n in 0..3 {
        poll(&f.store, one, &[&format!("a{n}")], at(n));
        poll(&f.store, two, &[&format!("b{n}")], at(n));
    }
    let page = |after, limit| page(&f.store, after, limit);
    assert_eq!(page(2, 2), (vec![3, 4], false, 4));
    f.store.remove_feed(one).unwrap();
    assert_eq!(page(1, 1), (vec![2], false, 2));
    assert_eq!(page(2, 9), (vec![4, 6], true, 6));
    assert_eq!(page(6, 9), (vec![], false, 6));
}

/// Returns the numbers of a page of the stream, whether it has a gap, and the next cursor.
fn page(store: &Store, after: i64, limit: u32) -> (Vec<i64>, bool, i64) {
    let page = store.stream(EntryId(after), limit).unwrap();
    let found = page.entries.iter().map(|row| row.id.0).collect();
    (found, page.gap, page.next.0)
}

/// A restored store skips numbers. No entry ever had the numbers in between.
#[test]
fn numbers_that_a_restore_leaps_over_are_no_gap() {
    // This test is about files of SQLite; `db::leap` restores a database.
    if store::testing::is_postgres() {
        return;
    }
    let f = fresh();
    let two = add(&f.store, "https://b.org/");
    for n in 0..6 {
        poll(&f.store, two, &[&format!("b{n}")], at(n));
    }
    let copy = f.folder.path().join("copy.db");
    store::backup(f.folder.path(), &copy, false, &mut |_, _| ()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (file, lock) = (std::fs::File::open(copy).unwrap(), store::lock(folder.path()).unwrap());
    store::restore(folder.path(), file, false, &lock, &mut |_| ()).unwrap();
    let restored =
        Store::open(store::testing::location(folder.path()), store::OpenMode::ReadWrite).unwrap();
    let new = poll(&restored, two, &["b6"], at(9));
    assert_eq!(page(&restored, 6, 9), (new.clone(), false, new[0]));
    restored.remove_feed(two).unwrap();
    assert_eq!(page(&restored, 6, 9), (vec![], true, new[0]), "and is told once");
    assert_eq!(page(&restored, new[0], 9), (vec![], false, new[0]));
}

/// Texts of a megabyte each: a read returns a few of them, and the next read continues.
#[test]
fn reads_end_early_by_their_bytes_and_go_on_behind() {
    let f = fresh();
    let feed = add(&f.store, "https://a.org/");
    let long = |n| Item { content: Some("x".repeat(1_000_000)), ..item(&format!("{n}"), "t") };
    let list: Vec<Item> = (0..7).map(long).collect();
    f.store.record_blocking(seen(&f.store, feed, &list, at(0))).unwrap();
    let (mut after, mut pages) = (EntryId(0), Vec::new());
    loop {
        let rows = f.store.entries(after, &ALL).unwrap();
        let Some(last) = rows.last() else { break };
        assert!(store::is_full(&rows, 1000) || rows.len() == 1);
        after = last.id;
        pages.push(rows.len());
    }
    assert_eq!(pages, [2, 2, 2, 1], "the last page is not full");
    let page = f.store.stream(EntryId(0), 1000).unwrap();
    assert_eq!((page.entries.len(), page.next, page.gap), (2, EntryId(2), false));
    let newest = f.store.recent_entries(None, &ALL).unwrap();
    assert_eq!(newest.iter().map(|row| row.id.0).collect::<Vec<_>>(), [7, 6]);
    assert_eq!(f.store.unindexed(100).unwrap().len(), 2);

    let account = store::AccountId::LOCAL;
    let reading = store::ReadingFilter::newest(account, store::Scope::All, 1000);
    assert_eq!(f.store.reading(&reading).unwrap().len(), 2);
    // Entries by number are all returned, without texts after the limit of bytes.
    let ids: Vec<EntryId> = (1..=7).map(EntryId).collect();
    let named = f.store.read_entries(account, &ids).unwrap();
    let without: Vec<bool> = named.iter().map(|one| one.without_texts).collect();
    assert_eq!(without, [false, false, true, true, true, true, true]);
    assert!(named.iter().all(|one| one.entry.content.is_none() == one.without_texts));
}

#[test]
fn the_stream_is_read_from_a_position_on() {
    let f = fresh();
    let one = add(&f.store, "https://example.org/a");
    let two = add(&f.store, "https://example.org/b");
    assert_eq!(f.store.last_entry_id().unwrap(), EntryId(0));
    poll(&f.store, one, &["b", "a"], at(1));
    poll(&f.store, two, &["c"], at(2));
    poll(&f.store, one, &["d", "b"], at(3));
    assert_eq!(guids(&f.store), ["a", "b", "c", "d"]);
    assert_eq!(f.store.last_entry_id().unwrap(), EntryId(4));
    let read = |after, filter: EntryFilter| -> Vec<i64> {
        f.store.entries(EntryId(after), &filter).unwrap().iter().map(|row| row.id.0).collect()
    };
    assert_eq!(read(2, ALL), [3, 4]);
    assert_eq!(read(0, EntryFilter { feed: None, limit: 2 }), [1, 2]);
    assert_eq!(read(1, EntryFilter { feed: Some(one), limit: 9 }), [2, 4]);
    let recent = f.store.recent_entries(Some(EntryId(4)), &EntryFilter { limit: 2, ..ALL });
    assert_eq!(recent.unwrap().iter().map(|row| row.id.0).collect::<Vec<_>>(), [3, 2]);
    let of_one = f.store.recent_entries(None, &EntryFilter { feed: Some(one), limit: 2 });
    assert_eq!(of_one.unwrap().iter().map(|row| row.id.0).collect::<Vec<_>>(), [4, 2]);
}

#[test]
fn an_entry_is_kept_as_the_publisher_wrote_it() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let written = Item {
        id: Some("tag:1".into()),
        title: Some("Title <b>with</b> & \u{0} \u{1F600}".into()),
        link: Some("https://example.org/1".into()),
        published: Some(at(-100)),
        updated: Some(at(-50)),
        author: Some("A. Author".into()),
        summary: Some(String::new()),
        content: None,
        categories: vec!["x, y".into(), "\"z\"".into()],
        enclosures: vec![
            Enclosure {
                url: "https://e/1.mp3".into(),
                mime_type: Some("audio/mpeg".into()),
                length: Some(u64::MAX),
                medium: Some("audio".into()),
                duration: Some(3600),
                ..Enclosure::default()
            },
            Enclosure { url: "https://e/2".into(), ..Enclosure::default() },
        ],
        language: Some("de-AT".into()),
        source: Some(feed::Source {
            id: Some("tag:first.example,2024:feed".into()),
            url: Some("https://first.example/feed".into()),
            title: Some("First & <foremost>".into()),
            site: Some("https://first.example/".into()),
            updated: Some(at(-200)),
            via: vec!["urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6".into()],
        }),
        media: feed::ItemMedia {
            duration: Some(3600),
            chapters: vec![feed::Chapter { start_ms: 5, ..feed::Chapter::default() }],
            ..feed::ItemMedia::default()
        },
    };
    let record = seen(&f.store, id, std::slice::from_ref(&written), at(10));
    let new_id = f.store.record_blocking(record).unwrap().new_ids[0];
    let row = f.store.entry(new_id).unwrap().unwrap();
    // PostgreSQL cannot hold U+0000 in a text.
    let mut written = written;
    if store::testing::is_postgres() {
        written.title = written.title.map(|title| title.replace('\0', ""));
    }
    let back = Item {
        id: row.guid,
        title: row.title,
        link: row.link,
        published: row.published_claim,
        updated: row.updated_at,
        author: row.author,
        summary: row.summary,
        content: row.content,
        categories: row.categories,
        enclosures: row.enclosures,
        language: row.language,
        source: row.source,
        media: row.media,
    };
    assert_eq!(back, written);
    assert_eq!((row.published_at, row.seen_at, row.feed), (at(-100), at(10), id));
    assert_eq!(f.store.entry(EntryId(99)).unwrap(), None);
}

#[test]
fn an_edit_changes_the_entry_and_keeps_what_it_said() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    for (n, title) in ["one", "two", "three"].into_iter().enumerate() {
        let record = seen(&f.store, id, &[item("g", title)], at(i64::try_from(n).unwrap()));
        f.store.record_blocking(record).unwrap();
    }
    let row = f.store.entry(EntryId(1)).unwrap().unwrap();
    assert_eq!(
        (row.title.as_deref(), row.seen_at, row.edited_at),
        (Some("three"), at(0), Some(at(2)))
    );
    let said: Vec<_> = f.store.revisions(EntryId(1)).unwrap();
    let texts: Vec<_> = said.iter().map(|r| (r.n, r.seen_at, r.title.as_deref())).collect();
    assert_eq!(texts, [(1, at(0), Some("one")), (2, at(1), Some("two"))]);
    assert_eq!(f.store.feed(id).unwrap().entries, 1);
}

#[test]
fn a_feed_that_prints_the_current_time_gets_24_revisions_an_entry() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    for n in 0..40 {
        let record = seen(&f.store, id, &[item("g", &format!("it is {n}"))], at(n));
        f.store.record_blocking(record).unwrap();
    }
    assert_eq!(f.store.revisions(EntryId(1)).unwrap().len(), 24);
    let row = f.store.entry(EntryId(1)).unwrap().unwrap();
    assert_eq!(row.title.as_deref(), Some("it is 39"));
}

#[test]
fn an_entry_that_comes_back_is_not_new() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    poll(&f.store, id, &["a"], at(1));
    poll(&f.store, id, &["b"], at(2));
    assert_eq!(poll(&f.store, id, &["a", "b"], at(3)), [0_i64; 0]);
    assert_eq!(f.store.check().unwrap(), []);
}

#[test]
fn a_new_entry_whose_key_is_known_after_all_is_not_kept_twice() {
    let f = fresh();
    let id = add(&f.store, "https://example.org/a");
    let first = seen(&f.store, id, &items(&["a"]), at(1));
    let mut again = first.clone();
    again.generation = 1;
    let mut other = seen(&f.store, id, &items(&["b"]), at(2));
    again.document_mut().entries.new.append(&mut other.document_mut().entries.new);
    f.store.record_blocking(first).unwrap();
    assert_eq!(f.store.record_blocking(again).unwrap().new_ids, [EntryId(2)]);
    assert_eq!(f.store.polls(id, 1).unwrap()[0].n_new, 1);
    assert_eq!(f.store.feed(id).unwrap().entries, 2);
}

#[test]
fn publications_are_counted_since_a_moment() {
    let f = fresh();
    let one = add(&f.store, "https://example.org/a");
    let two = add(&f.store, "https://example.org/b");
    let mut dated = items(&["old", "new"]);
    dated[0].published = Some(at(-1000));
    dated[1].published = Some(at(-10));
    let record = seen(&f.store, one, &dated, at(0));
    f.store.record_blocking(record).unwrap();
    assert_eq!(f.store.n_published_since(&[two, one], at(-100)).unwrap(), [0, 1]);
    // Recorded oldest first; the dates are the publisher's.
    let times = f.store.entry_times(one).unwrap();
    let claims: Vec<_> = times.iter().map(|t| (t.claim, t.seen_at)).collect();
    assert_eq!(claims, [(Some(at(-10)), at(0)), (Some(at(-1000)), at(0))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any sequence of windows, every distinct item is stored exactly once, in the order of
    /// first sight, and the checks find no problem.
    #[test]
    fn every_item_is_kept_once(windows in prop::collection::vec(
        prop::collection::btree_set(0_u8..12, 0..6), 1..12)
    ) {
        let f = fresh();
        let id = add(&f.store, "https://example.org/a");
        let mut first_seen: BTreeMap<String, Time> = BTreeMap::new();
        for (n, window) in windows.iter().enumerate() {
            let now = at(i64::try_from(n).unwrap());
            let names: Vec<String> = window.iter().map(|i| format!("item {i}")).collect();
            let shown: Vec<&str> = names.iter().map(String::as_str).collect();
            poll(&f.store, id, &shown, now);
            for name in names {
                first_seen.entry(name).or_insert(now);
            }
        }
        let kept = guids(&f.store);
        prop_assert!(doubles(&kept).is_empty());
        let expected: BTreeSet<&String> = first_seen.keys().collect();
        prop_assert_eq!(kept.iter().collect::<BTreeSet<_>>(), expected);
        let rows = f.store.entries(EntryId(0), &ALL).unwrap();
        prop_assert!(rows.is_sorted_by_key(|row| row.seen_at));
        for row in &rows {
            prop_assert_eq!(row.seen_at, first_seen[row.guid.as_ref().unwrap()]);
        }
        prop_assert_eq!(f.store.feed(id).unwrap().entries, kept.len() as u64);
        prop_assert_eq!(f.store.check().unwrap(), vec![]);
    }
}

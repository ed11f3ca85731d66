//! Entries of several feeds that tell the same become one story, and lists fold them.

use std::time::Duration;

use feed::{EntryId, EntryKey, FeedUrl, Item, Outcome, Published, Time};
use store::{
    AccountId, FoldedEntry, NewEntry, NewFeed, OpenMode, PollRecord, ReadingFilter, STORIES_CHOICE,
    Scope, Store,
};

const T0: Time = Time::from_secs(1_700_000_000);
const HOUR: Duration = Duration::from_secs(3600);

/// An entry of a feed: the feed, hours after the start, title, link and text.
type Post = (&'static str, u32, &'static str, &'static str, &'static str);

fn post(store: &Store, number: u8, (feed, hours, title, link, text): Post) {
    let url = FeedUrl::parse(&format!("https://{feed}.example/")).unwrap();
    let new = NewFeed { url, title: None, site: None, tags: vec![feed.to_owned()] };
    let feed = store.add_feed(&new, T0).unwrap().id;
    let generation = store.poll_input(feed).unwrap().generation;
    let at = T0 + HOUR * hours;
    let mut record = PollRecord::empty(feed, generation, at, Outcome::Seen, at);
    let item = Item {
        title: Some(title.to_owned()),
        link: Some(link.to_owned()),
        content: Some(text.to_owned()),
        ..Item::default()
    };
    record.document_mut().entries.new.push(NewEntry {
        key: EntryKey::from_bytes([number; 16]),
        item,
        published: Published { claim: None, at },
        content: 0,
        facts: store::EntryFacts::default(),
    });
    store.record_blocking(record).unwrap();
}

async fn filled(folder: &std::path::Path, posts: &[Post]) -> Store {
    let store = Store::open(store::testing::location(folder), OpenMode::ReadWrite).unwrap();
    for (number, one) in (1..).zip(posts) {
        post(&store, number, *one);
        // Some stories are found in one batch and some across batches.
        if number % 3 == 0 {
            engine::find_stories_once(&store, T0 + HOUR * one.1).await.unwrap();
        }
    }
    while engine::find_stories_once(&store, T0 + HOUR).await.unwrap() > 0 {}
    store
}

fn numbers(entries: &[FoldedEntry]) -> Vec<Vec<i64>> {
    let ids = |one: &FoldedEntry| -> Vec<i64> {
        std::iter::once(&one.lead).chain(&one.others).map(|row| row.entry.id.0).collect()
    };
    entries.iter().map(ids).collect()
}

const POSTS: [Post; 9] = [
    ("a", 0, "Volcano erupts in Iceland, thousands evacuated", "https://a.org/1", ""),
    ("b", 1, "Thousands evacuated as volcano erupts in Iceland", "https://b.org/x", ""),
    ("c", 2, "Look at this", "https://c.org/2", "<a href='https://www.a.org/1?utm_id=7'>here</a>"),
    ("a", 3, "Another thing", "https://a.org/3", ""),
    ("d", 4, "Link of the day", "https://a.org/3", ""),
    // The same title in the same feed, an old story, and a list of links.
    ("a", 5, "Volcano erupts in Iceland, thousands evacuated", "https://a.org/5", ""),
    ("b", 100, "Volcano erupts in Iceland, thousands evacuated", "https://b.org/7", ""),
    (
        "d",
        6,
        "Links",
        "https://d.org/8",
        "<a href='https://a.org/1'><a href='https://a.org/3'>\
      <a href='https://x.org/1'><a href='https://x.org/2'>",
    ),
    ("c", 7, "Alone", "https://c.org/9", ""),
];

#[tokio::test]
async fn a_story_has_only_entries_of_the_own_subscriptions() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &POSTS).await;
    let [anna, bert] =
        ["anna", "bert"].map(|name| store.add_account(name, "x", T0).unwrap().unwrap());
    let feed_of = |entry| store.entry(EntryId(entry)).unwrap().unwrap().feed;
    for entry in [2, 3, 5] {
        store.subscribe_to(bert, feed_of(entry), &[], T0).unwrap();
    }
    let list = |account| ReadingFilter::newest(account, Scope::All, 50);
    let page = store.reading_folded(&list(bert)).unwrap();
    let own = vec![vec![7], vec![9], vec![8], vec![5], vec![3, 2]];
    assert_eq!((numbers(&page.entries), page.n_found), (own, 6));
    let top = store.top_stories(&ReadingFilter { since: Some(T0), limit: 10, ..list(bert) });
    assert_eq!(numbers(&top.unwrap()), [vec![3, 2]]);
    assert_eq!(numbers(&store.reading_folded(&list(anna)).unwrap().entries)[3], [6, 3, 2, 1]);
    // He may subscribe to the other feeds later, and finds their entries unread.
    store.choose(bert, "stories", Some("together")).unwrap();
    store.mark_read(bert, &[EntryId(2)], true).unwrap();
    let marks = store.read_marks(bert).unwrap();
    let read: Vec<i64> = (1..=9).filter(|n| marks.is_read(EntryId(*n))).collect();
    assert_eq!(read, [2, 3]);
}

#[tokio::test]
async fn entries_that_tell_the_same_are_one_line_of_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &POSTS).await;
    let all = ReadingFilter::newest(AccountId::LOCAL, Scope::All, 50);
    let page = store.reading_folded(&all).unwrap();
    // Entry 6 shares its title with entry 2 of another feed, so it belongs to that story.
    let folded = vec![vec![7], vec![9], vec![8], vec![6, 3, 2, 1], vec![5, 4]];
    assert_eq!((numbers(&page.entries), page.n_found), (folded, 9));
    assert_eq!(page.entries[3].n_feeds, 3);
    let top = store.top_stories(&ReadingFilter { since: Some(T0), limit: 10, ..all.clone() });
    assert_eq!(numbers(&top.unwrap()), [vec![6, 3, 2, 1], vec![5, 4]]);
    // A page that begins inside a story does not show the story again.
    let first = ReadingFilter { limit: 4, ..all.clone() };
    let first = store.reading_folded(&first).unwrap();
    assert_eq!(numbers(&first.entries), [vec![7], vec![9], vec![8], vec![6, 3, 2, 1]]);
    let rest = store.reading_folded(&ReadingFilter { from: first.last, ..all.clone() }).unwrap();
    assert_eq!(numbers(&rest.entries), [vec![5, 4]]);
    // Oldest first, the oldest entry leads.
    let upwards = ReadingFilter { oldest_first: true, limit: 1, ..all.clone() };
    assert_eq!(numbers(&store.reading_folded(&upwards).unwrap().entries), [vec![1, 2, 3, 6]]);
    // Only entries of the scope count.
    let tagged = ReadingFilter::newest(AccountId::LOCAL, Scope::Tag("b".to_owned()), 50);
    assert_eq!(numbers(&store.reading_folded(&tagged).unwrap().entries), [vec![7], vec![2]]);
    // An entry that was read is not folded under an unread one.
    store.mark_read(AccountId::LOCAL, &[EntryId(3)], true).unwrap();
    let unread = ReadingFilter { read: Some(false), ..all };
    let unread = numbers(&store.reading_folded(&unread).unwrap().entries);
    assert_eq!(unread[3], [6, 2, 1]);
}

#[tokio::test]
async fn a_story_is_read_as_a_whole_if_the_reader_wants_that() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path(), &POSTS).await;
    let is_read = || {
        let marks = store.read_entries(AccountId::LOCAL, &[1, 2, 3, 6, 4, 5].map(EntryId)).unwrap();
        marks.iter().map(|row| row.read).collect::<Vec<_>>()
    };
    store.mark_read(AccountId::LOCAL, &[EntryId(4)], true).unwrap();
    assert_eq!(is_read(), [false, false, false, false, true, false]);
    let (name, value) = STORIES_CHOICE;
    store.choose(AccountId::LOCAL, name, Some(value)).unwrap();
    store.mark_read(AccountId::LOCAL, &[EntryId(2)], true).unwrap();
    assert_eq!(is_read(), [true, true, true, true, true, false]);
    store.mark_read(AccountId::LOCAL, &[EntryId(1)], false).unwrap();
    assert_eq!(is_read()[..2], [false, true], "unread is a mark of one entry");
}

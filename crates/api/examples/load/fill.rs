//! The store of a large instance after a year: fifty entries of each of several thousand feeds,
//! twenty tags, and ten people who have read most entries. All words are indexed.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api::search::query_entry;
use feed::{EntryId, EntryKey, FeedId, FeedUrl, Item, Outcome, Published, Time};
use query::Entry;
use store::{
    NewEntry, NewFeed, NewToken, PollRecord, Scope, SearchWords, Store, StoreError, TokenScope,
};

use crate::crowd::{Crowd, CrowdPerson};

pub const NOW: Time = Time::from_secs(1_700_000_000);
const ENTRIES_OF_FEED: u32 = 50;
const YEAR_MS: u64 = 365 * 86_400_000;
/// The time from a poll of a feed to its next one. As in a real instance, few feeds are due.
pub const UNTIL_NEXT: Duration = Duration::from_secs(3600);
/// People whose rows come through the functions of the store. The first one reads every feed.
const PEOPLE: u32 = 10;
/// Subscriptions of everybody else.
const SUBSCRIPTIONS: u32 = 200;

const WORDS: [&str; 40] = [
    "volcano", "harbour", "engine", "question", "answer", "glacier", "market", "season", "paper",
    "signal", "window", "garden", "river", "theory", "number", "letter", "morning", "country",
    "winter", "summer", "machine", "thing", "people", "system", "reader", "writer", "city", "sea",
    "house", "road", "school", "history", "music", "science", "money", "weather", "health", "game",
    "report", "island",
];

/// Returns a pseudo-random number that is the same in every run.
pub fn mixed(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 7
}

pub fn words(seed: u64, n: u64) -> String {
    // Few words are frequent and many are rare, as in real texts.
    let word = |i: u64| {
        let drawn = mixed(seed.wrapping_mul(1000).wrapping_add(i));
        match drawn % 4 {
            0 => format!("{}{}", WORDS[drawn as usize / 7 % 40], drawn % 5000),
            _ => WORDS[(drawn as usize / 7 % 40).min(drawn as usize / 11 % 40)].to_owned(),
        }
    };
    (0..n).map(word).collect::<Vec<_>>().join(" ")
}

pub fn entry(number: u64, at: Time) -> NewEntry {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&number.to_le_bytes());
    let item = Item {
        title: Some(words(number, 8)),
        link: Some(format!("https://example.org/{number}")),
        author: Some(words(number % 500, 2)),
        summary: Some(format!("<p>{}</p>", words(number + 1, 40))),
        content: Some(format!("<p>{}</p>", words(number + 2, 90))),
        categories: vec![WORDS[number as usize % 40].to_owned()],
        ..Item::default()
    };
    let published = Published { claim: Some(at), at };
    NewEntry {
        key: EntryKey::from_bytes(key),
        item,
        published,
        content: number,
        facts: store::EntryFacts::default(),
    }
}

/// Every feed and its generation.
pub fn feeds(store: &Store) -> Result<Vec<(FeedId, u32)>, StoreError> {
    Ok(store.due_index()?.due.iter().map(|due| (due.feed, due.generation)).collect())
}

/// Returns the number of feeds that share so many entries.
pub fn n_feeds(n_entries: u32) -> u32 {
    n_entries / ENTRIES_OF_FEED
}

/// Fills the store up to this many entries, and returns the first people.
pub async fn fill(store: &Store, n_entries: u32) -> Result<Vec<CrowdPerson>, Box<dyn Error>> {
    let n_feeds = n_feeds(n_entries);
    let started = crate::begin();
    let new: Result<Vec<NewFeed>, _> = (0..n_feeds).map(new_feed).collect();
    for some in new?.chunks(10_000) {
        store.add_feeds(some, NOW)?;
    }
    for some in feeds(store)?.chunks(50) {
        let mut running = tokio::task::JoinSet::new();
        for (feed, generation) in some {
            if store.feed(*feed)?.entries > 0 {
                continue;
            }
            let record = first_poll(*feed, *generation, n_feeds);
            let store = store.clone();
            running.spawn(async move { store.record(record).await });
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
    }
    println!("{n_entries} entries of {n_feeds} feeds after {:.1?}", started.elapsed());
    while index_some(store, 1000).await? > 0 {}
    println!("indexed after {:.1?}", started.elapsed());
    let people = people(store, n_feeds)?;
    settle(store);
    println!("read by {} people after {:.1?}", people.len(), started.elapsed());
    Ok(people)
}

/// Adds people up to a number; each has 200 subscriptions.
pub fn crowd(store: &Store, n_entries: u32, n_people: u32) -> Result<Vec<CrowdPerson>, StoreError> {
    let started = crate::begin();
    let n_feeds = n_feeds(n_entries);
    let n_subscriptions = n_feeds.min(SUBSCRIPTIONS);
    let n_people = n_people.saturating_sub(PEOPLE);
    let people = Crowd { n_people, n_feeds, n_subscriptions }.fill(store, NOW)?;
    settle(store);
    println!("\nread by {} more people after {:.1?}", people.len(), started.elapsed());
    Ok(people)
}

/// A server that has run for a while has done so itself.
pub fn settle(store: &Store) {
    if store::testing::is_postgres() {
        store::testing::execute(store.location(), "vacuum (analyze)");
    }
}

/// The poll that brings the first entries of a feed. The first tenth of the feeds has a word that
/// later ones do not have.
fn first_poll(feed: FeedId, generation: u32, n_feeds: u32) -> PollRecord {
    let mut record = PollRecord::empty(feed, generation, NOW, Outcome::Seen, NOW + UNTIL_NEXT);
    for n in 0..ENTRIES_OF_FEED {
        let number = u64::from(feed.0) * 1000 + u64::from(n);
        let published = NOW - Duration::from_millis(mixed(number) % YEAR_MS);
        let mut new = entry(number, published);
        if feed.0 <= n_feeds / 10 {
            new.item.author = Some("archive".to_owned());
            new.item.summary = Some("<p>from the archive</p>".to_owned());
        }
        record.document_mut().entries.new.push(new);
    }
    record
}

fn new_feed(n: u32) -> Result<NewFeed, feed::AddressError> {
    let url = FeedUrl::parse(&format!("https://blog{n}.example{}.org/feed", n % 1000))?;
    let title = Some(words(u64::from(n), 3));
    Ok(NewFeed { url, title, site: None, tags: vec![format!("tag {}", n % 20)] })
}

/// Everybody has read most entries; the rest differs.
fn people(store: &Store, n_feeds: u32) -> Result<Vec<CrowdPerson>, Box<dyn Error>> {
    let last = store.last_entry_id()?;
    let mut people = Vec::new();
    for n in 0..PEOPLE {
        let name = format!("person{n}");
        let account = match store.account(&name)? {
            Some(row) => row.id,
            None => store.add_account(&name, "nobody logs in here", NOW)??,
        };
        if n > 0 {
            let drawn = |i| mixed(u64::from(n) * 1000 + i) % u64::from(n_feeds.max(1));
            let own = (0..u64::from(SUBSCRIPTIONS))
                .map(|i| new_feed(u32::try_from(drawn(i)).unwrap_or(0)));
            store.subscribe(account, &own.collect::<Result<Vec<_>, _>>()?, NOW)?;
        }
        let read_to = EntryId(last.0 - last.0 * i64::from(n) / 20);
        store.mark_scope_read(account, &Scope::All, None, Some(read_to))?;
        let starred: Vec<EntryId> = (0..300).map(|i| EntryId(1 + i * last.0 / 300)).collect();
        store.star(account, &starred, true, NOW)?;
        let fresh = api::auth::fresh()?;
        for token in store.tokens(account)? {
            store.revoke_token(account, token.id)?;
        }
        let fever_digest = api::auth::fever_digest(&name, &fresh.secret);
        let (digest, scope) = (fresh.digest, TokenScope::Write);
        store.add_token(&NewToken { account, name, scope, digest, fever_digest }, NOW)??;
        let feeds = store.subscriptions(account)?.iter().map(|row| row.feed).collect();
        people.push(CrowdPerson { account, token: fresh.secret, feeds });
    }
    Ok(people)
}

/// Updates the search index, as the engine does after polls.
pub async fn index_some(store: &Store, n: u32) -> Result<usize, StoreError> {
    let rows = store.unindexed(n)?;
    let Some(first) = rows.first() else { return Ok(0) };
    // The index covers feeds that people read; any feed will do.
    let feed = store.feed(first.feed)?;
    let ids: Vec<EntryId> = rows.iter().map(|row| row.id).collect();
    let texts = store.article_texts(&ids, query::limits::FIELD_BYTES_MAX)?;
    let cut = rows.iter().map(|row| {
        let text = texts.get(&row.id);
        let article = text.map(|(_, text)| text.as_str());
        let (title, body) = query::index_words(&Entry { article, ..query_entry(row, &feed) });
        let article_at = text.map(|(at, _)| *at);
        SearchWords { entry: row.id, edited_at: row.edited_at, title, body, article_at }
    });
    let cut: Vec<SearchWords> = cut.collect();
    let n_cut = cut.len();
    store.index(cut).await?;
    Ok(n_cut)
}

pub async fn keep_indexed(store: Store, going: Arc<AtomicBool>) -> Result<(), StoreError> {
    while going.load(Ordering::Relaxed) {
        if index_some(&store, 100).await? == 0 {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
    Ok(())
}

//! Whole articles: pages of 600 words behind a part of the entries, stored and indexed, and pages
//! that arrive while people read.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use feed::{EntryId, Time};
use store::{ArticleRecord, ArticleText, NewArticle, Store, StoreError};

use crate::fill::{self, NOW, mixed, words};

const WORDS: u64 = 600;
const PARAGRAPH: u64 = 60;
/// Articles that are recorded at once. The writer takes them in groups.
const AT_ONCE: usize = 200;
/// Pages that arrive in a second: those of twenty domains with a gap of two seconds.
const PER_SECOND: u32 = 10;

/// Returns an article of its own for an entry. Most of its words are frequent.
fn article(entry: EntryId, at: Time) -> ArticleRecord {
    let seed = entry.0.unsigned_abs() + (1 << 40);
    let paragraphs: Vec<String> =
        (0..WORDS / PARAGRAPH).map(|n| words(seed * 16 + n, PARAGRAPH)).collect();
    let text = ArticleText {
        title: Some(words(seed, 8)),
        html: paragraphs.iter().map(|text| format!("<p>{text}</p>")).collect(),
        text: paragraphs.join("\n"),
        language: Some("en".to_owned()),
        n_words: WORDS,
        ..ArticleText::default()
    };
    let new = NewArticle { text, page: None, facts: None, etag: None, last_modified: None };
    ArticleRecord {
        entry,
        fetched_at: at,
        url: format!("https://example.org/{entry}"),
        extractor: "load".to_owned(),
        content: Ok(new),
    }
}

/// Returns whether an entry has an article, of `percent` in a hundred.
fn is_chosen(entry: EntryId, percent: u64) -> bool {
    mixed(entry.0.unsigned_abs() + 7) % 100 < percent
}

/// Gives articles to a part of all entries, if the last one has none yet.
pub async fn fill(store: &Store, percent: u64) -> Result<(), Box<dyn Error>> {
    let started = crate::begin();
    let before = store.status(NOW)?.database_bytes;
    let last = store.last_entry_id()?;
    let chosen: Vec<EntryId> =
        (1..=last.0).map(EntryId).filter(|entry| is_chosen(*entry, percent)).collect();
    let is_filled = match chosen.last() {
        Some(entry) => store.known_article(*entry)?.is_some(),
        None => true,
    };
    for some in chosen.chunks(AT_ONCE).filter(|_| !is_filled) {
        let mut running = tokio::task::JoinSet::new();
        for entry in some {
            let (store, record) = (store.clone(), article(*entry, NOW));
            running.spawn(async move { store.record_article(record).await });
        }
        while let Some(done) = running.join_next().await {
            done??;
        }
    }
    println!("\n{} articles of {WORDS} words after {:.1?}", chosen.len(), started.elapsed());
    while fill::index_some(store, 1000).await? > 0 {}
    fill::settle(store);
    println!("indexed after {:.1?}", started.elapsed());
    if !is_filled {
        let grown = store.status(NOW)?.database_bytes.saturating_sub(before);
        let kb = grown as f64 / 1000.0 / chosen.len().max(1) as f64;
        println!("{kb:.1} KB for each article with its words in the index");
    }
    Ok(())
}

/// Records articles at an even pace, of any entries. Words are indexed by who records polls.
pub async fn arrive(
    store: Store,
    going: Arc<AtomicBool>,
    n_arrived: Arc<AtomicU64>,
) -> Result<(), StoreError> {
    let last = store.last_entry_id()?.0.unsigned_abs().max(1);
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / PER_SECOND);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Burst);
    let mut n = 0_u64;
    while going.load(Ordering::Relaxed) {
        ticks.tick().await;
        n += 1;
        let entry = EntryId(i64::try_from(1 + mixed(n + 555) % last).unwrap_or(1));
        let at = NOW + Duration::from_millis(n * 100);
        store.record_article(article(entry, at)).await?;
        n_arrived.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

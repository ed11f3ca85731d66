//! Finds stories behind the polls: entries of several feeds that tell the same. It follows the
//! stream by the store's own mark. An entry joins the story of an earlier entry
//! of another feed if they share a page or have similar titles, within three days.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use feed::{EntryId, FeedId, STORY_SPAN, StoryKeys, Time, TitleWords};
use parse::discover::text_links;
use store::{EntryRow, Store, StoreError, StoryCandidate, StoryRecord};
use tokio::sync::watch;

use crate::behind::{BATCH, rest};
use crate::context::Context;
use crate::linked_site::linked_sites;

/// Links that are read from one text. A list of links may have more.
const LINKS_MAX: usize = 50;
/// Links that stories look at. More make the text a list of links.
const STORY_LINKS_MAX: usize = 10;
/// The age of an entry whose links still say what feeds link to.
const LINKS_AGE_MAX: Duration = Duration::from_secs(30 * 86_400);

/// Finds stories until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let done = run_once(&context.store, context.clock.now()).await;
        rest(&mut stop, "find stories", done).await;
    }
}

/// Handles one batch. Returns its number of entries: 0 if there is none left.
pub async fn run_once(store: &Store, now: Time) -> Result<usize, StoreError> {
    let reader = store.clone();
    let found = tokio::task::spawn_blocking(move || -> Result<Vec<StoryRecord>, StoreError> {
        let rows = reader.next_for_stories(BATCH)?;
        let links: Vec<Vec<String>> = rows.iter().map(|row| links(row, now)).collect();
        let pairs = rows.iter().zip(&links);
        let keys: Vec<StoryKeys> = pairs.map(|(row, links)| keys(row, links, now)).collect();
        let mut all: Vec<i64> =
            keys.iter().flat_map(|keys| keys.pages.iter().chain(&keys.titles)).copied().collect();
        // Entries of one batch often share keys.
        all.sort_unstable();
        all.dedup();
        let known = reader.story_candidates(&all)?;
        let mut records = records(&rows, keys, known);
        for ((record, row), links) in records.iter_mut().zip(&rows).zip(&links) {
            record.sites = linked_sites(row.link.as_deref(), links);
        }
        Ok(records)
    });
    // Joining fails only if the runtime ends, and the store with it.
    let records = found.await.unwrap_or(Err(StoreError::Closed))?;
    let n_entries = records.len();
    if n_entries > 0 {
        store.record_stories(records, now).await?;
    }
    Ok(n_entries)
}

/// Returns the links in the text of an entry; none of an old one.
fn links(row: &EntryRow, now: Time) -> Vec<String> {
    if now.since(row.published_at) > LINKS_AGE_MAX {
        return Vec::new();
    }
    let text = row.content.as_deref().or(row.summary.as_deref()).unwrap_or_default();
    text_links(text, LINKS_MAX)
}

/// Returns the keys of an entry. An old one, as in the first document of a feed, has none.
fn keys(row: &EntryRow, links: &[String], now: Time) -> StoryKeys {
    if now.since(row.published_at) > STORY_SPAN {
        return StoryKeys::default();
    }
    let links = &links[..links.len().min(STORY_LINKS_MAX)];
    StoryKeys::of(row.title.as_deref(), row.link.as_deref(), links)
}

/// Decides which earlier entry each entry of a batch belongs to. Entries of the same batch count
/// as earlier ones too.
fn records(
    rows: &[EntryRow],
    keys: Vec<StoryKeys>,
    known: Vec<StoryCandidate>,
) -> Vec<StoryRecord> {
    let mut earlier = EarlierEntries::default();
    for candidate in known {
        earlier.add(candidate);
    }
    let mut records = Vec::with_capacity(rows.len());
    for (row, keys) in rows.iter().zip(keys) {
        let same_as = earlier.same_story(row, &keys);
        for key in keys.pages.iter().chain(&keys.titles) {
            earlier.add(StoryCandidate {
                key: *key,
                entry: row.id,
                feed: row.feed,
                published_at: row.published_at,
                title: row.title.clone(),
                story: None,
            });
        }
        let (entry, published_at, sites) = (row.id, row.published_at, Vec::new());
        records.push(StoryRecord { entry, published_at, keys, same_as, sites });
    }
    records
}

/// Earlier entries by their keys, with the words of their titles.
#[derive(Default)]
struct EarlierEntries {
    by_key: HashMap<i64, Vec<StoryCandidate>>,
    words: HashMap<EntryId, TitleWords>,
}

impl EarlierEntries {
    fn add(&mut self, candidate: StoryCandidate) {
        self.by_key.entry(candidate.key).or_default().push(candidate);
    }

    /// Returns the earliest entry of another feed that tells the same. A common page is a stronger
    /// sign than a similar title.
    fn same_story(&mut self, row: &EntryRow, keys: &StoryKeys) -> Option<EntryId> {
        if let Some(found) = self.earliest(row, &keys.pages, None) {
            return Some(found);
        }
        let own = TitleWords::of(row.title.as_deref()?);
        self.earliest(row, &keys.titles, Some(&own))
    }

    /// Returns the earliest entry with one of the keys, among those with a similar title if `title`
    /// is given. Entries that belong to a story come first.
    fn earliest(
        &mut self,
        row: &EntryRow,
        keys: &[i64],
        title: Option<&TitleWords>,
    ) -> Option<EntryId> {
        let (by_key, words) = (&self.by_key, &mut self.words);
        let mut judged: HashSet<EntryId> = HashSet::new();
        let candidates = keys.iter().filter_map(|key| by_key.get(key)).flatten();
        let found = candidates.filter(|one| {
            if !is_possible(one, row.feed, row.id, row.published_at) || !judged.insert(one.entry) {
                return false;
            }
            let (Some(title), Some(other)) = (title, &one.title) else { return title.is_none() };
            words.entry(one.entry).or_insert_with(|| TitleWords::of(other)).is_similar(title)
        });
        found.min_by_key(|one| (one.story.is_none(), one.entry)).map(|one| one.entry)
    }
}

fn is_possible(one: &StoryCandidate, feed: FeedId, entry: EntryId, at: Time) -> bool {
    let apart = at.since(one.published_at).max(one.published_at.since(at));
    one.feed != feed && one.entry != entry && apart <= STORY_SPAN
}

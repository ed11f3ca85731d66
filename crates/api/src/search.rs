//! Searching: what somebody typed, as entries, the newest first. The index finds candidates by
//! their words and the query language judges each. Nothing runs long: after so many candidates
//! the answer says where to go on.

use std::collections::HashMap;

use feed::{EntryId, FeedId};
use query::{Entry, Fault, Search};
use store::{AccountId, EntryRow, FeedRow, PAGE_BYTES_MAX, ReadEntry, Store, StoreError};

use crate::Context;
use crate::auth::Person;
use crate::blocking::run_blocking;

/// Entries on one page at most.
const LIMIT_MAX: usize = 1000;
/// Candidates that one question looks at: their texts are read and judged, some tens of
/// milliseconds for as many ordinary entries.
const CANDIDATES_MAX: usize = 2000;
/// Their texts together. Judging reads all of a text, at some 100 MB a second.
const JUDGED_BYTES_MAX: usize = 32_000_000;
/// Candidates read from the store at once; the first page is mostly in the first of them.
const CHUNK: u32 = 100;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub entries: Vec<ReadEntry>,
    /// Below which entry to go on; `None` where there is nothing more. There may be more although
    /// fewer entries than asked for were found: then many candidates were none.
    pub next: Option<EntryId>,
}

/// Why nothing was looked for.
#[derive(Debug, thiserror::Error)]
pub enum NotFound {
    /// The search cannot be understood.
    #[error("{}", told(.0))]
    Search(Box<Fault>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A search stands on one line, so that the column says enough.
fn told(fault: &Fault) -> String {
    let help = fault.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
    format!("at {}: {}{help}", fault.at.column, fault.message)
}

/// Looks for entries as somebody typed it, below a number, the newest first.
pub async fn find(
    context: &Context,
    person: &Person,
    text: &str,
    below: Option<EntryId>,
    limit: usize,
) -> Result<Found, NotFound> {
    let search = Search::read(text, (context.now)()).map_err(|f| NotFound::Search(Box::new(f)))?;
    let (store, account) = (context.store.clone(), person.account);
    Ok(run_blocking(move || judge(&store, account, search, below, limit.clamp(1, LIMIT_MAX)))
        .await?)
}

fn judge(
    store: &Store,
    account: AccountId,
    mut search: Search,
    below: Option<EntryId>,
    limit: usize,
) -> Result<Found, StoreError> {
    let mut feeds: HashMap<FeedId, Option<FeedRow>> = HashMap::new();
    let (mut entries, mut below, mut n_judged) = (Vec::new(), below, 0);
    let (mut kept_bytes, mut judged_bytes) = (0, 0);
    loop {
        let candidates = candidates(store, account, &search, below)?;
        if candidates.is_empty() {
            return Ok(Found { entries, next: None });
        }
        for candidate in candidates {
            let (id, n_bytes) = (candidate.entry.id, candidate.entry.n_bytes());
            let feed = candidate.entry.feed;
            // One that was removed meanwhile takes its entries along.
            let feed = feeds.entry(feed).or_insert_with(|| store.feed(feed).ok());
            if feed.as_ref().is_some_and(|feed| search.fits(&seen(&candidate.entry, feed))) {
                entries.push(candidate);
                kept_bytes += n_bytes;
            }
            below = Some(id);
            n_judged += 1;
            judged_bytes += n_bytes;
            let full = entries.len() == limit || kept_bytes >= PAGE_BYTES_MAX;
            if full || n_judged == CANDIDATES_MAX || judged_bytes >= JUDGED_BYTES_MAX {
                return Ok(Found { entries, next: below });
            }
        }
    }
}

fn candidates(
    store: &Store,
    account: AccountId,
    search: &Search,
    below: Option<EntryId>,
) -> Result<Vec<ReadEntry>, StoreError> {
    match search.expression() {
        Some(expression) => store.search(account, expression, below, CHUNK),
        // No word tells: all entries are candidates, in the order of recording.
        None => store.recorded_before(account, below, CHUNK),
    }
}

/// A stored entry as queries see it.
pub fn seen<'a>(entry: &'a EntryRow, feed: &'a FeedRow) -> Entry<'a> {
    Entry {
        id: entry.id,
        feed: entry.feed,
        feed_url: feed.location.url.as_str(),
        tags: &feed.tags,
        title: entry.title.as_deref(),
        summary: entry.summary.as_deref(),
        content: entry.content.as_deref(),
        author: entry.author.as_deref(),
        categories: &entry.categories,
        link: entry.link.as_deref(),
        language: feed.facts.language.as_deref(),
        published: Some(entry.published_at),
        seen: entry.seen_at,
    }
}

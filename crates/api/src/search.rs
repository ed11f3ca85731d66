//! Search: finds the entries that match a typed text, newest first. The index finds candidates by
//! their words, and the query language tests each one. A search stops after a limited number of
//! candidates and returns the position at which to continue.

use std::collections::HashMap;

use feed::{EntryId, Time};
use query::limits::FIELD_BYTES_MAX;
use query::{Entry, Fault, Search};
use store::{AccountId, EntryRow, FeedRow, PAGE_BYTES_MAX, ReadEntry, Store, StoreError};

use crate::ServerContext;
use crate::auth::Person;
use crate::blocking::run_blocking;
use crate::feed_rows::FeedRows;
use crate::media_file::topic_name;

/// Most entries on one page.
const LIMIT_MAX: usize = 1000;
/// Candidates that one request tests. That many ordinary entries take some tens of milliseconds.
const CANDIDATES_MAX: usize = 2000;
/// Bytes of text that one request tests, at about 100 MB per second.
const TESTED_BYTES_MAX: usize = 32_000_000;
/// Candidates read from the store at once. The first batch usually fills the first page.
const CHUNK: u32 = 100;

/// The entries that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult {
    pub entries: Vec<ReadEntry>,
    /// The search continues below this entry; `None` at the end. A page can have fewer entries than
    /// requested and still continue, if many candidates did not match.
    pub next: Option<EntryId>,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The text is not a valid search.
    #[error("{}", fault_text(.0))]
    Query(Box<Fault>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes a fault. A search has one line, so the column is enough.
fn fault_text(fault: &Fault) -> String {
    let help = fault.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
    format!("at {}: {}{help}", fault.at.column, fault.message)
}

/// Finds entries below an id that match a text, newest first.
pub async fn find(
    context: &ServerContext,
    person: &Person,
    text: &str,
    below: Option<EntryId>,
    limit: usize,
) -> Result<SearchResult, SearchError> {
    let search =
        Search::read(text, (context.now)()).map_err(|f| SearchError::Query(Box::new(f)))?;
    let (store, account) = (context.store.clone(), person.account);
    Ok(run_blocking(move || {
        test_candidates(&store, account, search, below, limit.clamp(1, LIMIT_MAX))
    })
    .await?)
}

fn test_candidates(
    store: &Store,
    account: AccountId,
    mut search: Search,
    below: Option<EntryId>,
    limit: usize,
) -> Result<SearchResult, StoreError> {
    let mut feeds = FeedRows::new(account);
    let hidden = store.hidden_marks(account)?;
    let (mut entries, mut below, mut n_tested) = (Vec::new(), below, 0);
    let (mut kept_bytes, mut tested_bytes) = (0, 0);
    loop {
        let candidates = candidates(store, account, &search, below)?;
        if candidates.is_empty() {
            return Ok(SearchResult { entries, next: None });
        }
        feeds.load(store, candidates.iter().map(|candidate| candidate.entry.feed))?;
        let texts = ArticleTexts::read(store, candidates.iter().map(|one| one.entry.id))?;
        for candidate in candidates {
            let id = candidate.entry.id;
            let n_bytes = candidate.entry.n_bytes();
            // A feed that was removed in the meantime has no entries any more.
            let feed = feeds.get(candidate.entry.feed);
            let fits = |feed| search.fits(&texts.entry(&candidate.entry, feed));
            if !hidden.is_hidden(id) && feed.is_some_and(fits) {
                entries.push(candidate);
                kept_bytes += n_bytes;
            }
            below = Some(id);
            n_tested += 1;
            tested_bytes += n_bytes + texts.n_bytes(id);
            let full = entries.len() == limit || kept_bytes >= PAGE_BYTES_MAX;
            if full || n_tested == CANDIDATES_MAX || tested_bytes >= TESTED_BYTES_MAX {
                return Ok(SearchResult { entries, next: below });
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
        // Without a word to look up, all entries are candidates, in the order of recording.
        None => store.recorded_before(account, below, CHUNK),
    }
}

/// The texts of the pages behind some entries.
pub struct ArticleTexts(HashMap<EntryId, (Time, String)>);

impl ArticleTexts {
    pub fn read(
        store: &Store,
        entries: impl Iterator<Item = EntryId>,
    ) -> Result<ArticleTexts, StoreError> {
        let entries: Vec<EntryId> = entries.collect();
        Ok(ArticleTexts(store.article_texts(&entries, FIELD_BYTES_MAX)?))
    }

    /// Returns a stored entry in the form that queries take, with its article if it is there.
    pub fn entry<'a>(&'a self, entry: &'a EntryRow, feed: &'a FeedRow) -> Entry<'a> {
        let article = self.0.get(&entry.id).map(|(_, text)| text.as_str());
        Entry { article, ..query_entry(entry, feed) }
    }

    fn n_bytes(&self, entry: EntryId) -> usize {
        self.0.get(&entry).map_or(0, |(_, text)| text.len())
    }
}

/// Returns a stored entry in the form that queries take, without its article.
pub fn query_entry<'a>(entry: &'a EntryRow, feed: &'a FeedRow) -> Entry<'a> {
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
        language: match &entry.facts.language {
            Some(language) => Some(language.tag.as_str()),
            None => entry.language.as_deref().or(feed.facts.language.as_deref()),
        },
        topic: entry.facts.topic.and_then(topic_name),
        article: None,
        published: Some(entry.published_at),
        seen: entry.seen_at,
    }
}

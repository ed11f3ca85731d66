//! The standing queries, live: the matcher and the state of queries, behind the store's seam. The
//! store's writer calls it inside the transaction of each poll, so it neither waits nor reads the
//! store.

use polling::relevance::Selectivity;
use query::{Entry, Matcher, Scratch, States};
use store::{ArrivedEntry, EntryMatcher, QueryId, QueryMatch, QueryStateChange, RelevantShare};

/// Entries after which the matcher learns how often words occurred.
const LEARN_EVERY: u32 = 1000;
/// Queries that may then move to better anchors. Each takes a few microseconds.
const MOVES_MAX: usize = 100;

/// All queries, ready for matching.
#[derive(Default)]
pub struct Matching {
    matcher: Matcher,
    states: States,
    scratch: Scratch,
    n_asked: u32,
}

impl EntryMatcher for Matching {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(Matching::default())
    }

    fn is_empty(&self) -> bool {
        self.matcher.is_empty()
    }

    fn clear(&mut self) {
        *self = Matching::default();
    }

    fn put(&mut self, id: QueryId, name: &str, text: &str, records: &[(u64, Vec<u8>)]) -> Vec<u64> {
        let Some(create) = query::parse_create(text) else {
            // Its stored state stays, because a newer version may read it.
            tracing::error!(query = name, "a stored query cannot be read, so it matches nothing");
            self.remove_query(id);
            return Vec::new();
        };
        self.states.remove(id);
        self.matcher.insert(id, name, &create.query);
        let records = records.iter().map(|(number, bytes)| (*number, bytes.as_slice()));
        self.matcher.restore_state(&mut self.states, id, records)
    }

    fn remove_query(&mut self, id: QueryId) {
        self.matcher.remove(id);
        self.states.remove(id);
    }

    fn reads(&self, feed_url: &str, tags: &[String]) -> bool {
        self.matcher.reads(feed_url, tags)
    }

    fn match_entry(&mut self, arrival: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        self.n_asked += 1;
        if self.n_asked >= LEARN_EVERY {
            self.n_asked = 0;
            self.matcher.learn(&mut self.scratch, MOVES_MAX);
        }
        let matches = self.matcher.matches(&entry(arrival), &mut self.states, &mut self.scratch);
        let kept = |found: &query::Match| QueryMatch { query: found.query, partner: found.partner };
        matches.iter().map(kept).collect()
    }

    fn take_changes(&mut self) -> Vec<QueryStateChange> {
        let changes = self.states.take_changes().into_iter();
        let stored = changes.map(|change| match change {
            query::MemoryChange::Remember { query, number, bytes } => {
                QueryStateChange::Remember { query, number, bytes }
            }
            query::MemoryChange::Forget { query, number } => {
                QueryStateChange::Forget { query, number }
            }
        });
        stored.collect()
    }

    fn decayed_share(&self, before: RelevantShare, n_seen: u32, n_kept: u32) -> RelevantShare {
        let mut selectivity = Selectivity::from_parts(before.seen, before.kept);
        selectivity.note(n_seen, n_kept);
        let (seen, kept) = selectivity.parts();
        RelevantShare { seen, kept }
    }
}

/// Returns an entry in the form that queries take.
pub fn entry<'a>(arrival: &ArrivedEntry<'a>) -> Entry<'a> {
    Entry {
        id: arrival.id,
        feed: arrival.feed,
        feed_url: arrival.feed_url,
        tags: arrival.tags,
        title: arrival.title,
        summary: arrival.summary,
        content: arrival.content,
        author: arrival.author,
        categories: arrival.categories,
        link: arrival.link,
        language: arrival.language,
        published: Some(arrival.published_at),
        seen: arrival.seen_at,
    }
}

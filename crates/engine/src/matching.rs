//! The standing queries, live: the matcher and the state of queries, behind the store's seam. The
//! store's writer calls it inside the transaction of each poll, so it neither waits nor reads the
//! store.

mod audience;
mod scope;

use std::collections::{HashMap, HashSet};

use article::topic::MediaTopic;
use feed::{EntryId, FeedId};
use polling::relevance::Selectivity;
use query::{Entry, Matcher, Query, Scratch, States};
use store::{
    ArrivedArticle, ArrivedEntry, EntryMatcher, QueryId, QueryMatch, QueryScope, QueryStateChange,
    RelevantShare,
};

use audience::MatchAudience;
use scope::{named_private, scoped};

/// Entries after which the matcher learns how often words occurred.
const LEARN_EVERY: u32 = 1000;
/// Queries that may then move to better anchors. Each takes a few microseconds.
const MOVES_MAX: usize = 100;

/// All queries, ready for matching. Queries that use the page behind an entry, or read a query that
/// does, are in a matcher of their own: they decide later, and the others do not notice.
#[derive(Default)]
pub struct Matching {
    prompt: Matcher,
    waiting: Matcher,
    states: States,
    scratch: Scratch,
    /// Buffers for the second matcher: they hold the numbers of its own words.
    late_scratch: Scratch,
    n_asked: u32,
    /// The queries that read others or use articles. Few do.
    linked: HashMap<QueryId, LinkedQuery>,
    /// Waiting queries do not decide later on entries up to these.
    since: HashMap<QueryId, EntryId>,
    audience: MatchAudience,
    /// Names that queries read, or have read.
    read_names: HashSet<String>,
}

/// A query that may move between the matchers when another one changes.
struct LinkedQuery {
    name: String,
    text: String,
    reads: Vec<String>,
    /// Those of them that belong to somebody else now and are not shared.
    unreadable: Vec<String>,
    uses_article: bool,
    waits: bool,
}

impl Matching {
    fn match_now(&mut self, entry: &Entry<'_>) -> Vec<QueryMatch> {
        let may_keep = self.audience.keepers(entry.tags);
        let (states, scratch) = (&mut self.states, &mut self.scratch);
        let matches = self.prompt.matches_among(entry, &[], &may_keep, states, scratch);
        matches.iter().map(kept).collect()
    }

    /// Limits a query to what its owner may see. Also returns the queries that it names and may not
    /// read.
    fn limited(&self, id: QueryId, mut query: Query) -> (Query, Vec<String>) {
        let scope = self.audience.scope(id);
        let is_readable = |name: &str| {
            let read = self.prompt.named(name).or_else(|| self.waiting.named(name));
            read.is_none_or(|read| scope.may_read(self.audience.scope(read)))
        };
        let names = query.reads().into_iter().map(|name| name.text.clone());
        let unreadable: Vec<String> = names.filter(|name| !is_readable(name)).collect();
        scoped(&mut query, scope, |name| unreadable.iter().all(|other| other != name));
        (query, unreadable)
    }

    /// Updates the readers of a query that has another owner now, or is shared or not any more.
    fn renew_readers(&mut self, name: &str) {
        if !self.read_names.contains(name) {
            return;
        }
        let reads = |query: &LinkedQuery| query.reads.iter().any(|read| read == name);
        let readers = self.linked.iter().filter(|(_, query)| reads(query));
        let readers: Vec<QueryId> = readers.map(|(id, _)| *id).collect();
        for id in readers {
            let text = self.linked.get(&id).map(|query| query.text.clone()).unwrap_or_default();
            let Some(create) = query::parse_create(&text) else { continue };
            let (query, unreadable) = self.limited(id, create.query);
            let Some(linked) = self.linked.get_mut(&id) else { continue };
            if linked.unreadable == unreadable {
                continue;
            }
            linked.unreadable = unreadable;
            let home = if linked.waits { &mut self.waiting } else { &mut self.prompt };
            home.insert(id, &linked.name, &query);
        }
    }

    fn match_late(
        &mut self,
        entry: &Entry<'_>,
        kept_by: &[String],
        since: impl Fn(QueryId) -> bool,
    ) -> Vec<QueryMatch> {
        let may_keep = self.audience.keepers(entry.tags);
        let (states, scratch) = (&mut self.states, &mut self.late_scratch);
        let matches = self.waiting.matches_among(entry, kept_by, &may_keep, states, scratch);
        matches.iter().map(kept).filter(|one| since(one.query)).collect()
    }

    /// Returns the names of queries, as other queries read them.
    fn names(&self, matches: &[QueryMatch]) -> Vec<String> {
        matches.iter().filter_map(|one| self.prompt.name(one.query)).map(str::to_owned).collect()
    }

    /// Finds out again which queries wait, and moves those that changed sides.
    fn settle(&mut self) {
        let mut waits: HashSet<&str> = HashSet::new();
        loop {
            let before = waits.len();
            for query in self.linked.values() {
                let reads = query.reads.iter().any(|name| waits.contains(name.as_str()));
                if query.uses_article || reads {
                    waits.insert(&query.name);
                }
            }
            if waits.len() == before {
                break;
            }
        }
        let moved = self
            .linked
            .iter()
            .filter(|(_, query)| query.waits != waits.contains(query.name.as_str()));
        let moved: Vec<QueryId> = moved.map(|(id, _)| *id).collect();
        for id in moved {
            let text = self.linked.get(&id).map(|query| query.text.clone()).unwrap_or_default();
            let limited = query::parse_create(&text).map(|it| self.limited(id, it.query));
            let Some(linked) = self.linked.get_mut(&id) else { continue };
            linked.waits = !linked.waits;
            let Some((query, unreadable)) = limited else { continue };
            linked.unreadable = unreadable;
            let (from, to) = match linked.waits {
                true => (&mut self.prompt, &mut self.waiting),
                false => (&mut self.waiting, &mut self.prompt),
            };
            from.remove(id);
            to.insert(id, &linked.name, &query);
        }
    }
}

fn kept(found: &query::Match) -> QueryMatch {
    QueryMatch { query: found.query, partner: found.partner }
}

impl EntryMatcher for Matching {
    fn fresh(&self) -> Box<dyn EntryMatcher> {
        Box::new(Matching::default())
    }

    fn is_empty(&self) -> bool {
        self.prompt.is_empty() && self.waiting.is_empty()
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
        let (query, unreadable) = self.limited(id, create.query.clone());
        self.audience.show(id, named_private(&create.query, self.audience.scope(id)));
        self.states.remove(id);
        self.waiting.remove(id);
        self.prompt.insert(id, name, &query);
        let reads: Vec<String> =
            create.query.reads().into_iter().map(|name| name.text.clone()).collect();
        let uses_article = create.query.uses_article();
        let was_linked = self.linked.remove(&id).is_some();
        if uses_article || !reads.is_empty() {
            let (name, text) = (name.to_owned(), text.to_owned());
            self.read_names.extend(reads.iter().cloned());
            let waits = false;
            let linked = LinkedQuery { name, text, reads, unreadable, uses_article, waits };
            self.linked.insert(id, linked);
        }
        self.renew_readers(name);
        if was_linked || self.linked.contains_key(&id) {
            self.settle();
        }
        let records = records.iter().map(|(number, bytes)| (*number, bytes.as_slice()));
        let home = if self.waits(id) { &self.waiting } else { &self.prompt };
        home.restore_state(&mut self.states, id, records)
    }

    fn set_scope(&mut self, query: QueryId, scope: QueryScope) {
        self.audience.set_scope(query, scope);
    }

    fn remove_query(&mut self, id: QueryId) {
        let name = self.prompt.name(id).or_else(|| self.waiting.name(id)).map(str::to_owned);
        self.audience.remove(id);
        self.prompt.remove(id);
        self.waiting.remove(id);
        self.states.remove(id);
        self.since.remove(&id);
        if self.linked.remove(&id).is_some() {
            self.settle();
        }
        if let Some(name) = name {
            self.renew_readers(&name);
        }
    }

    fn others_see(&self, query: QueryId) -> bool {
        self.audience.others_see(query)
    }

    fn leave_out(&mut self, query: QueryId, feeds: &HashSet<FeedId>) {
        self.states.leave_out(query, |feed| feeds.contains(&feed));
    }

    fn reads(&self, feed_url: &str, tags: &[String]) -> bool {
        self.prompt.reads(feed_url, tags) || self.waiting.reads(feed_url, tags)
    }

    fn match_entry(&mut self, arrival: &ArrivedEntry<'_>) -> Vec<QueryMatch> {
        self.n_asked += 1;
        if self.n_asked >= LEARN_EVERY {
            self.n_asked = 0;
            self.prompt.learn(&mut self.scratch, MOVES_MAX);
            self.waiting.learn(&mut self.late_scratch, MOVES_MAX);
        }
        let entry = entry(arrival);
        let mut matches = self.match_now(&entry);
        if !self.waiting.is_empty() && arrival.article != ArrivedArticle::Expected {
            let names = self.names(&matches);
            matches.extend(self.match_late(&entry, &names, |_| true));
        }
        matches
    }

    fn note_since(&mut self, query: QueryId, since: EntryId) {
        self.since.insert(query, since);
    }

    fn waits(&self, query: QueryId) -> bool {
        self.linked.get(&query).is_some_and(|linked| linked.waits)
    }

    fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn match_waiting(&mut self, arrival: &ArrivedEntry<'_>, kept_by: &[String]) -> Vec<QueryMatch> {
        let since = std::mem::take(&mut self.since);
        let is_later = |query| since.get(&query).is_none_or(|since: &EntryId| arrival.id > *since);
        let matches = self.match_late(&entry(arrival), kept_by, is_later);
        self.since = since;
        matches
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
        topic: arrival.topic.and_then(MediaTopic::numbered).map(MediaTopic::name),
        article: match arrival.article {
            ArrivedArticle::There(text) => Some(text),
            ArrivedArticle::Absent | ArrivedArticle::Expected => None,
        },
        published: Some(arrival.published_at),
        seen: arrival.seen_at,
    }
}

//! All queries at once: one pass over an entry returns the queries that keep it.
//!
//! The matcher finds queries by their rarest word ([`anchor`]). Equal conditions share a node of a
//! graph ([`graph`]). A query is evaluated after those it reads. Adding or removing a query does
//! not touch the others. The matcher stores nothing and takes the time from the entry.

mod anchor;
mod compile;
mod compiled;
mod dictionary;
mod evaluate;
mod explain;
mod graph;
mod index;
mod levels;
mod reading;
mod run;
mod table;

use std::collections::BTreeMap;

use crate::language::ast::Query;
use crate::query_id::{QueryId, id_hash};
use crate::state::{Operators, States};
use anchor::{Anchors, choose};
use compile::Compiler;
use compiled::{AnchorTerms, CompiledQuery, QueryHead, RareParts, Sources, Stateful};
use dictionary::{Dictionary, TermId};
use graph::Graph;
use levels::Readers;
use table::NumberTable;

pub(crate) use index::for_each_text;
pub use run::{Match, Scratch};

/// The set of all queries, ready for matching.
#[derive(Default)]
pub struct Matcher {
    dictionary: Dictionary,
    graph: Graph,
    plans: Vec<Option<CompiledQuery>>,
    /// The parts that matching needs, in one array for the cache.
    heads: Vec<QueryHead>,
    free: Vec<u32>,
    by_id: NumberTable,
    len: usize,
    /// Queries without an anchor.
    always: Vec<u32>,
    readers: Readers,
    names: NumberTable,
    /// The number of queries that read each feed or tag by name, and of those that read all feeds.
    sources: BTreeMap<TermId, u32>,
    n_reading_all: u32,
    /// The number of entries sampled for the frequency of words.
    n_sampled: u32,
    /// The next query whose anchors are reviewed.
    next_review: usize,
}

impl Matcher {
    pub fn new() -> Matcher {
        Matcher::default()
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a query, or replaces the one with this number. The catalog guarantees that names are
    /// unique and free of cycles.
    pub fn insert(&mut self, id: QueryId, name: &str, query: &Query) {
        self.remove(id);
        let mut compiler = Compiler { dictionary: &mut self.dictionary, graph: &mut self.graph };
        let (root, sides) = compiler.query(query);
        let stateful = Operators::of(query).map(|operators| Stateful { operators, sides });
        let is_stateful = stateful.is_some();
        let head = QueryHead { id, root, level: 0, is_read: false, is_stateful };
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.plans.push(None);
                self.heads.push(head);
                (self.plans.len() - 1) as u32
            }
        };
        self.heads[slot as usize] = head;
        let reads: Box<[Box<str>]> =
            query.reads().into_iter().map(|name| name.text.as_str().into()).collect();
        let sources = self.note_sources(query);
        let is_unusual = is_stateful || !reads.is_empty() || matches!(sources, Sources::Named(_));
        let more = is_unusual.then(|| Box::new(RareParts { stateful, reads, sources }));
        let plan = CompiledQuery { name: name.into(), anchors: AnchorTerms::Always, more };
        self.plans[slot as usize] = Some(plan);
        self.by_id.insert(id_hash(id), slot);
        self.len += 1;
        self.add_name(slot);
        self.anchor(slot, choose(&self.graph, &self.dictionary, slot, root));
        self.link(slot);
    }

    /// Returns the name of a query.
    pub fn name(&self, id: QueryId) -> Option<&str> {
        self.plan(id).map(|(_, plan)| &*plan.name)
    }

    /// Returns the query with a name.
    pub fn named(&self, name: &str) -> Option<QueryId> {
        self.slot_named(name).map(|slot| self.heads[slot as usize].id)
    }

    /// Removes a query. Returns whether it existed.
    pub fn remove(&mut self, id: QueryId) -> bool {
        let Some(slot) = self.slot(id) else { return false };
        self.by_id.remove(id_hash(id), slot);
        self.len -= 1;
        self.unlink(slot);
        self.remove_name(slot);
        self.lift(slot);
        let Some(plan) = self.plans[slot as usize].take() else { return false };
        let more = plan.more.as_ref();
        self.forget_sources(more.map_or(&Sources::All, |more| &more.sources));
        self.graph.release(self.heads[slot as usize].root, &mut self.dictionary);
        if let Some((left, right)) = plan.stateful().and_then(|stateful| stateful.sides) {
            self.graph.release(left, &mut self.dictionary);
            self.graph.release(right, &mut self.dictionary);
        }
        self.free.push(slot);
        true
    }

    /// Restores the stored records of one query into `states`, in the order of their numbers.
    /// Returns the numbers of records that no longer belong to the query; the caller deletes them.
    pub fn restore_state<'b>(
        &self,
        states: &mut States,
        query: QueryId,
        records: impl IntoIterator<Item = (u64, &'b [u8])>,
    ) -> Vec<u64> {
        let stateful = self.plan(query).and_then(|(_, plan)| plan.stateful());
        states.restore(stateful.map(|stateful| stateful.operators), query, records)
    }

    /// Takes in the frequency of words, and moves up to `n_max` queries to rarer anchors. The
    /// caller calls this now and then with every scratch. Without it matching is correct, but
    /// slower.
    pub fn learn(&mut self, scratch: &mut Scratch, n_max: usize) {
        let (counts, n_sampled) = scratch.take_counts();
        for (index, n) in counts.into_iter().enumerate().filter(|(_, n)| *n > 0) {
            self.dictionary.note_seen(index, n);
        }
        self.n_sampled = self.n_sampled.saturating_add(n_sampled);
        if self.n_sampled > SAMPLES_MAX {
            self.n_sampled /= 2;
            self.dictionary.fade();
        }
        for _ in 0..n_max.min(self.plans.len()) {
            self.next_review = (self.next_review + 1) % self.plans.len();
            self.review(self.next_review as u32);
        }
    }

    /// Moves a query to better anchors, if there are any.
    fn review(&mut self, slot: u32) {
        let Some(plan) = &self.plans[slot as usize] else { return };
        let root = self.heads[slot as usize].root;
        let Some(best) = choose(&self.graph, &self.dictionary, slot, root) else { return };
        let now = plan.anchors.terms();
        let moved = best.postings.len() != now.len()
            || best.postings.iter().any(|(term, _)| !now.contains(term));
        if moved {
            self.lift(slot);
            self.anchor(slot, Some(best));
        }
    }

    /// Adds a query to the lists of its anchors.
    fn anchor(&mut self, slot: u32, anchors: Option<Anchors>) {
        let postings = anchors.map(|anchors| anchors.postings).unwrap_or_default();
        for (term, posting) in &postings {
            self.dictionary.add_posting(*term, *posting);
        }
        let anchored = match postings[..] {
            [] => {
                self.always.push(slot);
                AnchorTerms::Always
            }
            [(term, _)] => AnchorTerms::One(term),
            _ => AnchorTerms::Many(postings.iter().map(|(term, _)| *term).collect()),
        };
        if let Some(plan) = &mut self.plans[slot as usize] {
            plan.anchors = anchored;
        }
    }

    /// Removes a query from the lists of its anchors.
    fn lift(&mut self, slot: u32) {
        let Some(plan) = &mut self.plans[slot as usize] else { return };
        let anchors = std::mem::replace(&mut plan.anchors, AnchorTerms::Always);
        if let AnchorTerms::Always = anchors {
            self.always.retain(|other| *other != slot);
        }
        for term in anchors.terms() {
            self.dictionary.remove_posting(*term, slot);
        }
    }

    fn slot(&self, id: QueryId) -> Option<u32> {
        self.by_id.find(id_hash(id), |slot| self.heads[slot as usize].id == id)
    }

    fn plan(&self, id: QueryId) -> Option<(&QueryHead, &CompiledQuery)> {
        let slot = self.slot(id)? as usize;
        Some((&self.heads[slot], self.plans[slot].as_ref()?))
    }
}

/// The number of samples after which old ones fade.
const SAMPLES_MAX: u32 = 100_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::ast::Statement;

    const FILE: &str = r#"
        CREATE FEED a AS RETURN ALL FEEDS WHERE ITEM CONTAINS "x" AND "y" AND "x" AND ("y" AND "z");
        CREATE FEED b AS RETURN ALL FEEDS WHERE ITEM CONTAINS "y" AND "x" AND "z";
        CREATE FEED c AS RETURN TAG "t" | FEED a JOIN "https://e.org/" ON LINK
            WHERE TITLE CONTAINS "火山灰" OR "pp*" NEAR "q r" OR "火山灰" AND NOT AUTHOR = "m"
            WINDOW 1 DAY;
        CREATE FEED d AS RETURN FEED c WHERE TITLE MATCHES /x/ OR PUBLISHED > "2011";
        CREATE FEED e AS RETURN ALL FEEDS;
        CREATE FEED f AS RETURN TAG "t" WHERE TITLE CONTAINS "x" JOIN ALL FEEDS WHERE ITEM CONTAINS
            "y" ON LINK WHERE AUTHOR = "m";
        CREATE FEED g AS RETURN ALL FEEDS WHERE TITLE CONTAINS "x" JOIN ALL FEEDS ON LINK"#;

    #[test]
    fn equal_conditions_are_one_and_nothing_stays_behind() {
        let mut matcher = Matcher::new();
        for (n, statement) in crate::parse(FILE).unwrap().iter().enumerate() {
            let Statement::Create(create) = statement else { panic!("{statement}") };
            // Inserting a query again replaces it.
            for _ in 0..2 {
                matcher.insert(QueryId(n as u32), &create.name.text, &create.query);
            }
            if n == 1 {
                assert_eq!(matcher.graph.len(), 4, "three words and one condition");
                assert_eq!(matcher.dictionary.len(), 3);
            }
        }
        assert_eq!((matcher.len(), matcher.always.len()), (7, 2));
        for n in [1, 3, 0, 6, 2, 5, 4] {
            assert!(matcher.remove(QueryId(n)));
        }
        assert_eq!((matcher.graph.len(), matcher.dictionary.len()), (0, 0));
        assert!(matcher.always.is_empty() && matcher.sources.is_empty());
        assert!(matcher.readers.is_empty() && matcher.is_empty());
    }
}

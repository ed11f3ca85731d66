//! All queries at once: one pass over an entry says which of them keep it.
//!
//! Queries are found by their rarest word ([`anchor`]), equal conditions are one node of a graph
//! ([`graph`]), and queries over queries are asked after those they read. A query comes and goes
//! without the others being touched. It knows no storage and takes time from the entry.

mod anchor;
mod compile;
mod dictionary;
mod evaluate;
mod explain;
mod graph;
mod index;
mod levels;
mod run;

use std::collections::HashMap;
use std::fmt;

use hashbrown::HashTable;

use crate::ast::{Query, Source};
use crate::state::Operators;
use anchor::{Anchors, choose};
use compile::Compiler;
use dictionary::{Dictionary, Kind, TermId};
use graph::{Graph, NodeId};
use levels::Readers;

pub use run::{Match, Scratch};

/// A query's number, given by whoever stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The set of all queries, ready to be asked.
#[derive(Default)]
pub struct Matcher {
    dictionary: Dictionary,
    graph: Graph,
    plans: Vec<Option<Plan>>,
    /// What matching needs of each plan, side by side.
    heads: Vec<Head>,
    free: Vec<u32>,
    by_id: HashMap<QueryId, u32>,
    /// Queries that no word finds.
    always: Vec<u32>,
    readers: Readers,
    names: HashTable<u32>,
    /// How many queries read each feed or tag by name, and how many read all feeds.
    sources: HashMap<TermId, u32>,
    n_reading_all: u32,
    /// How many entries were counted for the frequency of words.
    n_sampled: u32,
    /// The next plan whose anchors are looked at again.
    next_review: usize,
}

/// The part of a plan that is looked at for every entry that may match.
#[derive(Clone, Copy)]
struct Head {
    id: QueryId,
    root: NodeId,
    /// How many queries deep it reads: 0 for one that reads feeds only.
    level: u8,
    /// Other queries read this one.
    is_read: bool,
    is_stateful: bool,
}

/// A query, compiled.
struct Plan {
    name: Box<str>,
    anchors: Box<[TermId]>,
    operators: Option<Box<Stateful>>,
    reads: Box<[Box<str>]>,
    sources: Sources,
}

/// What a plan reads by itself.
enum Sources {
    All,
    Named(Box<[TermId]>),
}

/// The part that needs memory, and the two sides of its join.
struct Stateful {
    operators: Operators,
    sides: Option<(NodeId, NodeId)>,
}

impl Matcher {
    pub fn new() -> Matcher {
        Matcher::default()
    }

    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Adds a query, or puts it in the place of the one with this number. Names are those that the
    /// catalog let through: unique, and free of cycles.
    pub fn insert(&mut self, id: QueryId, name: &str, query: &Query) {
        self.remove(id);
        let mut compiler = Compiler { dictionary: &mut self.dictionary, graph: &mut self.graph };
        let root = compiler.query(query);
        let sides = query.join.as_ref().map(|join| {
            let left: Vec<&Source> = query.sources.iter().collect();
            let right: Vec<&Source> = join.sources.iter().collect();
            (compiler.sources(&left), compiler.sources(&right))
        });
        let operators =
            Operators::of(query).map(|operators| Box::new(Stateful { operators, sides }));
        let is_stateful = operators.is_some();
        let head = Head { id, root, level: 0, is_read: false, is_stateful };
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
        self.plans[slot as usize] =
            Some(Plan { name: name.into(), anchors: Box::default(), operators, reads, sources });
        self.by_id.insert(id, slot);
        self.add_name(slot);
        self.anchor(slot, choose(&self.graph, &self.dictionary, slot, root));
        self.link(slot);
    }

    /// Takes a query away. Says whether it was there.
    pub fn remove(&mut self, id: QueryId) -> bool {
        let Some(slot) = self.by_id.remove(&id) else { return false };
        self.unlink(slot);
        self.remove_name(slot);
        self.lift(slot);
        let Some(plan) = self.plans[slot as usize].take() else { return false };
        self.forget_sources(&plan.sources);
        self.graph.release(self.heads[slot as usize].root, &mut self.dictionary);
        if let Some((left, right)) = plan.operators.and_then(|stateful| stateful.sides) {
            self.graph.release(left, &mut self.dictionary);
            self.graph.release(right, &mut self.dictionary);
        }
        self.free.push(slot);
        true
    }

    /// The queries that remember something, whose stored records must be restored.
    pub fn stateful(&self) -> impl Iterator<Item = QueryId> {
        let plans = self.plans.iter().zip(&self.heads).filter(|(plan, _)| plan.is_some());
        plans.filter(|(_, head)| head.is_stateful).map(|(_, head)| head.id)
    }

    pub(crate) fn operators(&self, id: QueryId) -> Option<&Operators> {
        let (_, plan) = self.plan(id)?;
        plan.operators.as_ref().map(|stateful| &stateful.operators)
    }

    /// Whether any query reads this feed. A feed that none reads has the selectivity 0.
    pub fn reads(&self, feed_url: &str, tags: &[String]) -> bool {
        let is_read = |kind, name: &str| {
            let term = self.dictionary.find(kind, name.as_bytes());
            term.is_some_and(|term| self.sources.contains_key(&term))
        };
        self.n_reading_all > 0
            || is_read(Kind::Feed, feed_url)
            || tags.iter().any(|tag| is_read(Kind::Tag, tag))
    }

    fn note_sources(&mut self, query: &Query) -> Sources {
        let joined = query.join.iter().flat_map(|join| &join.sources);
        let sources: Vec<&Source> = query.sources.iter().chain(joined).collect();
        if sources.contains(&&Source::AllFeeds) {
            self.n_reading_all += 1;
            return Sources::All;
        }
        let named = sources.into_iter().filter_map(|source| match source {
            Source::Url(url) => self.dictionary.find(Kind::Feed, url.as_str().as_bytes()),
            Source::Tag(tag) => self.dictionary.find(Kind::Tag, tag.as_bytes()),
            Source::Feed(_) | Source::AllFeeds => None,
        });
        let named: Box<[TermId]> = named.collect();
        for term in &named {
            *self.sources.entry(*term).or_insert(0) += 1;
        }
        Sources::Named(named)
    }

    fn forget_sources(&mut self, sources: &Sources) {
        let Sources::Named(named) = sources else {
            self.n_reading_all -= 1;
            return;
        };
        for term in named {
            let left = self.sources.get(term).map_or(0, |n| n - 1);
            match left {
                0 => self.sources.remove(term),
                n => self.sources.insert(*term, n),
            };
        }
    }

    /// Takes in how often words occurred, and moves up to `n_max` queries to anchors that occur
    /// less. Called now and then with every scratch that was used; matching is right without it,
    /// only slower.
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

    /// Moves one query to better anchors, if there are any.
    fn review(&mut self, slot: u32) {
        let Some(plan) = &self.plans[slot as usize] else { return };
        let root = self.heads[slot as usize].root;
        let Some(best) = choose(&self.graph, &self.dictionary, slot, root) else { return };
        let moved = best.postings.len() != plan.anchors.len()
            || best.postings.iter().any(|(term, _)| !plan.anchors.contains(term));
        if moved {
            self.lift(slot);
            self.anchor(slot, Some(best));
        }
    }

    /// Puts a query into the lists of its anchors.
    fn anchor(&mut self, slot: u32, anchors: Option<Anchors>) {
        let terms: Box<[TermId]> = match anchors {
            None => {
                self.always.push(slot);
                Box::default()
            }
            Some(anchors) => {
                for (term, posting) in &anchors.postings {
                    self.dictionary.add_posting(*term, *posting);
                }
                anchors.postings.iter().map(|(term, _)| *term).collect()
            }
        };
        if let Some(plan) = &mut self.plans[slot as usize] {
            plan.anchors = terms;
        }
    }

    /// Takes a query out of the lists of its anchors.
    fn lift(&mut self, slot: u32) {
        let Some(plan) = &mut self.plans[slot as usize] else { return };
        let anchors = std::mem::take(&mut plan.anchors);
        if anchors.is_empty() {
            self.always.retain(|other| *other != slot);
        }
        for term in anchors {
            self.dictionary.remove_posting(term, slot);
        }
    }

    fn plan(&self, id: QueryId) -> Option<(&Head, &Plan)> {
        let slot = *self.by_id.get(&id)? as usize;
        Some((&self.heads[slot], self.plans[slot].as_ref()?))
    }
}

/// So many entries are counted before old ones begin to fade.
const SAMPLES_MAX: u32 = 100_000;

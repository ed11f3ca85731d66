//! Matches one entry against all queries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use feed::EntryId;

use super::Matcher;
use super::dictionary::{TermId, TermKind};
use super::evaluate::{Evaluation, Memo};
use super::index::{EntryIndex, EntryTexts};
use crate::Entry;
use crate::QueryId;
use crate::state::{EntryRejected, JoinSides, States};

/// A query that keeps an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub query: QueryId,
    /// The partner of a join, for a query with `JOIN`.
    pub partner: Option<EntryId>,
}

/// Buffers that are reused for each entry. Each thread that matches has its own.
#[derive(Default)]
pub struct Scratch {
    index: EntryIndex,
    memo: Memo,
    /// For each query, the number of the last entry for which it was evaluated.
    looked_at: Vec<u32>,
    entry: u32,
    waiting: BinaryHeap<Reverse<(u8, u32)>>,
    /// The level and the match of every query that keeps the entry.
    found: Vec<(u8, Match)>,
    matches: Vec<Match>,
    counts: Vec<u32>,
    n_sampled: u32,
}

/// One entry in this many is sampled for the frequency of words.
const SAMPLE_EVERY: u32 = 8;

impl Scratch {
    pub fn new() -> Scratch {
        Scratch::default()
    }

    pub(super) fn take_counts(&mut self) -> (Vec<u32>, u32) {
        (std::mem::take(&mut self.counts), std::mem::take(&mut self.n_sampled))
    }

    fn start(&mut self, matcher: &Matcher) {
        self.memo.start(matcher.graph.bound());
        if self.entry == u32::MAX {
            self.looked_at.fill(0);
            self.entry = 0;
        }
        self.entry += 1;
        self.looked_at.resize(matcher.plans.len(), 0);
        self.waiting.clear();
        self.found.clear();
        self.matches.clear();
    }

    fn sample(&mut self, matcher: &Matcher) {
        if !self.entry.is_multiple_of(SAMPLE_EVERY) {
            return;
        }
        self.counts.resize(matcher.dictionary.bound(), 0);
        for term in self.index.terms() {
            self.counts[term.0 as usize] += 1;
        }
        self.n_sampled += 1;
    }
}

impl Matcher {
    /// Returns the queries that keep an entry, if other queries, with these names, have kept it
    /// already. A query that must not keep the entry does not remember it either, and passes it on
    /// to no reader.
    pub fn matches_among<'s>(
        &self,
        entry: &Entry<'_>,
        kept_by: &[String],
        may_keep: &dyn Fn(QueryId) -> bool,
        states: &mut States,
        scratch: &'s mut Scratch,
    ) -> &'s [Match] {
        self.pass(entry, kept_by, may_keep, states, scratch)
    }

    /// Returns the queries that keep this entry; queries come before their readers. Queries with a
    /// state need entries in the order of recording, each once.
    pub fn matches<'s>(
        &self,
        entry: &Entry<'_>,
        states: &mut States,
        scratch: &'s mut Scratch,
    ) -> &'s [Match] {
        self.pass(entry, &[], &|_| true, states, scratch)
    }

    fn pass<'s>(
        &self,
        entry: &Entry<'_>,
        kept_by: &[String],
        may_keep: &dyn Fn(QueryId) -> bool,
        states: &mut States,
        scratch: &'s mut Scratch,
    ) -> &'s [Match] {
        scratch.start(self);
        let texts = EntryTexts::of(entry);
        scratch.index.read(entry, &texts, &self.dictionary, &self.graph);
        for name in kept_by {
            if let Some(name) = self.dictionary.find(TermKind::Query, name.as_bytes()) {
                scratch.index.learn(name);
            }
        }
        scratch.sample(self);
        let mut run = EntryPass { matcher: self, entry, texts: &texts, may_keep, states, scratch };
        run.all();
        scratch.found.sort_unstable_by_key(|(level, found)| (*level, found.query));
        scratch.matches.extend(scratch.found.iter().map(|(_, found)| *found));
        &scratch.matches
    }
}

struct EntryPass<'r, 's> {
    matcher: &'r Matcher,
    entry: &'r Entry<'r>,
    texts: &'r EntryTexts<'r>,
    may_keep: &'r dyn Fn(QueryId) -> bool,
    states: &'r mut States,
    scratch: &'s mut Scratch,
}

impl EntryPass<'_, '_> {
    fn all(&mut self) {
        let matcher = self.matcher;
        // `keep` handles facts that become known during this loop.
        for n in 0..self.scratch.index.terms().len() {
            let term = self.scratch.index.terms()[n];
            self.postings(term);
        }
        for slot in &matcher.always {
            self.look_at(*slot);
        }
        while let Some(Reverse((_, slot))) = self.scratch.waiting.pop() {
            self.ask(slot);
        }
    }

    fn postings(&mut self, term: TermId) {
        let matcher = self.matcher;
        for posting in matcher.dictionary.postings(term) {
            let index = &self.scratch.index;
            if !posting.needs().all(|(term, fields)| index.has_in(term, fields)) {
                continue;
            }
            let head = &matcher.heads[posting.query as usize];
            if !posting.is_whole || head.is_stateful || head.level > 0 {
                self.look_at(posting.query);
            } else if index.has_in(term, posting.fields) && (self.may_keep)(head.id) {
                // The anchor and its guards are the whole condition, and no other word leads to
                // this query.
                self.keep(posting.query, None);
            }
        }
    }

    /// Evaluates a candidate: at once if it reads only feeds, otherwise in the order of levels.
    fn look_at(&mut self, slot: u32) {
        let looked_at = &mut self.scratch.looked_at[slot as usize];
        if std::mem::replace(looked_at, self.scratch.entry) == self.scratch.entry {
            return;
        }
        let level = self.matcher.heads[slot as usize].level;
        if level > 0 {
            self.scratch.waiting.push(Reverse((level, slot)));
        } else {
            self.ask(slot);
        }
    }

    fn ask(&mut self, slot: u32) {
        if let Ok(partner) = self.answer(slot) {
            self.keep(slot, partner);
        }
    }

    /// Records a match, and evaluates the readers of the query.
    fn keep(&mut self, slot: u32, partner: Option<EntryId>) {
        let matcher = self.matcher;
        let head = &matcher.heads[slot as usize];
        self.scratch.found.push((head.level, Match { query: head.id, partner }));
        if !head.is_read {
            return;
        }
        let Some(plan) = &matcher.plans[slot as usize] else { return };
        let name = matcher.dictionary.find(TermKind::Query, plan.name.as_bytes());
        if let Some(name) = name
            && self.scratch.index.learn(name)
        {
            self.postings(name);
        }
    }

    fn answer(&mut self, slot: u32) -> Result<Option<EntryId>, EntryRejected> {
        let head = &self.matcher.heads[slot as usize];
        let asked = Evaluation {
            graph: &self.matcher.graph,
            index: &self.scratch.index,
            texts: self.texts,
            entry: self.entry,
        };
        let memo = &mut self.scratch.memo;
        if !asked.holds(head.root, memo) || !(self.may_keep)(head.id) {
            return Err(EntryRejected);
        }
        let plan = self.matcher.plans[slot as usize].as_ref();
        let Some(stateful) = plan.and_then(|plan| plan.stateful()) else { return Ok(None) };
        let sides = stateful.sides.map_or(JoinSides::default(), |(left, right)| JoinSides {
            left: asked.holds(left, memo),
            right: asked.holds(right, memo),
        });
        self.states.pass(head.id, &stateful.operators, self.entry, sides)
    }
}

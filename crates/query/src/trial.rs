//! What a file of queries would have returned: run over stored entries, nothing changed.
//!
//! The caller gives the entries of the time in question, in the order of their recording, and the
//! queries that exist already; the trial answers for those of the file.

use std::collections::BTreeMap;

use feed::{EntryId, FeedId};

use crate::language::ast::{Create, Query};
use crate::{Entry, Matcher, QueryId, Scratch, States, Tally};

/// Queries under trial.
pub struct Trial {
    matcher: Matcher,
    states: States,
    scratch: Scratch,
    tried: BTreeMap<QueryId, TrialResult>,
    tally: Tally,
    n_entries: u64,
}

/// What one query of the file returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    pub name: String,
    pub n_kept: u64,
    /// The newest entries it kept, oldest first, with what they were joined with.
    pub newest: Vec<(EntryId, Option<EntryId>)>,
}

/// Of each query so many entries are named; the rest is counted.
const NEWEST_MAX: usize = 1000;

impl Trial {
    /// `existing` are the queries that the file may read; those that it replaces are left out.
    pub fn new<'q>(
        existing: impl IntoIterator<Item = (&'q str, &'q Query)>,
        file: &[Create],
    ) -> Trial {
        let mut matcher = Matcher::new();
        let mut number = 0;
        let mut next = || {
            number += 1;
            QueryId(number)
        };
        for (name, query) in existing {
            if !file.iter().any(|create| create.name.text == name) {
                matcher.insert(next(), name, query);
            }
        }
        let mut tried = BTreeMap::new();
        for create in file {
            let id = next();
            let name = create.name.text.clone();
            matcher.insert(id, &name, &create.query);
            tried.insert(id, TrialResult { name, n_kept: 0, newest: Vec::new() });
        }
        let (states, scratch, tally) = (States::default(), Scratch::new(), Tally::default());
        Trial { matcher, states, scratch, tried, tally, n_entries: 0 }
    }

    /// Runs one stored entry. Answers how many queries of the file keep it.
    pub fn run(&mut self, entry: &Entry<'_>) -> usize {
        self.n_entries += 1;
        let mut n_kept = 0;
        for found in self.matcher.matches(entry, &mut self.states, &mut self.scratch) {
            let Some(tried) = self.tried.get_mut(&found.query) else { continue };
            n_kept += 1;
            tried.n_kept += 1;
            if tried.newest.len() == NEWEST_MAX {
                tried.newest.remove(0);
            }
            tried.newest.push((entry.id, found.partner));
        }
        self.tally.note(entry.feed, n_kept > 0);
        // What would have to be stored is nobody's concern here.
        self.states.take_changes();
        n_kept
    }

    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// The queries of the file in the order in which they stand there.
    pub fn results(&self) -> impl Iterator<Item = &TrialResult> {
        self.tried.values()
    }

    /// Of each feed: entries run, entries kept by any query of the file.
    pub fn shares(&mut self) -> Vec<(FeedId, u32, u32)> {
        self.tally.take()
    }
}

//! A dry run: applies a file of queries to stored entries and changes nothing.
//!
//! Input: the queries that exist, the file, and stored entries in the order of recording. Output:
//! the entries that each query of the file keeps.

use std::collections::BTreeMap;

use feed::{EntryId, FeedId};

use crate::language::ast::Create;
use crate::{Entry, Matcher, QueryId, Scratch, States, Tally};

/// Queries in a dry run.
pub struct Trial {
    matcher: Matcher,
    states: States,
    scratch: Scratch,
    tried: BTreeMap<QueryId, TrialResult>,
    tally: Tally,
    n_entries: u64,
}

/// The result of one query of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    pub name: String,
    pub n_kept: u64,
    /// The newest entries that the query kept, oldest first, each with its partner of a join.
    pub newest: Vec<(EntryId, Option<EntryId>)>,
}

/// Entries that are listed per query. All are counted.
const NEWEST_MAX: usize = 1000;

impl Trial {
    /// `existing` are the queries that the file may read. The file may replace some of them.
    pub fn new<'q>(existing: &[Create], file: impl IntoIterator<Item = &'q Create>) -> Trial {
        let file: Vec<&Create> = file.into_iter().collect();
        let mut matcher = Matcher::new();
        let mut number = 0;
        let mut next = || {
            number += 1;
            QueryId(number)
        };
        for Create { name, query, .. } in existing {
            if !file.iter().any(|create| create.name.text == name.text) {
                matcher.insert(next(), &name.text, query);
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

    /// Runs one stored entry. Returns how many queries of the file keep it.
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
        // A dry run stores nothing.
        self.states.take_changes();
        n_kept
    }

    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// Returns the results in the order of the file.
    pub fn results(&self) -> impl Iterator<Item = &TrialResult> {
        self.tried.values()
    }

    /// Returns, for each feed, the entries run and those that any query of the file kept.
    pub fn shares(&mut self) -> Vec<(FeedId, u32, u32)> {
        self.tally.take()
    }
}

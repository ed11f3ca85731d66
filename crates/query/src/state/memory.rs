//! What an operator remembers: entries that passed, oldest first, no more than its reach allows
//! and never more than the limit. What is found by likeness is found without a search through all.

use std::collections::{BTreeSet, VecDeque};

use feed::{EntryId, FeedId, Time};

use super::record::LikenessKey;
use crate::language::ast::LookBack;
use crate::limits::REMEMBERED_MAX;

/// An entry that an operator remembers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Remembered {
    /// The number under which it is stored, ascending.
    pub number: u64,
    pub entry: EntryId,
    pub feed: FeedId,
    pub seen: Time,
    pub mark: Option<LikenessKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OperatorMemory {
    reach: LookBack,
    remembered: VecDeque<Remembered>,
    /// What can be looked for, and the number of who has it.
    probes: BTreeSet<(u64, u64)>,
}

impl OperatorMemory {
    pub(super) fn new(reach: LookBack) -> OperatorMemory {
        OperatorMemory { reach, remembered: VecDeque::new(), probes: BTreeSet::new() }
    }

    pub(super) fn remember(&mut self, remembered: Remembered) {
        if let Some(mark) = &remembered.mark {
            self.probes.extend(mark.probes().map(|probe| (probe, remembered.number)));
        }
        self.remembered.push_back(remembered);
    }

    /// Forgets what lies beyond the reach at the moment `now`; gives the numbers.
    pub(super) fn forget(&mut self, now: Time) -> Vec<u64> {
        let n_max = match self.reach {
            LookBack::Items(n) => n as usize,
            LookBack::Time(_) => REMEMBERED_MAX,
        };
        let mut forgotten = Vec::new();
        while let Some(oldest) = self.remembered.front() {
            if self.remembered.len() <= n_max && self.is_within(oldest.seen, now) {
                break;
            }
            let Some(oldest) = self.remembered.pop_front() else { break };
            if let Some(mark) = &oldest.mark {
                for probe in mark.probes() {
                    self.probes.remove(&(probe, oldest.number));
                }
            }
            forgotten.push(oldest.number);
        }
        forgotten
    }

    fn is_within(&self, seen: Time, now: Time) -> bool {
        match self.reach {
            LookBack::Time(time) => now.since(seen) < time,
            LookBack::Items(_) => true,
        }
    }

    /// The newest remembered entry that is the same as `mark` and is accepted.
    pub(super) fn find(
        &self,
        mark: &LikenessKey,
        now: Time,
        accept: impl Fn(&Remembered) -> bool,
    ) -> Option<&Remembered> {
        let mut best: Option<&Remembered> = None;
        for probe in mark.probes() {
            for (_, number) in self.probes.range((probe, 0)..=(probe, u64::MAX)).rev() {
                if best.is_some_and(|best| best.number >= *number) {
                    break;
                }
                let Some(candidate) = self.get(*number) else { continue };
                let same = candidate.mark.as_ref().is_some_and(|m| m.is_same(mark));
                if same && self.is_within(candidate.seen, now) && accept(candidate) {
                    best = Some(candidate);
                    break;
                }
            }
        }
        best
    }

    fn get(&self, number: u64) -> Option<&Remembered> {
        let at = self.remembered.binary_search_by_key(&number, |r| r.number).ok()?;
        self.remembered.get(at)
    }

    /// Entries within the reach at the moment `now`, oldest first.
    pub(super) fn within(&self, now: Time) -> impl Iterator<Item = &Remembered> {
        self.remembered.iter().filter(move |r| self.is_within(r.seen, now))
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.remembered.iter().map(|remembered| remembered.number)
    }

    pub(super) fn len(&self) -> usize {
        self.remembered.len()
    }

    pub(super) fn oldest(&self) -> Option<&Remembered> {
        self.remembered.front()
    }
}

//! The entries that an operator remembers, oldest first, limited by its look-back and by a fixed
//! number. An index finds similar entries without a scan.

use std::collections::{BTreeSet, VecDeque};

use feed::{EntryId, FeedId, Time};

use super::record::LikenessKey;
use crate::language::ast::LookBack;
use crate::limits::REMEMBERED_MAX;

/// An entry that an operator remembers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RememberedEntry {
    /// The number of its record; numbers ascend.
    pub number: u64,
    pub entry: EntryId,
    pub feed: FeedId,
    pub seen: Time,
    pub key: Option<LikenessKey>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct OperatorMemory {
    look_back: LookBack,
    remembered: VecDeque<RememberedEntry>,
    /// The probes of all keys, each with the number of its entry.
    probes: BTreeSet<(u64, u64)>,
}

impl OperatorMemory {
    pub(super) fn new(look_back: LookBack) -> OperatorMemory {
        OperatorMemory { look_back, remembered: VecDeque::new(), probes: BTreeSet::new() }
    }

    pub(super) fn remember(&mut self, remembered: RememberedEntry) {
        if let Some(key) = &remembered.key {
            self.probes.extend(key.probes().map(|probe| (probe, remembered.number)));
        }
        self.remembered.push_back(remembered);
    }

    /// Forgets entries of some feeds; returns their numbers.
    pub(super) fn leave_out(&mut self, is_left_out: impl Fn(FeedId) -> bool) -> Vec<u64> {
        let of_feed = self.remembered.iter().filter(|one| is_left_out(one.feed));
        let forgotten: BTreeSet<u64> = of_feed.map(|one| one.number).collect();
        self.remembered.retain(|one| !forgotten.contains(&one.number));
        self.probes.retain(|(_, number)| !forgotten.contains(number));
        forgotten.into_iter().collect()
    }

    /// Forgets entries beyond the look-back at `now`; returns their numbers.
    pub(super) fn forget(&mut self, now: Time) -> Vec<u64> {
        let n_max = match self.look_back {
            LookBack::Items(n) => n as usize,
            LookBack::Time(_) => REMEMBERED_MAX,
        };
        let mut forgotten = Vec::new();
        while let Some(oldest) = self.remembered.front() {
            if self.remembered.len() <= n_max && self.is_within(oldest.seen, now) {
                break;
            }
            let Some(oldest) = self.remembered.pop_front() else { break };
            if let Some(key) = &oldest.key {
                for probe in key.probes() {
                    self.probes.remove(&(probe, oldest.number));
                }
            }
            forgotten.push(oldest.number);
        }
        forgotten
    }

    fn is_within(&self, seen: Time, now: Time) -> bool {
        match self.look_back {
            LookBack::Time(time) => now.since(seen) < time,
            LookBack::Items(_) => true,
        }
    }

    /// Returns the newest remembered entry with the same `key` that `accept` accepts.
    pub(super) fn find(
        &self,
        key: &LikenessKey,
        now: Time,
        accept: impl Fn(&RememberedEntry) -> bool,
    ) -> Option<&RememberedEntry> {
        let mut best: Option<&RememberedEntry> = None;
        for probe in key.probes() {
            for (_, number) in self.probes.range((probe, 0)..=(probe, u64::MAX)).rev() {
                if best.is_some_and(|best| best.number >= *number) {
                    break;
                }
                let Some(candidate) = self.get(*number) else { continue };
                let same = candidate.key.as_ref().is_some_and(|m| m.is_same(key));
                if same && self.is_within(candidate.seen, now) && accept(candidate) {
                    best = Some(candidate);
                    break;
                }
            }
        }
        best
    }

    fn get(&self, number: u64) -> Option<&RememberedEntry> {
        let at = self.remembered.binary_search_by_key(&number, |r| r.number).ok()?;
        self.remembered.get(at)
    }

    /// Returns the entries within the look-back at `now`, oldest first.
    pub(super) fn within(&self, now: Time) -> impl Iterator<Item = &RememberedEntry> {
        self.remembered.iter().filter(move |r| self.is_within(r.seen, now))
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.remembered.iter().map(|remembered| remembered.number)
    }

    pub(super) fn len(&self) -> usize {
        self.remembered.len()
    }

    pub(super) fn oldest(&self) -> Option<&RememberedEntry> {
        self.remembered.front()
    }
}

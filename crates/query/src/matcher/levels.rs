//! Queries that read other queries: who reads whom, and how deep. The matcher evaluates a query
//! after those it reads.

use std::collections::BTreeMap;

use super::Matcher;
use crate::hash::hash;
use crate::limits::CHAIN_MAX;

/// Names of queries, each with the slots of the queries that read it.
pub(super) type Readers = BTreeMap<Box<str>, Vec<u32>>;

impl Matcher {
    /// Links a new query to those it reads and to those that read it.
    pub(super) fn link(&mut self, slot: u32) {
        let Some(plan) = &self.plans[slot as usize] else { return };
        for name in plan.reads().to_vec() {
            self.readers.entry(name.clone()).or_default().push(slot);
            self.note_read(&name, true);
        }
        let name = self.plans[slot as usize].as_ref().map(|plan| plan.name.clone());
        let is_read = name.is_some_and(|name| self.readers.contains_key(&name));
        self.heads[slot as usize].is_read = is_read;
        self.settle(slot, 0);
    }

    /// Removes a query from the lists of those it reads.
    pub(super) fn unlink(&mut self, slot: u32) {
        let Some(plan) = &mut self.plans[slot as usize] else { return };
        let reads = plan.more.as_mut().map(|more| std::mem::take(&mut more.reads));
        for name in &reads.unwrap_or_default() {
            let Some(readers) = self.readers.get_mut(name) else { continue };
            readers.retain(|other| *other != slot);
            if readers.is_empty() {
                self.readers.remove(name);
                self.note_read(name, false);
            }
        }
    }

    fn note_read(&mut self, name: &str, is_read: bool) {
        if let Some(slot) = self.slot_named(name) {
            self.heads[slot as usize].is_read = is_read;
        }
    }

    pub(super) fn slot_named(&self, name: &str) -> Option<u32> {
        let is_it =
            |slot: u32| self.plans[slot as usize].as_ref().is_some_and(|plan| *plan.name == *name);
        self.names.find(name_hash(name), is_it)
    }

    pub(super) fn add_name(&mut self, slot: u32) {
        if let Some(plan) = &self.plans[slot as usize] {
            self.names.insert(name_hash(&plan.name), slot);
        }
    }

    pub(super) fn remove_name(&mut self, slot: u32) {
        if let Some(plan) = &self.plans[slot as usize] {
            self.names.remove(name_hash(&plan.name), slot);
        }
    }

    /// Sets the level of a query one above the highest that it reads, and updates its readers. The
    /// catalog refuses cycles; the limit on chains would end one anyway.
    fn settle(&mut self, slot: u32, depth: usize) {
        let Some(plan) = &self.plans[slot as usize] else { return };
        let above = plan.reads().iter().filter_map(|name| {
            let read = &self.heads[self.slot_named(name)? as usize];
            Some(read.level.saturating_add(1))
        });
        let level = above.max().unwrap_or(0);
        let readers = self.readers.get(&plan.name).cloned().unwrap_or_default();
        let before = std::mem::replace(&mut self.heads[slot as usize].level, level);
        // If the level does not change, the readers keep theirs. The first query may be new.
        if depth == 0 || (before != level && depth < CHAIN_MAX) {
            readers.into_iter().for_each(|reader| self.settle(reader, depth + 1));
        }
    }
}

fn name_hash(name: &str) -> u64 {
    hash(0, name.as_bytes())
}

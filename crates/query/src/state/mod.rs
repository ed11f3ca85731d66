//! What queries with `WINDOW`, `JOIN`, `DISTINCT` and `COUNT` remember from entry to entry.
//!
//! Bounded per query, and stored as small records: each entry that is remembered is one record
//! under an ascending number, and is taken away by its number. Whoever stores them does both in
//! the transaction that records the entry. Nothing here is stored by itself.

mod memory;
mod record;

use std::collections::BTreeMap;

use feed::{EntryId, Time};

use crate::language::ast::{Count, Distinct, Likeness, LookBack, Query};
use crate::{Entry, QueryId};
use memory::{OperatorMemory, Remembered};
use record::{LikenessKey, OperatorKind};

/// The part of a query that needs memory, in the order in which it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operators {
    pub join: Option<(Likeness, LookBack)>,
    pub distinct: Option<Distinct>,
    pub count: Option<Count>,
    pub window: Option<LookBack>,
}

impl Operators {
    /// `None` for a query that remembers nothing.
    pub(crate) fn of(query: &Query) -> Option<Operators> {
        let operators = Operators {
            join: query.join.as_ref().map(|join| (join.on, join.within)),
            distinct: query.distinct,
            count: query.count,
            window: query.window,
        };
        let some = operators.join.is_some()
            || operators.distinct.is_some()
            || operators.count.is_some()
            || operators.window.is_some();
        some.then_some(operators)
    }
}

/// On which sides of a join an entry stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    pub left: bool,
    pub right: bool,
}

/// What must be stored for the states to survive a restart, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Keep these bytes under this number of this query.
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    /// Take the record with this number away.
    Forget { query: QueryId, number: u64 },
}

/// The memories of all queries that have one.
#[derive(Clone, Debug, Default)]
pub struct States {
    states: BTreeMap<QueryId, QueryState>,
    changes: Vec<MemoryChange>,
}

/// The memory of one query.
#[derive(Clone, Debug, PartialEq)]
struct QueryState {
    operators: Operators,
    next: u64,
    memories: Vec<(OperatorKind, OperatorMemory)>,
}

impl States {
    /// Restores what was stored for one query; see `Matcher::restore_state`.
    pub(crate) fn restore<'b>(
        &mut self,
        operators: Option<Operators>,
        query: QueryId,
        records: impl IntoIterator<Item = (u64, &'b [u8])>,
    ) -> Vec<u64> {
        let mut state = operators.map(QueryState::new);
        let mut strange = Vec::new();
        for (number, bytes) in records {
            let known = record::decode(number, bytes).zip(state.as_mut());
            let taken = known.is_some_and(|((operator, remembered), state)| {
                state.take_back(operator, remembered)
            });
            if !taken {
                strange.push(number);
            }
        }
        match state {
            Some(state) => self.states.insert(query, state),
            None => self.states.remove(&query),
        };
        strange
    }

    /// Forgets a query that was dropped or replaced, or whose changes could not be stored. Its
    /// stored records are the caller's to delete, or to restore with `Matcher::restore_state`.
    pub fn remove(&mut self, query: QueryId) {
        self.states.remove(&query);
    }

    /// What happened since the last call, to be stored.
    pub fn take_changes(&mut self) -> Vec<MemoryChange> {
        std::mem::take(&mut self.changes)
    }

    /// The entries that a query with `WINDOW` shows at the moment `now`, oldest first; `None` for
    /// a query without one, or one that has seen nothing yet.
    pub fn window(&self, query: QueryId, now: Time) -> Option<Vec<EntryId>> {
        let memory = self.states.get(&query)?.memory(OperatorKind::Window)?;
        Some(memory.within(now).map(|remembered| remembered.entry).collect())
    }

    /// Takes an entry that meets the condition through the operators. `Err` where it does not
    /// pass, `Ok` with the entry it was joined with, if it was.
    pub(crate) fn pass(
        &mut self,
        query: QueryId,
        operators: &Operators,
        entry: &Entry<'_>,
        sides: Sides,
    ) -> Result<Option<EntryId>, EntryRejected> {
        let state = self.states.entry(query).or_insert_with(|| QueryState::new(*operators));
        let changes = &mut self.changes;
        let note: Note<'_> = &mut |change| {
            changes.push(match change {
                (number, Some(bytes)) => MemoryChange::Remember { query, number, bytes },
                (number, None) => MemoryChange::Forget { query, number },
            });
        };
        if state.operators != *operators {
            state.redefine(*operators, note);
        }
        state.pass(entry, sides, note)
    }
}

/// An operator kept the entry back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRejected;

type Note<'n> = &'n mut dyn FnMut((u64, Option<Vec<u8>>));

impl QueryState {
    fn new(operators: Operators) -> QueryState {
        let mut memories = Vec::new();
        let mut add = |operator, reach| memories.push((operator, OperatorMemory::new(reach)));
        if let Some((_, reach)) = operators.join {
            add(OperatorKind::JoinLeft, reach);
            add(OperatorKind::JoinRight, reach);
        }
        if let Some(distinct) = operators.distinct {
            add(OperatorKind::Distinct, distinct.within);
        }
        if let Some(count) = operators.count {
            // Whether there are n within a time, the last n tell.
            add(OperatorKind::Count, LookBack::Items(count.at_least));
        }
        if let Some(reach) = operators.window {
            add(OperatorKind::Window, reach);
        }
        QueryState { operators, next: 1, memories }
    }

    /// Forgets everything for a query that was replaced. Its numbers go on.
    fn redefine(&mut self, operators: Operators, note: Note<'_>) {
        let numbers = self.memories.iter().flat_map(|(_, memory)| memory.numbers());
        numbers.for_each(|number| note((number, None)));
        *self = QueryState { next: self.next, ..QueryState::new(operators) };
    }

    fn memory(&self, operator: OperatorKind) -> Option<&OperatorMemory> {
        self.memories.iter().find(|(k, _)| *k == operator).map(|(_, memory)| memory)
    }

    fn take_back(&mut self, operator: OperatorKind, remembered: Remembered) -> bool {
        let wanted = match operator {
            OperatorKind::JoinLeft | OperatorKind::JoinRight => {
                self.operators.join.map(|(on, _)| on)
            }
            OperatorKind::Distinct => self.operators.distinct.map(|distinct| distinct.on),
            OperatorKind::Count | OperatorKind::Window => None,
        };
        let fits = matches!(
            (&remembered.mark, wanted),
            (None, None)
                | (Some(LikenessKey::Link(_)), Some(Likeness::Link))
                | (Some(LikenessKey::Title(_)), Some(Likeness::Title))
        );
        // Numbers ascend; a record that does not follow the last one was not written by us.
        if !fits || remembered.number < self.next {
            return false;
        }
        let number = remembered.number;
        let memory = self.memories.iter_mut().find(|(k, _)| *k == operator);
        let Some((_, memory)) = memory else { return false };
        memory.remember(remembered);
        self.next = number.saturating_add(1);
        true
    }

    fn pass(
        &mut self,
        entry: &Entry<'_>,
        sides: Sides,
        note: Note<'_>,
    ) -> Result<Option<EntryId>, EntryRejected> {
        let partner = match self.operators.join {
            Some((on, _)) => Some(self.join(on, entry, sides, note)?),
            None => None,
        };
        if let Some(distinct) = self.operators.distinct
            && let Some(mark) = LikenessKey::of(distinct.on, entry)
        {
            let known = self.memory(OperatorKind::Distinct);
            if known.is_some_and(|memory| memory.find(&mark, entry.seen, |_| true).is_some()) {
                return Err(EntryRejected);
            }
            self.remember(OperatorKind::Distinct, entry, Some(mark), note);
        }
        if let Some(count) = self.operators.count {
            self.remember(OperatorKind::Count, entry, None, note);
            let memory = self.memory(OperatorKind::Count);
            let hot = memory.is_some_and(|memory| {
                let within = |oldest: &Remembered| entry.seen.since(oldest.seen) < count.within;
                memory.len() >= count.at_least as usize && memory.oldest().is_some_and(within)
            });
            if !hot {
                return Err(EntryRejected);
            }
        }
        self.remember(OperatorKind::Window, entry, None, note);
        Ok(partner)
    }

    /// The newest entry of another feed on the other side that is the same.
    fn join(
        &mut self,
        on: Likeness,
        entry: &Entry<'_>,
        sides: Sides,
        note: Note<'_>,
    ) -> Result<EntryId, EntryRejected> {
        let mark = LikenessKey::of(on, entry).ok_or(EntryRejected)?;
        let mut partner = None;
        for (here, stands, there) in [
            (OperatorKind::JoinLeft, sides.left, OperatorKind::JoinRight),
            (OperatorKind::JoinRight, sides.right, OperatorKind::JoinLeft),
        ] {
            if !stands {
                continue;
            }
            let other = self.memory(there);
            let found = other.and_then(|m| m.find(&mark, entry.seen, |r| r.feed != entry.feed));
            partner = partner.max(found.map(|r| r.entry));
            self.remember(here, entry, Some(mark.clone()), note);
        }
        partner.ok_or(EntryRejected)
    }

    fn remember(
        &mut self,
        operator: OperatorKind,
        entry: &Entry<'_>,
        mark: Option<LikenessKey>,
        note: Note<'_>,
    ) {
        let memory = self.memories.iter_mut().find(|(k, _)| *k == operator);
        let Some((_, memory)) = memory else { return };
        let number = self.next;
        self.next += 1;
        let remembered =
            Remembered { number, entry: entry.id, feed: entry.feed, seen: entry.seen, mark };
        note((number, Some(record::encode(operator, &remembered))));
        memory.remember(remembered);
        for forgotten in memory.forget(entry.seen) {
            note((forgotten, None));
        }
    }
}

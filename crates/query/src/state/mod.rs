//! The state of queries with `WINDOW`, `JOIN`, `DISTINCT` and `COUNT`.
//!
//! The state of each query is bounded. Each remembered entry is one small record under an ascending
//! number. The caller stores and deletes records in the transaction that records the entry. This
//! module stores nothing itself.

mod memory;
mod record;

use std::collections::BTreeMap;

use feed::{EntryId, FeedId, Time};

use crate::language::ast::{Count, Distinct, Likeness, LookBack, Query};
use crate::{Entry, QueryId};
use memory::{OperatorMemory, RememberedEntry};
use record::{LikenessKey, OperatorKind};

/// The operators of a query that need a state, in the order in which they work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operators {
    pub join: Option<(Likeness, LookBack)>,
    pub distinct: Option<Distinct>,
    pub count: Option<Count>,
    pub window: Option<LookBack>,
}

impl Operators {
    /// Returns `None` for a query without state.
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

/// The sides of a join on which an entry is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinSides {
    pub left: bool,
    pub right: bool,
}

/// A change that the caller must store, in this order, so that the state survives a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Store these bytes under this number of this query.
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    /// Delete the record with this number.
    Forget { query: QueryId, number: u64 },
}

/// The states of all queries that have one.
#[derive(Clone, Debug, Default)]
pub struct States {
    states: BTreeMap<QueryId, QueryState>,
    changes: Vec<MemoryChange>,
}

/// The state of one query.
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

    /// Forgets a query that was dropped or replaced, or whose changes could not be stored. The
    /// caller deletes its records, or restores them with `Matcher::restore_state`.
    pub fn remove(&mut self, query: QueryId) {
        self.states.remove(&query);
    }

    /// Forgets the entries of some feeds in the state of one query.
    pub fn leave_out(&mut self, query: QueryId, is_left_out: impl Fn(FeedId) -> bool) {
        let Some(state) = self.states.get_mut(&query) else { return };
        for (_, memory) in &mut state.memories {
            let forgotten = memory.leave_out(&is_left_out).into_iter();
            self.changes.extend(forgotten.map(|number| MemoryChange::Forget { query, number }));
        }
    }

    /// Returns the changes since the last call.
    pub fn take_changes(&mut self) -> Vec<MemoryChange> {
        std::mem::take(&mut self.changes)
    }

    /// Returns the entries in the `WINDOW` of a query at `now`, oldest first; `None` for a query
    /// without a window or without any entry yet.
    pub fn window(&self, query: QueryId, now: Time) -> Option<Vec<EntryId>> {
        let memory = self.states.get(&query)?.memory(OperatorKind::Window)?;
        Some(memory.within(now).map(|remembered| remembered.entry).collect())
    }

    /// Passes an entry that meets the condition through the operators. Returns its partner of a
    /// join, if any, or an error if an operator rejects it.
    pub(crate) fn pass(
        &mut self,
        query: QueryId,
        operators: &Operators,
        entry: &Entry<'_>,
        sides: JoinSides,
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

/// An operator rejected the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryRejected;

type Note<'n> = &'n mut dyn FnMut((u64, Option<Vec<u8>>));

impl QueryState {
    fn new(operators: Operators) -> QueryState {
        let mut memories = Vec::new();
        let mut add =
            |operator, look_back| memories.push((operator, OperatorMemory::new(look_back)));
        if let Some((_, look_back)) = operators.join {
            add(OperatorKind::JoinLeft, look_back);
            add(OperatorKind::JoinRight, look_back);
        }
        if let Some(distinct) = operators.distinct {
            add(OperatorKind::Distinct, distinct.within);
        }
        if let Some(count) = operators.count {
            // The last n entries show whether n came within the time.
            add(OperatorKind::Count, LookBack::Items(count.at_least));
        }
        if let Some(look_back) = operators.window {
            add(OperatorKind::Window, look_back);
        }
        QueryState { operators, next: 1, memories }
    }

    /// Forgets everything for a query that was replaced. The numbers continue.
    fn redefine(&mut self, operators: Operators, note: Note<'_>) {
        let numbers = self.memories.iter().flat_map(|(_, memory)| memory.numbers());
        numbers.for_each(|number| note((number, None)));
        *self = QueryState { next: self.next, ..QueryState::new(operators) };
    }

    fn memory(&self, operator: OperatorKind) -> Option<&OperatorMemory> {
        self.memories.iter().find(|(k, _)| *k == operator).map(|(_, memory)| memory)
    }

    fn take_back(&mut self, operator: OperatorKind, remembered: RememberedEntry) -> bool {
        let wanted = match operator {
            OperatorKind::JoinLeft | OperatorKind::JoinRight => {
                self.operators.join.map(|(on, _)| on)
            }
            OperatorKind::Distinct => self.operators.distinct.map(|distinct| distinct.on),
            OperatorKind::Count | OperatorKind::Window => None,
        };
        let fits = matches!(
            (&remembered.key, wanted),
            (None, None)
                | (Some(LikenessKey::Link(_)), Some(Likeness::Link))
                | (Some(LikenessKey::Title(_)), Some(Likeness::Title))
        );
        // Numbers ascend, so a record that does not follow the last one is foreign.
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
        sides: JoinSides,
        note: Note<'_>,
    ) -> Result<Option<EntryId>, EntryRejected> {
        let partner = match self.operators.join {
            Some((on, _)) => Some(self.join(on, entry, sides, note)?),
            None => None,
        };
        if let Some(distinct) = self.operators.distinct
            && let Some(key) = LikenessKey::of(distinct.on, entry)
        {
            let known = self.memory(OperatorKind::Distinct);
            if known.is_some_and(|memory| memory.find(&key, entry.seen, |_| true).is_some()) {
                return Err(EntryRejected);
            }
            self.remember(OperatorKind::Distinct, entry, Some(key), note);
        }
        if let Some(count) = self.operators.count {
            self.remember(OperatorKind::Count, entry, None, note);
            let memory = self.memory(OperatorKind::Count);
            let hot = memory.is_some_and(|memory| {
                let within =
                    |oldest: &RememberedEntry| entry.seen.since(oldest.seen) < count.within;
                memory.len() >= count.at_least as usize && memory.oldest().is_some_and(within)
            });
            if !hot {
                return Err(EntryRejected);
            }
        }
        self.remember(OperatorKind::Window, entry, None, note);
        Ok(partner)
    }

    /// Returns the newest entry of another feed on the other side that is the same.
    fn join(
        &mut self,
        on: Likeness,
        entry: &Entry<'_>,
        sides: JoinSides,
        note: Note<'_>,
    ) -> Result<EntryId, EntryRejected> {
        let key = LikenessKey::of(on, entry).ok_or(EntryRejected)?;
        let mut partner = None;
        for (here, stands, there) in [
            (OperatorKind::JoinLeft, sides.left, OperatorKind::JoinRight),
            (OperatorKind::JoinRight, sides.right, OperatorKind::JoinLeft),
        ] {
            if !stands {
                continue;
            }
            let other = self.memory(there);
            let found = other.and_then(|m| m.find(&key, entry.seen, |r| r.feed != entry.feed));
            partner = partner.max(found.map(|r| r.entry));
            self.remember(here, entry, Some(key.clone()), note);
        }
        partner.ok_or(EntryRejected)
    }

    fn remember(
        &mut self,
        operator: OperatorKind,
        entry: &Entry<'_>,
        key: Option<LikenessKey>,
        note: Note<'_>,
    ) {
        let memory = self.memories.iter_mut().find(|(k, _)| *k == operator);
        let Some((_, memory)) = memory else { return };
        let number = self.next;
        self.next += 1;
        let remembered =
            RememberedEntry { number, entry: entry.id, feed: entry.feed, seen: entry.seen, key };
        note((number, Some(record::encode(operator, &remembered))));
        memory.remember(remembered);
        for forgotten in memory.forget(entry.seen) {
            note((forgotten, None));
        }
    }
}

//! What queries with `WINDOW`, `JOIN`, `DISTINCT` and `COUNT` remember from entry to entry.
//!
//! Bounded per query, and stored as small records: each entry that is remembered is one record
//! under an ascending number, and is taken away by its number. Whoever stores them does both in
//! the transaction that records the entry. Nothing here is stored by itself.

mod memory;
mod record;

use std::collections::BTreeMap;

use feed::{EntryId, Time};

use crate::ast::{Count, Distinct, Likeness, Query, Reach};
use crate::{Entry, QueryId};
use memory::{Memory, Remembered};
use record::{Keeper, Mark};

/// The part of a query that needs memory, in the order in which it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operators {
    pub join: Option<(Likeness, Reach)>,
    pub distinct: Option<Distinct>,
    pub count: Option<Count>,
    pub window: Option<Reach>,
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
pub enum Change {
    /// Keep these bytes under this number of this query.
    Remember { query: QueryId, number: u64, bytes: Vec<u8> },
    /// Take the record with this number away.
    Forget { query: QueryId, number: u64 },
}

/// The memories of all queries that have one.
#[derive(Clone, Debug, Default)]
pub struct States {
    states: BTreeMap<QueryId, State>,
    changes: Vec<Change>,
}

/// The memory of one query.
#[derive(Clone, Debug, PartialEq)]
struct State {
    operators: Operators,
    next: u64,
    memories: Vec<(Keeper, Memory)>,
}

impl States {
    /// Takes back what was stored of one query, in the order of its numbers, after the query was
    /// given to the matcher. Answers the numbers of records that are not (or no longer) its own,
    /// to be deleted.
    pub fn restore<'b>(
        &mut self,
        matcher: &crate::Matcher,
        query: QueryId,
        records: impl IntoIterator<Item = (u64, &'b [u8])>,
    ) -> Vec<u64> {
        let mut state = matcher.operators(query).map(|operators| State::new(*operators));
        let mut strange = Vec::new();
        for (number, bytes) in records {
            let known = record::decode(number, bytes).zip(state.as_mut());
            let taken = known
                .is_some_and(|((keeper, remembered), state)| state.take_back(keeper, remembered));
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
    /// stored records are the caller's to delete, or to [`restore`](States::restore).
    pub fn remove(&mut self, query: QueryId) {
        self.states.remove(&query);
    }

    /// What happened since the last call, to be stored.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The entries that a query with `WINDOW` shows at the moment `now`, oldest first; `None` for
    /// a query without one, or one that has seen nothing yet.
    pub fn window(&self, query: QueryId, now: Time) -> Option<Vec<EntryId>> {
        let memory = self.states.get(&query)?.memory(Keeper::Window)?;
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
    ) -> Result<Option<EntryId>, Held> {
        let state = self.states.entry(query).or_insert_with(|| State::new(*operators));
        let changes = &mut self.changes;
        let note: Note<'_> = &mut |change| {
            changes.push(match change {
                (number, Some(bytes)) => Change::Remember { query, number, bytes },
                (number, None) => Change::Forget { query, number },
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
pub(crate) struct Held;

type Note<'n> = &'n mut dyn FnMut((u64, Option<Vec<u8>>));

impl State {
    fn new(operators: Operators) -> State {
        let mut memories = Vec::new();
        let mut add = |keeper, reach| memories.push((keeper, Memory::new(reach)));
        if let Some((_, reach)) = operators.join {
            add(Keeper::JoinLeft, reach);
            add(Keeper::JoinRight, reach);
        }
        if let Some(distinct) = operators.distinct {
            add(Keeper::Distinct, distinct.within);
        }
        if let Some(count) = operators.count {
            // Whether there are n within a time, the last n tell.
            add(Keeper::Count, Reach::Items(count.at_least));
        }
        if let Some(reach) = operators.window {
            add(Keeper::Window, reach);
        }
        State { operators, next: 1, memories }
    }

    /// Forgets everything for a query that was replaced. Its numbers go on.
    fn redefine(&mut self, operators: Operators, note: Note<'_>) {
        let numbers = self.memories.iter().flat_map(|(_, memory)| memory.numbers());
        numbers.for_each(|number| note((number, None)));
        *self = State { next: self.next, ..State::new(operators) };
    }

    fn memory(&self, keeper: Keeper) -> Option<&Memory> {
        self.memories.iter().find(|(k, _)| *k == keeper).map(|(_, memory)| memory)
    }

    fn take_back(&mut self, keeper: Keeper, remembered: Remembered) -> bool {
        let wanted = match keeper {
            Keeper::JoinLeft | Keeper::JoinRight => self.operators.join.map(|(on, _)| on),
            Keeper::Distinct => self.operators.distinct.map(|distinct| distinct.on),
            Keeper::Count | Keeper::Window => None,
        };
        let fits = matches!(
            (&remembered.mark, wanted),
            (None, None)
                | (Some(Mark::Link(_)), Some(Likeness::Link))
                | (Some(Mark::Title(_)), Some(Likeness::Title))
        );
        // Numbers ascend; a record that does not follow the last one was not written by us.
        if !fits || remembered.number < self.next {
            return false;
        }
        let number = remembered.number;
        let memory = self.memories.iter_mut().find(|(k, _)| *k == keeper);
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
    ) -> Result<Option<EntryId>, Held> {
        let partner = match self.operators.join {
            Some((on, _)) => Some(self.join(on, entry, sides, note)?),
            None => None,
        };
        if let Some(distinct) = self.operators.distinct
            && let Some(mark) = Mark::of(distinct.on, entry)
        {
            let known = self.memory(Keeper::Distinct);
            if known.is_some_and(|memory| memory.find(&mark, entry.seen, |_| true).is_some()) {
                return Err(Held);
            }
            self.remember(Keeper::Distinct, entry, Some(mark), note);
        }
        if let Some(count) = self.operators.count {
            self.remember(Keeper::Count, entry, None, note);
            let memory = self.memory(Keeper::Count);
            let hot = memory.is_some_and(|memory| {
                let within = |oldest: &Remembered| entry.seen.since(oldest.seen) < count.within;
                memory.len() >= count.at_least as usize && memory.oldest().is_some_and(within)
            });
            if !hot {
                return Err(Held);
            }
        }
        self.remember(Keeper::Window, entry, None, note);
        Ok(partner)
    }

    /// The newest entry of another feed on the other side that is the same.
    fn join(
        &mut self,
        on: Likeness,
        entry: &Entry<'_>,
        sides: Sides,
        note: Note<'_>,
    ) -> Result<EntryId, Held> {
        let mark = Mark::of(on, entry).ok_or(Held)?;
        let mut partner = None;
        for (here, stands, there) in [
            (Keeper::JoinLeft, sides.left, Keeper::JoinRight),
            (Keeper::JoinRight, sides.right, Keeper::JoinLeft),
        ] {
            if !stands {
                continue;
            }
            let other = self.memory(there);
            let found = other.and_then(|m| m.find(&mark, entry.seen, |r| r.feed != entry.feed));
            partner = partner.max(found.map(|r| r.entry));
            self.remember(here, entry, Some(mark.clone()), note);
        }
        partner.ok_or(Held)
    }

    fn remember(&mut self, keeper: Keeper, entry: &Entry<'_>, mark: Option<Mark>, note: Note<'_>) {
        let memory = self.memories.iter_mut().find(|(k, _)| *k == keeper);
        let Some((_, memory)) = memory else { return };
        let number = self.next;
        self.next += 1;
        let remembered =
            Remembered { number, entry: entry.id, feed: entry.feed, seen: entry.seen, mark };
        note((number, Some(record::encode(keeper, &remembered))));
        memory.remember(remembered);
        for forgotten in memory.forget(entry.seen) {
            note((forgotten, None));
        }
    }
}

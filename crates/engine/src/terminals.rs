//! The terminals that make requests: the one in this process, and others on the bus. It picks one
//! for each request and judges the network of each. It sends nothing and reads no clock.

mod granted;
mod heard;
mod lack;
mod pick;
mod rate;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::GrantId;
use feed::{Domain, FeedId, Time};
use polling::outage::Reach;

use crate::network::Network;
use granted::GrantedRequests;
pub use granted::{AnswerRight, GrantedRequest};
pub use lack::TerminalLack;
use pick::score;
use rate::PollRate;

/// A terminal that was silent for so long gets no jobs.
const SILENT_AFTER: Duration = Duration::from_secs(6);
/// Requests that are not polls leave this part of the room free.
const POLLS_KEEP: usize = 4;

/// All terminals that this controller knows.
pub struct Terminals(Mutex<Registry>);

#[derive(Default)]
struct Registry {
    list: Vec<TerminalSlot>,
    granted: GrantedRequests,
    /// The lives of terminals that an operator asked to finish. A new start is not meant.
    drained: HashSet<String>,
    /// Regions without a terminal, and when a request last asked for one.
    lacking: BTreeMap<String, Duration>,
}

struct TerminalSlot {
    name: Arc<str>,
    region: Option<String>,
    version: String,
    life: String,
    /// `None` for the terminal in this process.
    remote: Option<RemotePlace>,
    room: usize,
    n_open: usize,
    heard: Duration,
    since: Time,
    draining: bool,
    /// An operator asked it to finish.
    is_drained: bool,
    takes_errands: bool,
    round_trip: Option<Duration>,
    network: Network,
    n_polls: u64,
    rate: PollRate,
}

/// The address of a terminal on the bus.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemotePlace {
    pub subject: Arc<str>,
    /// The version of the wire form that it reads.
    pub wire: u32,
}

/// The terminal that was picked for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickedTerminal {
    pub name: Arc<str>,
    /// `None`: in this process.
    pub remote: Option<RemotePlace>,
}

/// How a request of a terminal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// The result of a poll is here.
    Polled,
    /// The answer to another request is here.
    Answered,
    /// No result came until the end of the grant.
    Expired,
    /// It did not leave, or nobody waits for it any more.
    Dropped,
}

/// A terminal as operators see it.
#[derive(Clone, Debug, PartialEq)]
pub struct TerminalView {
    pub name: String,
    pub region: Option<String>,
    pub version: String,
    pub life: String,
    pub since: Time,
    /// Whether it is a part of the controller's process.
    pub is_local: bool,
    pub silent_for: Duration,
    pub room: usize,
    pub in_flight: usize,
    pub polls_per_second: f64,
    pub round_trip: Option<Duration>,
    pub network_up: bool,
    pub draining: bool,
}

/// The terminal in the controller's process.
#[derive(Clone, Debug, Default)]
pub struct LocalTerminal {
    pub name: String,
    pub region: Option<String>,
    pub version: String,
    pub room: usize,
}

impl Terminals {
    pub fn new(local: Option<LocalTerminal>, now: Time) -> Terminals {
        // The first one is always in this process; without room it gets no jobs. But it keeps its
        // name: no other terminal may be called so.
        let local = local.unwrap_or_default();
        let local = TerminalSlot {
            region: local.region,
            version: local.version,
            room: local.room,
            takes_errands: true,
            ..TerminalSlot::new(&local.name, now, Duration::ZERO)
        };
        let list = vec![local];
        Terminals(Mutex::new(Registry { list, ..Registry::default() }))
    }

    /// Picks the terminal for a request to a domain: always the same one while the terminals stay.
    /// `None` if no terminal of the region has room.
    pub fn pick(
        &self,
        grant: GrantId,
        feed: FeedId,
        domain: &Domain,
        region: Option<&str>,
        now: Time,
        clock: Duration,
    ) -> Option<PickedTerminal> {
        let mut registry = self.lock();
        let place = registry.best_for(domain, |slot| {
            let fits = region.is_none() || slot.region.as_deref() == region;
            fits && slot.n_open < slot.room_now(now, clock)
        })?;
        registry.list[place].network.granted(now);
        Some(registry.give(grant, Some(feed), domain, place))
    }

    /// Picks the terminal for a request that is not a poll. These leave a part of the room to
    /// polls. `None` if no terminal that takes them has room.
    pub fn pick_for_errand(
        &self,
        grant: GrantId,
        domain: &Domain,
        region: Option<&str>,
        now: Time,
        clock: Duration,
    ) -> Option<PickedTerminal> {
        let mut registry = self.lock();
        let place = registry.best_for(domain, |slot| {
            let fits = region.is_none() || slot.region.as_deref() == region;
            let room = slot.room_now(now, clock);
            fits && slot.takes_errands && slot.n_open < room - room / POLLS_KEEP
        })?;
        registry.list[place].network.granted(now);
        Some(registry.give(grant, None, domain, place))
    }

    /// Ends a grant. Returns the number of its terminal.
    pub fn ended(&self, grant: GrantId, end: RequestEnd) -> Option<usize> {
        let mut registry = self.lock();
        let place = registry.granted.end(grant)?;
        let slot = &mut registry.list[place];
        slot.n_open -= 1;
        slot.n_polls += u64::from(end == RequestEnd::Polled);
        match end {
            RequestEnd::Polled | RequestEnd::Answered => slot.network.terminal_answered(),
            RequestEnd::Expired => slot.network.terminal_did_not_answer(&slot.name),
            RequestEnd::Dropped => {}
        }
        Some(place)
    }

    /// The number of polls that may be under way at all terminals together.
    pub fn room(&self, now: Time, clock: Duration) -> usize {
        let mut registry = self.lock();
        registry.list.iter_mut().map(|slot| slot.room_now(now, clock).max(slot.n_open)).sum()
    }

    /// Records the end of a request for the network of its terminal. If this reveals an outage,
    /// returns the feeds to forgive.
    pub fn exchanged(
        &self,
        terminal: usize,
        domain: u32,
        at: Time,
        failed: Option<(FeedId, Reach)>,
    ) -> Vec<FeedId> {
        match self.lock().list.get_mut(terminal) {
            Some(slot) => slot.network.heard(domain, at, failed),
            None => Vec::new(),
        }
    }

    pub fn is_down(&self, terminal: usize) -> bool {
        self.lock().list.get(terminal).is_some_and(|slot| slot.network.is_down())
    }

    /// Returns whether the network of every terminal is down.
    pub fn are_all_down(&self) -> bool {
        let registry = self.lock();
        let mut working = registry.list.iter().filter(|slot| slot.room > 0).peekable();
        working.peek().is_some() && working.all(|slot| slot.network.is_down())
    }

    /// Asks these terminals, and no others, to finish.
    pub fn set_drained(&self, lives: HashSet<String>) {
        let mut registry = self.lock();
        registry.list.iter_mut().for_each(|slot| slot.is_drained = lives.contains(&slot.life));
        registry.drained = lives;
    }

    pub fn is_drained(&self, life: &str) -> bool {
        self.lock().drained.contains(life)
    }

    /// Returns all terminals, for operators.
    pub fn views(&self, clock: Duration) -> Vec<TerminalView> {
        let mut registry = self.lock();
        let working = registry.list.iter_mut().filter(|slot| slot.room > 0);
        working.map(|slot| slot.view(clock)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    /// Returns the place of the terminal with the highest score among those that may get a request.
    fn best_for(
        &mut self,
        domain: &Domain,
        mut may: impl FnMut(&mut TerminalSlot) -> bool,
    ) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for (place, slot) in self.list.iter_mut().enumerate() {
            if may(slot) {
                let score = score(domain, &slot.name, slot.room);
                if best.is_none_or(|(other, _)| score > other) {
                    best = Some((score, place));
                }
            }
        }
        best.map(|(_, place)| place)
    }

    /// Gives a request to the terminal at a place.
    fn give(
        &mut self,
        grant: GrantId,
        feed: Option<FeedId>,
        domain: &Domain,
        place: usize,
    ) -> PickedTerminal {
        let slot = &mut self.list[place];
        slot.n_open += 1;
        let (name, remote) = (Arc::clone(&slot.name), slot.remote.clone());
        let request = GrantedRequest { terminal: Arc::clone(&name), domain: domain.clone(), feed };
        self.granted.begin(grant, place, request);
        PickedTerminal { name, remote }
    }
}

impl TerminalSlot {
    /// Creates a terminal that is known only by its name.
    fn new(name: &str, now: Time, clock: Duration) -> TerminalSlot {
        TerminalSlot {
            name: name.into(),
            region: None,
            version: String::new(),
            life: String::new(),
            remote: None,
            room: 0,
            n_open: 0,
            heard: clock,
            since: now,
            draining: false,
            is_drained: false,
            takes_errands: false,
            round_trip: None,
            network: Network::default(),
            n_polls: 0,
            rate: PollRate::begin(clock),
        }
    }

    fn is_silent(&self, clock: Duration) -> bool {
        self.remote.is_some() && clock.saturating_sub(self.heard) >= SILENT_AFTER
    }

    /// Returns whether our answers reach it. A terminal that the bus does not let listen, because
    /// its key belongs to another name, would get jobs in vain.
    fn hears(&self) -> bool {
        self.remote.is_none() || self.round_trip.is_some()
    }

    /// Returns whether it ends soon, by its own word or by that of an operator.
    fn finishes(&self) -> bool {
        self.draining || self.is_drained
    }

    /// The number of requests that it may make at once now.
    fn room_now(&mut self, now: Time, clock: Duration) -> usize {
        match self.finishes() || self.is_silent(clock) || !self.hears() {
            true => 0,
            false => self.network.in_flight_max(now, self.room),
        }
    }

    fn view(&mut self, clock: Duration) -> TerminalView {
        let silent_for = match self.remote {
            Some(_) => clock.saturating_sub(self.heard),
            None => Duration::ZERO,
        };
        TerminalView {
            name: self.name.to_string(),
            region: self.region.clone(),
            version: self.version.clone(),
            life: self.life.clone(),
            since: self.since,
            is_local: self.remote.is_none(),
            silent_for,
            room: self.room,
            in_flight: self.n_open,
            polls_per_second: self.rate.now(self.n_polls, clock),
            round_trip: self.round_trip,
            network_up: self.hears() && !self.network.is_down(),
            draining: self.finishes(),
        }
    }
}

#[cfg(test)]
mod tests;

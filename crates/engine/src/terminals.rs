//! The terminals that make requests: the one in this process, and others on the bus. It picks one
//! for each request and judges the network of each. It sends nothing and reads no clock.

mod lack;
mod pick;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::GrantId;
use dispatch::machine::Here;
use dispatch::wire::WIRE_OLDEST;
use feed::{Domain, FeedId, Time};
use polling::outage::Reach;

use crate::network::Network;
pub use lack::TerminalLack;
use pick::score;

/// A terminal that was silent for so long gets no jobs.
const SILENT_AFTER: Duration = Duration::from_secs(6);
/// Far more than any instance has. It limits what strangers on the bus can make us remember.
const TERMINALS_MAX: usize = 1000;
/// Requests that are not polls leave this part of the room free.
const POLLS_KEEP: usize = 4;
/// The time over which polls a second are counted.
const RATE_OVER: Duration = Duration::from_secs(10);

/// All terminals that this controller knows.
pub struct Terminals(Mutex<Registry>);

#[derive(Default)]
struct Registry {
    list: Vec<TerminalSlot>,
    /// The terminals of open grants.
    assigned: HashMap<GrantId, usize>,
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
    takes_errands: bool,
    round_trip: Option<Duration>,
    network: Network,
    n_polls: u64,
    rate: TerminalRate,
}

/// The address of a terminal on the bus.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RemotePlace {
    pub subject: Arc<str>,
    /// The version of the wire form that it reads.
    pub wire: u32,
}

/// Polls a second, over the last complete period.
#[derive(Clone, Copy, Debug, Default)]
struct TerminalRate {
    began: Duration,
    n_before: u64,
    last: f64,
}

/// The terminal that was picked for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickedTerminal {
    pub name: Arc<str>,
    /// `None`: in this process.
    pub remote: Option<RemotePlace>,
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
        // The first one is always in this process; without room it gets no jobs.
        let local = local.unwrap_or_default();
        let local = TerminalSlot {
            name: local.name.into(),
            region: local.region,
            version: local.version,
            life: String::new(),
            remote: None,
            room: local.room,
            n_open: 0,
            heard: Duration::ZERO,
            since: now,
            draining: false,
            takes_errands: true,
            round_trip: None,
            network: Network::default(),
            n_polls: 0,
            rate: TerminalRate::default(),
        };
        let list = vec![local];
        Terminals(Mutex::new(Registry { list, ..Registry::default() }))
    }

    /// Notes that a terminal said that it is there. Returns the version of the wire form to use
    /// with it, or why it is refused.
    pub fn heard(
        &self,
        here: &Here,
        own_wire: u32,
        now: Time,
        clock: Duration,
    ) -> Result<u32, String> {
        let wire = here.wire.min(own_wire);
        if wire < WIRE_OLDEST || own_wire > here.wire + 1 {
            return Err(format!(
                "it speaks version {} of the messages and this controller {own_wire}; machines \
                 may be one release apart",
                here.wire
            ));
        }
        if here.identity_rule != feed::IDENTITY_RULE {
            return Err("it gives entries other keys; run the same release".to_owned());
        }
        let mut registry = self.lock();
        let place = registry.list.iter().position(|slot| *slot.name == *here.terminal);
        let subject: Arc<str> = format!("job.{}.{}", here.terminal, here.life).into();
        let remote = Some(RemotePlace { subject, wire });
        if let Some(place) = place {
            let slot = &mut registry.list[place];
            let is_another = slot.life != here.life;
            if slot.remote.is_none() || (is_another && !slot.is_silent(clock)) {
                return Err(format!(
                    "another terminal is called {}; give each a name of its own: --name",
                    here.terminal
                ));
            }
            if is_another {
                (slot.since, slot.network) = (now, Network::default());
            }
            slot.update(here, remote, clock);
            return Ok(wire);
        }
        if registry.list.len() >= TERMINALS_MAX {
            return Err(format!("there are {TERMINALS_MAX} terminals already"));
        }
        let mut slot = TerminalSlot {
            name: here.terminal.as_str().into(),
            region: None,
            version: String::new(),
            life: String::new(),
            remote: None,
            room: 0,
            n_open: 0,
            heard: clock,
            since: now,
            draining: false,
            takes_errands: false,
            round_trip: None,
            network: Network::default(),
            n_polls: 0,
            rate: TerminalRate { began: clock, ..TerminalRate::default() },
        };
        slot.update(here, remote, clock);
        registry.list.push(slot);
        Ok(wire)
    }

    /// Picks the terminal for a request to a domain: always the same one while the terminals stay.
    /// `None` if no terminal of the region has room.
    pub fn pick(
        &self,
        grant: GrantId,
        domain: &Domain,
        region: Option<&str>,
        now: Time,
        clock: Duration,
    ) -> Option<PickedTerminal> {
        let mut registry = self.lock();
        let picked = registry.pick(grant, domain, |slot| {
            let fits = region.is_none() || slot.region.as_deref() == region;
            fits && slot.n_open < slot.room_now(now, clock)
        })?;
        if let Some(&place) = registry.assigned.get(&grant) {
            registry.list[place].network.granted(now);
        }
        Some(picked)
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
        self.lock().pick(grant, domain, |slot| {
            let fits = region.is_none() || slot.region.as_deref() == region;
            let room = slot.room_now(now, clock);
            fits && slot.takes_errands && slot.n_open < room - room / POLLS_KEEP
        })
    }

    /// Ends a grant. Returns the number of its terminal.
    pub fn ended(&self, grant: GrantId, is_poll: bool) -> Option<usize> {
        let mut registry = self.lock();
        let place = registry.assigned.remove(&grant)?;
        let slot = &mut registry.list[place];
        slot.n_open -= 1;
        slot.n_polls += u64::from(is_poll);
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
        self.lock().drained = lives;
    }

    pub fn is_drained(&self, life: &str) -> bool {
        self.lock().drained.contains(life)
    }

    /// Returns all terminals, for operators.
    pub fn views(&self, clock: Duration) -> Vec<TerminalView> {
        let mut registry = self.lock();
        let Registry { list, drained, .. } = &mut *registry;
        let working = list.iter_mut().filter(|slot| slot.room > 0);
        working.map(|slot| slot.view(drained.contains(&slot.life), clock)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Registry {
    /// Picks the terminal with the highest score among those that may get a request.
    fn pick(
        &mut self,
        grant: GrantId,
        domain: &Domain,
        mut may: impl FnMut(&mut TerminalSlot) -> bool,
    ) -> Option<PickedTerminal> {
        let mut best: Option<(f64, usize)> = None;
        for (place, slot) in self.list.iter_mut().enumerate() {
            if may(slot) {
                let score = score(domain, &slot.name, slot.room);
                if best.is_none_or(|(other, _)| score > other) {
                    best = Some((score, place));
                }
            }
        }
        let (_, place) = best?;
        self.assigned.insert(grant, place);
        let slot = &mut self.list[place];
        slot.n_open += 1;
        Some(PickedTerminal { name: Arc::clone(&slot.name), remote: slot.remote.clone() })
    }
}

impl TerminalSlot {
    fn update(&mut self, here: &Here, remote: Option<RemotePlace>, clock: Duration) {
        self.region.clone_from(&here.region);
        self.version.clone_from(&here.version);
        self.life.clone_from(&here.life);
        (self.remote, self.room, self.heard) = (remote, here.room, clock);
        (self.draining, self.round_trip) = (here.draining, here.round_trip);
        self.takes_errands = here.takes_errands;
    }

    fn is_silent(&self, clock: Duration) -> bool {
        self.remote.is_some() && clock.saturating_sub(self.heard) >= SILENT_AFTER
    }

    /// The number of requests that it may make at once now.
    fn room_now(&mut self, now: Time, clock: Duration) -> usize {
        match self.draining || self.is_silent(clock) {
            true => 0,
            false => self.network.in_flight_max(now, self.room),
        }
    }

    fn view(&mut self, is_drained: bool, clock: Duration) -> TerminalView {
        let over = clock.saturating_sub(self.rate.began);
        if over >= RATE_OVER {
            let n = self.n_polls - self.rate.n_before;
            let last = n as f64 / over.as_secs_f64();
            self.rate = TerminalRate { began: clock, n_before: self.n_polls, last };
        }
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
            polls_per_second: self.rate.last,
            round_trip: self.round_trip,
            network_up: !self.network.is_down(),
            draining: self.draining || is_drained,
        }
    }
}

#[cfg(test)]
mod tests;

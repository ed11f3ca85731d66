//! The processes of the simulation: what a controller and a terminal remember.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dispatch::machine::Here;
use dispatch::{GrantId, PollReading, PollResult, SoFar};
use feed::{Domain, FeedId, Time};
use terminal::{Acceptance, Outbox};

use crate::plan::{Gaps, Plan};
use crate::terminals::Terminals;

pub const N_DOMAINS: u32 = 12;
/// Feeds of each domain.
pub const FEEDS_EACH: u32 = 2;
/// The longest simulated exchange.
pub const EXCHANGE_MAX: Duration = Duration::from_secs(20);
const START: Time = Time::from_secs(1_700_000_000);

/// The wall clock at a simulated moment.
pub fn wall(ms: u64) -> Time {
    START + Duration::from_millis(ms)
}

/// Whether a process runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    /// Dead or paused until then.
    pub dead_until: u64,
    pub paused_until: u64,
    /// Its messages are lost until then.
    pub cut_until: u64,
    /// It cannot reach the database until then.
    pub no_database_until: u64,
}

/// An active controller: the state of one epoch.
pub struct Epoch {
    pub epoch: i64,
    pub plan: Plan<()>,
    pub terminals: Terminals,
    /// When its stopwatch started.
    pub started: u64,
    pub feed_of: HashMap<GrantId, (FeedId, u32)>,
}

/// A row of the simulated table `grants`.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedRow {
    pub number: u64,
    pub domain: u32,
    pub until: u64,
}

impl Epoch {
    pub fn begin(epoch: i64, rows: &[SimulatedRow], generations: &[u32], now: u64) -> Epoch {
        let gaps = Gaps { default: Duration::from_millis(500), by_domain: HashMap::new() };
        let mut plan = Plan::new(gaps, EXCHANGE_MAX, true);
        plan.number_from(epoch.unsigned_abs() << 40);
        for domain in 0..N_DOMAINS {
            assert_eq!(plan.domain(&name(domain)), domain);
            for n in 0..FEEDS_EACH {
                let feed = domain * FEEDS_EACH + n;
                plan.schedule(FeedId(feed), domain, wall(now), generations[feed as usize]);
            }
        }
        for row in rows.iter().filter(|row| row.until > now) {
            plan.hold(row.domain, GrantId(row.number), Duration::from_millis(row.until - now));
        }
        let terminals = Terminals::new(None, wall(now));
        Epoch { epoch, plan, terminals, started: now, feed_of: HashMap::new() }
    }

    /// Its stopwatch.
    pub fn clock(&self, now: u64) -> Duration {
        Duration::from_millis(now - self.started)
    }
}

pub fn name(domain: u32) -> Domain {
    Domain::from_stored(&format!("d{domain}.example"))
}

/// A terminal, from one start to its death.
pub struct SimulatedTerminal {
    pub name: String,
    pub life: u64,
    pub started: u64,
    pub rules: Acceptance,
    pub outbox: Outbox,
    pub in_flight: HashSet<GrantId>,
    pub said_here: u64,
}

impl SimulatedTerminal {
    pub fn new(place: usize, life: u64, now: u64) -> SimulatedTerminal {
        SimulatedTerminal {
            name: format!("t{place}"),
            life,
            started: now,
            rules: Acceptance::default(),
            outbox: Outbox::default(),
            in_flight: HashSet::new(),
            said_here: 0,
        }
    }

    pub fn clock(&self, now: u64) -> Duration {
        Duration::from_millis(now - self.started)
    }

    pub fn here(&self) -> Here {
        Here {
            wire: dispatch::wire::WIRE_VERSION,
            terminal: self.name.clone(),
            life: self.life.to_string(),
            version: String::new(),
            identity_rule: feed::IDENTITY_RULE,
            region: None,
            room: 8,
            in_flight: Vec::new(),
            held: self.outbox.len(),
            draining: false,
            round_trip: None,
            window_questions: 0,
            takes_errands: false,
        }
    }

    /// Keeps the result of a request, or of one that was not sent.
    pub fn keep(&mut self, grant: GrantId, feed: FeedId, generation: u32, sent: bool, now: u64) {
        let reading = if sent { PollReading::Gone } else { PollReading::NotSent };
        let result = PollResult::bare(grant, feed, generation, SoFar::default(), reading);
        let clock = self.clock(now);
        self.in_flight.remove(&grant);
        self.outbox.keep(result, clock);
    }
}

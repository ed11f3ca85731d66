//! The processes of the simulation: what a controller and a terminal remember.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use dispatch::machine::Here;
use dispatch::{GrantId, PollReading, PollResult, SoFar};
use feed::{Domain, FeedId, Time};
use terminal::{Acceptance, Outbox, SendableResult};
use tokio::sync::oneshot;
use url::Url;

use crate::plan::{Gaps, GrantedTurn, Plan};
use crate::terminals::{GrantedRequest, Terminals};

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

/// A granted request on its way.
#[derive(Clone, Debug)]
pub struct SimulatedJob {
    pub epoch: i64,
    pub grant: GrantId,
    pub feed: FeedId,
    pub generation: u32,
    /// The domain that was granted.
    pub domain: u32,
    /// The domain that gets the request.
    pub target: u32,
    pub n_hops: u32,
    pub is_errand: bool,
    pub send_by: Duration,
    pub terminal: usize,
}

/// An active controller: the state of one epoch.
pub struct Epoch {
    pub epoch: i64,
    /// A poll that waits for its next hop is the domain that the redirect leads to, and the number
    /// of hops with it.
    pub plan: Plan<(u32, u32)>,
    pub terminals: Terminals,
    /// When its stopwatch started.
    pub started: u64,
    /// Errands that wait for their turn.
    pub waiting: Vec<oneshot::Receiver<GrantedTurn>>,
    /// Errands under way: domain and end.
    pub errands: HashMap<GrantId, (u32, Duration)>,
    /// The redirects of polls at terminals.
    pub hops: HashMap<GrantId, u32>,
}

/// A row of the simulated table `grants`.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedRow {
    pub number: u64,
    pub domain: u32,
    pub terminal: usize,
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
        terminals.note_earlier(rows.iter().map(|row| {
            let terminal = format!("t{}", row.terminal).into();
            let request = GrantedRequest { terminal, domain: name(row.domain), feed: None };
            (GrantId(row.number), request)
        }));
        Epoch {
            epoch,
            plan,
            terminals,
            started: now,
            waiting: Vec::new(),
            errands: HashMap::new(),
            hops: HashMap::new(),
        }
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
            round_trip: self.rules.epoch().map(|_| Duration::ZERO),
            window_questions: 0,
            takes_errands: true,
        }
    }

    /// Keeps the result of a request, or of one that was not sent. `to` is where it redirects.
    /// Returns false if the grant has a result already.
    pub fn keep(&mut self, job: &SimulatedJob, to: Option<u32>, sent: bool, now: u64) -> bool {
        let url = |domain| Url::parse(&format!("http://{}/", name(domain).as_str()));
        let reading = match to.map(url) {
            Some(Ok(to)) => PollReading::Moved { to, permanent: false },
            _ if sent => PollReading::Gone,
            _ => PollReading::NotSent,
        };
        let SimulatedJob { grant, feed, generation, .. } = *job;
        let result = PollResult::bare(grant, feed, generation, SoFar::default(), reading);
        let clock = self.clock(now);
        self.in_flight.remove(&grant);
        self.outbox.keep(SendableResult::new(result), clock)
    }
}

/// The number of the domain that a redirect leads to.
pub fn domain_of(url: &Url) -> u32 {
    let number = url.host_str().and_then(|host| host.strip_prefix('d')?.split_once('.'));
    number.and_then(|(number, _)| number.parse().ok()).expect("a domain of the simulation")
}

//! The simulated world: events in the order of time, a database with a seat and rows, a road that
//! loses, delays and repeats, and faults at random.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Duration;

use dispatch::{GrantId, PollResult};
use terminal::BrokenRule;

use super::nodes::{
    EXCHANGE_MAX, Epoch, FEEDS_EACH, Health, N_DOMAINS, SimulatedJob, SimulatedRow,
    SimulatedTerminal,
};
use crate::plan::grant_life;

const N_CONTROLLERS: usize = 3;
pub(super) const N_TERMINALS: usize = 4;
/// A silent holder of the seat is replaced after so many milliseconds.
const SEAT_SILENCE: u64 = 5000;

/// The rules that hold, and the one that a mutant breaks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    pub broken: Option<BrokenRule>,
    /// Any result of a domain frees it.
    pub any_result_frees: bool,
    /// The next controller does not know the grants of the last one.
    pub without_rows: bool,
    /// A job without an answer goes to another terminal too.
    pub shared_queue: bool,
    /// A terminal follows redirects without a grant for the next domain.
    pub follows_redirects: bool,
    /// A redirected poll without an answer is planned at the domain of its last request.
    pub stays_at_target: bool,
    /// A terminal forgets a result when it has sent it.
    pub forgets_results: bool,
}

/// The counts of one life.
#[derive(Clone, Copy, Debug, Default)]
pub struct SimulatedTally {
    pub n_requests: u64,
    pub n_takeovers: u64,
    pub n_overlaps: u64,
    pub n_recorded: u64,
    pub n_hops: u64,
    pub n_errands: u64,
    /// Results that a terminal had, and those that ended in a known way: a controller answered
    /// them, their terminal died, or it still has them.
    pub n_results: u64,
    pub n_accounted: u64,
}

#[derive(Clone, Debug)]
pub(super) enum SimEvent {
    Fault,
    Controller(usize),
    Terminal(usize),
    Commit { controller: usize, epoch: i64, jobs: Vec<SimulatedJob> },
    Committed { controller: usize, epoch: i64, jobs: Vec<SimulatedJob> },
    Job { life: u64, job: SimulatedJob },
    RequestEnds { life: u64, job: SimulatedJob, request: u64 },
    Errand(usize),
    Here { terminal: usize, life: u64, asked_at: Duration },
    Seat { terminal: usize, life: u64, asked_at: Duration, epoch: i64, clock: Duration },
    Result { terminal: usize, life: u64, epoch: i64, domain: u32, result: Box<PollResult> },
    Answer { terminal: usize, life: u64, grant: GrantId },
}

pub struct SimulatedWorld {
    pub(super) rules: Rules,
    pub(super) now: u64,
    chance: u64,
    pub(super) n_events: u64,
    queue: BinaryHeap<Reverse<(u64, u64)>>,
    events: HashMap<u64, SimEvent>,
    pub(super) controllers: Vec<(Health, Option<Epoch>)>,
    pub(super) terminals: Vec<(Health, SimulatedTerminal)>,
    n_lives: u64,
    /// The seat: epoch, holder, last beat.
    pub(super) seat: (i64, Option<usize>, u64),
    pub(super) rows: Vec<SimulatedRow>,
    pub(super) generations: Vec<u32>,
    /// Requests under way: number, domain, terminal's life.
    pub(super) under_way: HashMap<u64, (u32, u64)>,
    pub(super) tally: SimulatedTally,
}

impl SimulatedWorld {
    pub fn new(seed: u64, rules: Rules) -> SimulatedWorld {
        let mut world = SimulatedWorld {
            rules,
            now: 0,
            chance: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            n_events: 0,
            queue: BinaryHeap::new(),
            events: HashMap::new(),
            controllers: (0..N_CONTROLLERS).map(|_| (Health::default(), None)).collect(),
            terminals: Vec::new(),
            n_lives: 0,
            seat: (0, None, 0),
            rows: Vec::new(),
            generations: vec![0; (N_DOMAINS * FEEDS_EACH) as usize],
            under_way: HashMap::new(),
            tally: SimulatedTally::default(),
        };
        for place in 0..N_TERMINALS {
            let terminal = world.new_terminal(place);
            world.terminals.push((Health::default(), terminal));
            world.after(place as u64 * 10, SimEvent::Terminal(place));
        }
        (0..N_CONTROLLERS).for_each(|c| world.after(c as u64 * 7, SimEvent::Controller(c)));
        (0..N_CONTROLLERS).for_each(|c| world.after(500, SimEvent::Errand(c)));
        world.after(3000, SimEvent::Fault);
        world
    }

    pub fn live(mut self, ms: u64) -> SimulatedTally {
        while let Some(Reverse((at, number))) = self.queue.pop() {
            if at > ms {
                break;
            }
            self.now = at;
            if let Some(event) = self.events.remove(&number) {
                self.happen(event);
            }
        }
        let n_held: usize = self.terminals.iter().map(|(_, one)| one.outbox.len()).sum();
        self.tally.n_accounted += n_held as u64;
        self.tally
    }

    fn new_terminal(&mut self, place: usize) -> SimulatedTerminal {
        self.n_lives += 1;
        let mut terminal = SimulatedTerminal::new(place, self.n_lives, self.now);
        if let Some(rule) = self.rules.broken {
            terminal.rules.break_rule(rule);
        }
        terminal
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.chance ^= self.chance << 13;
        self.chance ^= self.chance >> 7;
        self.chance ^= self.chance << 17;
        (self.chance >> 11) % n
    }

    pub(super) fn after(&mut self, ms: u64, event: SimEvent) {
        self.n_events += 1;
        self.queue.push(Reverse((self.now + ms, self.n_events)));
        self.events.insert(self.n_events, event);
    }

    /// Sends over the road: lost, late, or twice.
    pub(super) fn send(&mut self, event: &SimEvent) {
        if self.below(100) < 4 {
            return;
        }
        let copies = if self.below(100) < 6 { 2 } else { 1 };
        for _ in 0..copies {
            let late = match self.below(100) {
                0..5 => self.below(60_000),
                5..12 => self.below(6000),
                _ => self.below(60),
            };
            self.after(1 + late, event.clone());
        }
    }

    fn happen(&mut self, event: SimEvent) {
        match event {
            SimEvent::Fault => self.fault(),
            SimEvent::Controller(c) => self.controller(c),
            SimEvent::Terminal(t) => self.terminal(t),
            SimEvent::Commit { controller, epoch, jobs } => self.commit(controller, epoch, jobs),
            SimEvent::Committed { controller, epoch, jobs } => self.depart(controller, epoch, jobs),
            SimEvent::Job { life, job } => self.job(life, job),
            SimEvent::RequestEnds { life, job, request } => self.request_ends(life, job, request),
            SimEvent::Errand(c) => self.errand(c),
            SimEvent::Here { terminal, life, asked_at } => self.here(terminal, life, asked_at),
            SimEvent::Seat { terminal, life, asked_at, epoch, clock } => {
                let event = SimEvent::Seat { terminal, life, asked_at, epoch, clock };
                if self.is_there(terminal, life, event) {
                    let grant_life = grant_life(EXCHANGE_MAX);
                    self.terminals[terminal].1.rules.seat(epoch, clock, grant_life, asked_at);
                }
            }
            SimEvent::Result { terminal, life, epoch, domain, result } => {
                self.result(terminal, life, epoch, domain, &result);
            }
            SimEvent::Answer { terminal, life, grant } => {
                let event = SimEvent::Answer { terminal, life, grant };
                if self.is_there(terminal, life, event) {
                    let was_kept = self.terminals[terminal].1.outbox.answered(grant);
                    self.tally.n_accounted += u64::from(was_kept);
                }
            }
        }
    }

    /// Kills, pauses or cuts off somebody.
    fn fault(&mut self) {
        let lasts = match self.below(4) {
            0 => self.below(40_000),
            _ => self.below(8000),
        };
        let (until, which) = (self.now + lasts, self.below(7) as usize);
        let kind = self.below(4);
        let health = if which < N_CONTROLLERS {
            &mut self.controllers[which].0
        } else {
            &mut self.terminals[which - N_CONTROLLERS].0
        };
        match kind {
            0 => health.dead_until = until,
            1 => health.paused_until = until,
            2 => health.cut_until = until,
            _ => health.no_database_until = until,
        }
        if kind == 0 {
            self.died(which);
        }
        let next = 2000 + self.below(9000);
        self.after(next, SimEvent::Fault);
    }

    fn died(&mut self, which: usize) {
        if which < N_CONTROLLERS {
            self.controllers[which].1 = None;
            if self.seat.1 == Some(which) {
                self.seat.1 = None;
            }
            return;
        }
        let place = which - N_CONTROLLERS;
        let life = self.terminals[place].1.life;
        // Its requests end with it.
        self.under_way.retain(|_, (_, of)| *of != life);
        self.tally.n_accounted += self.terminals[place].1.outbox.len() as u64;
        self.terminals[place].1 = self.new_terminal(place);
    }

    /// Returns whether a terminal with this life can act now. A paused one acts later.
    pub(super) fn is_there(&mut self, terminal: usize, life: u64, event: SimEvent) -> bool {
        let (health, one) = &self.terminals[terminal];
        if one.life != life || health.dead_until > self.now || health.cut_until > self.now {
            return false;
        }
        if health.paused_until > self.now {
            let wait = health.paused_until - self.now;
            self.after(wait + 1, event);
            return false;
        }
        true
    }

    fn controller(&mut self, c: usize) {
        self.after(100, SimEvent::Controller(c));
        let health = self.controllers[c].0;
        if health.dead_until > self.now || health.paused_until > self.now {
            return;
        }
        let reaches = health.no_database_until <= self.now;
        if self.seat.1 == Some(c) && reaches {
            self.seat.2 = self.now;
        }
        if self.controllers[c].1.is_none() {
            if reaches {
                self.try_seat(c);
            }
            return;
        }
        // It learns that its session was ended only when it reaches the database.
        let lost = self.controllers[c].1.as_ref().is_some_and(|e| e.epoch != self.seat.0);
        if lost && reaches {
            self.controllers[c].1 = None;
            return;
        }
        self.turn(c);
    }

    fn try_seat(&mut self, c: usize) {
        let (epoch, holder, beat) = self.seat;
        if holder.is_some() && self.now - beat < SEAT_SILENCE {
            return;
        }
        self.seat = (epoch + 1, Some(c), self.now);
        self.tally.n_takeovers += u64::from(epoch > 0);
        let rows = if self.rules.without_rows { &[][..] } else { &self.rows[..] };
        let begun = Epoch::begin(epoch + 1, rows, &self.generations, self.now);
        self.controllers[c].1 = Some(begun);
    }
}

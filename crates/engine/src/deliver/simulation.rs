//! Simulates thousands of deliveries, each from its seed. Matches come; the receiver hangs, fails,
//! or takes a match without an answer; the program is killed at any moment. No match may be lost,
//! and the order must hold.

use std::collections::BTreeSet;

use feed::Time;

use super::{ATTEMPTS_MAX, Attempt, Cursor, CursorStep, after};

/// The committed state, which survives a kill.
#[derive(Clone)]
struct CommittedState {
    positions: Vec<i64>,
    cursor: Cursor,
    not_before: Time,
    dead: BTreeSet<i64>,
}

/// One simulated run. Every choice comes from the seed.
struct SimulatedDelivery {
    state: u64,
    now: Time,
    stored: CommittedState,
    /// Every position that arrived, in the order of arrival, repeats included.
    arrived: Vec<i64>,
    n_kills: u32,
}

impl SimulatedDelivery {
    fn new(seed: u64) -> SimulatedDelivery {
        let start = Time::from_secs(1_700_000_000);
        let cursor = Cursor { position: 0, attempts: 0 };
        let dead = BTreeSet::new();
        let stored = CommittedState { positions: Vec::new(), cursor, not_before: start, dead };
        SimulatedDelivery { state: seed, now: start, stored, arrived: Vec::new(), n_kills: 0 }
    }

    /// splitmix64.
    fn chance(&mut self, below: u64) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) % below
    }

    /// Some matches are recorded. Now and then a feed is removed and leaves a hole.
    fn publish(&mut self) {
        let mut last = self.stored.positions.last().copied().unwrap_or(0);
        for _ in 0..self.chance(4) {
            last += 1 + i64::from(self.chance(10) == 0);
            self.stored.positions.push(last);
        }
    }

    fn next(&self) -> Option<i64> {
        let cursor = self.stored.cursor.position;
        self.stored.positions.iter().copied().find(|position| *position > cursor)
    }

    /// One turn of the deliverer: attempt, decide, store. A kill may interrupt each step.
    fn turn(&mut self, trouble: u64) {
        self.now = self.now + std::time::Duration::from_secs(self.chance(2000));
        let Some(position) = self.next().filter(|_| self.stored.not_before <= self.now) else {
            return;
        };
        let killed_at = self.chance(12);
        if killed_at == 0 {
            return self.kill();
        }
        let attempt = match self.chance(100) {
            // The match arrives, and we get the answer.
            n if n >= trouble => {
                self.arrived.push(position);
                Attempt::Taken
            }
            // The match arrives, but the answer is lost: the receiver will see it twice.
            n if n % 3 == 0 => {
                self.arrived.push(position);
                Attempt::Failed { why: "no answer".to_owned(), retry_after: None }
            }
            _ => Attempt::Failed { why: "503".to_owned(), retry_after: None },
        };
        if killed_at == 1 {
            // The match was sent, and nothing was stored.
            return self.kill();
        }
        let jitter = self.chance(1000) as f64 / 1000.0;
        let step = after(self.stored.cursor, position, attempt, self.now, jitter);
        self.store(&step);
        if killed_at == 2 {
            self.kill();
        }
    }

    /// One transaction: all of it or nothing.
    fn store(&mut self, step: &CursorStep) {
        let before = self.stored.cursor.position;
        match *step {
            CursorStep::Advance { to } => self.stored.cursor = Cursor { position: to, attempts: 0 },
            CursorStep::Wait { attempts, until, .. } => {
                assert!(until > self.now && attempts < ATTEMPTS_MAX);
                self.stored.cursor.attempts = attempts;
                self.stored.not_before = until;
            }
            CursorStep::Bury { position, .. } => {
                self.stored.dead.insert(position);
                self.stored.cursor = Cursor { position, attempts: 0 };
            }
        }
        assert!(self.stored.cursor.position >= before, "a cursor never goes back");
    }

    /// Kills the program: only the stored state remains.
    fn kill(&mut self) {
        self.n_kills += 1;
    }

    fn check(&self, seed: u64) {
        let arrived: BTreeSet<i64> = self.arrived.iter().copied().collect();
        for position in &self.stored.positions {
            let done = *position <= self.stored.cursor.position;
            let safe = arrived.contains(position) || self.stored.dead.contains(position);
            assert!(!done || safe, "seed {seed}: {position} is forgotten");
        }
        let mut firsts = Vec::new();
        for position in &self.arrived {
            if !firsts.contains(position) {
                firsts.push(*position);
            }
        }
        assert!(firsts.is_sorted(), "seed {seed}: out of order: {firsts:?}");
    }
}

#[test]
fn nothing_is_forgotten_and_the_order_holds_over_five_thousand_lives() {
    let (mut n_arrived, mut n_kills, mut n_dead) = (0, 0, 0);
    for seed in 0..5000 {
        let mut life = SimulatedDelivery::new(seed);
        for _ in 0..60 {
            life.publish();
            // Phases in which nearly everything fails produce dead letters.
            let trouble = if life.chance(10) < 3 { 97 } else { 40 };
            life.turn(trouble);
            life.check(seed);
        }
        // At the end the receiver works, and every match that was not dropped has arrived or is a
        // dead letter.
        let mut turns = 0;
        while life.next().is_some() {
            life.turn(0);
            turns += 1;
            assert!(turns < 100_000, "seed {seed}: it does not end");
        }
        life.check(seed);
        assert_eq!(life.stored.positions.last().copied().unwrap_or(0), life.stored.cursor.position);
        n_arrived += life.arrived.len();
        n_kills += life.n_kills;
        n_dead += life.stored.dead.len();
    }
    assert!(n_arrived > 100_000 && n_kills > 10_000, "{n_arrived} {n_kills}");
    assert!(n_dead > 0, "no life was hard enough for a dead letter");
}

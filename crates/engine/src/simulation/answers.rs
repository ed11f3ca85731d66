//! A simulated controller answers terminals and takes their results.

use std::time::Duration;

use dispatch::{PollReading, PollResult};
use feed::Time;

use super::granting::ERRAND;
use super::nodes::{Epoch, N_DOMAINS, domain_of, wall};
use super::world::{SimEvent, SimulatedWorld};
use crate::terminals::{AnswerRight, RequestEnd};

impl SimulatedWorld {
    /// A terminal's question reaches every controller that believes to be active.
    pub(super) fn here(&mut self, t: usize, life: u64, asked_at: Duration) {
        let now = self.now;
        let here = self.terminals[t].1.here();
        if here.life != life.to_string() {
            return;
        }
        let mut answers = Vec::new();
        for (health, active) in &mut self.controllers {
            let hears = health.cut_until <= now && health.paused_until <= now;
            if let (true, Some(active)) = (hears, active) {
                let clock = active.clock(now);
                let wire = dispatch::wire::WIRE_VERSION;
                if active.terminals.heard(&here, wire, wall(now), clock).is_ok() {
                    answers.push((active.epoch, clock));
                }
            }
        }
        for (epoch, clock) in answers {
            self.send(&SimEvent::Seat { terminal: t, life, asked_at, epoch, clock });
        }
    }

    pub(super) fn result(
        &mut self,
        t: usize,
        life: u64,
        epoch: i64,
        domain: u32,
        result: &PollResult,
    ) {
        let now = self.now;
        let found = self.controllers.iter().position(|(health, active)| {
            health.cut_until <= now
                && health.paused_until <= now
                && active.as_ref().is_some_and(|active| active.epoch == epoch)
        });
        let Some(c) = found else { return };
        let can_record = self.seat.1 == Some(c)
            && self.seat.0 == epoch
            && self.controllers[c].0.no_database_until <= now;
        let any_result_frees = self.rules.any_result_frees;
        let Some(active) = &mut self.controllers[c].1 else { return };
        let at = wall(now);
        let Some(place) = active.terminals.place_of(&format!("t{t}"), &life.to_string()) else {
            return;
        };
        let named = (result.feed != ERRAND).then_some(result.feed);
        match active.terminals.right_to_answer(result.grant, named, place) {
            AnswerRight::Own => {}
            AnswerRight::Others => return,
            AnswerRight::Unknown => {
                return self.send(&SimEvent::Answer { terminal: t, life, grant: result.grant });
            }
        }
        let feed = result.feed.0 as usize;
        // An errand names no feed.
        let stored = self.generations.get(feed).copied();
        let frees = any_result_frees.then_some(domain).filter(|domain| *domain < N_DOMAINS);
        let records = active.settle(result, at, stored.filter(|_| can_record), frees);
        if !can_record {
            return;
        }
        self.rows.retain(|row| row.number != result.grant.0);
        if records {
            self.generations[feed] += 1;
            self.tally.n_recorded += 1;
        }
        self.send(&SimEvent::Answer { terminal: t, life, grant: result.grant });
    }
}

impl Epoch {
    /// Closes the grant of a result. Returns whether it is recorded. `stored` is the generation of
    /// the feed, if the database answers; `frees` is the domain that any result frees.
    fn settle(
        &mut self,
        result: &PollResult,
        at: Time,
        stored: Option<u32>,
        frees: Option<u32>,
    ) -> bool {
        let (grant, sent) = (result.grant, result.reading != PollReading::NotSent);
        let (next, is_current) =
            (at + Duration::from_millis(1500), stored == Some(result.generation));
        self.terminals.ended(grant, RequestEnd::Polled);
        let errand = self.errands.remove(&grant).map(|(domain, _)| domain);
        let open = self.plan.close(grant);
        if let Some(domain) = errand.or(open.map(|open| open.domain)) {
            match sent {
                true => self.plan.exchanged(domain, at),
                false => self.plan.not_sent(domain, at),
            }
        }
        if errand.is_some() {
            return false;
        }
        let Some(open) = open else {
            match frees {
                Some(domain) => self.plan.exchanged(domain, at),
                None => {
                    self.plan.release(grant, at);
                }
            }
            let is_seen = result.reading == PollReading::Gone;
            if !is_seen || !self.plan.adopt(result.feed, result.generation) {
                return false;
            }
            let (home, _) = self.plan.planned(result.feed);
            let generation = result.generation + 1;
            match is_current {
                true => self.plan.finished(result.feed, home, Some(next), generation),
                false => self.plan.postpone(result.feed, at, false),
            }
            return is_current;
        };
        let n_hops = self.hops.remove(&grant).unwrap_or_default();
        if let PollReading::Moved { to, .. } = &result.reading {
            let to = domain_of(to);
            if self.plan.hop(to, open.feed, (to, n_hops + 1), at).is_ok() {
                return false;
            }
        }
        let records = sent && is_current;
        let (home, planned) = self.plan.planned(open.feed);
        let generation = stored.unwrap_or(planned) + u32::from(records);
        self.plan.finished(open.feed, home, Some(next), generation);
        records
    }
}

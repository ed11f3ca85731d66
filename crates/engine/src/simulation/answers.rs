//! A simulated controller answers terminals and takes their results.

use std::time::Duration;

use dispatch::{PollReading, PollResult};

use super::nodes::wall;
use super::world::{SimEvent, SimulatedWorld};

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
        let (at, sent) = (wall(now), result.reading != PollReading::NotSent);
        active.terminals.ended(result.grant, sent);
        let feed = result.feed.0 as usize;
        match active.plan.close(result.grant) {
            Some(open) => {
                match sent {
                    true => active.plan.exchanged(open.domain, at),
                    false => active.plan.not_sent(open.domain, at),
                }
                let next = at + Duration::from_millis(1500);
                let generation = result.generation + u32::from(sent && can_record);
                active.plan.finished(open.feed, open.domain, Some(next), generation);
            }
            None if any_result_frees => active.plan.exchanged(domain, at),
            None => {
                active.plan.release(result.grant, at);
            }
        }
        if !can_record {
            return;
        }
        self.rows.retain(|row| row.number != result.grant.0);
        if sent && self.generations[feed] == result.generation {
            self.generations[feed] += 1;
            self.tally.n_recorded += 1;
        }
        self.send(&SimEvent::Answer { terminal: t, life, grant: result.grant });
    }
}

//! A simulated controller grants: it asks the database to commit rows, and then sends the jobs.

use std::time::Duration;

use super::nodes::{EXCHANGE_MAX, SimulatedRow, name, wall};
use super::world::{N_TERMINALS, SimEvent, SimulatedJob, SimulatedWorld};
use crate::plan::{Work, grant_life};

impl SimulatedWorld {
    /// Grants what may be sent, and asks the database to commit it.
    pub(super) fn turn(&mut self, c: usize) {
        let now = self.now;
        let Some(active) = &mut self.controllers[c].1 else { return };
        let (clock, at) = (active.clock(now), wall(now));
        for (grant, open) in active.plan.expire(clock, at) {
            active.terminals.ended(grant, false);
            let next = at + Duration::from_millis(500);
            active.plan.finished(open.feed, open.domain, Some(next), open.generation);
        }
        let room = active.terminals.room(at, clock);
        let (mut jobs, epoch) = (Vec::new(), active.epoch);
        for grant in active.plan.grant(at, room) {
            let Work::Start(feed) = grant.work else { continue };
            let domain = grant.domain;
            let picked = active.terminals.pick(grant.id, &name(domain), None, at, clock);
            let Some(picked) = picked else {
                active.plan.close(grant.id);
                active.plan.not_sent(domain, at);
                active.plan.finished(feed, domain, Some(at), grant.generation);
                continue;
            };
            let terminal = picked.name[1..].parse().expect("a number");
            active.feed_of.insert(grant.id, (feed, domain));
            jobs.push(SimulatedJob {
                epoch,
                grant: grant.id,
                feed,
                generation: grant.generation,
                domain,
                send_by: grant.send_by,
                terminal,
            });
        }
        if !jobs.is_empty() {
            let wait = 1 + self.below(40);
            self.after(wait, SimEvent::Commit { controller: c, epoch, jobs });
        }
    }

    /// The database commits the rows, if the controller still has the seat.
    pub(super) fn commit(&mut self, c: usize, epoch: i64, jobs: Vec<SimulatedJob>) {
        let health = self.controllers[c].0;
        let is_cut = health.no_database_until > self.now || health.dead_until > self.now;
        if self.seat.0 != epoch || self.seat.1 != Some(c) || is_cut {
            return;
        }
        let life = u64::try_from(grant_life(EXCHANGE_MAX).as_millis()).expect("short");
        self.rows.retain(|row| row.until > self.now);
        let until = self.now + life;
        self.rows.extend(jobs.iter().map(|job| SimulatedRow {
            number: job.grant.0,
            domain: job.domain,
            until,
        }));
        let wait = 1 + self.below(20);
        self.after(wait, SimEvent::Committed { controller: c, epoch, jobs });
    }

    pub(super) fn depart(&mut self, c: usize, epoch: i64, jobs: Vec<SimulatedJob>) {
        let health = self.controllers[c].0;
        if health.paused_until > self.now {
            let wait = health.paused_until - self.now + 1;
            return self.after(wait, SimEvent::Committed { controller: c, epoch, jobs });
        }
        let is_same = self.controllers[c].1.as_ref().is_some_and(|active| active.epoch == epoch);
        if !is_same || health.dead_until > self.now || health.cut_until > self.now {
            return;
        }
        for job in jobs {
            let life = self.terminals[job.terminal].1.life;
            if self.rules.shared_queue {
                let mut other = job.clone();
                other.terminal = (job.terminal + 1) % N_TERMINALS;
                let life = self.terminals[other.terminal].1.life;
                self.after(4000, SimEvent::Job { life, job: other });
            }
            self.send(&SimEvent::Job { life, job });
        }
    }
}

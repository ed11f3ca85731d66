//! A simulated controller grants: it asks the database to commit rows, and then sends the jobs.

use std::time::Duration;

use feed::{FeedId, Time};
use tokio::sync::oneshot;

use super::nodes::{
    EXCHANGE_MAX, Epoch, FEEDS_EACH, N_DOMAINS, SimulatedJob, SimulatedRow, name, wall,
};
use super::world::{N_TERMINALS, SimEvent, SimulatedWorld};
use crate::errand_road::SEND_WITHIN;
use crate::plan::{ErrandClass, Grant, GrantedTurn, Work, grant_life};
use crate::terminals::RequestEnd;

impl SimulatedWorld {
    /// An errand asks for a turn at a domain.
    pub(super) fn errand(&mut self, c: usize) {
        let wait = 1 + self.below(2000);
        self.after(wait, SimEvent::Errand(c));
        let (domain, at) = (self.below(u64::from(N_DOMAINS)) as u32, wall(self.now));
        let Some(active) = &mut self.controllers[c].1 else { return };
        let (turn, granted) = oneshot::channel();
        active.plan.errand(domain, turn, ErrandClass::BeforePolls, at);
        active.waiting.push(granted);
    }

    /// Grants what may be sent, and asks the database to commit it.
    pub(super) fn turn(&mut self, c: usize) {
        let (now, stays) = (self.now, self.rules.stays_at_target);
        let Some(active) = &mut self.controllers[c].1 else { return };
        let (clock, at) = (active.clock(now), wall(now));
        for (grant, open) in active.plan.expire(clock, at) {
            active.terminals.ended(grant, RequestEnd::Expired);
            let next = at + Duration::from_millis(500);
            let (home, generation) = active.plan.planned(open.feed);
            let domain = if stays { open.domain } else { home };
            active.plan.finished(open.feed, domain, Some(next), generation);
        }
        active.end_errands(clock, at);
        let room = active.terminals.room(at, clock);
        let (mut jobs, epoch) = (Vec::new(), active.epoch);
        for Grant { id: grant, domain, work, generation, send_by } in active.plan.grant(at, room) {
            let (feed, target, n_hops) = match work {
                Work::Start(feed) => (feed, feed.0 / FEEDS_EACH, 0),
                Work::Hop(feed, hop) => (feed, hop.0, hop.1),
            };
            let picked = active.terminals.pick(grant, feed, &name(domain), None, at, clock);
            let Some(picked) = picked else {
                active.plan.close(grant);
                active.plan.not_sent(domain, at);
                let (home, generation) = active.plan.planned(feed);
                active.plan.finished(feed, home, Some(at), generation);
                continue;
            };
            active.hops.insert(grant, n_hops);
            let (terminal, is_errand) = (number(&picked.name), false);
            jobs.push(SimulatedJob {
                epoch,
                grant,
                feed,
                generation,
                domain,
                target,
                n_hops,
                is_errand,
                send_by,
                terminal,
            });
        }
        jobs.extend(active.granted_errands(clock, at));
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
            terminal: job.terminal,
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

impl Epoch {
    /// Makes jobs of the errands whose turn has come.
    fn granted_errands(&mut self, clock: Duration, at: Time) -> Vec<SimulatedJob> {
        let mut granted = Vec::new();
        self.waiting.retain_mut(|waiting| match waiting.try_recv() {
            Ok(turn) => {
                granted.push(turn);
                false
            }
            Err(error) => error == oneshot::error::TryRecvError::Empty,
        });
        let mut jobs = Vec::new();
        for GrantedTurn { domain, grant } in granted {
            let picked = self.terminals.pick_for_errand(grant, &name(domain), None, at, clock);
            let Some(picked) = picked else {
                self.plan.not_sent(domain, at);
                continue;
            };
            self.errands.insert(grant, (domain, clock + grant_life(EXCHANGE_MAX)));
            jobs.push(SimulatedJob {
                epoch: self.epoch,
                grant,
                feed: ERRAND,
                generation: 0,
                domain,
                target: domain,
                n_hops: 0,
                is_errand: true,
                send_by: clock + SEND_WITHIN,
                terminal: number(&picked.name),
            });
        }
        jobs
    }

    /// Ends the errands that nobody answered.
    fn end_errands(&mut self, clock: Duration, at: Time) {
        let (plan, terminals) = (&mut self.plan, &self.terminals);
        self.errands.retain(|grant, (domain, end)| {
            if *end <= clock {
                terminals.ended(*grant, RequestEnd::Expired);
                plan.exchanged(*domain, at);
            }
            *end > clock
        });
    }
}

/// The place of a terminal by its name.
fn number(name: &str) -> usize {
    name[1..].parse().expect("a number")
}

/// The results of errands name no feed.
pub(super) const ERRAND: FeedId = FeedId(u32::MAX);

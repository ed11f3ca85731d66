//! A simulated terminal takes jobs, makes requests, and sends results until they are answered.

use super::nodes::{EXCHANGE_MAX, FEEDS_EACH, N_DOMAINS, SimulatedJob};
use super::world::{SimEvent, SimulatedWorld};

/// More redirects are not followed.
const HOPS_MAX: u32 = 2;

impl SimulatedWorld {
    pub(super) fn job(&mut self, life: u64, job: SimulatedJob) {
        let t = job.terminal;
        if !self.is_there(t, life, SimEvent::Job { life, job: job.clone() }) {
            return;
        }
        let now = self.now;
        let terminal = &mut self.terminals[t].1;
        let clock = terminal.clock(now);
        if !terminal.rules.arrived(job.grant, clock) {
            return;
        }
        if !terminal.rules.may_send(job.epoch, job.send_by, clock) {
            let is_new = terminal.keep(&job, None, false, now);
            self.tally.n_results += u64::from(is_new);
            return;
        }
        terminal.in_flight.insert(job.grant);
        self.request(life, job);
    }

    /// Sends a request.
    fn request(&mut self, life: u64, job: SimulatedJob) {
        self.tally.n_requests += 1;
        self.tally.n_hops += u64::from(job.n_hops > 0);
        self.tally.n_errands += u64::from(job.is_errand);
        let is_busy = self.under_way.values().any(|(domain, _)| *domain == job.target);
        self.tally.n_overlaps += u64::from(is_busy);
        let lasts = match self.below(20) {
            0 => 1 + self.below(EXCHANGE_MAX.as_millis() as u64),
            _ => 20 + self.below(1500),
        };
        self.n_events += 1;
        let request = self.n_events;
        self.under_way.insert(request, (job.target, life));
        self.after(lasts, SimEvent::RequestEnds { life, job, request });
    }

    pub(super) fn request_ends(&mut self, life: u64, mut job: SimulatedJob, request: u64) {
        self.under_way.remove(&request);
        let now = self.now;
        let (health, terminal) = &self.terminals[job.terminal];
        if terminal.life != life {
            return;
        }
        if health.paused_until > now {
            let wait = health.paused_until - now + 1;
            return self.after(wait, SimEvent::RequestEnds { life, job, request });
        }
        let redirects = !job.is_errand && job.n_hops < HOPS_MAX && self.below(8) == 0;
        let to = redirects.then(|| (self.below(u64::from(N_DOMAINS))) as u32);
        if let (true, Some(to)) = (self.rules.follows_redirects, to) {
            (job.target, job.n_hops) = (to, job.n_hops + 1);
            return self.request(life, job);
        }
        self.tally.n_results += 1;
        let is_new = self.terminals[job.terminal].1.keep(&job, to, true, now);
        assert!(is_new || self.rules.broken.is_some(), "a request is the only one of its grant");
    }

    pub(super) fn terminal(&mut self, t: usize) {
        self.after(100, SimEvent::Terminal(t));
        let now = self.now;
        let (health, terminal) = &mut self.terminals[t];
        if health.dead_until > now || health.paused_until > now {
            return;
        }
        let (life, clock, is_cut) = (terminal.life, terminal.clock(now), health.cut_until > now);
        let due = if is_cut { Vec::new() } else { terminal.outbox.due(clock) };
        let epoch = terminal.rules.epoch();
        if now >= terminal.said_here + 2000 {
            terminal.said_here = now;
            if !is_cut {
                self.send(&SimEvent::Here { terminal: t, life, asked_at: clock });
            }
        }
        for result in due {
            let domain = result.feed.0 / FEEDS_EACH;
            let Some(epoch) = epoch else { continue };
            if self.rules.forgets_results {
                self.terminals[t].1.outbox.answered(result.grant);
            }
            let result = Box::new(result);
            self.send(&SimEvent::Result { terminal: t, life, epoch, domain, result });
        }
    }
}

//! The lines of waiting work, one for each domain: what goes in, and what is taken out because it
//! cannot be done now.

use std::cmp::Reverse;
use std::collections::VecDeque;

use feed::{FeedId, Time};
use polling::pace::{self, DomainPace};

use super::grant::Queued;
use super::{Place, Plan, Rank, Turn, Work};

impl<H> Plan<H> {
    /// A request that is not a poll wants its turn. Where a Retry-After binds the domain there is
    /// no turn, except for a receiver that the operator chose.
    pub fn errand(&mut self, domain: u32, turn: Turn, rank: Rank, now: Time) {
        if rank == Rank::WithoutGap {
            self.without_gap.entry(domain).or_default().push_back(turn);
            return self.pass(domain);
        }
        if self.domains[domain as usize].pace.not_before.is_none_or(|until| until <= now) {
            self.stand(domain, Queued::Errand(turn), rank == Rank::First, now);
        }
    }

    /// Gives a free domain to the next request that needs no gap.
    pub(super) fn pass(&mut self, domain: u32) {
        let slot = &mut self.domains[domain as usize];
        let Some(waiting) = self.without_gap.get_mut(&domain) else { return };
        while !slot.busy {
            let Some(turn) = waiting.pop_front() else { break };
            // The task that wanted it may have ended.
            slot.busy = turn.send(domain).is_ok();
        }
        if waiting.is_empty() {
            self.without_gap.remove(&domain);
        }
    }

    pub(super) fn queue(&mut self, domain: u32, work: Work<H>, first: bool, now: Time) {
        self.stand(domain, Queued::Work(work), first, now);
    }

    fn stand(&mut self, domain: u32, work: Queued<H>, first: bool, now: Time) {
        let line = self.lines.entry(domain).or_default();
        if first {
            line.push_front(work);
        } else {
            line.push_back(work);
        }
        self.n_waiting += 1;
        self.list(domain, now);
    }

    pub(super) fn list(&mut self, domain: u32, now: Time) {
        let slot = &mut self.domains[domain as usize];
        let has_line = self.lines.get(&domain).is_some_and(|l| !l.is_empty());
        if slot.busy || slot.listed || !has_line {
            return;
        }
        slot.listed = true;
        let allowed = pace::next_allowed(&slot.pace, self.gaps.of(&slot.name), now);
        self.ready.push(Reverse((allowed, domain)));
    }

    /// The domain asked us to wait. Returns the work that somebody waits for, which is answered
    /// rather than kept: polls that were asked for, and hops. The rest stays in line.
    pub fn block(
        &mut self,
        domain: u32,
        pace: DomainPace,
        is_asked: impl Fn(FeedId) -> bool,
    ) -> Vec<Work<H>> {
        self.domains[domain as usize].pace = pace;
        let Some(line) = self.lines.get_mut(&domain) else { return Vec::new() };
        let (mut out, mut kept) = (Vec::new(), VecDeque::new());
        let n_before = line.len();
        for queued in line.drain(..) {
            match queued {
                Queued::Work(Work::Start(feed)) if !is_asked(feed) => kept.push_back(queued),
                Queued::Work(work) => out.push(work),
                Queued::Errand(_) => {}
            }
        }
        self.n_waiting -= n_before - kept.len();
        *line = kept;
        self.turned_away(&out);
        out
    }

    /// Takes everything out of the lines: it cannot be done now.
    pub fn drain(&mut self) -> Vec<Work<H>> {
        let waiting = self.lines.drain().flat_map(|(_, line)| line);
        let out: Vec<Work<H>> = waiting
            .filter_map(|queued| match queued {
                Queued::Work(work) => Some(work),
                Queued::Errand(_) => None,
            })
            .collect();
        self.n_waiting = 0;
        self.turned_away(&out);
        out
    }

    fn turned_away(&mut self, out: &[Work<H>]) {
        for work in out {
            match work {
                Work::Start(feed) => self.slot_mut(*feed).place = Place::Away,
                // It comes back as a poll under way that ends now.
                Work::Hop(_) => self.in_flight += 1,
            }
        }
    }
}

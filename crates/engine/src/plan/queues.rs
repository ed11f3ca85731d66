//! The queues of waiting requests, one for each domain: what goes in, and what is taken out because
//! it cannot be done now.

use std::cmp::Reverse;
use std::collections::VecDeque;

use feed::{FeedId, Time};
use polling::pace::{self, DomainPace};

use super::grant::QueuedRequest;
use super::{ErrandClass, FeedPhase, GrantedTurn, Plan, TurnSender, Work};

impl<H> Plan<H> {
    /// Queues a request that is not a poll. If a Retry-After binds the domain, the turn is dropped,
    /// except for a receiver that the operator chose.
    pub fn errand(&mut self, domain: u32, turn: TurnSender, class: ErrandClass, now: Time) {
        let first = match class {
            ErrandClass::WithoutGap => {
                self.without_gap.entry(domain).or_default().push_back(turn);
                return self.pass(domain);
            }
            ErrandClass::Picture => return self.picture(domain, turn),
            ErrandClass::BeforePolls => true,
            ErrandClass::AfterPolls => false,
        };
        if self.domains[domain as usize].pace.not_before.is_none_or(|until| until <= now) {
            let is_behind = class == ErrandClass::AfterPolls;
            self.enqueue(domain, QueuedRequest::Errand { turn, is_behind }, first, now);
        }
    }

    /// Gives a free domain to the next request that does not need a gap.
    pub(super) fn pass(&mut self, domain: u32) {
        let slot = &mut self.domains[domain as usize];
        let Some(waiting) = self.without_gap.get_mut(&domain) else { return };
        while !slot.is_busy() {
            let Some(turn) = waiting.pop_front() else { break };
            // The task that wanted it may have ended.
            let grant = self.grants.next_id();
            slot.busy = turn.send(GrantedTurn { domain, grant }).is_ok();
        }
        if waiting.is_empty() {
            self.without_gap.remove(&domain);
        }
    }

    pub(super) fn queue(&mut self, domain: u32, work: Work<H>, first: bool, now: Time) {
        self.enqueue(domain, QueuedRequest::Work(work), first, now);
    }

    fn enqueue(&mut self, domain: u32, work: QueuedRequest<H>, first: bool, now: Time) {
        let queue = self.queues.entry(domain).or_default();
        let is_behind = |waiting: &QueuedRequest<H>| {
            matches!(waiting, QueuedRequest::Errand { is_behind: true, .. })
        };
        if first {
            queue.push_front(work);
        } else if is_behind(&work) {
            queue.push_back(work);
        } else {
            // Errands that nobody waits for let every poll pass.
            let n_behind = queue.iter().rev().take_while(|waiting| is_behind(waiting)).count();
            queue.insert(queue.len() - n_behind, work);
        }
        self.n_waiting += 1;
        self.list(domain, now);
    }

    pub(super) fn list(&mut self, domain: u32, now: Time) {
        let slot = &mut self.domains[domain as usize];
        let has_queue = self.queues.get(&domain).is_some_and(|queue| !queue.is_empty());
        if slot.is_busy() || slot.listed || !has_queue {
            return;
        }
        slot.listed = true;
        let allowed = pace::next_allowed(&slot.pace, self.gaps.of(&slot.name), now);
        self.ready.push(Reverse((allowed, domain)));
    }

    /// Sets the pace of a domain that asked us to wait. Returns the work that a caller waits for:
    /// requested polls and hops. All other polls stay in the queue, and errands are dropped.
    pub fn block(
        &mut self,
        domain: u32,
        pace: DomainPace,
        is_asked: impl Fn(FeedId) -> bool,
    ) -> Vec<Work<H>> {
        self.domains[domain as usize].pace = pace;
        let Some(queue) = self.queues.get_mut(&domain) else { return Vec::new() };
        let (mut out, mut kept) = (Vec::new(), VecDeque::new());
        let n_before = queue.len();
        for queued in queue.drain(..) {
            match queued {
                QueuedRequest::Work(Work::Start(feed)) if !is_asked(feed) => kept.push_back(queued),
                QueuedRequest::Work(work) => out.push(work),
                QueuedRequest::Errand { .. } => {}
            }
        }
        self.n_waiting -= n_before - kept.len();
        *queue = kept;
        self.refused(&out);
        out
    }

    /// Empties all queues, because nothing can be done now. Returns the polls.
    pub fn drain(&mut self) -> Vec<Work<H>> {
        let waiting = self.queues.drain().flat_map(|(_, queue)| queue);
        let out: Vec<Work<H>> = waiting
            .filter_map(|queued| match queued {
                QueuedRequest::Work(work) => Some(work),
                QueuedRequest::Errand { .. } => None,
            })
            .collect();
        self.n_waiting = 0;
        self.refused(&out);
        out
    }

    fn refused(&mut self, out: &[Work<H>]) {
        for work in out {
            match work {
                Work::Start(feed) => self.slot_mut(*feed).phase = FeedPhase::Unscheduled,
                // The poll is under way again until the caller ends it.
                Work::Hop(..) => self.in_flight += 1,
            }
        }
    }
}

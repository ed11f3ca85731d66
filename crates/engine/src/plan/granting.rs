//! Grants: which queued requests may be sent now, and which granted ones are still open. A grant
//! ends with its own result or at its deadline, whichever comes first.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use dispatch::GrantId;
use feed::{FeedId, Time};
use polling::pace;

use super::grant::QueuedRequest;
use super::{FeedPhase, Grant, OpenGrant, Plan, Work};

/// The time that a worker has to send a granted request.
const SEND_WITHIN: Duration = Duration::from_secs(5);
/// The time beyond sending and exchange until the result has arrived.
const SLACK: Duration = Duration::from_secs(5);

/// The open grants by number, with their deadlines. Times are by the stopwatch.
#[derive(Debug)]
pub(super) struct OpenGrants {
    /// From a grant to its deadline.
    life: Duration,
    now: Duration,
    next_id: u64,
    open: HashMap<GrantId, OpenGrant>,
    /// Every grant lives equally long, so deadlines ascend.
    deadlines: VecDeque<(Duration, GrantId)>,
}

impl OpenGrants {
    /// `exchange_max` is the longest duration of one exchange.
    pub(super) fn new(exchange_max: Duration) -> OpenGrants {
        OpenGrants {
            life: SEND_WITHIN + exchange_max + SLACK,
            now: Duration::ZERO,
            next_id: 1,
            open: HashMap::new(),
            deadlines: VecDeque::new(),
        }
    }

    fn add(&mut self, grant: OpenGrant) -> GrantId {
        let id = GrantId(self.next_id);
        self.next_id += 1;
        self.open.insert(id, grant);
        self.deadlines.push_back((self.now + self.life, id));
        id
    }

    /// The deadline of the oldest grant that may be open.
    fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.front().filter(|_| !self.open.is_empty()).map(|(deadline, _)| *deadline)
    }

    /// Takes the grants whose deadline is over at `now`.
    fn expire(&mut self, now: Duration) -> Vec<(GrantId, OpenGrant)> {
        self.now = now;
        let mut expired = Vec::new();
        while let Some(&(deadline, id)) = self.deadlines.front() {
            let open = self.open.contains_key(&id);
            if open && deadline > now {
                break;
            }
            self.deadlines.pop_front();
            expired.extend(self.open.remove(&id).map(|grant| (id, grant)));
        }
        expired
    }
}

impl<H> Plan<H> {
    /// Grants the requests that may be sent at `now`, with at most `in_flight_max` polls under way.
    pub fn grant(&mut self, now: Time, in_flight_max: usize) -> Vec<Grant<H>> {
        self.queue_due(now);
        let mut grants = Vec::new();
        while self.in_flight < in_flight_max {
            let Some(&Reverse((at, domain))) = self.ready.peek() else { break };
            if at > now {
                break;
            }
            self.ready.pop();
            let slot = &mut self.domains[domain as usize];
            slot.listed = false;
            let allowed = pace::next_allowed(&slot.pace, self.gaps.of(&slot.name), now);
            if slot.busy || allowed > now {
                self.list(domain, now);
                continue;
            }
            let Some(queued) = self.queues.get_mut(&domain).and_then(VecDeque::pop_front) else {
                continue;
            };
            self.n_waiting -= 1;
            match queued {
                // The feed was queued twice: once by its time and once by a person.
                QueuedRequest::Work(Work::Start(feed))
                    if self.slot_mut(feed).phase != FeedPhase::Queued =>
                {
                    self.list(domain, now);
                }
                QueuedRequest::Work(work) => grants.push(self.open(domain, work)),
                QueuedRequest::Errand(turn) => {
                    // The task that wanted the turn may have ended.
                    self.domains[domain as usize].busy = turn.send(domain).is_ok();
                    self.list(domain, now);
                }
            }
        }
        grants
    }

    /// Opens a grant at a free domain.
    fn open(&mut self, domain: u32, work: Work<H>) -> Grant<H> {
        self.domains[domain as usize].busy = true;
        self.in_flight += 1;
        let feed = match &work {
            Work::Start(feed) => {
                self.slot_mut(*feed).phase = FeedPhase::UnderWay;
                *feed
            }
            Work::Hop(feed, _) => *feed,
        };
        let generation = self.slot_mut(feed).generation;
        let id = self.grants.add(OpenGrant { domain, feed, generation });
        Grant { id, work, generation, send_by: self.grants.now + SEND_WITHIN }
    }

    /// The moment by the stopwatch at which [`expire`](Plan::expire) may have something to close.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.grants.next_deadline()
    }

    /// Closes a grant whose result arrived. `None` for a grant that expired: its result is stale.
    pub fn close(&mut self, grant: GrantId) -> Option<OpenGrant> {
        self.grants.open.remove(&grant)
    }

    /// Sets the stopwatch to `now` and closes the grants whose deadline is over. Their domains are
    /// free again after a gap; the caller ends their polls.
    pub fn expire(&mut self, now: Duration, at: Time) -> Vec<(GrantId, OpenGrant)> {
        let expired = self.grants.expire(now);
        for (_, grant) in &expired {
            self.exchanged(grant.domain, at);
        }
        expired
    }

    /// A request to the domain has ended at `now`: the next one waits for the gap.
    pub fn exchanged(&mut self, domain: u32, now: Time) {
        let slot = &mut self.domains[domain as usize];
        slot.busy = false;
        slot.pace.last_request_end = Some(now);
        self.pass(domain);
        if self.queues.get(&domain).is_some_and(VecDeque::is_empty) {
            self.queues.remove(&domain);
        }
        self.list(domain, now);
    }

    /// A granted request was not sent: the domain is free at once.
    pub fn not_sent(&mut self, domain: u32, now: Time) {
        self.domains[domain as usize].busy = false;
        self.pass(domain);
        self.list(domain, now);
    }

    /// Queues the next hop of a poll under way. The poll gives its place in flight back while it
    /// waits. If a Retry-After binds the domain, returns the hop and the moment until which it
    /// holds.
    pub fn hop(&mut self, domain: u32, feed: FeedId, hop: H, now: Time) -> Result<(), (H, Time)> {
        if let Some(until) = self.domains[domain as usize].pace.not_before.filter(|t| *t > now) {
            return Err((hop, until));
        }
        self.in_flight -= 1;
        self.queue(domain, Work::Hop(feed, Box::new(hop)), true, now);
        Ok(())
    }

    /// A poll has ended and is recorded; `next` is `None` if the feed is not polled again by
    /// itself.
    pub fn finished(&mut self, feed: FeedId, domain: u32, next: Option<Time>, generation: u32) {
        self.in_flight -= 1;
        let slot = self.slot_mut(feed);
        if slot.phase == FeedPhase::Unscheduled {
            return;
        }
        slot.phase = FeedPhase::Unscheduled;
        if let Some(next_at) = next {
            self.schedule(feed, domain, next_at, generation);
        }
    }
}

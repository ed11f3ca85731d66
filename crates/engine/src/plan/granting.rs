//! Grants: which queued requests may be sent now, and which granted ones are still open. A grant
//! ends with its own result or at its deadline, whichever comes first.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use dispatch::GrantId;
use feed::{FeedId, Time};
use polling::pace;

use super::grant::QueuedRequest;
use super::{FeedPhase, FeedSlot, Grant, GrantedTurn, OpenGrant, Plan, Work};

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
    /// Grants of earlier processes whose requests may be under way: domain and end.
    held: HashMap<GrantId, (u32, Duration)>,
}

/// The time from a grant to its end, for exchanges that take at most so long.
pub fn grant_life(exchange_max: Duration) -> Duration {
    SEND_WITHIN + exchange_max + SLACK
}

impl OpenGrants {
    /// `exchange_max` is the longest duration of one exchange.
    pub(super) fn new(exchange_max: Duration) -> OpenGrants {
        OpenGrants {
            life: grant_life(exchange_max),
            now: Duration::ZERO,
            next_id: 1,
            open: HashMap::new(),
            deadlines: VecDeque::new(),
            held: HashMap::new(),
        }
    }

    pub(super) fn next_id(&mut self) -> GrantId {
        let id = GrantId(self.next_id);
        self.next_id += 1;
        id
    }

    fn add(&mut self, grant: OpenGrant) -> GrantId {
        let id = self.next_id();
        self.open.insert(id, grant);
        self.deadlines.push_back((self.now + self.life, id));
        id
    }

    /// The deadline of the oldest grant that may be open.
    fn next_deadline(&self) -> Option<Duration> {
        let open = self.deadlines.front().filter(|_| !self.open.is_empty());
        let held = self.held.values().map(|(_, end)| *end).min();
        [open.map(|(deadline, _)| *deadline), held].into_iter().flatten().min()
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
            if slot.is_busy() || allowed > now {
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
                QueuedRequest::Errand { turn, .. } => {
                    // The task that wanted the turn may have ended.
                    let grant = self.grants.next_id();
                    let turned = turn.send(GrantedTurn { domain, grant });
                    self.domains[domain as usize].busy = turned.is_ok();
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
        Grant { id, domain, work, generation, send_by: self.grants.now + SEND_WITHIN }
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
        let ended: Vec<GrantId> = {
            let held = self.grants.held.iter();
            held.filter(|(_, (_, end))| *end <= now).map(|(id, _)| *id).collect()
        };
        for id in ended {
            self.release(id, at);
        }
        let expired = self.grants.expire(now);
        for (_, grant) in &expired {
            self.exchanged(grant.domain, at);
        }
        expired
    }

    /// Numbers the grants from `first` on. Numbers of earlier processes are lower.
    pub fn number_from(&mut self, first: u64) {
        self.grants.next_id = self.grants.next_id.max(first);
    }

    /// Keeps a domain busy for the grant of an earlier process, until its own result arrives or its
    /// end has come.
    pub fn hold(&mut self, domain: u32, grant: GrantId, end: Duration) {
        if self.grants.held.insert(grant, (domain, end)).is_none() {
            self.domains[domain as usize].held += 1;
        }
    }

    /// Ends the grant of an earlier process at `now`. Returns its domain, if it was held.
    pub fn release(&mut self, grant: GrantId, now: Time) -> Option<u32> {
        let (domain, _) = self.grants.held.remove(&grant)?;
        let slot = &mut self.domains[domain as usize];
        slot.held -= 1;
        slot.pace.last_request_end = Some(now);
        self.pass(domain);
        self.list(domain, now);
        Some(domain)
    }

    /// Puts a feed under way whose result came from an earlier grant. Returns false for an unknown
    /// feed, if a poll of it is under way already, or if a later poll has ended.
    pub fn adopt(&mut self, feed: FeedId, generation: u32) -> bool {
        // Another machine names the feed, so the plan makes no room for it.
        let Some(slot) = self.slots.get_mut(feed.0 as usize) else { return false };
        if slot.phase == FeedPhase::UnderWay || slot.generation > generation {
            return false;
        }
        slot.phase = FeedPhase::UnderWay;
        self.in_flight += 1;
        true
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

    /// A redirected poll waits outside the queues. It gives its place in flight back.
    pub fn park(&mut self) {
        self.in_flight -= 1;
    }

    /// Ends the wait of such a poll. Its [`hop`](Plan::hop) follows.
    pub fn unpark(&mut self) {
        self.in_flight += 1;
    }

    /// A granted poll was not sent. It waits until `until`, or until its own time if that is later
    /// and nobody waits for it.
    pub fn postpone(&mut self, feed: FeedId, until: Time, is_awaited: bool) {
        let FeedSlot { next_at, domain, generation, .. } = *self.slot_mut(feed);
        let own = (next_at < Time::MAX).then(|| next_at.max(until));
        let next = if is_awaited { Some(until) } else { own };
        self.finished(feed, domain, next, generation);
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

//! Decides which polls are made now: due feeds, one queue of requests for each domain, pace, and a
//! limit on polls in flight. Requests that are not polls wait in the same queues. The controller
//! reports every event to it. The plan never waits, reads no clock and sends nothing.

mod grant;
mod granting;
mod pictures;
mod queues;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use feed::{Domain, FeedId, Time};
use polling::pace::DomainPace;

use grant::QueuedRequest;
pub use grant::{ErrandClass, Gaps, Grant, GrantedTurn, OpenGrant, TurnSender, Work};
use granting::OpenGrants;
pub use granting::grant_life;
use pictures::PictureTurns;

/// The time of a feed under the budget: it stays scheduled until it is
/// [queued](Plan::queue_planned).
pub const UNTIL_PLANNED: Time = Time::from_millis(Time::MAX.millis() - 1);

/// The phase of a feed between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FeedPhase {
    /// Unknown, removed, paused or gone: not polled by itself.
    Unscheduled,
    /// Its time is in the heap.
    Scheduled,
    /// Due or asked for, in its domain's queue.
    Queued,
    /// Granted.
    UnderWay,
}

/// The state in memory of an idle feed.
#[derive(Clone, Copy, Debug)]
struct FeedSlot {
    next_at: Time,
    domain: u32,
    generation: u32,
    phase: FeedPhase,
}

/// The state in memory of an idle domain.
#[derive(Debug)]
struct DomainSlot {
    name: Domain,
    pace: DomainPace,
    /// A request is under way.
    busy: bool,
    /// Grants of earlier processes whose requests may be under way.
    held: u16,
    /// The domain is in the heap of domains.
    listed: bool,
}

impl DomainSlot {
    fn is_busy(&self) -> bool {
        self.busy || self.held > 0
    }
}

/// The schedule of all feeds and the pace of all domains. `H` is a poll that waits for its next
/// hop.
#[derive(Debug)]
pub struct Plan<H> {
    slots: Vec<FeedSlot>,
    due: BinaryHeap<Reverse<(Time, u32)>>,
    domains: Vec<DomainSlot>,
    domain_index: HashMap<Domain, u32>,
    queues: HashMap<u32, VecDeque<QueuedRequest<H>>>,
    /// Requests that wait for a busy domain only, not for a gap.
    without_gap: HashMap<u32, VecDeque<TurnSender>>,
    pictures: PictureTurns,
    /// Domains with a queue, by the moment at which the next request to them is allowed.
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    gaps: Gaps,
    /// Feeds are polled when their time comes, not only on request.
    by_itself: bool,
    grants: OpenGrants,
    in_flight: usize,
    n_waiting: usize,
}

impl<H> Plan<H> {
    /// `exchange_max` is the longest duration of one exchange; deadlines of grants follow from it.
    pub fn new(gaps: Gaps, exchange_max: Duration, by_itself: bool) -> Plan<H> {
        Plan {
            slots: Vec::new(),
            due: BinaryHeap::new(),
            domains: Vec::new(),
            domain_index: HashMap::new(),
            queues: HashMap::new(),
            without_gap: HashMap::new(),
            pictures: PictureTurns::default(),
            ready: BinaryHeap::new(),
            gaps,
            by_itself,
            grants: OpenGrants::new(exchange_max),
            in_flight: 0,
            n_waiting: 0,
        }
    }

    /// Reserves memory for many feeds at once, so that a start with 200,000 feeds grows only once.
    pub fn reserve(&mut self, n_feeds: usize, n_domains: usize) {
        self.slots.reserve_exact(n_feeds);
        self.due.reserve_exact(n_feeds);
        self.domains.reserve_exact(n_domains);
        self.domain_index.reserve(n_domains);
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// Returns the number of a domain; a new domain gets one.
    pub fn domain(&mut self, name: &Domain) -> u32 {
        if let Some(&index) = self.domain_index.get(name) {
            return index;
        }
        let index = u32::try_from(self.domains.len()).unwrap_or(u32::MAX);
        self.domains.push(DomainSlot {
            name: name.clone(),
            pace: DomainPace::default(),
            busy: false,
            held: 0,
            listed: false,
        });
        self.domain_index.insert(name.clone(), index);
        index
    }

    /// Returns the number of a domain, if it has one.
    pub fn known_domain(&self, name: &Domain) -> Option<u32> {
        self.domain_index.get(name).copied()
    }

    pub fn domain_name(&self, domain: u32) -> &Domain {
        &self.domains[domain as usize].name
    }

    /// Returns the domain and the generation by which a feed was planned last. A redirected poll
    /// does not change them.
    pub fn planned(&mut self, feed: FeedId) -> (u32, u32) {
        let slot = self.slot_mut(feed);
        (slot.domain, slot.generation)
    }

    /// Returns the domain by which a feed was planned last, if it is polled.
    pub fn domain_of(&self, feed: FeedId) -> Option<u32> {
        let slot = self.slots.get(feed.0 as usize)?;
        (slot.phase != FeedPhase::Unscheduled).then_some(slot.domain)
    }

    /// The gap between two requests to a domain.
    pub fn gap(&self, domain: u32) -> Duration {
        self.gaps.of(self.domain_name(domain))
    }

    pub fn pace(&self, domain: u32) -> &DomainPace {
        &self.domains[domain as usize].pace
    }

    /// Sets a domain's pace, as stored or as just learned.
    pub fn set_pace(&mut self, domain: u32, pace: DomainPace) {
        self.domains[domain as usize].pace = pace;
    }

    /// Schedules a feed for `next_at`. A feed that is queued or under way stays so, and is
    /// scheduled again when its poll ends.
    pub fn schedule(&mut self, feed: FeedId, domain: u32, next_at: Time, generation: u32) {
        let slot = self.slot_mut(feed);
        if slot.phase == FeedPhase::Scheduled && generation < slot.generation {
            // This time was decided before the last poll, and that poll decided a newer one.
            return;
        }
        let occupied = matches!(slot.phase, FeedPhase::Queued | FeedPhase::UnderWay);
        let phase = if occupied { slot.phase } else { FeedPhase::Scheduled };
        // The caller may have read the counter before the last poll ended.
        let generation = generation.max(slot.generation);
        *slot = FeedSlot { next_at, domain, generation, phase };
        if !occupied && self.by_itself && next_at < UNTIL_PLANNED {
            self.due.push(Reverse((next_at, feed.0)));
        }
    }

    /// Queues a feed that a strategy plans for now. Returns false if the feed is not scheduled.
    pub fn queue_planned(&mut self, feed: FeedId, now: Time) -> bool {
        let slot = self.slot_mut(feed);
        if slot.phase != FeedPhase::Scheduled {
            return false;
        }
        slot.phase = FeedPhase::Queued;
        let domain = slot.domain;
        self.queue(domain, Work::Start(feed), false, now);
        true
    }

    /// Stops polling a feed by itself: removed, paused or gone.
    pub fn forget(&mut self, feed: FeedId) {
        let slot = self.slot_mut(feed);
        let (domain, was) = (slot.domain, slot.phase);
        (slot.phase, slot.next_at) = (FeedPhase::Unscheduled, Time::MAX);
        if was == FeedPhase::Queued
            && let Some(queue) = self.queues.get_mut(&domain)
        {
            let before = queue.len();
            queue.retain(|q| !matches!(q, QueuedRequest::Work(Work::Start(f)) if *f == feed));
            self.n_waiting -= before - queue.len();
        }
    }

    /// Queues a poll that a caller asks for, before all others of its domain. If a Retry-After
    /// binds the domain, returns the moment until which it holds.
    pub fn ask(
        &mut self,
        feed: FeedId,
        domain: u32,
        generation: u32,
        now: Time,
    ) -> Result<(), Time> {
        let slot = *self.slot_mut(feed);
        let domain = match slot.phase {
            FeedPhase::UnderWay => return Ok(()),
            FeedPhase::Queued => slot.domain,
            FeedPhase::Unscheduled | FeedPhase::Scheduled => domain,
        };
        if let Some(until) = self.domains[domain as usize].pace.not_before.filter(|t| *t > now) {
            return Err(until);
        }
        let generation = generation.max(slot.generation);
        *self.slot_mut(feed) = FeedSlot { phase: FeedPhase::Queued, domain, generation, ..slot };
        self.queue(domain, Work::Start(feed), true, now);
        Ok(())
    }

    fn queue_due(&mut self, now: Time) {
        while let Some(&Reverse((at, feed))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            let slot = self.slot_mut(FeedId(feed));
            // A feed that was scheduled again has a newer time in the heap; this one is stale.
            if slot.phase == FeedPhase::Scheduled && slot.next_at == at {
                slot.phase = FeedPhase::Queued;
                let domain = slot.domain;
                self.queue(domain, Work::Start(FeedId(feed)), false, now);
            }
        }
    }

    /// Returns whether a poll of the feed is granted and not yet recorded.
    pub fn is_under_way(&self, feed: FeedId) -> bool {
        self.slots.get(feed.0 as usize).is_some_and(|s| s.phase == FeedPhase::UnderWay)
    }

    /// Schedules a feed whose requested poll was refused for the time it had before, if it had one.
    pub fn schedule_again(&mut self, feed: FeedId) {
        let slot = *self.slot_mut(feed);
        if slot.next_at < Time::MAX {
            self.schedule(feed, slot.domain, slot.next_at, slot.generation);
        }
    }

    /// The moment at which there may be something to grant, if nothing else happens before.
    pub fn next_wake(&self, in_flight_max: usize) -> Option<Time> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let ready = self.ready.peek().map(|Reverse((at, _))| *at);
        let ready = ready.filter(|_| self.in_flight < in_flight_max);
        [due, ready].into_iter().flatten().min()
    }

    /// Follows a clock that was set back: everything planned keeps its distance from now.
    pub fn set_back(&mut self, by: Duration) {
        for slot in self.slots.iter_mut().filter(|slot| slot.next_at < UNTIL_PLANNED) {
            slot.next_at = slot.next_at - by;
        }
        for DomainSlot { pace, .. } in &mut self.domains {
            pace.not_before = pace.not_before.map(|at| at - by);
            pace.last_request_end = pace.last_request_end.map(|at| at - by);
        }
        for heap in [&mut self.due, &mut self.ready] {
            *heap = heap.drain().map(|Reverse((at, which))| Reverse((at - by, which))).collect();
        }
    }

    fn slot_mut(&mut self, feed: FeedId) -> &mut FeedSlot {
        let index = feed.0 as usize;
        if index >= self.slots.len() {
            let unscheduled = FeedSlot {
                next_at: Time::MAX,
                domain: 0,
                generation: 0,
                phase: FeedPhase::Unscheduled,
            };
            self.slots.resize(index + 1, unscheduled);
        }
        &mut self.slots[index]
    }
}

#[cfg(test)]
mod tests;

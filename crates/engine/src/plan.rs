//! Which polls are made now: due feeds, one line of waiting work per domain, pace, and a limit on
//! polls in flight. Requests that are no polls stand in the same lines. The engine's loop feeds it
//! with what happened; it never waits, reads no clock and sends nothing.

mod grant;
mod lines;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::time::Duration;

use feed::{Domain, FeedId, Time};
use polling::pace::{self, DomainPace};

use grant::Queued;
pub use grant::{Gaps, Grant, Rank, Turn, Work};

/// The time of a feed under the budget: it rests until it is [lined up](Plan::line_up).
pub const UNTIL_PLANNED: Time = Time::from_millis(Time::MAX.millis() - 1);

/// Where a feed is between two polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Unknown, removed, paused or gone: not polled by itself.
    Away,
    /// Its time is in the heap.
    Resting,
    /// Due or asked for, in its domain's line.
    Waiting,
    /// Granted.
    Flying,
}

/// All that is kept in memory of an idle feed.
#[derive(Clone, Copy, Debug)]
struct Slot {
    next_at: Time,
    domain: u32,
    generation: u32,
    place: Place,
}

/// All that is kept in memory of an idle domain.
#[derive(Debug)]
struct DomainSlot {
    name: Domain,
    pace: DomainPace,
    /// A request is under way.
    busy: bool,
    /// It has a place in the heap of domains.
    listed: bool,
}

#[derive(Debug)]
pub struct Plan<H> {
    slots: Vec<Slot>,
    due: BinaryHeap<Reverse<(Time, u32)>>,
    domains: Vec<DomainSlot>,
    domain_index: HashMap<Domain, u32>,
    lines: HashMap<u32, VecDeque<Queued<H>>>,
    /// Requests that wait for a busy domain and for nothing else.
    without_gap: HashMap<u32, VecDeque<Turn>>,
    /// Domains with a line, by the moment at which they may be asked next.
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    gaps: Gaps,
    /// Feeds are polled when their time comes, not only when somebody asks.
    by_itself: bool,
    in_flight: usize,
    n_waiting: usize,
}

impl<H> Plan<H> {
    pub fn new(gaps: Gaps, by_itself: bool) -> Plan<H> {
        Plan {
            slots: Vec::new(),
            due: BinaryHeap::new(),
            domains: Vec::new(),
            domain_index: HashMap::new(),
            lines: HashMap::new(),
            without_gap: HashMap::new(),
            ready: BinaryHeap::new(),
            gaps,
            by_itself,
            in_flight: 0,
            n_waiting: 0,
        }
    }

    /// Room for many feeds at once, so that a start with 200,000 does not grow step by step.
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

    /// The number of a domain, made if it is new.
    pub fn domain(&mut self, name: &Domain) -> u32 {
        if let Some(&index) = self.domain_index.get(name) {
            return index;
        }
        let index = u32::try_from(self.domains.len()).unwrap_or(u32::MAX);
        self.domains.push(DomainSlot {
            name: name.clone(),
            pace: DomainPace::default(),
            busy: false,
            listed: false,
        });
        self.domain_index.insert(name.clone(), index);
        index
    }

    pub fn domain_name(&self, domain: u32) -> &Domain {
        &self.domains[domain as usize].name
    }

    /// The gap between two requests to a domain.
    pub fn gap(&self, domain: u32) -> Duration {
        self.gaps.of(self.domain_name(domain))
    }

    pub fn pace(&self, domain: u32) -> &DomainPace {
        &self.domains[domain as usize].pace
    }

    /// Takes over a domain's pace, as stored or as just learned.
    pub fn set_pace(&mut self, domain: u32, pace: DomainPace) {
        self.domains[domain as usize].pace = pace;
    }

    /// Lays a feed to rest until `next_at`. A feed that is waiting or under way keeps its place
    /// and is laid down again when its poll ends.
    pub fn rest(&mut self, feed: FeedId, domain: u32, next_at: Time, generation: u32) {
        let slot = self.slot_mut(feed);
        if slot.place == Place::Resting && generation < slot.generation {
            // This was decided before the last poll, which decided with more knowledge.
            return;
        }
        let occupied = matches!(slot.place, Place::Waiting | Place::Flying);
        let place = if occupied { slot.place } else { Place::Resting };
        // Whoever read the counter may have done so before the last poll ended.
        let generation = generation.max(slot.generation);
        *slot = Slot { next_at, domain, generation, place };
        if !occupied && self.by_itself && next_at < UNTIL_PLANNED {
            self.due.push(Reverse((next_at, feed.0)));
        }
    }

    /// A strategy plans the feed for now. Answers whether it is at rest and goes into line.
    pub fn line_up(&mut self, feed: FeedId, now: Time) -> bool {
        let slot = self.slot_mut(feed);
        if slot.place != Place::Resting {
            return false;
        }
        slot.place = Place::Waiting;
        let domain = slot.domain;
        self.queue(domain, Work::Start(feed), false, now);
        true
    }

    /// Stops polling a feed by itself: removed, paused or gone.
    pub fn forget(&mut self, feed: FeedId) {
        let slot = self.slot_mut(feed);
        let (domain, was) = (slot.domain, slot.place);
        (slot.place, slot.next_at) = (Place::Away, Time::MAX);
        if was == Place::Waiting
            && let Some(line) = self.lines.get_mut(&domain)
        {
            let before = line.len();
            line.retain(|q| !matches!(q, Queued::Work(Work::Start(f)) if *f == feed));
            self.n_waiting -= before - line.len();
        }
    }

    /// Somebody asks for a poll now. It goes to the head of its domain's line; a Retry-After binds
    /// it too, and then the answer is the moment until which it holds.
    pub fn ask(
        &mut self,
        feed: FeedId,
        domain: u32,
        generation: u32,
        now: Time,
    ) -> Result<(), Time> {
        let slot = *self.slot_mut(feed);
        let domain = match slot.place {
            Place::Flying => return Ok(()),
            Place::Waiting => slot.domain,
            Place::Away | Place::Resting => domain,
        };
        if let Some(until) = self.domains[domain as usize].pace.not_before.filter(|t| *t > now) {
            return Err(until);
        }
        let generation = generation.max(slot.generation);
        *self.slot_mut(feed) = Slot { place: Place::Waiting, domain, generation, ..slot };
        self.queue(domain, Work::Start(feed), true, now);
        Ok(())
    }

    /// The next hop of a poll under way. It gives its place in flight back while it waits. Where
    /// a Retry-After binds the domain it is refused, with the moment until which it holds.
    pub fn hop(&mut self, domain: u32, hop: H, now: Time) -> Result<(), (H, Time)> {
        if let Some(until) = self.domains[domain as usize].pace.not_before.filter(|t| *t > now) {
            return Err((hop, until));
        }
        self.in_flight -= 1;
        self.queue(domain, Work::Hop(Box::new(hop)), true, now);
        Ok(())
    }

    /// The requests that may be sent at `now`, with at most `in_flight_max` polls under way.
    pub fn grant(&mut self, now: Time, in_flight_max: usize) -> Vec<Grant<H>> {
        self.line_up_due(now);
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
            let Some(queued) = self.lines.get_mut(&domain).and_then(VecDeque::pop_front) else {
                continue;
            };
            self.n_waiting -= 1;
            let work = match queued {
                // It stood in line twice: somebody asked for it, and it went first.
                Queued::Work(Work::Start(feed)) if self.slot_mut(feed).place != Place::Waiting => {
                    self.list(domain, now);
                    continue;
                }
                Queued::Work(work) => work,
                Queued::Errand(turn) => {
                    // Whoever wanted it may have gone.
                    self.domains[domain as usize].busy = turn.send(domain).is_ok();
                    self.list(domain, now);
                    continue;
                }
            };
            self.domains[domain as usize].busy = true;
            self.in_flight += 1;
            let generation = match &work {
                Work::Start(feed) => {
                    let slot = self.slot_mut(*feed);
                    slot.place = Place::Flying;
                    slot.generation
                }
                Work::Hop(_) => 0,
            };
            grants.push(Grant { domain, work, generation, cause: None });
        }
        grants
    }

    fn line_up_due(&mut self, now: Time) {
        while let Some(&Reverse((at, feed))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            let slot = self.slot_mut(FeedId(feed));
            // A feed that was laid down again has a newer time in the heap; this one is stale.
            if slot.place == Place::Resting && slot.next_at == at {
                slot.place = Place::Waiting;
                let domain = slot.domain;
                self.queue(domain, Work::Start(FeedId(feed)), false, now);
            }
        }
    }

    /// A request to the domain has ended at `now`: the next one waits for the gap.
    pub fn exchanged(&mut self, domain: u32, now: Time) {
        let slot = &mut self.domains[domain as usize];
        slot.busy = false;
        slot.pace.last_request_end = Some(now);
        self.pass(domain);
        if self.lines.get(&domain).is_some_and(VecDeque::is_empty) {
            self.lines.remove(&domain);
        }
        self.list(domain, now);
    }

    /// A granted request was not sent: the domain is free at once.
    pub fn not_sent(&mut self, domain: u32, now: Time) {
        self.domains[domain as usize].busy = false;
        self.pass(domain);
        self.list(domain, now);
    }

    /// Whether a poll of the feed is granted and not yet recorded.
    pub fn is_under_way(&self, feed: FeedId) -> bool {
        self.slots.get(feed.0 as usize).is_some_and(|s| s.place == Place::Flying)
    }

    /// A feed that was asked for and turned away goes back to the time it had, if it had one.
    pub fn rest_again(&mut self, feed: FeedId) {
        let slot = *self.slot_mut(feed);
        if slot.next_at < Time::MAX {
            self.rest(feed, slot.domain, slot.next_at, slot.generation);
        }
    }

    /// A poll has ended and is recorded; `next_at` is `None` where the feed is not polled again by
    /// itself.
    pub fn finished(&mut self, feed: FeedId, domain: u32, next: Option<Time>, generation: u32) {
        self.in_flight -= 1;
        let slot = self.slot_mut(feed);
        if slot.place == Place::Away {
            return;
        }
        slot.place = Place::Away;
        if let Some(next_at) = next {
            self.rest(feed, domain, next_at, generation);
        }
    }

    /// When there may be something to grant, if nothing else happens before.
    pub fn next_wake(&self, in_flight_max: usize) -> Option<Time> {
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let ready = self.ready.peek().map(|Reverse((at, _))| *at);
        let ready = ready.filter(|_| self.in_flight < in_flight_max);
        [due, ready].into_iter().flatten().min()
    }

    /// The clock was set back: whatever is planned keeps its distance from now.
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

    fn slot_mut(&mut self, feed: FeedId) -> &mut Slot {
        let index = feed.0 as usize;
        if index >= self.slots.len() {
            let away = Slot { next_at: Time::MAX, domain: 0, generation: 0, place: Place::Away };
            self.slots.resize(index + 1, away);
        }
        &mut self.slots[index]
    }
}

#[cfg(test)]
mod tests;

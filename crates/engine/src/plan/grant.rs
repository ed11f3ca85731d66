//! The values that the plan hands out, and the gaps that it keeps.

use std::collections::HashMap;
use std::time::Duration;

use dispatch::GrantId;
use feed::{Domain, FeedId};
use tokio::sync::oneshot;

/// Work that waits for its domain: a poll's first request, or the next hop `H` of one under way.
#[derive(Debug)]
pub enum Work<H> {
    Start(FeedId),
    Hop(FeedId, Box<H>),
}

/// The turn of a request that is not a poll. It receives the domain's number when the turn has
/// come, and is dropped if the turn does not come.
pub type TurnSender = oneshot::Sender<u32>;

/// The class of a request that is not a poll, in the order in which a domain serves them. Polls
/// come between the second and the third class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrandClass {
    /// Webhooks. The operator chose the receiver, so they wait until no other request is under
    /// way, but not for the gap.
    WithoutGap,
    /// Requests to hubs, pushes of our hub, pages in which feeds are looked for. A person or a
    /// subscriber waits for them, so they go to the head of the queue.
    BeforePolls,
    /// Verifications of callbacks. A stranger asked for them, so they go to the end of the queue.
    AfterPolls,
    /// Pictures. They have a queue of their own: few at once, without a gap.
    Picture,
}

/// One request in a domain's queue.
#[derive(Debug)]
pub(super) enum QueuedRequest<H> {
    Work(Work<H>),
    Errand(TurnSender),
}

/// The permission to send one request of a poll now.
#[derive(Debug)]
pub struct Grant<H> {
    pub id: GrantId,
    pub work: Work<H>,
    /// The feed's poll counter.
    pub generation: u32,
    /// The latest moment to send the request, by the stopwatch.
    pub send_by: Duration,
}

/// A grant whose result has not arrived yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenGrant {
    pub domain: u32,
    pub feed: FeedId,
    pub generation: u32,
}

/// The minimum gap between two requests to one domain.
#[derive(Clone, Debug)]
pub struct Gaps {
    pub default: Duration,
    pub by_domain: HashMap<String, Duration>,
}

impl Gaps {
    pub fn of(&self, domain: &Domain) -> Duration {
        self.by_domain.get(domain.as_str()).copied().unwrap_or(self.default)
    }
}

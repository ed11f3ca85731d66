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

/// The turn of a request that is not a poll. It is dropped if the turn does not come.
pub type TurnSender = oneshot::Sender<GrantedTurn>;

/// A turn that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantedTurn {
    /// The plan's number of the domain.
    pub domain: u32,
    /// The number of the grant.
    pub grant: GrantId,
}

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
    Errand {
        turn: TurnSender,
        /// Polls that come later go before it.
        is_behind: bool,
    },
}

/// The permission to send one request of a poll now.
#[derive(Debug)]
pub struct Grant<H> {
    pub id: GrantId,
    pub domain: u32,
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

/// Domains that want longer gaps than others, unless the operator sets one. Reddit answers about
/// one request a minute without a login (since June 2026).
const SLOW_DOMAINS: [(&str, Duration); 1] = [("reddit.com", Duration::from_secs(60))];

impl Gaps {
    pub fn of(&self, domain: &Domain) -> Duration {
        let slow = || SLOW_DOMAINS.iter().find(|(name, _)| *name == domain.as_str());
        let usual = || slow().map_or(self.default, |(_, gap)| self.default.max(*gap));
        self.by_domain.get(domain.as_str()).copied().unwrap_or_else(usual)
    }
}

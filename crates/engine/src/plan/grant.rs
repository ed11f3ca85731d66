//! What the plan hands out, and the gaps that it keeps.

use std::collections::HashMap;
use std::time::Duration;

use feed::{Domain, FeedId};
use tokio::sync::oneshot;

/// What waits for its domain: a poll's first request, or the next hop `H` of one under way.
#[derive(Debug)]
pub enum Work<H> {
    Start(FeedId),
    Hop(Box<H>),
}

/// A turn at a domain for a request that is no poll: told the domain's number when it has come,
/// dropped where it does not come.
pub type Turn = oneshot::Sender<u32>;

/// How a request that is not a poll waits for its domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rank {
    /// At the head of the line: a person or a subscriber waits for it.
    First,
    /// At the end of the line: a stranger asked for it.
    Last,
    /// Until no other request is under way, without a gap: the operator chose the receiver.
    WithoutGap,
}

/// What stands in a domain's line.
#[derive(Debug)]
pub(super) enum Queued<H> {
    Work(Work<H>),
    Errand(Turn),
}

/// A request that may be sent now.
#[derive(Debug)]
pub struct Grant<H> {
    pub domain: u32,
    pub work: Work<H>,
    /// The feed's poll counter, for a first request.
    pub generation: u32,
    /// Why it is made, in short, where that is not what the store has.
    pub cause: Option<String>,
}

/// How large the minimum gap between two requests is.
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

//! What the engine's loop is told, and what it answers.

use std::time::Duration;

use feed::{Domain, FeedId, Outcome, RetryAfter, Time};
use polling::budget::Tracked;
use polling::outage::Reach;
use polling::pace::DomainPace;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::plan::{Rank, Turn};
use crate::poll::Poll;
use crate::spending::Spending;

/// How a poll that somebody asked for ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollAnswer {
    pub feed: FeedId,
    pub outcome: Outcome,
    pub n_new: usize,
    pub suspected_miss: bool,
    pub next_poll: Option<Time>,
    /// In words: what went wrong, or what was seen.
    pub detail: String,
    /// The feeds that a page names, where the URL turned out to be a page.
    pub candidates: Vec<Url>,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Why the store could not keep the poll, where it could not: then nothing of it is kept.
    pub not_recorded: Option<String>,
}

/// What happened. Sent by workers and commands, taken one by one by the loop.
pub enum Event {
    /// A hub brought so many new entries.
    Pushed { n_new: usize },
    /// A request to the domain ended.
    Exchanged { domain: u32, at: Time, answer: Answered },
    /// A poll goes on at another URL: a redirect.
    Hop(Box<Poll>),
    /// A poll ended and is recorded.
    Finished { finished: Finished, answer: PollAnswer },
    /// Somebody asks for polls now.
    Ask { feeds: Vec<Asked>, answers: mpsc::UnboundedSender<PollAnswer> },
    /// A feed is to be polled from now on, or at another time.
    Rest(Asked),
    /// A request that is not a poll wants its turn at a domain.
    Errand { domain: Domain, turn: Turn, rank: Rank },
    /// A feed is not to be polled by itself any more.
    Forget(FeedId),
    /// The budget changed: from now on these feeds are under it, and no others.
    Spend(Option<Box<Spending>>, Vec<Asked>),
}

/// A feed as the strategy that spends the budget needs it.
#[derive(Clone, Debug)]
pub struct Budgeted {
    pub tracked: Tracked,
    /// It is not planned for before: it backs off, or a publisher's hint says so.
    pub from: Time,
    /// A promise of the longest delay holds whatever the budget says.
    pub latest: Option<Time>,
}

impl Budgeted {
    /// The clock was set back by so much since the feed was polled; it shows `now`.
    pub fn set_back(&mut self, by: Duration, now: Time) {
        self.from = self.from - by;
        self.latest = self.latest.map(|at| at - by);
        self.tracked.last = self.tracked.last.map(|at| (at - by).min(now));
    }
}

/// A feed as the plan needs it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub feed: FeedId,
    pub domain: Domain,
    pub next_at: Time,
    pub generation: u32,
    /// Where it is under the budget; then `next_at` is only told.
    pub budgeted: Option<Box<Budgeted>>,
}

/// What the server's answer means for its domain.
pub enum Answered {
    /// It answered, whatever it said.
    Heard,
    /// 429, or 503: it asks for less. The pace that follows is sent back, to be stored.
    AskedToWait { retry_after: Option<RetryAfter>, pace: oneshot::Sender<DomainPace> },
    /// No answer: connect or DNS. The verdict on whose fault it is is sent back.
    Unreachable { feed: FeedId, reach: Reach, ours: oneshot::Sender<bool> },
    /// A request that was no poll found nobody.
    Lost,
    /// Nothing was sent (a stale job), or nothing that a gap follows.
    NotSent,
}

/// A recorded poll, for the plan.
#[derive(Clone, Debug)]
pub struct Finished {
    pub feed: FeedId,
    /// Where its next request goes.
    pub domain: Domain,
    /// `None` where it is not polled again by itself.
    pub next_at: Option<Time>,
    pub generation: u32,
    /// Where it is under the budget; then `next_at` is only told.
    pub budgeted: Option<Box<Budgeted>>,
}

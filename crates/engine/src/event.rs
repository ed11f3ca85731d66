//! The events that the controller handles, and its answers to callers.

use dispatch::{GrantId, PollResult};
use feed::{Domain, FeedId, Outcome, RetryAfter, Time};
use polling::budget::PollCost;
use polling::pace::DomainPace;
use tokio::sync::{mpsc, oneshot};
use url::Url;

use crate::budget::Budgeted;
use crate::confirmation::Confirmation;
use crate::plan::{ErrandClass, TurnSender};
use crate::spending::Spending;

/// The outcome of a poll, for the caller that asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollAnswer {
    pub feed: FeedId,
    pub outcome: Outcome,
    pub n_new: usize,
    pub suspected_miss: bool,
    pub next_poll: Option<Time>,
    /// The problem or the result in words.
    pub detail: String,
    /// The feeds that the page names, if the URL is a page.
    pub candidates: Vec<Url>,
    /// Bytes on the wire.
    pub bytes: u64,
    /// Its cost, for budgets with a price.
    pub cost: PollCost,
    /// The error of the store, if it could not record the poll. Then nothing of the poll is kept.
    pub not_recorded: Option<String>,
}

impl PollAnswer {
    /// Makes the answer for a poll without a record.
    pub fn without_record(feed: FeedId, outcome: Outcome, detail: String) -> PollAnswer {
        PollAnswer {
            feed,
            outcome,
            n_new: 0,
            suspected_miss: false,
            next_poll: None,
            detail,
            candidates: Vec::new(),
            bytes: 0,
            cost: PollCost::default(),
            not_recorded: None,
        }
    }
}

/// An event for the controller, sent by tasks and commands.
pub enum Event {
    /// A hub pushed new entries.
    Pushed { n_new: usize },
    /// A terminal on another machine said that it is there.
    TerminalHeard,
    /// The result of a terminal on another machine.
    Result { result: Box<PollResult>, confirmation: Confirmation },
    /// The late result of a feed is not recorded.
    NotAdopted { feed: FeedId },
    /// A poll could not be prepared, so nothing was sent.
    NotPrepared { grant: GrantId, feed: FeedId, why: String },
    /// A request that is not a poll ended, here or at a terminal on another machine.
    ErrandEnded { domain: u32, at: Time, answer: ErrandEnd, is_away: bool },
    /// The result of an errand that an earlier process granted.
    LateErrand { grant: GrantId, wish: Option<WaitWish> },
    /// A poll ended: it is recorded, or it failed.
    Finished { finished: Finished, answer: PollAnswer },
    /// A caller asks for polls now.
    Ask { feeds: Vec<ScheduledFeed>, answers: mpsc::UnboundedSender<PollAnswer> },
    /// A feed is to be polled from now on, or at another time.
    Schedule(ScheduledFeed),
    /// A request that is not a poll waits for its turn at a domain.
    Errand { domain: Domain, turn: TurnSender, class: ErrandClass },
    /// The request for a picture ended.
    PictureEnded { domain: u32 },
    /// A feed is no longer polled by itself.
    Forget(FeedId),
    /// The budget changed: these feeds are under it now, and no others.
    Spend(Option<Box<Spending>>, Vec<ScheduledFeed>),
}

/// A feed with the time of its next poll.
#[derive(Clone, Debug)]
pub struct ScheduledFeed {
    pub feed: FeedId,
    pub domain: Domain,
    pub next_at: Time,
    pub generation: u32,
    /// Set if the feed is under the budget; then the strategy decides and `next_at` is only shown.
    pub budgeted: Option<Box<Budgeted>>,
}

/// The wish of a server for fewer requests: status 429 or 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitWish {
    pub retry_after: Option<RetryAfter>,
}

/// The end of a request that is not a poll, for its domain.
pub enum ErrandEnd {
    /// The server answered.
    Answered,
    /// Status 429 or 503: the server asks for fewer requests. The controller sends the domain's
    /// pace back, to be stored.
    AskedToWait { retry_after: Option<RetryAfter>, pace: oneshot::Sender<DomainPace> },
    /// No answer came.
    Unanswered,
    /// Nothing was sent, or nothing that a gap follows.
    NotSent,
}

/// The end of a poll, for the plan.
#[derive(Clone, Debug)]
pub struct Finished {
    pub feed: FeedId,
    /// The domain of its next request. `None`: the plan keeps its own knowledge of the domain and
    /// of the generation.
    pub domain: Option<Domain>,
    /// `None` if the feed is not polled again by itself.
    pub next_at: Option<Time>,
    pub generation: u32,
    /// Set if the feed is under the budget; then the strategy decides and `next_at` is only shown.
    pub budgeted: Option<Box<Budgeted>>,
}

//! A poll result: what one request of a poll brought. The worker fills it; the controller settles
//! pace and blame, compares a document with the store and decides the next poll.

use std::time::Duration;

use feed::{ExchangeFacts, FeedId, Hints, KeyedItem, RawAnswer, Trouble, Validators};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fields;
use crate::job::{GrantId, PollJob, SoFar};

/// The answer to a [`PollJob`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PollResult {
    pub grant: GrantId,
    pub feed: FeedId,
    pub generation: u32,
    /// The job's, plus the bytes and the duration of this exchange.
    pub so_far: SoFar,
    /// From the arrival of the job until the request was sent.
    pub waited: Duration,
    /// From sending the request until the answer was complete.
    pub elapsed: Duration,
    /// From the end of the exchange until this result was ready.
    pub held: Duration,
    pub facts: ExchangeFacts,
    pub reading: PollReading,
    /// The messages of the exchange, if the worker keeps them.
    #[serde(with = "fields::raw_answer", default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Box<RawAnswer>>,
}

/// The meaning of the answer to one request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PollReading {
    /// The worker did not send the request.
    NotSent,
    /// The worker failed by an internal error. The request may have been sent.
    WorkerFailed,
    /// Status 304.
    NotModified {
        #[serde(with = "fields::validators")]
        validators: Validators,
    },
    /// A document with the same hash as the last one.
    Same {
        #[serde(with = "fields::validators")]
        validators: Validators,
    },
    /// A redirect. The next request needs a grant of its own.
    Moved {
        #[serde(with = "fields::url")]
        to: Url,
        permanent: bool,
    },
    /// Status 410.
    Gone,
    /// Status 401, 403, 429 or 451.
    Refused {
        status: u16,
    },
    /// The address is not public.
    Blocked {
        reason: String,
    },
    /// The exchange brought no document.
    Failed {
        trouble: Trouble,
        detail: String,
    },
    /// The body is not a readable feed.
    NotAFeed {
        detail: String,
        /// The feeds that the page names.
        #[serde(with = "fields::urls")]
        candidates: Vec<Url>,
        /// It is a feed that cannot be read.
        is_damaged: bool,
    },
    Document(Box<ReadDocument>),
}

/// A document that was read and compared with the window of the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ReadDocument {
    #[serde(with = "fields::validators")]
    pub validators: Validators,
    #[serde(with = "fields::hash")]
    pub body_hash: [u8; 16],
    /// Status 226: the document holds only what changed.
    pub partial: bool,
    /// The document ends inside an item.
    pub is_cut_off: bool,
    /// The markup is broken.
    pub is_damaged: bool,
    pub description: FeedDescription,
    pub hints: Hints,
    /// Every item carries the moment at which the response was made.
    pub on_the_fly: bool,
    /// All entries of the document; only those that the window does not hold carry their item.
    #[serde(with = "fields::keyed_items")]
    pub items: Vec<KeyedItem>,
    /// Repairs and omissions of the parser, one sentence for each kind.
    pub warnings: Vec<String>,
}

/// The data of a document about its feed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct FeedDescription {
    pub title: Option<String>,
    pub site: Option<String>,
    pub language: Option<String>,
    pub hub: Option<String>,
    pub self_link: Option<String>,
    pub cloud: Option<String>,
    #[serde(default)]
    pub categories: Vec<String>,
    /// The address of the feed's own icon.
    #[serde(default)]
    pub icon: Option<String>,
}

impl PollResult {
    /// The result of a job that ended without an exchange.
    pub fn without_exchange(job: PollJob, reading: PollReading) -> PollResult {
        PollResult::bare(job.grant, job.feed, job.generation, job.so_far, reading)
    }

    /// A result without the facts of an exchange.
    pub fn bare(
        grant: GrantId,
        feed: FeedId,
        generation: u32,
        so_far: SoFar,
        reading: PollReading,
    ) -> PollResult {
        PollResult {
            grant,
            feed,
            generation,
            so_far,
            waited: Duration::ZERO,
            elapsed: Duration::ZERO,
            held: Duration::ZERO,
            facts: ExchangeFacts::default(),
            reading,
            raw: None,
        }
    }
}

//! The messages between the active controller and terminals on other machines. They carry values
//! only; the bus may lose, delay, repeat and reorder all of them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use feed::{FeedId, Window};
use serde::{Deserialize, Serialize};

use crate::fields;
use crate::job::GrantId;
use crate::{ErrandJob, ErrandResult, PollJob, PollResult};

/// A terminal says that it is there, every two seconds. The form of this message and of its answer
/// never changes; fields may be added.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Here {
    /// The highest version of the wire form that the terminal speaks.
    pub wire: u32,
    pub terminal: String,
    /// A random text, another one after each start.
    pub life: String,
    pub version: String,
    pub identity_rule: u8,
    pub region: Option<String>,
    /// Requests that the terminal makes at once.
    pub room: usize,
    /// The grants that it works on.
    pub in_flight: Vec<GrantId>,
    /// Results that no controller has confirmed yet.
    pub held: usize,
    /// It ends soon and takes no more jobs.
    pub draining: bool,
    /// How long the last answer took.
    pub round_trip: Option<Duration>,
    /// Windows that it asked for since its start.
    #[serde(default)]
    pub window_questions: u64,
    /// It sends requests that are not polls too.
    #[serde(default)]
    pub takes_errands: bool,
}

/// The answer to [`Here`].
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum HereAnswer {
    Seat(Box<Seat>),
    /// The controller does not serve this terminal.
    Refused {
        why: String,
    },
}

/// The active controller, and how terminals read for it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Seat {
    /// The version of the wire form that both ends use.
    pub wire: u32,
    pub epoch: i64,
    /// The controller's [`Stopwatch`](crate::Stopwatch) at this answer.
    pub clock: Duration,
    /// The time from a grant to its end.
    pub grant_life: Duration,
    /// The terminal shall finish its work and take no more.
    pub drain: bool,
    pub terms: LookTerms,
}

/// A controller has taken the seat, or leaves it. Terminals say at once that they are there. The
/// form of this message never changes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SeatCall {
    pub epoch: i64,
    pub leaves: bool,
}

/// The settings by which terminals look at feeds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LookTerms {
    pub fetch: FetchTerms,
    pub parse: ParseTerms,
    /// Whether results carry the bodies of answers, for a recording.
    pub keeps_bodies: bool,
}

/// The settings of exchanges.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct FetchTerms {
    pub user_agent: String,
    pub allow_private: bool,
    pub loopback_only: bool,
    pub no_cache: bool,
    pub connect_timeout: Duration,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    pub body_bytes_max: usize,
    pub resolve: Vec<(String, Vec<IpAddr>)>,
    pub keep_heads: bool,
    #[serde(with = "fields::bytes")]
    pub authorities_pem: Vec<u8>,
}

/// The limits of the parser.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ParseTerms {
    pub items_max: usize,
    pub depth_max: usize,
    pub field_bytes_max: usize,
    pub list_max: usize,
}

/// The jobs that one turn grants to one terminal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Jobs {
    pub epoch: i64,
    pub jobs: Vec<PollJob>,
    /// Only for terminals that take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errands: Vec<ErrandJob>,
}

/// Results of one terminal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Results {
    pub terminal: String,
    pub life: String,
    pub results: Vec<PollResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errands: Vec<ErrandResult>,
}

/// The fate of results. A result without an answer is sent again. The form of this message never
/// changes; fields may be added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Answers {
    pub answers: Vec<(GrantId, Verdict)>,
}

/// The fate of one result.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// It is committed.
    Recorded,
    /// Another poll of the feed came before it, or it brought nothing to record.
    Stale,
    Refused {
        why: String,
    },
}

/// A terminal asks for the window of a feed whose document changed. The form of this message and of
/// its answer never changes; fields may be added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct WindowQuestion {
    pub grant: GrantId,
    pub feed: FeedId,
    #[serde(with = "fields::hash")]
    pub digest: [u8; 16],
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct WindowAnswer {
    #[serde(with = "fields::optional_window")]
    pub window: Option<Arc<Window>>,
}

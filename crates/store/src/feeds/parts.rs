//! The parts that several rows of a feed share: its address, its schedule, its last polls. Reads
//! them from columns; the queries are elsewhere.

use crate::db::sql::Row;
use feed::{FeedUrl, Time, Trouble};

use crate::db::columns::{time_or_none, url_or_none};

/// The address of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLocation {
    /// The subscribed address.
    pub url: FeedUrl,
    /// The address of its polls, where a permanent redirect leads elsewhere.
    pub effective_url: Option<FeedUrl>,
    /// A permanent redirect that has not repeated yet.
    pub pending: Option<PendingRedirect>,
    /// `Some`: the publisher ended the feed.
    pub gone: Option<Gone>,
}

impl FeedLocation {
    /// Returns the address of the next poll.
    pub fn current(&self) -> &FeedUrl {
        self.effective_url.as_ref().unwrap_or(&self.url)
    }
}

/// The next poll of a feed, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSchedule {
    /// `None`: never polled, due at once.
    pub next_at: Option<Time>,
    /// The answer of the policy.
    pub wanted_at: Option<Time>,
    pub why: NextPollReason,
}

/// The last polls of a feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PollHistory {
    pub last_poll_at: Option<Time>,
    pub last_success_at: Option<Time>,
    /// The last poll that found new entries.
    pub last_change_at: Option<Time>,
    /// Failures in a row.
    pub failures: u32,
}

/// The facts that a document states about its feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedFacts {
    pub title: Option<String>,
    pub site: Option<String>,
    pub language: Option<String>,
    pub hub: Option<String>,
    /// The address under which the hub knows the feed.
    pub topic: Option<String>,
    /// The address that offers rssCloud notices, with its protocol in brackets.
    pub cloud: Option<String>,
    /// The categories of the feed as a whole.
    pub categories: Vec<String>,
    /// The address of the icon that the document declares.
    pub icon: Option<String>,
    /// The language of the texts of its last documents, with a confidence from 0 to 1000.
    pub detected_language: Option<(String, u16)>,
}

/// The publisher ended the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    pub at: Time,
    pub reason: String,
}

/// A permanent redirect that is not followed for good yet, with the number of polls in a row that
/// saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRedirect {
    pub to: FeedUrl,
    pub count: u32,
}

/// The explanation of a feed's next poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NextPollReason {
    /// A code. It becomes the cause of that poll.
    pub cause: Option<String>,
    /// A sentence: the rule and the figures behind the policy's answer.
    pub reason: Option<String>,
    /// A sentence: why the poll is at another time than the policy wanted.
    pub held: Option<String>,
}

/// The reason why a poll brought no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollProblem {
    pub error: String,
    /// The kind of the error, where it has one.
    pub trouble: Option<Trouble>,
}

impl PollProblem {
    /// Returns an error without a kind.
    pub fn new(error: impl Into<String>) -> PollProblem {
        PollProblem { error: error.into(), trouble: None }
    }
}

/// Reads two columns: the time and the reason.
pub(crate) fn gone(row: &Row<'_>, first: usize) -> crate::db::sql::Result<Option<Gone>> {
    let Some(at) = time_or_none(row, first)? else { return Ok(None) };
    Ok(Some(Gone { at, reason: row.get::<_, Option<String>>(first + 1)?.unwrap_or_default() }))
}

/// Reads two columns: the language and the confidence.
pub(crate) fn detected_language(
    row: &Row<'_>,
    first: usize,
) -> crate::db::sql::Result<Option<(String, u16)>> {
    let Some(tag) = row.get(first)? else { return Ok(None) };
    let confidence: Option<i64> = row.get(first + 1)?;
    Ok(Some((tag, u16::try_from(confidence.unwrap_or(0)).unwrap_or(0))))
}

/// Reads two columns: the target and the number of polls that saw it.
pub(crate) fn moved(
    row: &Row<'_>,
    first: usize,
) -> crate::db::sql::Result<Option<PendingRedirect>> {
    let Some(to) = url_or_none(row, first)? else { return Ok(None) };
    Ok(Some(PendingRedirect { to, count: row.get(first + 1)? }))
}

//! The parts that several rows of a feed share: its address, its schedule, its last polls. Reads
//! them from columns; the queries are elsewhere.

use feed::{FeedUrl, Time};
use rusqlite::Row;

use crate::db::columns::{time_or_none, url_or_none};
use crate::{Gone, Moved, NextPollReason};

/// The address of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedLocation {
    /// The subscribed address.
    pub url: FeedUrl,
    /// The address of its polls, where a permanent redirect leads elsewhere.
    pub effective_url: Option<FeedUrl>,
    /// A permanent redirect that has not repeated yet.
    pub pending: Option<Moved>,
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
pub struct FeedSchedule {
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

/// Reads two columns: the time and the reason.
pub(crate) fn gone(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Gone>> {
    let Some(at) = time_or_none(row, first)? else { return Ok(None) };
    Ok(Some(Gone { at, reason: row.get::<_, Option<String>>(first + 1)?.unwrap_or_default() }))
}

/// Reads two columns: the target and the number of polls that saw it.
pub(crate) fn moved(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<Moved>> {
    let Some(to) = url_or_none(row, first)? else { return Ok(None) };
    Ok(Some(Moved { to, count: row.get(first + 1)? }))
}

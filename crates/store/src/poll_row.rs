//! A poll as it was recorded, and how it is read from its row.

use std::time::Duration;

use feed::{Cause, Outcome, Time};

use crate::db::columns::{count, outcome, time, time_or_none};
use crate::db::sql::Row;

/// A poll as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollRow {
    pub generation: u32,
    pub at: Time,
    pub outcome: Outcome,
    pub status: Option<u16>,
    pub n_new: u64,
    pub window_len: u64,
    pub overlap: u64,
    pub suspected_miss: bool,
    pub bytes: u64,
    pub elapsed: Duration,
    pub wanted_at: Option<Time>,
    pub next_at: Option<Time>,
    pub reason: Option<String>,
    pub held: Option<String>,
    pub error: Option<String>,
    /// Repairs and omissions of the parser, one sentence for each kind.
    pub warnings: Vec<String>,
}

impl PollRow {
    /// Returns the cause of the poll.
    pub fn cause(&self) -> Option<Cause> {
        self.reason.as_deref().map(Cause::from_code)
    }

    /// Returns the warnings as one text, a line each.
    pub fn warning_lines(&self) -> Option<String> {
        (!self.warnings.is_empty()).then(|| self.warnings.join("\n"))
    }
}

/// The columns of `polls p` that [`poll_row`] reads.
pub(crate) const POLL_COLUMNS: &str = "p.generation, p.at, p.outcome, p.status, p.n_new, \
    p.window_len, p.overlap, p.suspected_miss, p.bytes, p.elapsed_ms, p.wanted_at, p.next_at, \
    p.reason, p.held, p.error, p.warnings";
/// Their number. Further columns of a question begin here.
pub(crate) const N_POLL_COLUMNS: usize = 16;

pub(crate) fn poll_row(row: &Row<'_>) -> crate::db::sql::Result<PollRow> {
    Ok(PollRow {
        generation: row.get(0)?,
        at: time(row, 1)?,
        // The store writes only known words. An unknown one counts as failed.
        outcome: outcome(row, 2)?.unwrap_or(Outcome::Failed),
        status: row.get(3)?,
        n_new: count(row, 4)?,
        window_len: count(row, 5)?,
        overlap: count(row, 6)?,
        suspected_miss: row.get::<_, i64>(7)? != 0,
        bytes: count(row, 8)?,
        elapsed: Duration::from_millis(count(row, 9)?),
        wanted_at: time_or_none(row, 10)?,
        next_at: time_or_none(row, 11)?,
        reason: row.get(12)?,
        held: row.get(13)?,
        error: row.get(14)?,
        warnings: row
            .get::<_, Option<String>>(15)?
            .map_or_else(Vec::new, |text| text.lines().map(str::to_owned).collect()),
    })
}

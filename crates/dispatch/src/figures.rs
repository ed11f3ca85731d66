//! Counts of the work with terminals on other machines, as every process of an instance shows them.

use serde::{Deserialize, Serialize};

/// The counts at one moment, since the active controller took the seat.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct RoadFigures {
    /// Results by what became of them.
    pub recorded: u64,
    pub stale: u64,
    pub refused: u64,
    pub not_sent: u64,
    /// Results whose grant was no longer open: sent again, too late, or of an earlier controller.
    pub late: u64,
    /// Grants whose end came before a result.
    pub expired: u64,
    pub window_questions: u64,
    /// Commits of the rows of granted requests, and how long they took together.
    pub grant_commits: u64,
    pub grant_commit_micros: u64,
    /// Messages and bytes on the bus, since the controller connected.
    pub messages: u64,
    pub bytes: u64,
}

//! The observation of one poll. Observations are the ground truth: learned state is a cache of
//! them.

use std::fmt;

use crate::Time;

/// The outcome of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A document was received and read.
    Seen,
    /// 304, or the same bytes as last time.
    Unchanged,
    /// 410: the publisher ended the feed.
    Gone,
    /// The server refused (401, 403, 429, 451), or we may not request it.
    Refused,
    /// Network, TLS, 404, 5xx, or not a feed.
    Failed,
    /// The document is broken and holds no item, although the one before held some.
    Damaged,
}

impl Outcome {
    pub const fn word(self) -> &'static str {
        match self {
            Outcome::Seen => "seen",
            Outcome::Unchanged => "unchanged",
            Outcome::Gone => "gone",
            Outcome::Refused => "refused",
            Outcome::Failed => "failed",
            Outcome::Damaged => "damaged",
        }
    }

    pub fn from_word(word: &str) -> Option<Outcome> {
        use Outcome::{Damaged, Failed, Gone, Refused, Seen, Unchanged};
        [Seen, Unchanged, Gone, Refused, Failed, Damaged].into_iter().find(|o| o.word() == word)
    }

    /// Returns whether the feed answered as a feed should.
    pub const fn is_success(self) -> bool {
        matches!(self, Outcome::Seen | Outcome::Unchanged)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The observation of one poll, from which policies and models learn. It holds times only, so that
/// the lab can borrow them from a sorted trace. Live and simulated polls yield the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation<'a> {
    /// The time at which the request was sent.
    pub at: Time,
    pub outcome: Outcome,
    /// Repaired publication times of the entries in the window now, oldest first. After an
    /// unchanged or failed poll: those of the last window seen.
    pub window: &'a [Time],
    /// Repaired publication times of the entries never seen before, oldest first.
    pub new: &'a [Time],
    /// The number of entries that this window shares with the one before.
    pub overlap: usize,
    /// Two successive non-empty windows shared nothing: some entries may have been lost.
    pub suspected_miss: bool,
    /// The document was partial (226 or a push): it added to the window. Its size and overlap say
    /// nothing.
    pub partial: bool,
    /// The dates of those new entries that claim to be older than the previous poll, which did not
    /// show them; oldest first. In `new` they have the poll's time. If the claims are unknown this
    /// is empty, and the entries count as undated.
    pub late: &'a [Time],
}

impl<'a> Observation<'a> {
    /// Observes a feed for the first time: every entry of the window is new.
    pub const fn first(at: Time, window: &'a [Time]) -> Observation<'a> {
        Observation::seen(at, window, window)
    }

    /// Observes a whole document. The entries of the window that are not new are the overlap.
    pub const fn seen(at: Time, window: &'a [Time], new: &'a [Time]) -> Observation<'a> {
        Observation {
            at,
            outcome: Outcome::Seen,
            window,
            new,
            overlap: window.len().saturating_sub(new.len()),
            suspected_miss: false,
            partial: false,
            late: &[],
        }
    }

    /// Observes that nothing changed since the last poll, which showed `window`.
    pub const fn unchanged(at: Time, window: &'a [Time]) -> Observation<'a> {
        Observation { outcome: Outcome::Unchanged, ..Observation::seen(at, window, &[]) }
    }

    /// Returns the same observation with another overlap.
    #[must_use]
    pub const fn with_overlap(self, overlap: usize) -> Observation<'a> {
        Observation { overlap, ..self }
    }

    /// Returns the oldest and the newest publication time in the window.
    pub fn span(&self) -> Option<(Time, Time)> {
        Some((*self.window.first()?, *self.window.last()?))
    }
}

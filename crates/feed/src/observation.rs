//! What one poll taught us. Observations are ground truth: learned state is a cache of them.

use std::fmt;

use crate::Time;

/// How a poll ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A document came and was read.
    Seen,
    /// 304, or the same bytes as last time.
    Unchanged,
    /// 410: the publisher ended the feed.
    Gone,
    /// The server said no (401, 403, 429, 451), or we may not ask.
    Refused,
    /// Network, TLS, 404, 5xx, or not a feed.
    Failed,
    /// A feed whose document is broken and holds no item, although the one before held some.
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

    /// Whether the feed answered as a feed should.
    pub const fn is_success(self) -> bool {
        matches!(self, Outcome::Seen | Outcome::Unchanged)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a policy or model learns from one poll. It holds times only, so that the lab can lay it
/// over a sorted trace without copying: live and simulated polls yield the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation<'a> {
    /// When the request was sent.
    pub at: Time,
    pub outcome: Outcome,
    /// Publication times (repaired) of the entries in the window now, oldest first. After an
    /// unchanged or failed poll: those of the last window seen.
    pub window: &'a [Time],
    /// Publication times (repaired) of the entries never seen before, oldest first.
    pub new: &'a [Time],
    /// How many entries this window shares with the one before.
    pub overlap: usize,
    /// Two successive non-empty windows shared nothing: some entries may have been lost.
    pub suspected_miss: bool,
    /// The document was partial (226 or a push): it added to the window, whose size and overlap
    /// say nothing.
    pub partial: bool,
    /// The dates of those new entries that the poll before did not show although they claim to be
    /// older than it, oldest first. In `new` they carry the poll's time. Where nobody knows the
    /// claims this is empty, and they are as good as undated.
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

    /// The same observation with another overlap.
    #[must_use]
    pub const fn with_overlap(self, overlap: usize) -> Observation<'a> {
        Observation { overlap, ..self }
    }

    /// The oldest and the newest publication time in the window.
    pub fn span(&self) -> Option<(Time, Time)> {
        Some((*self.window.first()?, *self.window.last()?))
    }
}

//! Learning from the entries that somebody wants alone: which of a poll's entries they are is known
//! only once it is recorded, so what was decided then is decided again from them. Pure.

use feed::{Observation, Outcome, Time};
use polling::relevance::Relevant;
use store::{PollInput, PushNote, WindowRelevance};

use super::next::{self, Decided};
use super::{Reading, Trip};
use crate::Settings;
use crate::budget::BudgetRule;

/// What the poll said of the whole window.
#[derive(Clone, Copy)]
pub struct Judged {
    pub overlap: usize,
    pub suspected_miss: bool,
    pub push: Option<PushNote>,
}

/// What a recorded poll means by its wanted entries. `before` and `after` are the feed before and
/// after the record; `shown` is what its window shows now.
pub fn relearned(
    before: &PollInput,
    after: PollInput,
    shown: &[WindowRelevance],
    judged: Judged,
    trip: &Trip<'_>,
    settings: &Settings,
    budget: Option<&BudgetRule>,
) -> Decided {
    let is_new = |one: &&WindowRelevance| before.last_success_at.is_none_or(|t| one.seen_at > t);
    let window: Vec<Time> = shown.iter().map(|one| one.published_at).collect();
    let new: Vec<Time> = shown.iter().filter(is_new).map(|one| one.published_at).collect();
    let whole = Observation {
        at: trip.at,
        outcome: if new.is_empty() { Outcome::Unchanged } else { Outcome::Seen },
        window: &window,
        new: &new,
        overlap: judged.overlap,
        suspected_miss: judged.suspected_miss,
        partial: false,
        late: &[],
    };
    let in_window: Vec<bool> = shown.iter().map(|one| one.relevant).collect();
    let in_new: Vec<bool> = shown.iter().filter(is_new).map(|one| one.relevant).collect();
    let relevant = Relevant::of(&whole, &in_window, &in_new);
    let input = PollInput {
        learned: before.learned.clone(),
        last_success_at: before.last_success_at,
        failures: before.failures,
        // The rate is that of wanted entries already.
        share: None,
        ..after
    };
    // The record holds the document and its hints; what is left of it is that there was one.
    let reading = Reading::Unchanged { validators: fetch::Validators::default() };
    let observation = relevant.observation();
    let mut decided =
        next::decide(&input, &reading, &observation, judged.push, trip, settings, budget);
    decided.reason.push_str("; learned from the entries that queries keep");
    decided
}

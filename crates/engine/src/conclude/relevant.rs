//! Learning from the entries that somebody wants alone. Which of a poll's entries they are is known
//! only while it is recorded, so the decision is put off until then: it is taken once, inside the
//! store's transaction. Pure.

use feed::{Observation, Outcome, Time};
use polling::pace::DomainPace;
use polling::relevance::Relevant;
use store::{Decision, KnownDocument, PollInput, PushTrustChange, WindowRelevance};
use url::Url;

use super::next::{self, Decided};
use super::{Reading, Trip};
use crate::Settings;
use crate::budget::{BudgetRule, Budgeted};

/// All that the decision about a successful poll needs, kept until the queries have seen its
/// entries.
pub struct Later {
    input: PollInput,
    whole: Whole,
    push: Option<PushTrustChange>,
    at: Time,
    ended: Time,
    url: Url,
    facts: fetch::ExchangeFacts,
    pace: Option<DomainPace>,
    settings: Settings,
    budget: Option<BudgetRule>,
}

/// What the poll taught, whoever wants it.
struct Whole {
    outcome: Outcome,
    window: Vec<Time>,
    new: Vec<Time>,
    late: Vec<Time>,
    overlap: usize,
    suspected_miss: bool,
    partial: bool,
}

impl Later {
    pub fn new(
        input: &PollInput,
        reading: &Reading,
        taught: &Observation<'_>,
        push: Option<PushTrustChange>,
        trip: &Trip<'_>,
        settings: &Settings,
        budget: Option<&BudgetRule>,
    ) -> Later {
        let hints = match reading {
            Reading::Document { document, .. } => &document.hints,
            _ => &input.document.hints,
        };
        Later {
            // A share is for rates of all entries; what is learned here is the rate of wanted ones.
            input: PollInput {
                document: KnownDocument { hints: hints.clone(), ..input.document.clone() },
                share: None,
                ..input.clone()
            },
            whole: Whole {
                outcome: taught.outcome,
                window: taught.window.to_vec(),
                new: taught.new.to_vec(),
                late: taught.late.to_vec(),
                overlap: taught.overlap,
                suspected_miss: taught.suspected_miss,
                partial: taught.partial,
            },
            push,
            at: trip.at,
            ended: trip.ended,
            url: trip.url.clone(),
            facts: trip.facts.clone(),
            pace: trip.pace,
            settings: settings.clone(),
            budget: budget.copied(),
        }
    }

    /// The one decision: from the wanted entries, or from all where no query reads the feed.
    pub fn decide(
        self,
        shown: Option<Vec<WindowRelevance>>,
    ) -> (Decision, (Time, Option<Box<Budgeted>>)) {
        let decided = match shown {
            Some(shown) => self.by_wanted(&shown),
            None => self.by(&self.whole.observation(self.at)),
        };
        let (decision, budgeted) = decided.split();
        let at = decision.next.at;
        (decision, (at, budgeted))
    }

    fn by_wanted(&self, shown: &[WindowRelevance]) -> Decided {
        let before = self.input.history.last_success_at;
        let is_new = |one: &&WindowRelevance| before.is_none_or(|t| one.seen_at > t);
        let window: Vec<Time> = shown.iter().map(|one| one.published_at).collect();
        let new: Vec<Time> = shown.iter().filter(is_new).map(|one| one.published_at).collect();
        let whole = Observation {
            outcome: if new.is_empty() { Outcome::Unchanged } else { Outcome::Seen },
            window: &window,
            new: &new,
            partial: false,
            late: &[],
            ..self.whole.observation(self.at)
        };
        let in_window: Vec<bool> = shown.iter().map(|one| one.relevant).collect();
        let in_new: Vec<bool> = shown.iter().filter(is_new).map(|one| one.relevant).collect();
        let relevant = Relevant::of(&whole, &in_window, &in_new);
        let mut decided = self.by(&relevant.observation());
        decided.reason.push_str(" (Learned from the entries that queries find.)");
        decided
    }

    fn by(&self, observation: &Observation<'_>) -> Decided {
        let trip = Trip {
            at: self.at,
            ended: self.ended,
            cause: None,
            url: &self.url,
            permanent: false,
            passed: &[],
            bytes: 0,
            elapsed: std::time::Duration::ZERO,
            facts: &self.facts,
            pace: self.pace,
        };
        // The document's hints are in the input; what counts of the reading is that it succeeded.
        let reading = Reading::Unchanged { validators: fetch::Validators::default() };
        let (push, budget) = (self.push, self.budget.as_ref());
        next::decide(&self.input, &reading, observation, push, &trip, &self.settings, budget)
    }
}

impl Whole {
    fn observation(&self, at: Time) -> Observation<'_> {
        Observation {
            at,
            outcome: self.outcome,
            window: &self.window,
            new: &self.new,
            overlap: self.overlap,
            suspected_miss: self.suspected_miss,
            partial: self.partial,
            late: &self.late,
        }
    }
}

//! Learns from relevant entries only. Queries find them while a poll is recorded, so the decision
//! about the next poll waits until then. It is taken once, inside the store's transaction. Pure.

use feed::{Hints, Observation, Outcome, Time};
use polling::pace::DomainPace;
use polling::relevance::Relevant;
use store::{Decision, PollInput, PushTrust, WindowRelevance};
use url::Url;

use super::next::{self, NextPollDecision, PollEvidence};
use crate::Settings;
use crate::budget::{BudgetRule, Budgeted};

/// The decision about the next poll, put off until the queries have seen the entries. It owns
/// everything that the decision needs.
pub struct PendingDecision {
    input: PollInput,
    settings: Settings,
    budget: Option<BudgetRule>,
    all: OwnedObservation,
    at: Time,
    hints: Hints,
    trust: Option<PushTrust>,
    url: Url,
    facts: fetch::ExchangeFacts,
    pace: Option<DomainPace>,
}

/// An observation of all entries, relevant or not.
struct OwnedObservation {
    outcome: Outcome,
    window: Vec<Time>,
    new: Vec<Time>,
    late: Vec<Time>,
    overlap: usize,
    suspected_miss: bool,
    partial: bool,
}

impl PendingDecision {
    pub fn new(
        input: &PollInput,
        evidence: &PollEvidence<'_>,
        settings: &Settings,
        budget: Option<&BudgetRule>,
    ) -> PendingDecision {
        let observation = &evidence.observation;
        PendingDecision {
            // A share is for rates of all entries; here the policy learns the rate of relevant
            // ones.
            input: PollInput { share: None, ..input.clone() },
            settings: settings.clone(),
            budget: budget.copied(),
            all: OwnedObservation {
                outcome: observation.outcome,
                window: observation.window.to_vec(),
                new: observation.new.to_vec(),
                late: observation.late.to_vec(),
                overlap: observation.overlap,
                suspected_miss: observation.suspected_miss,
                partial: observation.partial,
            },
            at: evidence.at,
            hints: evidence.hints.clone(),
            trust: evidence.trust,
            url: evidence.url.clone(),
            facts: evidence.facts.clone(),
            pace: evidence.pace,
        }
    }

    /// Decides once: from the relevant entries, or from all if no query reads the feed.
    pub fn decide(
        self,
        shown: Option<Vec<WindowRelevance>>,
    ) -> (Decision, (Time, Option<Box<Budgeted>>)) {
        let decided = match shown {
            Some(shown) => self.by_relevant(&shown),
            None => self.by(self.all.observation(self.at)),
        };
        let NextPollDecision { decision, budgeted } = decided;
        let at = decision.next.at;
        (decision, (at, budgeted))
    }

    fn by_relevant(&self, shown: &[WindowRelevance]) -> NextPollDecision {
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
            ..self.all.observation(self.at)
        };
        let in_window: Vec<bool> = shown.iter().map(|one| one.relevant).collect();
        let in_new: Vec<bool> = shown.iter().filter(is_new).map(|one| one.relevant).collect();
        let relevant = Relevant::of(&whole, &in_window, &in_new);
        let mut decided = self.by(relevant.observation());
        if let Some(reason) = &mut decided.decision.next.why.reason {
            reason.push_str(" (Learned from the entries that queries find.)");
        }
        decided
    }

    fn by(&self, observation: Observation<'_>) -> NextPollDecision {
        let evidence = PollEvidence {
            at: self.at,
            // Only successful polls are put off.
            outcome: Outcome::Unchanged,
            our_network: false,
            observation,
            hints: &self.hints,
            trust: self.trust,
            url: &self.url,
            facts: &self.facts,
            pace: self.pace,
        };
        next::decide(&self.input, &evidence, &self.settings, self.budget.as_ref())
    }
}

impl OwnedObservation {
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

//! Turns the result of a poll into a record: what the store keeps, the next poll, and its reason.
//! Pure: the same input gives the same record.

mod keep;
mod next;
mod pace;
mod pushed;
mod relevant;

use std::time::Duration;

use dispatch::{PassedDomain, ReadDocument};
use feed::{Cause, DocumentDates, Domain, Observation, Observed, Outcome, Time, Trouble, Window};
use polling::budget::PollCost;
use polling::pace::DomainPace;
use sha2::{Digest, Sha256};
use store::{ExchangeRecord, ObservedWindow, PollInput, PollRecord, PushTrustChange};
use url::Url;

use crate::Settings;
use crate::budget::{BudgetRule, Budgeted};
use crate::event::{Finished, PollAnswer};
use next::{NextPollDecision, PollEvidence};
pub use next::{budgeted, policy, replanned};
pub use pace::{pace, set_back, stored_pace};
pub use pushed::{PushedDocument, is_push_trusted, push_record};
pub use relevant::PendingDecision;

/// The result of a poll with the controller's verdicts on it.
pub enum JudgedReading {
    Document {
        document: Box<ReadDocument>,
        observed: Observed,
        dates: DocumentDates,
    },
    /// Status 304, or the same bytes. New validators replace the old ones one by one.
    Unchanged {
        validators: fetch::Validators,
    },
    Gone,
    /// A broken document without entries, although the one before had some.
    Damaged {
        warnings: Vec<String>,
    },
    Refused {
        kind: Trouble,
        detail: String,
    },
    Failed {
        kind: Trouble,
        detail: String,
        our_network: bool,
        candidates: Vec<Url>,
    },
}

/// The course of a poll: when, where and with what facts.
pub struct PollFacts<'a> {
    pub at: Time,
    pub ended: Time,
    /// The cause in short, if a strategy planned the poll.
    pub cause: Option<&'a str>,
    /// The address of the last request.
    pub url: &'a Url,
    /// The poll was redirected, and every redirect was permanent.
    pub permanent: bool,
    /// The domains that redirected the poll, and when they answered.
    pub passed: &'a [PassedDomain],
    pub bytes: u64,
    pub elapsed: Duration,
    pub facts: &'a fetch::ExchangeFacts,
    /// The domain's pace, if it asked for fewer requests.
    pub pace: Option<DomainPace>,
}

pub struct Concluded {
    pub record: PollRecord,
    pub finished: Finished,
    pub answer: PollAnswer,
    /// Set if the next poll is decided while this one is recorded. Until then the record, the
    /// answer and `finished` name the time of this poll.
    pub later: Option<Box<PendingDecision>>,
}

/// Puts the decided next poll into the answers to the plan and to the caller. A feed that is not
/// polled again by itself stays so.
pub fn settle(
    finished: &mut Finished,
    answer: &mut PollAnswer,
    next_at: Time,
    budgeted: Option<Box<Budgeted>>,
) {
    finished.next_at = finished.next_at.map(|_| next_at);
    finished.budgeted = budgeted.filter(|_| finished.next_at.is_some());
    answer.next_poll = finished.next_at;
}

/// Concludes one poll.
pub fn conclude(
    input: &PollInput,
    reading: JudgedReading,
    poll: &PollFacts<'_>,
    settings: &Settings,
    budget: Option<&BudgetRule>,
) -> Concluded {
    let reading = keep::damaged(input, keep::not_yet_gone(input, reading));
    let outcome = outcome(&reading);
    let window_times = input.document.window.times();
    let observation = match &reading {
        JudgedReading::Document { observed, .. } => observed.observation(poll.at),
        _ => Window::without_document(&window_times, poll.at, outcome),
    };
    let push = input.subscription().filter(|_| outcome.is_success()).map(|push| PushTrustChange {
        subscription: push.id,
        trust: pushed::after_poll(push, observation.new.len(), input.pushed().len(), poll.at),
    });
    let all_new = with_pushed(observation.new, input.pushed());
    let taught = match &all_new {
        Some(new) if outcome.is_success() => {
            Observation { outcome: Outcome::Seen, new, ..observation }
        }
        _ => observation,
    };
    let is_polled_again = outcome != Outcome::Gone && !input.settings.paused;
    let waits = settings.learn_relevant && outcome.is_success() && is_polled_again;
    let evidence = PollEvidence {
        at: poll.at,
        outcome,
        our_network: matches!(reading, JudgedReading::Failed { our_network: true, .. }),
        observation: taught,
        hints: match &reading {
            JudgedReading::Document { document, .. } => &document.hints,
            _ => &input.document.hints,
        },
        trust: push.map(|change| change.trust),
        url: poll.url,
        facts: poll.facts,
        pace: poll.pace,
    };
    let later = waits.then(|| Box::new(PendingDecision::new(input, &evidence, settings, budget)));
    let decided = (!waits).then(|| next::decide(input, &evidence, settings, budget));

    let mut record = begin_record(input, &observation, poll);
    let failures = decided.as_ref().map_or(0, |decided| decided.decision.failures);
    record.trust = push;
    record.location = keep::follow_redirects(input, poll, outcome, failures);
    let mut answer = answer(input, &observation, poll);
    keep::keep_reading(&mut record, &mut answer, input, reading, poll);
    let next_at = is_polled_again.then_some(poll.at);
    let next_url = record.location.effective_url.as_ref().unwrap_or(input.location.current());
    let mut finished = Finished {
        feed: input.id,
        domain: Some(next_url.domain()),
        next_at,
        generation: input.generation + 1,
        budgeted: None,
    };
    if let Some(NextPollDecision { decision, budgeted }) = decided {
        settle(&mut finished, &mut answer, decision.next.at, budgeted);
        record.decision = decision;
        record.decision.learned.take_if(|learned| *learned == input.learned);
    }
    Concluded { record, finished, answer, later }
}

/// Begins the record with the facts of the exchange; the reading and the decision fill in the rest.
fn begin_record(
    input: &PollInput,
    observation: &Observation<'_>,
    poll: &PollFacts<'_>,
) -> PollRecord {
    let outcome = observation.outcome;
    let mut record = PollRecord::empty(input.id, input.generation, poll.at, outcome, poll.at);
    record.exchange = ExchangeRecord {
        status: poll.facts.status,
        bytes: poll.bytes,
        elapsed: poll.elapsed,
        paces: pace::paces(poll),
    };
    record.observed = ObservedWindow {
        len: observation.window.len() as u32,
        overlap: observation.overlap as u32,
        suspected_miss: observation.suspected_miss,
    };
    record.cause = Some(cause(input, poll));
    record
}

/// Begins the answer to the caller; the reading fills in the rest.
fn answer(input: &PollInput, observation: &Observation<'_>, poll: &PollFacts<'_>) -> PollAnswer {
    PollAnswer {
        feed: input.id,
        outcome: observation.outcome,
        n_new: observation.new.len(),
        suspected_miss: observation.suspected_miss,
        next_poll: None,
        detail: String::new(),
        candidates: Vec::new(),
        bytes: poll.bytes,
        cost: PollCost::default(),
        not_recorded: None,
    }
}

/// Returns the new entries for policies: those of pushes since the last poll, and those of this
/// poll. `None` if nothing was pushed.
fn with_pushed(new: &[Time], pushed: &[Time]) -> Option<Vec<Time>> {
    if pushed.is_empty() {
        return None;
    }
    let mut all = [new, pushed].concat();
    all.sort_unstable();
    Some(all)
}

/// Returns the cause of this poll. A poll before its time was requested by a person.
fn cause(input: &PollInput, poll: &PollFacts<'_>) -> String {
    if let Some(cause) = poll.cause {
        return cause.to_owned();
    }
    match (&input.schedule.why.cause, input.schedule.next_at) {
        (_, Some(planned)) if poll.at < planned => Cause::Asked.code(),
        (Some(cause), _) => cause.clone(),
        (None, _) => Cause::First.code(),
    }
}

fn outcome(reading: &JudgedReading) -> Outcome {
    match reading {
        JudgedReading::Document { .. } => Outcome::Seen,
        JudgedReading::Unchanged { .. } => Outcome::Unchanged,
        JudgedReading::Gone => Outcome::Gone,
        JudgedReading::Damaged { .. } => Outcome::Damaged,
        JudgedReading::Refused { .. } => Outcome::Refused,
        JudgedReading::Failed { .. } => Outcome::Failed,
    }
}

/// Describes a refusal, and what a person can do about it.
pub fn refusal(status: u16, pace: Option<&DomainPace>) -> String {
    let until = pace.and_then(|p| p.not_before);
    match (status, until) {
        (401, _) => "401: the server wants a login; set it on the page of the feed, or with \
                     `tidings feed set FEED --login @FILE`"
            .to_owned(),
        (403, _) => {
            "403: the server forbids it; it may block readers, or the feed is private".to_owned()
        }
        (429, Some(until)) => {
            format!("429: too many requests for this domain; waiting until {until}")
        }
        (451, _) => "451: not available for legal reasons".to_owned(),
        (status, _) => format!("{status}: the server refused"),
    }
}

/// Returns the validators for a request to `url`: only those that this URL gave. The origin of very
/// old validators is unknown; they are sent to any URL.
pub fn validators(input: &PollInput, url: &Url) -> fetch::Validators {
    if input.document.validators.of.is_some_and(|of| of != source(url)) {
        return fetch::Validators::default();
    }
    fetch::Validators {
        etag: input.document.validators.etag.clone(),
        last_modified: input.document.validators.last_modified.clone(),
    }
}

/// A digest of the URL that gave validators.
fn source(url: &Url) -> i64 {
    let digest = Sha256::digest(url.as_str());
    digest.iter().take(8).fold(0, |sum, byte| sum << 8 | i64::from(*byte))
}

/// Returns the domain of the feed's next request.
pub fn domain(input: &PollInput) -> Domain {
    input.location.current().domain()
}

#[cfg(test)]
mod tests;

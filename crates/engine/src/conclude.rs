//! What a poll's result means for the feed: what is kept, when it is polled next, and why. Pure:
//! the same input gives the same record.

mod keep;

use std::time::Duration;

use feed::{DocumentDates, Domain, Observed, Outcome, Time, Window};
use parse::Document;
use polling::hints::{self, CacheHints, HintReading};
use polling::pace::DomainPace;
use polling::{Bounds, Learned, PolicySpec, Wish, backoff, spoken};
use store::{BodyHash, Pace, PollInput, PollRecord, Replan};
use url::Url;

use crate::budget::{self, BudgetRule};
use crate::event::{Budgeted, Finished, PollAnswer};
use crate::{Settings, chance};

/// A domain that was asked this shortly before a restart may have a request of ours under way.
const RECENTLY_ASKED: Duration = Duration::from_secs(60);
/// How long after a failure of our own network a feed is tried again.
const OUR_NETWORK_WAIT: Duration = Duration::from_secs(60);

/// What an exchange brought.
#[expect(clippy::large_enum_variant, reason = "one a poll, never stored in bulk")]
pub enum Reading {
    Document {
        document: Document,
        observed: Observed,
        dates: DocumentDates,
        validators: fetch::Validators,
        body_hash: BodyHash,
    },
    /// 304, or the same bytes. Validators that came replace the old ones one by one.
    Unchanged {
        validators: fetch::Validators,
    },
    Gone,
    Refused {
        detail: String,
    },
    Failed {
        detail: String,
        our_network: bool,
        candidates: Vec<Url>,
    },
}

/// The poll's way there and back.
pub struct Trip<'a> {
    pub at: Time,
    pub ended: Time,
    /// Why it was made, in short, where a strategy planned it.
    pub cause: Option<&'a str>,
    /// Where the last request went.
    pub url: &'a Url,
    /// It was redirected, and every redirect was permanent.
    pub permanent: bool,
    /// The domains that redirected it, and when they answered.
    pub passed: &'a [(Domain, Time)],
    pub bytes: u64,
    pub elapsed: Duration,
    pub facts: &'a fetch::Facts,
    /// The domain's pace, where it asked for less.
    pub pace: Option<DomainPace>,
}

pub struct Concluded {
    pub record: PollRecord,
    pub finished: Finished,
    pub answer: PollAnswer,
}

/// What follows from one poll.
pub fn conclude(
    input: &PollInput,
    reading: Reading,
    trip: &Trip<'_>,
    settings: &Settings,
    budget: Option<&BudgetRule>,
) -> Concluded {
    let outcome = outcome(&reading);
    let window_times = input.window.times();
    let observation = match &reading {
        Reading::Document { observed, .. } => observed.observation(trip.at),
        _ => Window::without_document(&window_times, trip.at, outcome),
    };
    let (spec, bounds) = rule(input, settings);
    let budget = budget.filter(|rule| rule.binds(input));
    let policy = budget.map_or(spec.policy, BudgetRule::policy);
    let mut learned = match budget {
        Some(rule) => rule.learned(input),
        None => Learned::decode(&policy, &input.learned),
    };
    policy.learn(&mut learned, &observation);
    let wish = policy.wish(&learned, &observation, &bounds);

    let our_network = matches!(reading, Reading::Failed { our_network: true, .. });
    let blamed = !outcome.is_success() && outcome != Outcome::Gone && !our_network;
    let failures = match outcome {
        Outcome::Seen | Outcome::Unchanged | Outcome::Gone => 0,
        _ => input.failures + u32::from(blamed),
    };
    let next = if outcome.is_success() {
        after_success(input, &reading, observation.window, wish.at, trip, settings)
    } else {
        after_failure(input, wish, failures, our_network, trip, settings)
    };
    let budgeted = budget.map(|rule| {
        let from = if outcome.is_success() {
            let earliest = trip.at + bounds.alpha;
            after_success(input, &reading, observation.window, earliest, trip, settings).at
        } else {
            next.at
        };
        let last = if outcome.is_success() { Some(trip.at) } else { input.last_success_at };
        let tracked = rule.tracked_as(&learned, input, last, observation.window.len());
        Box::new(Budgeted { tracked, from, latest: latest(input, trip.at) })
    });
    let learned = learned.encode();

    let mut record = PollRecord::empty(input.id, input.generation, trip.at, outcome, next.at);
    record.status = trip.facts.status;
    record.failures = failures;
    record.window_len = observation.window.len() as u32;
    record.overlap = observation.overlap as u32;
    record.suspected_miss = observation.suspected_miss;
    record.bytes = trip.bytes;
    record.elapsed = trip.elapsed;
    record.wanted_at = Some(wish.at);
    record.cause = Some(cause(input, trip));
    record.reason = Some(match budget {
        Some(rule) => format!("budget of {rule}: its next poll is still to be planned"),
        None => format!("{policy}: {}", wish.why.words()),
    });
    record.next_cause = Some(next.cause.unwrap_or_else(|| wish.why.code()));
    record.held = next.held;
    record.learned = (learned != input.learned).then_some(learned);
    record.domains = paces(trip);
    keep::follow_redirects(&mut record, input, trip, outcome);
    let mut answer = PollAnswer {
        feed: input.id,
        outcome,
        n_new: observation.new.len(),
        suspected_miss: observation.suspected_miss,
        next_poll: Some(next.at),
        detail: String::new(),
        candidates: Vec::new(),
        bytes: trip.bytes,
        not_recorded: None,
    };
    keep::keep_reading(&mut record, &mut answer, input, reading, trip);
    let next_at = Some(next.at).filter(|_| outcome != Outcome::Gone && !input.paused);
    answer.next_poll = next_at;
    let effective = record.effective_url.as_ref().or(input.effective_url.as_ref());
    let finished = Finished {
        feed: input.id,
        domain: effective.unwrap_or(&input.url).domain(),
        next_at,
        generation: input.generation + 1,
        budgeted: budgeted.filter(|_| next_at.is_some()),
    };
    Concluded { record, finished, answer }
}

/// Why this poll was made. What comes before its time was asked for by somebody.
fn cause(input: &PollInput, trip: &Trip<'_>) -> String {
    if let Some(cause) = trip.cause {
        return cause.to_owned();
    }
    match (&input.cause, input.next_at) {
        (_, Some(planned)) if trip.at < planned => "asked for".to_owned(),
        (Some(cause), _) => cause.clone(),
        (None, _) => "first poll".to_owned(),
    }
}

fn outcome(reading: &Reading) -> Outcome {
    match reading {
        Reading::Document { .. } => Outcome::Seen,
        Reading::Unchanged { .. } => Outcome::Unchanged,
        Reading::Gone => Outcome::Gone,
        Reading::Refused { .. } => Outcome::Refused,
        Reading::Failed { .. } => Outcome::Failed,
    }
}

/// The policy and bounds that hold for a feed: its own, else those of its tags, else the default.
pub fn rule(input: &PollInput, settings: &Settings) -> (PolicySpec, Bounds) {
    let mut places = budget::places(input);
    let spec = places.clone().find_map(|s| s.policy.as_deref());
    let spec = spec.and_then(|text| text.parse().ok());
    let spec: PolicySpec = spec.unwrap_or_else(|| settings.policy.clone());
    let alpha = places.clone().find_map(|s| s.alpha);
    let beta = places.clone().find_map(|s| s.beta);
    // A promise of the longest delay is the longest interval.
    let max_delay = places.find_map(|s| s.max_delay);
    let beta = [beta, max_delay].into_iter().flatten().min();
    let bounds = spec.bounds(settings.bounds).narrowed(alpha, beta);
    (spec, bounds)
}

/// When the feed is polled next, and what made it another time than the policy wished.
struct Next {
    at: Time,
    held: Option<String>,
    /// Why, in short, where it is not the policy's own reason.
    cause: Option<String>,
}

fn after_success(
    input: &PollInput,
    reading: &Reading,
    window: &[Time],
    wanted_at: Time,
    trip: &Trip<'_>,
    settings: &Settings,
) -> Next {
    let own = match reading {
        Reading::Document { document, .. } => &document.hints,
        _ => &input.hints,
    };
    let cache = CacheHints { max_age: trip.facts.max_age, expires: trip.facts.expires };
    let reading = if settings.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let hinted = hints::apply(wanted_at, trip.at, own, cache, window, reading);
    let cause = hinted.followed.map(|hint| format!("hint: {}", hint.words()));
    Next { at: hinted.at, held: hinted.words(), cause }
}

fn after_failure(
    input: &PollInput,
    wish: Wish,
    failures: u32,
    our_network: bool,
    trip: &Trip<'_>,
    settings: &Settings,
) -> Next {
    if our_network {
        let held = "our own network seems to be down; the feed is not to blame".to_owned();
        let at = trip.at + OUR_NETWORK_WAIT;
        return Next { at, held: Some(held), cause: Some("our network was down".to_owned()) };
    }
    let jitter = chance::unit(settings.seed, input.id, input.generation);
    let wait = backoff::after(failures, wish.at.since(trip.at), jitter);
    let at = trip.at + wait;
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    let mut next = Next {
        at,
        held: Some(format!("it failed {times}, so it is left alone for {}", spoken(wait))),
        cause: Some(format!("retry after {failures} failures")),
    };
    if let Some(until) = trip.pace.and_then(|p| p.not_before)
        && until > at
    {
        next.at = until;
        next.held = Some(format!("{} asked us to wait until {until}", Domain::of(trip.url)));
        next.cause = Some(format!("after Retry-After until {until}"));
    }
    next
}

/// The pace of every domain that was asked, for the store.
fn paces(trip: &Trip<'_>) -> Vec<Pace> {
    let passed = trip.passed.iter().map(|(domain, at)| Pace {
        domain: domain.clone(),
        last_request_at: Some(*at),
        not_before: None,
        reason: None,
    });
    passed.chain([last_pace(trip)]).collect()
}

fn last_pace(trip: &Trip<'_>) -> Pace {
    let not_before = trip.pace.and_then(|p| p.not_before);
    Pace {
        domain: Domain::of(trip.url),
        last_request_at: Some(trip.ended),
        not_before,
        reason: not_before.map(|until| match trip.facts.status {
            Some(status) => format!("it answered {status} and asked us to wait until {until}"),
            None => format!("it asked us to wait until {until}"),
        }),
    }
}

/// A refusal in words, with what to do.
pub fn refusal(status: u16, pace: Option<&DomainPace>) -> String {
    let until = pace.and_then(|p| p.not_before);
    match (status, until) {
        (401, _) => "401: the server wants a login; put it into the URL as \
                     https://user:password@host/…"
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

pub fn validators(input: &PollInput) -> fetch::Validators {
    fetch::Validators {
        etag: input.validators.etag.clone(),
        last_modified: input.validators.last_modified.clone(),
    }
}

/// Where the feed's next request goes.
pub fn domain(input: &PollInput) -> Domain {
    input.effective_url.as_ref().unwrap_or(&input.url).domain()
}

/// A domain's pace as it was stored. A request may have been under way when we stopped: a domain
/// that was asked shortly before has to wait for its gap from now on.
pub fn stored_pace(stored: &Pace, now: Time) -> DomainPace {
    let recent = stored.last_request_at.filter(|at| now.since(*at) < RECENTLY_ASKED);
    DomainPace {
        last_request_end: recent.map(|_| now),
        not_before: stored.not_before.filter(|t| *t > now),
        refusals: 0,
    }
}

/// The promise of the longest delay, from the last poll on.
fn latest(input: &PollInput, last: Time) -> Option<Time> {
    let max_delay = budget::places(input).find_map(|s| s.max_delay);
    max_delay.map(|delay| last + delay)
}

/// What the strategy needs of a feed that was not just polled.
pub fn budgeted(rule: &BudgetRule, input: &PollInput, settings: &Settings) -> Budgeted {
    let (_, bounds) = self::rule(input, settings);
    let from = match (input.last_poll_at, input.failures) {
        (None, _) => input.added_at,
        (Some(last), 0) => last + bounds.alpha,
        (Some(last), _) => input.next_at.unwrap_or(last),
    };
    let latest = input.last_poll_at.and_then(|last| latest(input, last));
    Budgeted { tracked: rule.tracked(input), from, latest }
}

/// Decides anew from the last poll, without a new observation. A feed that is backing off, or was
/// never polled, keeps its time.
pub fn replanned(input: &PollInput, settings: &Settings, now: Time) -> Replan {
    let (spec, bounds) = rule(input, settings);
    let times = input.window.times();
    let at = input.last_poll_at.unwrap_or(now);
    let observation = Window::without_document(&times, at, Outcome::Unchanged);
    let learned = Learned::decode(&spec.policy, &input.learned);
    let wish = spec.policy.wish(&learned, &observation, &bounds);
    let next_at = match (input.last_poll_at, input.failures) {
        (None, _) => now,
        (Some(_), 0) => wish.at.max(now),
        (Some(_), _) => input.next_at.unwrap_or(now),
    };
    Replan {
        wanted_at: wish.at,
        next_at,
        reason: format!("{}: {}", spec.policy, wish.why.words()),
        cause: wish.why.code(),
    }
}

#[cfg(test)]
mod tests;

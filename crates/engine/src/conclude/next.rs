//! When a feed is polled next, and why: the policy or the budget, then hints, backoff and
//! Retry-After in this order. Every decision is a call into `polling`.

use std::time::Duration;

use feed::{Cause, Domain, Hints, Observation, Outcome, Time, Window};
use polling::hints::{self, CacheHints, HintReading};
use polling::{Bounds, Learned, PolicySpec, backoff, spoken};
use store::{Decision, NextPoll, NextPollReason, PollInput, PushTrustChange, Replan};

use super::{Reading, Trip, outcome, pushed};
use crate::budget::{self, BudgetRule, Budgeted};
use crate::{Settings, chance};

/// How long after a failure of our own network a feed is tried again.
const OUR_NETWORK_WAIT: Duration = Duration::from_secs(60);

/// What was decided after a poll.
pub struct Decided {
    pub at: Time,
    /// The rule's own wish, before anything acted on it.
    pub wanted_at: Time,
    /// Why, in words and in short.
    pub reason: String,
    pub cause: String,
    pub held: Option<String>,
    pub failures: u32,
    pub learned: Vec<u8>,
    /// Where the feed is under the budget.
    pub budgeted: Option<Box<Budgeted>>,
}

impl Decided {
    /// What is stored of it, and what only the strategy needs.
    pub fn split(self) -> (Decision, Option<Box<Budgeted>>) {
        let next = NextPoll {
            at: self.at,
            wanted_at: Some(self.wanted_at),
            why: NextPollReason {
                cause: Some(self.cause),
                reason: Some(self.reason),
                held: self.held,
            },
        };
        let decision = Decision { next, learned: Some(self.learned), failures: self.failures };
        (decision, self.budgeted)
    }
}

/// Learns from a poll and decides the next one.
pub fn decide(
    input: &PollInput,
    reading: &Reading,
    observation: &Observation<'_>,
    push: Option<PushTrustChange>,
    trip: &Trip<'_>,
    settings: &Settings,
    budget: Option<&BudgetRule>,
) -> Decided {
    let (spec, bounds) = rule(input, settings);
    let budget = budget.filter(|rule| rule.binds(input));
    let policy = budget.map_or(spec.policy, BudgetRule::policy);
    let mut learned = match budget {
        Some(rule) => rule.learned(input),
        None => Learned::decode(&policy, &input.learned),
    };
    policy.learn(&mut learned, observation);
    let wish = policy.wish(&learned, observation, &bounds);

    let outcome = outcome(reading);
    let our_network = matches!(reading, Reading::Failed { our_network: true, .. });
    let failures = match outcome {
        Outcome::Seen | Outcome::Unchanged | Outcome::Gone => 0,
        _ => input.history.failures + u32::from(!our_network),
    };
    let hinted =
        |wanted_at| after_success(input, reading, observation.window, wanted_at, trip, settings);
    let net = push.and_then(|note| pushed::safety_net(input, note.trust, trip.at, settings));
    let next = if outcome.is_success() {
        netted(input, hinted(wish.at), net)
    } else {
        after_failure(input, wish.at, failures, our_network, trip, settings)
    };
    let budgeted = budget.map(|rule| {
        let (last, from) = if outcome.is_success() {
            (Some(trip.at), netted(input, hinted(trip.at + bounds.alpha), net).at)
        } else {
            (input.history.last_success_at, next.at)
        };
        let tracked = rule.tracked_as(&learned, input, last, observation.window.len());
        Box::new(Budgeted { tracked, from, latest: latest(input, trip.at, from) })
    });
    Decided {
        at: next.at,
        wanted_at: wish.at,
        reason: match budget {
            Some(rule) => format!("budget of {rule}: the next poll is not planned yet"),
            None => format!("{policy}: {}", wish.why.words()),
        },
        cause: next.cause.unwrap_or_else(|| wish.why.code()),
        held: next.held,
        failures,
        learned: learned.encode(),
        budgeted,
    }
}

/// The policy and bounds that hold for a feed: its own, else those of its tags, else the default.
fn rule(input: &PollInput, settings: &Settings) -> (PolicySpec, Bounds) {
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
        _ => &input.document.hints,
    };
    let cache = CacheHints { max_age: trip.facts.max_age, expires: expires(trip) };
    hinted(wanted_at, trip.at, own, cache, window, settings)
}

/// A wish after the hints that came with the poll at `last`.
fn hinted(
    wanted_at: Time,
    last: Time,
    own: &Hints,
    cache: CacheHints,
    window: &[Time],
    settings: &Settings,
) -> Next {
    let reading = if settings.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let hinted = hints::apply(wanted_at, last, own, cache, window, reading);
    let cause = hinted.followed.map(|hint| Cause::Hint(hint.words()).code());
    Next { at: hinted.at, held: hinted.words(), cause }
}

/// Until when the answer is fresh by `Expires`. Servers' clocks are wrong more often than what they
/// mean by it, so it counts from their own date; and not at all where there is a `max-age`
/// (RFC 9111, 5.3).
fn expires(trip: &Trip<'_>) -> Option<Time> {
    let at = trip.facts.expires.filter(|_| trip.facts.max_age.is_none())?;
    Some(trip.facts.date.map_or(at, |date| trip.at + at.since(date)))
}

/// While its hub pushes, a poll only checks on that.
fn netted(input: &PollInput, next: Next, net: Option<Time>) -> Next {
    match (input.subscription(), net) {
        (Some(push), Some(at)) if at > next.at => {
            Next { at, held: Some(pushed::held(push)), cause: Some(Cause::PushCheck.code()) }
        }
        _ => next,
    }
}

fn after_failure(
    input: &PollInput,
    wanted_at: Time,
    failures: u32,
    our_network: bool,
    trip: &Trip<'_>,
    settings: &Settings,
) -> Next {
    if our_network {
        let held = "our own network seems to be down; this is not the fault of the feed".to_owned();
        let at = trip.at + OUR_NETWORK_WAIT;
        return Next { at, held: Some(held), cause: Some(Cause::NetworkWasDown.code()) };
    }
    let jitter = chance::unit(settings.seed, input.id, input.generation);
    let wait = backoff::after(failures, wanted_at.since(trip.at), jitter);
    let at = trip.at + wait;
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    let mut next = Next {
        at,
        held: Some(format!("it failed {times}, so the next poll waits {}", spoken(wait))),
        cause: Some(Cause::Retry(failures).code()),
    };
    if let Some(until) = trip.pace.and_then(|p| p.not_before)
        && until > at
    {
        next.at = until;
        next.held = Some(format!("{} asked us to wait until {until}", Domain::of(trip.url)));
        next.cause = Some(Cause::RetryAfter(until).code());
    }
    next
}

/// The promise of the longest delay, from the last poll on. It binds the budget, not the publisher:
/// hints and backoff, after which the feed may be polled `from` then on, go before it.
fn latest(input: &PollInput, last: Time, from: Time) -> Option<Time> {
    let max_delay = budget::places(input).find_map(|s| s.max_delay);
    max_delay.map(|delay| (last + delay).max(from))
}

/// When a feed that was not just polled is next checked on, where its hub pushes.
fn net(input: &PollInput, last: Time, settings: &Settings) -> Option<Time> {
    let trust = input.subscription()?.trust;
    pushed::safety_net(input, trust, last, settings)
}

/// A wish of a feed that was not just polled, after the hints of the document it showed last. What
/// the answer around it said is not kept.
fn hinted_again(input: &PollInput, wanted_at: Time, last: Time, settings: &Settings) -> Next {
    let window = input.document.window.times();
    hinted(wanted_at, last, &input.document.hints, CacheHints::default(), &window, settings)
}

/// What the strategy needs of a feed that was not just polled; `None` where it is not under the
/// budget.
pub fn budgeted(
    rule: &BudgetRule,
    input: &PollInput,
    settings: &Settings,
) -> Option<Box<Budgeted>> {
    if !rule.binds(input) {
        return None;
    }
    let (_, bounds) = self::rule(input, settings);
    let from = match (input.history.last_poll_at, input.history.failures) {
        (None, _) => input.added_at,
        (Some(last), 0) => {
            let next = hinted_again(input, last + bounds.alpha, last, settings);
            next.at.max(net(input, last, settings).unwrap_or(last))
        }
        (Some(last), _) => input.schedule.next_at.unwrap_or(last),
    };
    let latest = input.history.last_poll_at.and_then(|last| latest(input, last, from));
    let mut tracked = rule.tracked(input);
    if settings.learn_relevant {
        // The rate is that of wanted entries already.
        tracked.selectivity = 1.0;
    }
    Some(Box::new(Budgeted { tracked, from, latest }))
}

/// Decides anew from the last poll, without a new observation. A feed that is backing off, or was
/// never polled, keeps its time.
pub fn replanned(input: &PollInput, settings: &Settings, now: Time) -> Replan {
    let (spec, bounds) = rule(input, settings);
    let times = input.document.window.times();
    let at = input.history.last_poll_at.unwrap_or(now);
    let observation = Window::without_document(&times, at, Outcome::Unchanged);
    let learned = Learned::decode(&spec.policy, &input.learned);
    let wish = spec.policy.wish(&learned, &observation, &bounds);
    let own = match (input.history.last_poll_at, input.history.failures) {
        (None, _) => Next { at: now, held: None, cause: None },
        (Some(last), 0) => hinted_again(input, wish.at.max(now), last, settings),
        (Some(_), _) => {
            let at = input.schedule.next_at.unwrap_or(now);
            Next {
                at,
                held: input.schedule.why.held.clone(),
                cause: input.schedule.why.cause.clone(),
            }
        }
    };
    let last = input.history.last_poll_at.filter(|_| input.history.failures == 0);
    let net = last.and_then(|last| net(input, last, settings)).filter(|net| *net > now);
    let next = netted(input, own, net);
    Replan {
        generation: input.generation,
        wanted_at: wish.at,
        next_at: next.at,
        reason: format!("{}: {}", spec.policy, wish.why.words()),
        cause: next.cause.unwrap_or_else(|| wish.why.code()),
        held: next.held,
    }
}

//! Decides the next poll of a feed: the policy or the budget, then hints, backoff and Retry-After,
//! in this order. Every decision is a call into `polling`.

use std::time::Duration;

use feed::{Cause, Domain, Hints, Observation, Outcome, Time, Window};
use polling::hints::{self, CacheHints, HintReading};
use polling::pace::DomainPace;
use polling::{Bounds, Learned, Policy, PolicySpec, backoff, spoken};
use store::{Decision, NextPoll, NextPollReason, PollInput, PushTrust, Replan};
use url::Url;

use super::pushed;
use crate::budget::{self, BudgetRule, Budgeted};
use crate::{Settings, chance};

/// The wait before a retry after our own network failed.
const OUR_NETWORK_WAIT: Duration = Duration::from_secs(60);

/// The part of a poll's result that the decision about the next poll needs.
#[derive(Clone, Copy)]
pub struct PollEvidence<'a> {
    pub at: Time,
    pub outcome: Outcome,
    /// The poll failed because our own network is down.
    pub our_network: bool,
    /// The observation from which the policy learns.
    pub observation: Observation<'a>,
    /// The hints of the document, or of the last one.
    pub hints: &'a Hints,
    /// The trust in the feed's pushes after this poll.
    pub trust: Option<PushTrust>,
    /// The address of the last request.
    pub url: &'a Url,
    pub facts: &'a fetch::ExchangeFacts,
    /// The domain's pace, if it asked for fewer requests.
    pub pace: Option<DomainPace>,
}

/// The weights that a price is divided by.
const WEIGHTS: (f64, f64) = (0.01, 1e6);

/// The decision about the next poll, with the part that only the strategy of a budget needs.
pub struct NextPollDecision {
    pub decision: Decision,
    /// Set if the feed is under the budget.
    pub budgeted: Option<Box<Budgeted>>,
}

/// Learns from a poll and decides the next one.
pub fn decide(
    input: &PollInput,
    evidence: &PollEvidence<'_>,
    settings: &Settings,
    budget: Option<&BudgetRule>,
) -> NextPollDecision {
    let (spec, bounds) = rule(input, settings);
    let budget = budget.filter(|rule| rule.binds(input));
    let policy = budget.map_or(spec.policy, BudgetRule::policy);
    let mut learned = match budget {
        Some(rule) => rule.learned(input),
        None => Learned::decode(&policy, &input.learned),
    };
    let (at, observation) = (evidence.at, &evidence.observation);
    policy.learn(&mut learned, observation);
    let wish = policy.wish(&learned, observation, &bounds);

    let failures = match evidence.outcome {
        Outcome::Seen | Outcome::Unchanged | Outcome::Gone => 0,
        _ => input.history.failures + u32::from(!evidence.our_network),
    };
    let is_success = evidence.outcome.is_success();
    let net = evidence.trust.and_then(|trust| pushed::safety_net(input, trust, at, settings));
    let hinted = |wanted_at| with_net(input, after_success(evidence, wanted_at, settings), net);
    let next = if is_success {
        hinted(wish.at)
    } else {
        after_failure(input, evidence, wish.at, failures, settings)
    };
    let budgeted = budget.map(|rule| {
        let (last, from) = if is_success {
            (Some(at), hinted(at + bounds.alpha).at)
        } else {
            (input.history.last_success_at, next.at)
        };
        let tracked = rule.tracked_as(&learned, input, last, observation.window.len());
        Box::new(Budgeted { tracked, from, latest: latest(input, at, from) })
    });
    let reason = match budget {
        Some(rule) => format!("budget of {rule}: the next poll is not planned yet"),
        None => format!("{policy}: {}", wish.why.words()),
    };
    let cause = next.cause.unwrap_or_else(|| wish.why.code());
    let why = NextPollReason { cause: Some(cause), reason: Some(reason), held: next.held };
    let next = NextPoll { at: next.at, wanted_at: Some(wish.at), why };
    let decision = Decision { next, learned: Some(learned.encode()), failures };
    NextPollDecision { decision, budgeted }
}

/// Returns the policy of a feed that is not under a budget.
pub fn policy(input: &PollInput, settings: &Settings) -> Policy {
    rule(input, settings).0.policy
}

/// Returns the policy and bounds of a feed: its own, else those of its tags, else the default.
fn rule(input: &PollInput, settings: &Settings) -> (PolicySpec, Bounds) {
    let mut places = budget::places(input);
    let spec = places.clone().find_map(|s| s.policy.as_deref());
    let spec = spec.and_then(|text| text.parse().ok());
    let mut spec: PolicySpec = spec.unwrap_or_else(|| settings.policy.clone());
    // The price is the waiting of one reader that a poll is worth. Several wait together.
    if let Policy::Tide { price, .. } = &mut spec.policy {
        *price = weighted_price(*price, budget::weight(input));
    }
    let alpha = places.clone().find_map(|s| s.alpha);
    let beta = places.clone().find_map(|s| s.beta);
    // A promise of the longest delay is the longest interval.
    let max_delay = places.find_map(|s| s.max_delay);
    let beta = [beta, max_delay].into_iter().flatten().min();
    let bounds = spec.bounds(settings.bounds).narrowed(alpha, beta);
    (spec, bounds)
}

/// Divides a price by the weight of the feed. A weight of 0 makes polls very dear.
fn weighted_price(price: Duration, weight: f64) -> Duration {
    if weight == 1.0 {
        return price;
    }
    let seconds = (price.as_secs_f64() / weight.clamp(WEIGHTS.0, WEIGHTS.1)).round();
    Duration::from_secs((seconds as u64).max(1))
}

/// The time of the next poll, and why it is not the time that the policy wants.
struct PlannedTime {
    at: Time,
    held: Option<String>,
    /// The code of the reason, if it is not the policy's own.
    cause: Option<String>,
}

/// The hints that a poll leaves behind.
struct PollHints<'a> {
    of_document: &'a Hints,
    of_cache: CacheHints,
    /// The publication times of the window.
    window: &'a [Time],
}

fn after_success(evidence: &PollEvidence<'_>, wanted_at: Time, settings: &Settings) -> PlannedTime {
    let (facts, window) = (evidence.facts, evidence.observation.window);
    let of_cache = CacheHints { max_age: facts.max_age, expires: expires(evidence) };
    let hints = PollHints { of_document: evidence.hints, of_cache, window };
    hinted(wanted_at, evidence.at, &hints, settings)
}

/// Applies the hints of the poll at `last` to the time that the policy wants.
fn hinted(wanted_at: Time, last: Time, hints: &PollHints<'_>, settings: &Settings) -> PlannedTime {
    let reading = if settings.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let PollHints { of_document, of_cache, window } = *hints;
    let hinted = hints::apply(wanted_at, last, of_document, of_cache, window, reading);
    let cause = hinted.followed.map(|hint| Cause::Hint(hint.words()).code());
    PlannedTime { at: hinted.at, held: hinted.words(), cause }
}

/// Returns the end of freshness by `Expires`. The clocks of servers are often wrong, so it counts
/// from the server's own date. A `max-age` overrides it (RFC 9111, 5.3).
fn expires(evidence: &PollEvidence<'_>) -> Option<Time> {
    let facts = evidence.facts;
    let at = facts.expires.filter(|_| facts.max_age.is_none())?;
    Some(facts.date.map_or(at, |date| evidence.at + at.since(date)))
}

/// Puts the next poll off until the safety net: while a hub pushes, polls only check the pushes.
fn with_net(input: &PollInput, next: PlannedTime, net: Option<Time>) -> PlannedTime {
    match (input.subscription(), net) {
        (Some(push), Some(at)) if at > next.at => {
            PlannedTime { at, held: Some(pushed::held(push)), cause: Some(Cause::PushCheck.code()) }
        }
        _ => next,
    }
}

fn after_failure(
    input: &PollInput,
    evidence: &PollEvidence<'_>,
    wanted_at: Time,
    failures: u32,
    settings: &Settings,
) -> PlannedTime {
    if evidence.our_network {
        let held = "our own network seems to be down; this is not the fault of the feed".to_owned();
        let at = evidence.at + OUR_NETWORK_WAIT;
        return PlannedTime { at, held: Some(held), cause: Some(Cause::NetworkWasDown.code()) };
    }
    let jitter = chance::unit(settings.seed, input.id, input.generation);
    let wait = backoff::after(failures, wanted_at.since(evidence.at), jitter);
    let at = evidence.at + wait;
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    let mut next = PlannedTime {
        at,
        held: Some(format!("it failed {times}, so the next poll waits {}", spoken(wait))),
        cause: Some(Cause::Retry(failures).code()),
    };
    if let Some(until) = evidence.pace.and_then(|p| p.not_before)
        && until > at
    {
        next.at = until;
        next.held = Some(format!("{} asked us to wait until {until}", Domain::of(evidence.url)));
        next.cause = Some(Cause::RetryAfter(until).code());
    }
    next
}

/// Returns the latest time by a promise of the longest delay. The promise binds the budget only:
/// hints and backoff, which allow polls `from` a time on, come first.
fn latest(input: &PollInput, last: Time, from: Time) -> Option<Time> {
    let max_delay = budget::places(input).find_map(|s| s.max_delay);
    max_delay.map(|delay| (last + delay).max(from))
}

/// Returns the time of the safety net for a feed that was not just polled.
fn net(input: &PollInput, last: Time, settings: &Settings) -> Option<Time> {
    let trust = input.subscription()?.trust;
    pushed::safety_net(input, trust, last, settings)
}

/// Applies the hints of the last document to a feed that was not just polled. The store does not
/// keep the cache headers of that poll.
fn hinted_again(
    input: &PollInput,
    wanted_at: Time,
    last: Time,
    settings: &Settings,
) -> PlannedTime {
    let window = input.document.window.times();
    let (of_document, of_cache) = (&input.document.hints, CacheHints::default());
    hinted(wanted_at, last, &PollHints { of_document, of_cache, window: &window }, settings)
}

/// Returns the strategy's view of a feed that was not just polled; `None` if the feed is not under
/// the budget.
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
        // The rate counts relevant entries only.
        tracked.selectivity = 1.0;
    }
    Some(Box::new(Budgeted { tracked, from, latest }))
}

/// Decides the next poll again, without a new observation. A feed that is backing off, or was never
/// polled, keeps its time.
pub fn replanned(input: &PollInput, settings: &Settings, now: Time) -> Replan {
    let (spec, bounds) = rule(input, settings);
    let times = input.document.window.times();
    let at = input.history.last_poll_at.unwrap_or(now);
    let observation = Window::without_document(&times, at, Outcome::Unchanged);
    let learned = Learned::decode(&spec.policy, &input.learned);
    let wish = spec.policy.wish(&learned, &observation, &bounds);
    let own = match (input.history.last_poll_at, input.history.failures) {
        (None, _) => PlannedTime { at: now, held: None, cause: None },
        (Some(last), 0) => hinted_again(input, wish.at.max(now), last, settings),
        (Some(_), _) => {
            let at = input.schedule.next_at.unwrap_or(now);
            PlannedTime {
                at,
                held: input.schedule.why.held.clone(),
                cause: input.schedule.why.cause.clone(),
            }
        }
    };
    let last = input.history.last_poll_at.filter(|_| input.history.failures == 0);
    let net = last.and_then(|last| net(input, last, settings)).filter(|net| *net > now);
    let next = with_net(input, own, net);
    Replan {
        generation: input.generation,
        wanted_at: wish.at,
        next_at: next.at,
        reason: format!("{}: {}", spec.policy, wish.why.words()),
        cause: next.cause.unwrap_or_else(|| wish.why.code()),
        held: next.held,
    }
}

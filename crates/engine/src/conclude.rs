//! What a poll's result means for the feed: what is kept, when it is polled next, and why. Pure:
//! the same input gives the same record.

use std::time::Duration;

use feed::{
    DocumentDates, Domain, FeedUrl, Observed, Outcome, Sighting, Time, Window, WindowEntry, repair,
};
use parse::Document;
use polling::hints::{self, CacheHints, HintReading};
use polling::pace::DomainPace;
use polling::{Bounds, Learned, PolicySpec, Wish, backoff, spoken};
use store::{BodyHash, Edited, FeedFacts, Gone, Moved, NewEntry, Pace, PollInput, PollRecord, Replan};
use url::Url;

use crate::event::{Finished, PollAnswer};
use crate::{Settings, chance};

/// A permanent redirect is remembered when it was seen this often in a row.
const MOVED_COUNT_BELIEVED: u32 = 2;
/// After so many failures at a remembered redirect's target, the subscribed URL is tried again.
const EFFECTIVE_URL_FAILURES_MAX: u32 = 3;
/// A domain that was asked this shortly before a restart may have a request of ours under way.
const RECENTLY_ASKED: Duration = Duration::from_secs(60);
/// How long after a failure of our own network a feed is tried again.
const OUR_NETWORK_WAIT: Duration = Duration::from_secs(60);

/// What an exchange brought.
pub enum Reading {
    Document {
        document: Document,
        observed: Observed,
        dates: DocumentDates,
        validators: fetch::Validators,
        body_hash: BodyHash,
    },
    /// 304, or the same bytes. Validators that came replace the old ones one by one.
    Unchanged { validators: fetch::Validators },
    Gone,
    Refused { detail: String },
    Failed { detail: String, our_network: bool, candidates: Vec<Url> },
}

/// The poll's way there and back.
pub struct Trip<'a> {
    pub at: Time,
    pub ended: Time,
    /// Where the last request went.
    pub url: &'a Url,
    /// It was redirected, and every redirect was permanent.
    pub permanent: bool,
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
) -> Concluded {
    let outcome = outcome(&reading);
    let window_times = input.window.times();
    let observation = match &reading {
        Reading::Document { observed, .. } => observed.observation(trip.at),
        _ => Window::without_document(&window_times, trip.at, outcome),
    };
    let (spec, bounds) = rule(input, settings);
    let mut learned = Learned::decode(&spec.policy, &input.learned);
    spec.policy.learn(&mut learned, &observation);
    let wish = spec.policy.wish(&learned, &observation, &bounds);

    let our_network = matches!(reading, Reading::Failed { our_network: true, .. });
    let blamed = !outcome.is_success() && outcome != Outcome::Gone && !our_network;
    let failures = match outcome {
        Outcome::Seen | Outcome::Unchanged | Outcome::Gone => 0,
        _ => input.failures + u32::from(blamed),
    };
    let next = if outcome.is_success() {
        after_success(input, &reading, observation.window, wish, trip, settings)
    } else {
        after_failure(input, wish, failures, our_network, trip, settings)
    };
    let learned = learned.encode();

    let mut record =
        PollRecord::empty(input.id, input.generation, trip.at, outcome, next.at);
    record.status = trip.facts.status;
    record.failures = failures;
    record.window_len = observation.window.len() as u32;
    record.overlap = observation.overlap as u32;
    record.suspected_miss = observation.suspected_miss;
    record.bytes = trip.bytes;
    record.elapsed = trip.elapsed;
    record.wanted_at = Some(wish.at);
    record.cause = Some(input.cause.clone().unwrap_or_else(|| "first poll".to_owned()));
    record.reason = Some(format!("{}: {}", spec.policy, wish.why.words()));
    record.next_cause = Some(next.cause.unwrap_or_else(|| wish.why.code()));
    record.held = next.held;
    record.learned = (learned != input.learned).then_some(learned);
    record.domains = vec![pace(trip)];
    follow_redirects(&mut record, input, trip, outcome);
    let mut answer = PollAnswer {
        feed: input.id,
        outcome,
        n_new: observation.new.len(),
        suspected_miss: observation.suspected_miss,
        next_poll: Some(next.at),
        detail: String::new(),
        candidates: Vec::new(),
        bytes: trip.bytes,
    };
    keep_reading(&mut record, &mut answer, input, reading, trip);
    let next_at = Some(next.at).filter(|_| outcome != Outcome::Gone && !input.paused);
    answer.next_poll = next_at;
    let effective = record.effective_url.as_ref().or(input.effective_url.as_ref());
    let finished = Finished {
        feed: input.id,
        domain: effective.unwrap_or(&input.url).domain(),
        next_at,
        generation: input.generation + 1,
    };
    Concluded { record, finished, answer }
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
    let own = std::iter::once(&input.settings);
    let mut places = own.chain(input.tag_settings.iter().map(|(_, s)| s));
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
    wish: Wish,
    trip: &Trip<'_>,
    settings: &Settings,
) -> Next {
    let own = match reading {
        Reading::Document { document, .. } => &document.hints,
        _ => &input.hints,
    };
    let cache = CacheHints { max_age: trip.facts.max_age, expires: trip.facts.expires };
    let reading =
        if settings.follow_hints { HintReading::LowerBound } else { HintReading::Ignore };
    let hinted = hints::apply(wish.at, trip.at, own, cache, window, reading);
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
    let times = if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
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

/// The domain's pace, for the store.
fn pace(trip: &Trip<'_>) -> Pace {
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

/// A permanent redirect that repeats becomes the feed's effective URL; one that leads nowhere for
/// long is forgotten.
fn follow_redirects(record: &mut PollRecord, input: &PollInput, trip: &Trip<'_>, outcome: Outcome) {
    if !outcome.is_success() {
        record.moved.clone_from(&input.moved);
        let remembered = input.effective_url.is_some();
        if remembered && record.failures >= EFFECTIVE_URL_FAILURES_MAX {
            record.effective_url = Some(input.url.clone());
        }
        return;
    }
    if !trip.permanent {
        return;
    }
    let Ok(to) = FeedUrl::parse(trip.url.as_str()) else { return };
    let count = match &input.moved {
        Some(moved) if moved.to == to => moved.count + 1,
        _ => 1,
    };
    if count >= MOVED_COUNT_BELIEVED {
        record.effective_url = Some(to);
    } else {
        record.moved = Some(Moved { to, count });
    }
}

/// Puts what was read into the record, and says it in words.
fn keep_reading(
    record: &mut PollRecord,
    answer: &mut PollAnswer,
    input: &PollInput,
    reading: Reading,
    trip: &Trip<'_>,
) {
    let feed = input.url.masked();
    match reading {
        Reading::Unchanged { validators } => {
            answer.detail = "unchanged".to_owned();
            let kept = store::Validators {
                etag: validators.etag.or_else(|| input.validators.etag.clone()),
                last_modified: validators
                    .last_modified
                    .or_else(|| input.validators.last_modified.clone()),
            };
            record.validators = (kept != input.validators).then_some(kept);
        }
        Reading::Document { document, observed, dates, validators, body_hash } => {
            answer.detail = seen_in_words(&observed);
            let previous = input.last_success_at;
            keep_document(record, document, &observed, dates, trip.at, previous);
            record.validators = Some(store::Validators {
                etag: validators.etag,
                last_modified: validators.last_modified,
            });
            record.body_hash = Some(body_hash);
            record.window = Some(observed.window).filter(|w| *w != input.window);
        }
        Reading::Gone => {
            let reason = "the publisher ended the feed (410 Gone); \
                          `tidings feed poll` asks once more, `tidings feed remove` removes it";
            record.gone = Some(Gone { at: trip.at, reason: reason.to_owned() });
            record.error = Some("410 Gone".to_owned());
            answer.detail = reason.to_owned();
        }
        Reading::Refused { detail } => {
            tracing::info!(feed, detail, "refused");
            record.error = Some(detail.clone());
            answer.detail = detail;
        }
        Reading::Failed { detail, our_network, candidates } => {
            tracing::info!(feed, detail, our_network, "failed");
            record.error = Some(detail.clone());
            answer.detail = detail;
            answer.candidates = candidates;
        }
    }
}

fn seen_in_words(observed: &Observed) -> String {
    let edited = observed.sightings.iter().filter(|s| s.1 == Sighting::Edited).count();
    let mut words = match observed.n_new() {
        0 => "nothing new".to_owned(),
        1 => "1 new entry".to_owned(),
        n => format!("{n} new entries"),
    };
    if edited > 0 {
        words.push_str(&format!(", {edited} edited"));
    }
    if observed.suspected_miss {
        words.push_str("; none of the entries before is left, so some may have been missed");
    }
    words
}

fn keep_document(
    record: &mut PollRecord,
    document: Document,
    observed: &Observed,
    dates: DocumentDates,
    at: Time,
    previous: Option<Time>,
) {
    record.facts = Some(FeedFacts {
        title: document.title,
        site: document.link,
        language: document.language,
        hub: document.hubs.into_iter().next(),
    });
    record.hints = Some(document.hints);
    let mut items: Vec<Option<feed::Item>> = document.items.into_iter().map(Some).collect();
    // Publishers put the newest on top; the stream runs from the oldest on.
    for (index, sighting, entry) in observed.sightings.iter().rev() {
        let WindowEntry { key, content, .. } = *entry;
        let Some(item) = items[*index].take() else { continue };
        match sighting {
            Sighting::New => {
                let published = repair(&item, dates, at, previous);
                record.new.push(NewEntry { key, item, published, content });
            }
            Sighting::Edited => record.edited.push(Edited { key, item, content }),
            Sighting::Known | Sighting::Returned => {}
        }
    }
    record.new.sort_by_key(|new| new.published.at);
}

/// A refusal in words, with what to do.
pub fn refusal(status: u16, pace: Option<&DomainPace>) -> String {
    let until = pace.and_then(|p| p.not_before);
    match (status, until) {
        (401, _) => "401: the server wants a login; put it into the URL as \
                     https://user:password@host/…"
            .to_owned(),
        (403, _) => "403: the server forbids it; it may block readers, or the feed is private"
            .to_owned(),
        (429, Some(until)) => format!("429: too many requests for this domain; waiting until {until}"),
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

//! `tidings feed why`: says when a feed is polled next, by which rule and figures, what delays it,
//! and how the last polls ended.

use engine::Clock;
use feed::Time;
use serde_json::{Value, json};
use store::{CloudRow, FeedRow, FeedState, PollRow, PushRow};

use super::feed::{find, next_poll};
use crate::access;
use crate::args::OneFeed;
use crate::config::{self, Config};
use crate::error::CliError;
use crate::output::{self, one_line, print_json, print_line, relative, shown_url, tamed};

const POLLS_SHOWN: u32 = 10;

pub fn run(one: &OneFeed) -> Result<(), CliError> {
    let config = config::read_offline(&one.place)?;
    let store = access::read(&config)?;
    let feed = store.feed(find(&store, &one.feed)?)?;
    let polls = store.polls(feed.id, POLLS_SHOWN)?;
    let pace = store.domain_states()?.into_iter().find(|p| p.domain.as_str() == feed.domain);
    let now = Clock::System.now();
    let held_domain = pace.and_then(|p| p.not_before).filter(|until| *until > now);
    let (push, cloud) = (store.push(feed.id)?, store.cloud(feed.id)?);
    let mut sentences = sentences(&feed, held_domain, now);
    sentences.extend(readers(&feed, store.readers(feed.id)?));
    sentences.extend(pushed(&feed, (push.as_ref(), cloud.as_ref()), &config, now));
    if one.json {
        return print_json(&json!({
            "feed": feed.id.0,
            "url": feed.location.url.masked(),
            "next_poll": next(&feed, held_domain, now).map(|t| t.to_string()),
            "wanted_at": feed.schedule.wanted_at.map(|t| t.to_string()),
            "rule": feed.schedule.why.reason,
            "held": feed.schedule.why.held,
            "why": sentences,
            "polls": polls.iter().map(poll_json).collect::<Vec<_>>(),
        }));
    }
    print_line(&format!("feed {}: {}", feed.id, feed.location.url))?;
    for sentence in &sentences {
        // It may quote a hub or a server.
        print_line(&tamed(sentence))?;
    }
    if polls.is_empty() {
        return Ok(());
    }
    let mut table = output::table(["Poll", "Outcome", "New", "Bytes", "Reason", "Remark"]);
    for poll in &polls {
        table.add_row([
            poll.at.to_string(),
            match poll.status {
                Some(status) => format!("{} ({status})", poll.outcome),
                None => poll.outcome.to_string(),
            },
            poll.n_new.to_string(),
            poll.bytes.to_string(),
            poll.cause().map_or_else(String::new, |cause| told(&cause.to_string())),
            one_line(&remark(poll), 60),
        ]);
    }
    print_line(&table.to_string())
}

/// Says how many people read the feed, where this is its weight.
fn readers(feed: &FeedRow, readers: Option<u64>) -> Option<String> {
    let n = readers?;
    let words = api::readers_words(n);
    Some(match feed.settings.weight {
        Some(weight) => format!("{words} Its weight is set to {weight} by hand."),
        None => words,
    })
}

/// Explains why a poll was made, in the same sentences as before the poll.
fn told(reason: &str) -> String {
    polling::explain(reason).unwrap_or_else(|| reason.to_owned())
}

/// Returns words with a full stop at the end.
fn ended(words: &str) -> String {
    if words.ends_with(['.', ')']) { words.to_owned() } else { format!("{words}.") }
}

fn next(feed: &FeedRow, held_domain: Option<Time>, now: Time) -> Option<Time> {
    next_poll(feed, now).map(|t| held_domain.map_or(t, |until| t.max(until)))
}

/// Returns the explanation in plain words, one thought in each sentence.
fn sentences(feed: &FeedRow, held_domain: Option<Time>, now: Time) -> Vec<String> {
    let mut said = Vec::new();
    match (feed.state(), next(feed, held_domain, now)) {
        (FeedState::Gone, _) => {
            let reason = feed.location.gone.as_ref().map_or("", |g| g.reason.as_str());
            said.push(format!("It is no longer polled: {reason}."));
            return said;
        }
        (FeedState::Paused, _) => {
            said.push("It is paused. To resume: tidings feed set FEED --resume".to_owned());
            return said;
        }
        (_, None) => said.push("It was never polled and is due now.".to_owned()),
        (_, Some(at)) if at <= now => said.push(format!(
            "It has been due since {at} ({}). It waits for its turn.",
            relative(at, now)
        )),
        (_, Some(at)) => said.push(format!("Next poll: {at} ({}).", relative(at, now))),
    }
    if let Some(reason) = &feed.schedule.why.reason {
        said.push(ended(reason));
    }
    if let (Some(wanted), Some(next)) = (feed.schedule.wanted_at, feed.schedule.next_at)
        && wanted != next
    {
        said.push(format!("The policy alone would poll it at {wanted}."));
    }
    if let Some(held) = &feed.schedule.why.held {
        said.push(format!("Moved: {}", ended(held)));
    }
    if let Some(until) = held_domain {
        said.push(format!(
            "{} asked us to wait until {until}. This applies to all its feeds.",
            feed.domain
        ));
    }
    if let Some(error) = feed.error() {
        said.push(format!("Last problem: {error}."));
    }
    said
}

/// Describes the hub that pushes the feed, or why none does.
fn pushed(
    feed: &FeedRow,
    (push, cloud): (Option<&PushRow>, Option<&CloudRow>),
    config: &Config,
    now: Time,
) -> Vec<String> {
    let mut said = Vec::new();
    if matches!(feed.state(), FeedState::Gone | FeedState::Paused) {
        return said;
    }
    match push {
        Some(push) => said.push(push_words(push, feed.schedule.next_at, now)),
        None if feed.facts.hub.is_some() && config.engine.push.public_url.is_none() => said.push(
            "Its hub could push new entries, but cannot reach us: set public_url in the \
             configuration."
                .to_owned(),
        ),
        None => {}
    }
    if let Some(name) = &feed.facts.cloud {
        said.push(cloud_words(name, cloud, now));
    }
    said
}

fn cloud_words(name: &str, cloud: Option<&CloudRow>, now: Time) -> String {
    let Some(cloud) = cloud else {
        return format!("It offers rssCloud notices at {name}, to which we did not subscribe.");
    };
    match cloud.lease_until.filter(|until| *until > now) {
        Some(until) => format!(
            "The rssCloud {name} promised notices until {until}. A notice brings the next poll \
             forward."
        ),
        None => {
            let why = cloud.error.as_deref().unwrap_or("the cloud has not called yet");
            format!("The rssCloud {name} sends no notices: {why}.")
        }
    }
}

fn push_words(push: &PushRow, next_poll: Option<Time>, now: Time) -> String {
    let hub = shown_url(&push.hub);
    let trouble = push.error.as_ref().map_or(String::new(), |error| format!(" ({error})"));
    let Some(until) = push.lease_until.filter(|until| *until > now) else {
        return format!("Its hub {hub} does not push it{trouble}. Next request: {}.", push.next_at);
    };
    match (push.pushed_at, next_poll) {
        (Some(last), Some(net)) if engine::is_push_trusted(push, now) => format!(
            "{hub} pushes it (last push {}, lease until {until}). The poll at {net} only \
             checks that.",
            relative(last, now)
        ),
        (Some(_), _) => format!(
            "{hub} promised to push it until {until}, but a poll found more than it pushed. \
             Polls continue until it has pushed reliably again."
        ),
        _ => format!("{hub} promised to push it until {until}. It is polled until the first push."),
    }
}

fn remark(poll: &PollRow) -> String {
    match &poll.error {
        Some(error) => error.clone(),
        None if poll.suspected_miss => "some entries may have been missed".to_owned(),
        None => poll.warnings.first().cloned().unwrap_or_default(),
    }
}

fn poll_json(poll: &PollRow) -> Value {
    json!({
        "at": poll.at.to_string(),
        "outcome": poll.outcome.word(),
        "status": poll.status,
        "new": poll.n_new,
        "window": poll.window_len,
        "overlap": poll.overlap,
        "suspected_miss": poll.suspected_miss,
        "bytes": poll.bytes,
        "made_because": poll.cause().map(|cause| cause.to_string()),
        "wanted_at": poll.wanted_at.map(|t| t.to_string()),
        "next_poll": poll.next_at.map(|t| t.to_string()),
        "error": poll.error,
        "warnings": poll.warnings,
    })
}

//! `tidings feed why`: when a feed is polled next, by which rule, from which figures, held back by
//! what, and what happened at the last polls.

use engine::Clock;
use feed::Time;
use serde_json::{Value, json};
use store::{FeedRow, PollRow, State};

use super::feed::find;
use crate::args::OneFeed;
use crate::failure::Failure;
use crate::output::{self, one_line, print_json, print_line, relative};
use crate::{access, config};

const POLLS_SHOWN: u32 = 10;

pub fn run(one: &OneFeed) -> Result<(), Failure> {
    let config = config::read_offline(&one.place)?;
    let store = access::read(&config)?;
    let feed = store.feed(find(&store, &one.feed)?)?;
    let polls = store.polls(feed.id, POLLS_SHOWN)?;
    let pace = store.domain_states()?.into_iter().find(|p| p.domain.as_str() == feed.domain);
    let now = Clock::System.now();
    let held_domain = pace.and_then(|p| p.not_before).filter(|until| *until > now);
    let sentences = sentences(&feed, held_domain, now);
    if one.json {
        return print_json(&json!({
            "feed": feed.id.0,
            "url": feed.url.masked(),
            "next_poll": next(&feed, held_domain).map(|t| t.to_string()),
            "wanted_at": feed.wanted_at.map(|t| t.to_string()),
            "rule": feed.reason,
            "held": feed.held,
            "why": sentences,
            "polls": polls.iter().map(poll_json).collect::<Vec<_>>(),
        }));
    }
    print_line(&format!("feed {}: {}", feed.id, feed.url))?;
    for sentence in &sentences {
        print_line(sentence)?;
    }
    if polls.is_empty() {
        return Ok(());
    }
    let mut table = output::table(["Poll", "Outcome", "New", "Bytes", "Made because", "Remark"]);
    for poll in &polls {
        table.add_row([
            poll.at.to_string(),
            match poll.status {
                Some(status) => format!("{} ({status})", poll.outcome),
                None => poll.outcome.to_string(),
            },
            poll.n_new.to_string(),
            poll.bytes.to_string(),
            poll.reason.clone().unwrap_or_default(),
            one_line(&remark(poll), 60),
        ]);
    }
    print_line(&table.to_string())
}

fn next(feed: &FeedRow, held_domain: Option<Time>) -> Option<Time> {
    if matches!(feed.state(), State::Gone | State::Paused) {
        return None;
    }
    feed.next_at.map(|t| held_domain.map_or(t, |until| t.max(until)))
}

/// The explanation in plain words, one thing a sentence.
fn sentences(feed: &FeedRow, held_domain: Option<Time>, now: Time) -> Vec<String> {
    let mut said = Vec::new();
    match (feed.state(), next(feed, held_domain)) {
        (State::Gone, _) => {
            let reason = feed.gone.as_ref().map_or("", |g| g.reason.as_str());
            said.push(format!("It is not polled any more: {reason}."));
            return said;
        }
        (State::Paused, _) => {
            said.push("It is paused; `tidings feed set FEED --resume` polls it again.".to_owned());
            return said;
        }
        (_, None) => said.push("It was never polled and is due at once.".to_owned()),
        (_, Some(at)) if at <= now => said.push(format!(
            "It is due since {at} ({}); it is polled as soon as its turn comes.",
            relative(at, now)
        )),
        (_, Some(at)) => said.push(format!("Next poll: {at} ({}).", relative(at, now))),
    }
    if let Some(reason) = &feed.reason {
        said.push(format!("Rule: {reason}."));
    }
    if let (Some(wanted), Some(next)) = (feed.wanted_at, feed.next_at)
        && wanted != next
    {
        said.push(format!("By the rule alone it would be {wanted}."));
    }
    if let Some(held) = &feed.held {
        said.push(format!("Held back or moved: {held}."));
    }
    if let Some(until) = held_domain {
        said.push(format!(
            "{} asked us to wait until {until}; that binds all its feeds.",
            feed.domain
        ));
    }
    if let Some(error) = &feed.error {
        said.push(format!("Last trouble: {error}."));
    }
    said
}

fn remark(poll: &PollRow) -> String {
    match &poll.error {
        Some(error) => error.clone(),
        None if poll.suspected_miss => "suspected miss: no entry in common".to_owned(),
        None => String::new(),
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
        "made_because": poll.reason,
        "wanted_at": poll.wanted_at.map(|t| t.to_string()),
        "next_poll": poll.next_at.map(|t| t.to_string()),
        "error": poll.error,
    })
}

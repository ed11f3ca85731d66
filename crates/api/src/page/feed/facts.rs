//! The details of a feed as names and values. Secrets in addresses are masked.

use std::time::Duration;

use feed::{FeedUrl, Time, mask_address};
use store::{CloudRow, FeedRow, PushRow};

use crate::page::parts::feed_row::{RATE_DAYS, daily_rate};
use crate::page::read::web_link;
use crate::sanitise;
use crate::words::{DisplayTime, count, plural, span};

/// A detail of a feed.
pub struct Fact {
    pub name: &'static str,
    pub value: String,
    pub href: Option<String>,
}

/// Returns the details that are known.
pub fn facts(
    row: &FeedRow,
    (push, cloud): (Option<&PushRow>, Option<&CloudRow>),
    n_since: u64,
    now: Time,
) -> Vec<Fact> {
    let mut facts = vec![address("Address", &row.location.url)];
    facts.extend(row.location.effective_url.as_ref().map(|url| address("New address", url)));
    facts.extend(row.location.pending.as_ref().map(|moved| Fact {
        name: "Redirects permanently to",
        value: format!(
            "{} (seen {})",
            moved.to.masked(),
            plural(moved.count.into(), "time", "times")
        ),
        href: None,
    }));
    facts.extend(row.facts.site.as_ref().map(|site| Fact {
        name: "Site",
        value: mask_address(site),
        href: web_link(site),
    }));
    let mut say = |name, value: Option<String>| {
        facts.extend(value.map(|value| Fact { name, value, href: None }));
    };
    say("Domain", Some(row.domain.clone()));
    say("Tags", (!row.tags.is_empty()).then(|| row.tags.join(", ")));
    say("Language", row.facts.language.clone());
    say("Categories", categories(row));
    let days = plural(RATE_DAYS.into(), "day", "days");
    say("New entries per day", Some(format!("{} (average of {days})", daily_rate(n_since))));
    say("Entries stored", Some(count(row.entries)));
    say("Polls so far", Some(count(row.generation.into())));
    say("Last poll", row.history.last_poll_at.map(|t| at(t, now)));
    say("Last success", row.history.last_success_at.map(|t| at(t, now)));
    say("Last new entries", row.history.last_change_at.map(|t| at(t, now)));
    say("Publisher's hints", hints(row));
    say("Hub", row.facts.hub.as_deref().map(mask_address));
    say("Push", push.map(|push| push_status(push, row.schedule.next_at, now)));
    say("rssCloud", row.facts.cloud.as_ref().map(|name| cloud_status(name, cloud, now)));
    say("Own settings", settings(row));
    say("Added", Some(at(row.added_at, now)));
    facts
}

/// Lists the publisher's categories of the feed, without markup.
fn categories(row: &FeedRow) -> Option<String> {
    const SHOWN_MAX: usize = 12;
    let shown = row.facts.categories.iter().take(SHOWN_MAX).map(|name| sanitise::text(name));
    let shown: Vec<String> = shown.collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Describes the push subscription: its lease and last push, or why there is none.
fn push_status(push: &PushRow, next_poll: Option<Time>, now: Time) -> String {
    let Some(until) = push.lease_until.filter(|until| *until > now) else {
        let why = push.error.as_deref().unwrap_or("the hub has not confirmed yet");
        return format!(
            "off: {why}. Next request {}",
            write_time(&DisplayTime::ahead(push.next_at, now))
        );
    };
    let last = match push.pushed_at {
        Some(last) => format!("last push {}", at(last, now)),
        None => "nothing received yet".to_owned(),
    };
    let net = next_poll.map_or(String::new(), |net| {
        format!("; next poll {}", write_time(&DisplayTime::ahead(net, now)))
    });
    format!("on until {}, {last}{net}", at(until, now))
}

/// Describes the subscription at an rssCloud.
fn cloud_status(name: &str, cloud: Option<&CloudRow>, now: Time) -> String {
    let Some(cloud) = cloud else { return name.to_owned() };
    match cloud.lease_until.filter(|until| *until > now) {
        Some(until) => {
            let notices = plural(cloud.n_notices, "notice", "notices");
            format!("{name}: on until {}, {notices}", at(until, now))
        }
        None => {
            let why = cloud.error.as_deref().unwrap_or("the cloud has not called yet");
            format!("{name}: off: {why}")
        }
    }
}

fn at(time: Time, now: Time) -> String {
    write_time(&DisplayTime::new(time, now))
}

fn write_time(time: &DisplayTime) -> String {
    format!("{} ({})", time.relative, time.exact)
}

/// Returns an address, as a link if nothing had to be masked. A masked link would not work.
fn address(name: &'static str, url: &FeedUrl) -> Fact {
    let masked = url.masked();
    let href = (masked == url.as_str()).then(|| masked.clone());
    Fact { name, value: masked, href }
}

fn hints(row: &FeedRow) -> Option<String> {
    let hints = &row.hints;
    let list =
        |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<String>>().join(", ");
    let day = |n: &u8| {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        days.get(usize::from(*n)).copied().unwrap_or("?")
    };
    let mut said = Vec::new();
    said.extend(hints.ttl.map(|ttl| format!("ttl {}", span(ttl))));
    said.extend(hints.update_every.map(|every| format!("updates every {}", span(every))));
    said.extend(hints.update_base.map(|base| format!("counted from {base}")));
    if !hints.skip_hours.is_empty() {
        said.push(format!("not at the hours {}", list(&hints.skip_hours)));
    }
    if !hints.skip_days.is_empty() {
        let days: Vec<&str> = hints.skip_days.iter().map(day).collect();
        said.push(format!("not on {}", days.join(", ")));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

fn settings(row: &FeedRow) -> Option<String> {
    let own = &row.settings;
    let interval = |name: &str, d: Option<Duration>| d.map(|d| format!("{name} {}", span(d)));
    let mut said = Vec::new();
    said.extend(own.policy.as_ref().map(|policy| format!("policy {policy}")));
    said.extend(interval("at least", own.alpha));
    said.extend(interval("at most", own.beta));
    said.extend(interval("delay at most", own.max_delay));
    said.extend(own.weight.map(|weight| format!("weight {weight}")));
    (!said.is_empty()).then(|| said.join(", "))
}

//! The list of feeds: whether all is well, then each feed in a line.

mod add;
mod lists;
mod params;

pub use add::{add, tags};
pub use lists::{export, import};

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use store::{Counts, FeedListFilter, FeedListPage, FeedListRow, FeedState};

use self::params::{ListParams, ORDERS};
use super::frame::{Frame, Section, Visitor};
use super::{Trouble, failed, shown};
use crate::advice::advice;
use crate::blocking::run_blocking;
use crate::words::{Moment, Now, count, per_day, plural};
use crate::{Context, Live, sanitise};

/// Some screens long: more is quicker searched than read.
const LINES: u32 = 50;

/// New entries a day are the mean of this many days.
pub const RATE_DAYS: u32 = 7;

#[derive(Template)]
#[template(path = "feeds.html")]
struct FeedsPage {
    frame: Frame,
    trouble: u64,
    verdict: Verdict,
    totals: Vec<Total>,
    nothing_yet: bool,
    tabs: Vec<Tab>,
    text: String,
    tag: Option<String>,
    state: Option<&'static str>,
    sorts: Vec<Choice>,
    lines: Vec<Line>,
    range: String,
    previous: Option<String>,
    next: Option<String>,
}

pub struct Verdict {
    pub class: &'static str,
    pub text: String,
}

struct Total {
    name: &'static str,
    value: String,
}

struct Tab {
    name: &'static str,
    count: String,
    href: String,
    chosen: bool,
}

struct Choice {
    word: &'static str,
    name: &'static str,
    chosen: bool,
}

pub struct Line {
    pub id: u32,
    pub title: String,
    pub address: String,
    /// Each with the list of its feeds.
    pub tags: Vec<(String, String)>,
    pub state: &'static str,
    pub state_class: &'static str,
    pub per_day: String,
    pub entries: String,
    pub last_poll: Option<Moment>,
    pub next_poll: Option<Moment>,
    pub no_next: &'static str,
    pub trouble: Option<Trouble>,
}

pub async fn list(
    State(context): State<Context>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let params = ListParams::read(query.as_deref());
    let now = visitor.now(&context);
    let query = FeedListFilter {
        text: params.text.clone(),
        tag: params.tag.clone(),
        state: params.state,
        order: params.order,
        from: params.from.clone(),
        backwards: params.backwards,
        limit: LINES,
    };
    let since = now.at - rate_span();
    let store = context.store.clone();
    let answer =
        run_blocking(move || Ok((store.counts(now.at)?, store.feed_page(&query, since)?))).await;
    match answer {
        Ok((counts, page)) => {
            let live = (context.live)();
            let frame = Frame::new(&context, visitor, Some(Section::Feeds));
            shown(&composed(frame, &live, &counts, page, &params, now))
        }
        Err(error) => failed(&context, visitor, &error),
    }
}

pub fn rate_span() -> Duration {
    Duration::from_secs(86_400 * u64::from(RATE_DAYS))
}

fn composed(
    frame: Frame,
    live: &Live,
    counts: &Counts,
    page: FeedListPage<FeedListRow>,
    params: &ListParams,
    now: Now,
) -> FeedsPage {
    let first = (params.page - 1) * u64::from(LINES);
    let last = first + page.lines.len() as u64;
    let turn = |from, backwards| params.turned(from, backwards).href();
    let of = page.states.map(|states| format!(" of {}", count(states.of(params.state))));
    FeedsPage {
        frame,
        trouble: counts.failing,
        verdict: verdict(live, counts),
        totals: totals(live, counts),
        nothing_yet: counts.feeds == 0,
        tabs: tabs(&page, params),
        text: params.text.clone(),
        tag: params.tag.clone(),
        state: params.state.map(FeedState::filter_word),
        sorts: ORDERS
            .iter()
            .map(|(order, word, name)| Choice { word, name, chosen: *order == params.order })
            .collect(),
        range: format!("{}–{}{}", count(first + 1), count(last), of.unwrap_or_default()),
        previous: page.before.map(|from| turn(from, true)),
        next: page.after.map(|from| turn(from, false)),
        lines: page.lines.into_iter().map(|line| self::line(line, now)).collect(),
    }
}

pub fn verdict(live: &Live, counts: &Counts) -> Verdict {
    let polled = counts.feeds - counts.never_polled.min(counts.feeds);
    let (class, text) = if let Some(why) = &live.not_ready {
        ("bad", sentence(why))
    } else if counts.feeds == 0 {
        ("off", "No feeds yet".to_owned())
    } else if live.outage.is_some() {
        ("bad", "Waiting for the network".to_owned())
    } else if polled == 0 {
        ("off", format!("Starting: {} to poll", plural(counts.feeds, "feed", "feeds")))
    } else if counts.failing == 0 {
        ("well", "All feeds work".to_owned())
    } else {
        // One feed in five is more than the usual decay of the web.
        let class = if counts.failing * 5 > polled { "bad" } else { "wait" };
        let of = count(counts.feeds);
        (class, format!("{} of {of} feeds have problems", count(counts.failing)))
    };
    Verdict { class, text }
}

fn totals(live: &Live, counts: &Counts) -> Vec<Total> {
    let total = |name, n| Total { name, value: count(n) };
    vec![
        total("Feeds", counts.feeds),
        total("Entries", counts.entries),
        total("Polls in the last hour", live.polls_last_hour),
        total("With problems", counts.failing),
        total("Due now", counts.due),
    ]
}

fn tabs(page: &FeedListPage<FeedListRow>, params: &ListParams) -> Vec<Tab> {
    let states = [None].into_iter().chain(FeedState::ALL.map(Some));
    let tab = |state: Option<FeedState>| Tab {
        name: match state {
            None => "All",
            Some(FeedState::Active) => "Active",
            Some(FeedState::Never) => "Never polled",
            Some(FeedState::BackingOff) => "Backing off",
            Some(FeedState::Damaged) => "Damaged",
            Some(FeedState::Gone) => "Gone",
            Some(FeedState::Paused) => "Paused",
        },
        count: page.states.map_or_else(String::new, |states| count(states.of(state))),
        href: ListParams { state, ..params.first() }.href(),
        chosen: state == params.state,
    };
    // States that no feed is in would only take room.
    let is_shown = |state: &Option<FeedState>| {
        let rare = matches!(state, Some(FeedState::Never | FeedState::Damaged));
        let empty = page.states.is_some_and(|states| states.of(*state) == 0);
        !rare || !empty || *state == params.state
    };
    states.filter(is_shown).map(tab).collect()
}

/// A feed's state in words, and its class in the stylesheet.
pub fn state_words(state: FeedState) -> (&'static str, &'static str) {
    match state {
        FeedState::Never => ("not polled yet", "fresh"),
        FeedState::Active => ("active", "active"),
        FeedState::BackingOff => ("backing off", "backing"),
        FeedState::Damaged => ("damaged", "backing"),
        FeedState::Gone => ("gone", "gone"),
        FeedState::Paused => ("paused", "paused"),
    }
}

/// What stands where the next poll would, if there is none.
pub fn no_next(state: FeedState) -> &'static str {
    match state {
        FeedState::Gone => "never",
        FeedState::Paused => "when resumed",
        _ => "now",
    }
}

pub fn line(line: FeedListRow, now: Now) -> Line {
    let never_polled = line.last_poll_at.is_none();
    let (state, state_class) = state_words(line.state);
    let error = line.gone_reason.or(line.error).unwrap_or_default();
    let in_trouble = line.state == FeedState::Gone || line.state.is_failing();
    let advised = advice(line.last_outcome, line.last_status, line.trouble).filter(|_| in_trouble);
    let masked = line.url.masked();
    let address = masked.split_once("://").map_or(masked.as_str(), |(_, rest)| rest);
    let address = address.trim_end_matches('/').to_owned();
    let title = line.title.as_deref().map(sanitise::text);
    Line {
        id: line.id.0,
        title: title.filter(|t| !t.trim().is_empty()).unwrap_or_else(|| address.clone()),
        address,
        tags: line
            .tags
            .into_iter()
            .filter(|t| !t.starts_with(store::QUERY_TAG))
            .map(tagged)
            .collect(),
        state,
        state_class,
        per_day: if never_polled { "–".to_owned() } else { rate(line.n_since) },
        entries: count(line.entries),
        last_poll: line.last_poll_at.map(|t| Moment::new(t, now)),
        next_poll: line.next_at.filter(|_| line.state.is_polled()).map(|t| Moment::ahead(t, now)),
        no_next: no_next(line.state),
        trouble: advised.map(|advice| Trouble { what: sentence(&error), advice }),
    }
}

fn tagged(tag: String) -> (String, String) {
    let href = ListParams::of_tag(tag.clone()).href();
    (tag, href)
}

/// Entries of the last days as a daily mean.
pub fn rate(n_since: u64) -> String {
    per_day(n_since as f64 / f64::from(RATE_DAYS))
}

/// An error's words as a sentence of their own.
pub fn sentence(words: &str) -> String {
    let words = words.trim();
    let mut letters = words.chars();
    let Some(first) = letters.next() else { return String::new() };
    // A name before a colon is written as it is: `mavsync: …`.
    let named = words.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
    let mut sentence: String =
        if named { words.to_owned() } else { first.to_uppercase().chain(letters).collect() };
    if !sentence.ends_with(['.', '!', '?', '…']) && !sentence.ends_with(".)") {
        sentence.push('.');
    }
    sentence
}

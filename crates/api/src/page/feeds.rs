//! The page of feeds: a summary, the forms for adding feeds, and a table with a row for each feed.

mod add;
mod opml;
mod params;

pub use add::{add, tags};
pub use opml::{export, import};
pub use params::tag_href;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use store::{Counts, FeedListFilter, FeedListPage, FeedListRow, FeedState};

use self::params::{FeedListParams, ORDERS};
use super::frame::{Frame, NavSection, Visitor};
use super::notice::{render, store_error};
use super::parts::feed_row::{FeedTableRow, rate_span};
use super::parts::health_summary::HealthSummary;
use super::parts::key_figure::KeyFigure;
use crate::blocking::run_blocking;
use crate::words::{LocalNow, count};
use crate::{EngineState, ServerContext};

/// Rows on one page, a few screens long. In a longer list people search.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "feeds.html")]
struct FeedsPage {
    frame: Frame,
    n_failing: u64,
    summary: HealthSummary,
    totals: Vec<KeyFigure>,
    nothing_yet: bool,
    tabs: Vec<StateTab>,
    text: String,
    tag: Option<String>,
    state: Option<&'static str>,
    sorts: Vec<SortChoice>,
    rows: Vec<FeedTableRow>,
    range: String,
    previous: Option<String>,
    next: Option<String>,
}

/// A link to the feeds in one state.
struct StateTab {
    name: &'static str,
    count: String,
    href: String,
    chosen: bool,
}

/// An order of the table, as an option of the form.
struct SortChoice {
    word: &'static str,
    name: &'static str,
    chosen: bool,
}

pub async fn list(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let params = FeedListParams::read(query.as_deref());
    let now = visitor.now(&context);
    let query = FeedListFilter {
        text: params.text.clone(),
        tag: params.tag.clone(),
        state: params.state,
        order: params.order,
        from: params.from.clone(),
        backwards: params.backwards,
        limit: ROWS,
    };
    let since = now.at - rate_span();
    let store = context.store.clone();
    let answer =
        run_blocking(move || Ok((store.counts(now.at)?, store.feed_page(&query, since)?))).await;
    match answer {
        Ok((counts, page)) => {
            let live = (context.live)();
            let frame = Frame::new(&context, visitor, Some(NavSection::Feeds));
            render(&compose(frame, &live, &counts, page, &params, now))
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn compose(
    frame: Frame,
    live: &EngineState,
    counts: &Counts,
    page: FeedListPage<FeedListRow>,
    params: &FeedListParams,
    now: LocalNow,
) -> FeedsPage {
    let first = (params.page - 1) * u64::from(ROWS);
    let last = first + page.lines.len() as u64;
    let turn = |from, backwards| params.turned(from, backwards).href();
    let of = page.states.map(|states| format!(" of {}", count(states.of(params.state))));
    FeedsPage {
        frame,
        n_failing: counts.failing,
        summary: HealthSummary::new(live, counts),
        totals: totals(live, counts),
        nothing_yet: counts.feeds == 0,
        tabs: tabs(&page, params),
        text: params.text.clone(),
        tag: params.tag.clone(),
        state: params.state.map(FeedState::filter_word),
        sorts: ORDERS
            .iter()
            .map(|(order, word, name)| SortChoice { word, name, chosen: *order == params.order })
            .collect(),
        range: format!("{}–{}{}", count(first + 1), count(last), of.unwrap_or_default()),
        previous: page.before.map(|from| turn(from, true)),
        next: page.after.map(|from| turn(from, false)),
        rows: page.lines.into_iter().map(|line| FeedTableRow::new(line, now)).collect(),
    }
}

fn totals(live: &EngineState, counts: &Counts) -> Vec<KeyFigure> {
    let total = |name, n| KeyFigure { name, value: count(n), note: String::new() };
    vec![
        total("Feeds", counts.feeds),
        total("Entries", counts.entries),
        total("Polls in the last hour", live.polls_last_hour),
        total("With problems", counts.failing),
        total("Due now", counts.due),
    ]
}

fn tabs(page: &FeedListPage<FeedListRow>, params: &FeedListParams) -> Vec<StateTab> {
    let states = [None].into_iter().chain(FeedState::ALL.map(Some));
    let tab = |state: Option<FeedState>| StateTab {
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
        href: FeedListParams { state, ..params.first() }.href(),
        chosen: state == params.state,
    };
    // Rare states without feeds are left out.
    let is_shown = |state: &Option<FeedState>| {
        let rare = matches!(state, Some(FeedState::Never | FeedState::Damaged));
        let empty = page.states.is_some_and(|states| states.of(*state) == 0);
        !rare || !empty || *state == params.state
    };
    states.filter(is_shown).map(tab).collect()
}

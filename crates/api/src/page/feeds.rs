//! The page of feeds: a summary, the forms for adding feeds, and a table with a row for each feed.

mod add;
pub mod bulk;
mod opml;
pub mod order;
mod params;

pub use add::{add, tags};
pub use bulk::UndoOffer;
pub use opml::{export, import};
pub use params::tag_href;

use std::time::Duration;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use store::{
    AccountId, Counts, FeedListFilter, FeedListPage, FeedListRow, FeedState, Store, StoreError,
    TokenScope,
};

use self::params::{FeedListParams, ORDERS};
use super::frame::{Frame, NavSection, Visitor};
use super::notice::{render, store_error};
use super::parts::feed_row::{FeedTableRow, rate_span};
use super::parts::health_summary::HealthSummary;
use super::parts::key_figure::KeyFigure;
use crate::blocking::run_blocking;
use crate::population::{self, TwinFeeds};
use crate::words::{LocalNow, count};
use crate::{EngineState, ServerContext};

/// Rows on one page, a few screens long. In a longer list people search.
const ROWS: u32 = 50;
/// The list offers the undo of the last change for so long. The page of tags offers it for a day.
const OFFERS_UNDO: Duration = Duration::from_secs(3600);

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
    /// Feeds that are probably subscribed twice, for people who may remove one.
    twins: Vec<TwinFeeds>,
    /// Whether the list shows every feed of the instance, and not only the visitor's.
    everyone: bool,
    /// Whether there is a choice between these two.
    has_choice: bool,
    /// The number of feeds that match the search, if it is known and more than one.
    n_matching: Option<String>,
    /// The query string of this list.
    list: String,
    /// The page on which these feeds are ordered.
    order_href: String,
    /// Whether the visitor may change feeds for everybody.
    may_change_all: bool,
    /// The last change of many feeds, if it was made lately.
    undo: Option<UndoOffer>,
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
    // The person of an instance without accounts owns every feed.
    let account = match params.everyone && visitor.may(TokenScope::Admin) {
        true => AccountId::LOCAL,
        false => visitor.account(),
    };
    let query = FeedListFilter {
        account,
        text: params.text.clone(),
        tag: params.tag.clone(),
        state: params.state,
        order: params.order,
        from: params.from.clone(),
        backwards: params.backwards,
        limit: ROWS,
    };
    let since = now.at - rate_span();
    let (store, actor) = (context.store.clone(), visitor.account());
    let shows_twins = account == AccountId::LOCAL;
    let answer = run_blocking(move || {
        let twins = if shows_twins { population::twins(&store)? } else { Vec::new() };
        let mut counts = store.counts(now.at)?;
        let page = store.feed_page(&query, since)?;
        if account != AccountId::LOCAL {
            count_own(&store, account, &page, &mut counts)?;
        }
        let last = store.bulk_changes(actor, now.at)?.into_iter().next();
        Ok((counts, page, twins, last.filter(|last| now.at.since(last.at) <= OFFERS_UNDO)))
    });
    match answer.await {
        Ok((counts, page, twins, last)) => {
            let live = (context.live)();
            let may_change_all = visitor.may(TokenScope::Admin);
            let has_choice = visitor.subscriber().is_some() && may_change_all;
            let undo = last.map(|last| UndoOffer::new(&last, now));
            let frame = Frame::new(&context, visitor, Some(NavSection::Feeds));
            let composed = compose(frame, &live, &counts, page, &params, now);
            render(&FeedsPage { twins, has_choice, may_change_all, undo, ..composed })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// Replaces the numbers of the instance by those of an account.
fn count_own(
    store: &Store,
    account: AccountId,
    page: &FeedListPage<FeedListRow>,
    counts: &mut Counts,
) -> Result<(), StoreError> {
    let (states, n_entries) = match (page.states, page.n_entries) {
        (Some(states), Some(n_entries)) => (states, n_entries),
        _ => store.feed_totals_of(account)?,
    };
    counts.feeds = states.of(None);
    counts.entries = n_entries;
    counts.failing = states.of(Some(FeedState::BackingOff)) + states.of(Some(FeedState::Damaged));
    Ok(())
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
        twins: Vec::new(),
        everyone: params.everyone,
        has_choice: false,
        n_matching: page.states.map(|states| states.of(params.state)).filter(|n| *n > 1).map(count),
        list: params.href().split_once('?').map_or("", |(_, query)| query).to_owned(),
        order_href: order::href(params.tag.as_deref()),
        may_change_all: false,
        undo: None,
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

//! The page of one feed: its state, the next poll and the reason for it, its entries and polls.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use feed::{ArticleMode, EntryId, FeedId, Outcome, Time};
use polling::model::behaviour::{Behaviour, BehaviourFact};
use store::{
    CloudRow, DocumentVersionRow, EntryFilter, EntryRow, FeedRow, FeedState, FetchSettingRow,
    PollDay, PollRow, PushRow, StoreError, TokenScope,
};

use super::frame::{Frame, NavSection, Visitor};
use super::notice::{no_feed, render, store_error};
use super::params;
use super::parts::advice::advice;
use super::parts::bars::{Bars, rhythm};
use super::parts::feed_row::{FeedProblem, no_next, rate_span, state_words};
use super::parts::key_figure::KeyFigure;
use super::read::article_mode;
use crate::behaviour::behaviour;
use crate::blocking::run_blocking;
use crate::feed_rows::seen_by;
use crate::fetch_change::seen_settings;
use crate::reading_time::n_words;
use crate::words::{DisplayTime, LocalNow, bytes, count, plural, readers_words, sentence, span};
use crate::{ServerContext, sanitise};

mod change;
mod cost;
mod documents;
mod entry;
mod facts;
pub mod requests;
mod timeline;
mod trial;
mod waiting;

pub use change::{change, confirm_remove, remove};
pub use documents::download;

use change::FeedSettingsFields;
use cost::cost_figures;
use documents::FeedDocument;
use entry::FeedPageEntry;
use facts::{Fact, facts};
use requests::RequestsPart;
use timeline::{Timeline, TimelineEntry, TimelinePoll, timeline};

/// Entries on one page.
const ENTRIES: u32 = 12;
/// Polls in the table, unless the address asks for more. The store keeps 500.
const POLLS: u32 = 40;

/// A teaser of three lines has fewer words.
const SHORT_WORDS: usize = 80;
/// Fewer entries say little about a feed.
const SHORT_ENTRIES_MIN: usize = 3;

#[derive(Template)]
#[template(path = "feed.html")]
struct FeedDetailPage {
    frame: Frame,
    id: FeedId,
    title: String,
    state: &'static str,
    state_class: &'static str,
    problem: Option<FeedProblem>,
    next_poll: Option<DisplayTime>,
    no_next: &'static str,
    why: Vec<String>,
    timeline: Option<Timeline>,
    entries_heading: &'static str,
    no_entries: &'static str,
    entries: Vec<FeedPageEntry>,
    older: Option<String>,
    polls_heading: String,
    polls: Vec<PollTableRow>,
    documents: Vec<FeedDocument>,
    facts: Vec<Fact>,
    /// Buttons: the word in the form's address, and the text.
    /// Whether the visitor reads the feed.
    subscribed: bool,
    acts: Vec<(&'static str, &'static str)>,
    rhythm: Vec<Bars>,
    costs: Vec<KeyFigure>,
    behaviour: Vec<BehaviourFact>,
    fields: FeedSettingsFields,
    policies: Vec<&'static str>,
    /// Words and names of the settings for whole articles.
    article_modes: [(&'static str, &'static str); 3],
    requests: RequestsPart,
    /// Whether the page offers to load whole articles.
    offers_articles: bool,
}

struct PollTableRow {
    at: DisplayTime,
    outcome: &'static str,
    class: &'static str,
    status: String,
    n_new: String,
    bytes: String,
    elapsed: String,
    words: Vec<String>,
}

/// The rows of the store that the page shows.
struct FeedData {
    row: FeedRow,
    /// Whether the visitor reads the feed.
    subscribed: bool,
    /// How many people read it, as counted last.
    readers: Option<u64>,
    requests: Vec<FetchSettingRow>,
    n_since: u64,
    entries: Vec<EntryRow>,
    times: Vec<(Time, Time)>,
    polls: Vec<PollRow>,
    documents: Vec<DocumentVersionRow>,
    learned: Vec<u8>,
    /// When pages are loaded, by the feed or a tag.
    article_mode: Option<ArticleMode>,
    days: Vec<PollDay>,
    push: Option<PushRow>,
    cloud: Option<CloudRow>,
    behaviour: Option<Behaviour>,
}

pub async fn feed(
    State(context): State<ServerContext>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let Ok(number) = id.parse::<u32>() else {
        return no_feed(&context, visitor, id);
    };
    let before = params::number(query.as_deref(), "before").map(|id| EntryId(id.into()));
    let polls_shown = params::number(query.as_deref(), "polls").unwrap_or(POLLS);
    let (now, store) = (visitor.now(&context), context.store.clone());
    let (composing, asking) = (context.clone(), visitor.clone());
    let answer = run_blocking(move || {
        let data = read_feed(&store, &visitor, FeedId(number), before, now.at)?;
        // Sanitising takes time too, so it stays on this thread.
        Ok(compose(&composing, visitor, data, before, polls_shown, now))
    });
    match answer.await {
        Ok(page) => render(&page),
        Err(StoreError::NoFeed(feed)) => no_feed(&context, asking, feed),
        Err(error) => store_error(&context, asking, &error),
    }
}

fn read_feed(
    store: &store::Store,
    visitor: &Visitor,
    feed: FeedId,
    before: Option<EntryId>,
    now: Time,
) -> Result<FeedData, StoreError> {
    // One more than is shown, to know whether there are older entries.
    let filter = EntryFilter { feed: Some(feed), limit: ENTRIES + 1 };
    let person = visitor.person.as_ref().ok_or(StoreError::NoFeed(feed))?;
    let row = seen_by(store, person, feed)?;
    let subscribed = store.is_subscribed(visitor.account(), feed)?;
    let row_private = row.private_to;
    Ok(FeedData {
        subscribed,
        // A private feed is not counted.
        readers: match row_private {
            Some(_) => None,
            None => store.readers(feed)?,
        },
        behaviour: behaviour(store, &row)?,
        requests: seen_settings(store, person, &row)?,
        row,
        n_since: store.n_published_since(&[feed], now - rate_span())?.into_iter().sum(),
        // The entries of a private feed are for its owner.
        entries: match subscribed || row_private.is_none() {
            true => store.recent_entries(before, &filter)?,
            false => Vec::new(),
        },
        times: store.recent_times(feed, timeline::ENTRIES_MAX as u32)?,
        polls: store.polls(feed, 500)?,
        documents: match subscribed || row_private.is_none() {
            true => documents::read(store, feed)?,
            false => Vec::new(),
        },
        learned: store.poll_input(feed)?.learned,
        article_mode: article_mode(store, feed)?,
        days: store.poll_days(feed)?,
        push: store.push(feed)?,
        cloud: store.cloud(feed)?,
    })
}

fn compose(
    context: &ServerContext,
    visitor: Visitor,
    data: FeedData,
    before: Option<EntryId>,
    polls_shown: u32,
    now: LocalNow,
) -> FeedDetailPage {
    let readers = data.readers;
    let FeedData { row, subscribed, n_since, mut entries, times, polls, .. } = data;
    let FeedData { article_mode, learned, days, push, cloud, behaviour, documents, .. } = data;
    let (state, state_class) = state_words(row.state());
    let resting = matches!(row.state(), FeedState::Gone | FeedState::Paused);
    let next_at = row.schedule.next_at.filter(|_| !resting);
    let more = store::is_full(&entries, ENTRIES + 1);
    entries.truncate(ENTRIES as usize);
    let older = entries.last().filter(|_| more);
    let shown_polls = polls.len().min(polls_shown as usize);
    let requests = RequestsPart::new(&row, &data.requests, visitor.may(TokenScope::Admin));
    FeedDetailPage {
        frame: Frame::new(context, visitor, Some(NavSection::Feeds)),
        id: row.id,
        title: title(&row),
        state,
        state_class,
        problem: problem(&row, polls.first()),
        next_poll: next_at.map(|at| DisplayTime::ahead(at, now)),
        no_next: no_next(row.state()),
        why: why(&row, now.at).into_iter().chain(readers.map(readers_words)).collect(),
        timeline: draw_timeline(&polls, &times, next_at, now, &learned),
        entries_heading: if before.is_some() { "Older entries" } else { "Newest entries" },
        no_entries: match (before, row.history.last_poll_at) {
            (Some(_), _) => "There are no older entries.",
            (None, None) => "The feed was not polled yet.",
            (None, Some(_)) => "No entries yet. The feed may be empty at the moment.",
        },
        older: older.map(|e| format!("/feed/{}?before={}", row.id, e.id)),
        entries: entries.iter().map(|e| FeedPageEntry::new(e, now)).collect(),
        polls_heading: format!("Last {}", plural(shown_polls as u64, "poll", "polls")),
        polls: polls.iter().take(shown_polls).map(|p| poll_row(p, now)).collect(),
        documents: documents.iter().map(|row| FeedDocument::new(row, now)).collect(),
        acts: acts(row.state()),
        subscribed,
        rhythm: rhythm(
            &times.iter().map(|(published, _)| *published).collect::<Vec<_>>(),
            now.zone,
        ),
        behaviour: behaviour.map(|behaviour| behaviour.facts().into()).unwrap_or_default(),
        costs: cost_figures(&days, &times, row.added_at),
        fields: FeedSettingsFields::new(&row),
        requests,
        article_modes: ArticleMode::ALL.map(|mode| {
            let name = match mode {
                ArticleMode::Never => "only when asked",
                ArticleMode::Opened => "when an entry is opened",
                ArticleMode::Every => "for every new entry",
            };
            (mode.word(), name)
        }),
        offers_articles: article_mode.unwrap_or(context.article_mode) == ArticleMode::Never
            && row.settings.article.mode.is_none()
            && are_short(&entries),
        policies: polling::Policy::examples().collect(),
        facts: facts(&row, (push.as_ref(), cloud.as_ref()), n_since, now.at),
    }
}

/// Whether most entries have only a few lines of text and a link to the rest.
fn are_short(entries: &[EntryRow]) -> bool {
    let is_short = |entry: &&EntryRow| {
        let text = entry.content.as_deref().or(entry.summary.as_deref()).unwrap_or("");
        entry.link.is_some()
            && entry.enclosures.is_empty()
            && n_words(&sanitise::text(text)) < SHORT_WORDS
    };
    let n_short = entries.iter().filter(is_short).count();
    entries.len() >= SHORT_ENTRIES_MIN && n_short * 2 > entries.len()
}

/// Returns the buttons for a feed in this state.
fn acts(state: FeedState) -> Vec<(&'static str, &'static str)> {
    match state {
        FeedState::Paused => vec![("resume", "Resume"), ("poll", "Poll once")],
        FeedState::Gone => vec![("poll", "Try again")],
        _ => vec![("poll", "Poll now"), ("pause", "Pause")],
    }
}

fn title(row: &FeedRow) -> String {
    let shown = row.shown_title().map(sanitise::text).filter(|t| !t.trim().is_empty());
    shown.unwrap_or_else(|| row.location.url.masked())
}

fn problem(row: &FeedRow, last: Option<&PollRow>) -> Option<FeedProblem> {
    let gone = row.location.gone.as_ref().map(|g| g.reason.as_str());
    let error = gone.or(row.error()).unwrap_or("");
    if row.location.gone.is_none() && row.history.failures == 0 {
        return None;
    }
    let advice = advice(
        row.last_outcome,
        last.and_then(|p| p.status),
        row.problem.as_ref().and_then(|p| p.trouble),
    )?;
    let tries = match row.history.failures {
        0 | 1 => String::new(),
        n => format!(" {} failed in a row.", plural(n.into(), "poll", "polls")),
    };
    Some(FeedProblem { error: format!("{}{tries}", sentence(error)), advice })
}

/// Explains the time of the next poll, with the sentences that were stored with the decision.
fn why(row: &FeedRow, now: Time) -> Vec<String> {
    let mut lines = Vec::new();
    match row.state() {
        FeedState::Gone => lines.push("The publisher ended this feed.".to_owned()),
        FeedState::Paused => {
            lines.push("This feed or one of its tags is paused.".to_owned());
        }
        _ => {
            if row.history.last_poll_at.is_none() {
                lines.push("The feed was never polled, so it is due now.".to_owned());
            }
            lines.extend(row.schedule.why.reason.as_deref().map(sentence));
            lines.extend(row.schedule.why.held.as_deref().map(sentence));
            let moved = row
                .schedule
                .wanted_at
                .filter(|wanted| row.schedule.next_at.is_some_and(|n| n != *wanted));
            lines.extend(moved.map(|wanted| {
                format!(
                    "Its policy alone would poll it {}.",
                    DisplayTime::new(wanted, now).relative
                )
            }));
        }
    }
    lines
}

fn draw_timeline(
    polls: &[PollRow],
    times: &[(Time, Time)],
    next_at: Option<Time>,
    now: LocalNow,
    learned: &[u8],
) -> Option<Timeline> {
    let polls: Vec<TimelinePoll> = polls
        .iter()
        .map(|p| TimelinePoll {
            at: p.at,
            outcome: p.outcome,
            n_new: u32::try_from(p.n_new).unwrap_or(u32::MAX),
        })
        .collect();
    let entries: Vec<TimelineEntry> = times
        .iter()
        .map(|(published_at, seen_at)| TimelineEntry {
            published_at: *published_at,
            seen_at: *seen_at,
        })
        .collect();
    timeline(&polls, &entries, next_at, now, waiting::model(learned).as_ref())
}

/// Explains why a poll was made, with the same sentences that explain the next one.
fn explain(reason: &str) -> String {
    polling::explain(reason).unwrap_or_else(|| sentence(reason))
}

fn poll_row(poll: &PollRow, now: LocalNow) -> PollTableRow {
    let n_new = u32::try_from(poll.n_new).unwrap_or(u32::MAX);
    let mut words: Vec<String> = Vec::new();
    words.extend(poll.error.as_deref().map(sentence));
    words.extend(poll.warnings.iter().map(|warning| sentence(warning)));
    if poll.suspected_miss {
        words.push("No entry of the last poll was left. Some entries may have been missed.".into());
    }
    words.extend(poll.cause().map(|cause| explain(&cause.to_string())));
    words.extend(poll.held.as_deref().map(sentence));
    PollTableRow {
        at: DisplayTime::new(poll.at, now),
        outcome: match poll.outcome {
            Outcome::Seen if n_new == 0 => "nothing new",
            Outcome::Seen => "new entries",
            other => other.word(),
        },
        class: timeline::class(poll.outcome, n_new),
        status: poll.status.map_or_else(|| "–".to_owned(), |s| s.to_string()),
        n_new: count(poll.n_new),
        bytes: bytes(poll.bytes),
        elapsed: match poll.elapsed.as_millis() {
            ms @ 0..1000 => format!("{ms} ms"),
            _ => span(poll.elapsed),
        },
        words,
    }
}

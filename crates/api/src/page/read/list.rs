//! The list of entries, with what else there is to read beside it.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use feed::{FeedId, Time};
use store::{AccountId, FeedName, ReadEntry, ReadingFilter, ReadingPosition, Store, StoreError};

use super::article::{feed_title, teaser, title, web_link};
use super::marks::MARKED;
use super::sidebar::{Sidebar, sidebar};
use super::{LINES, Of, Place, Show, asked};
use crate::Context;
use crate::blocking::run_blocking;
use crate::page::feeds::sentence;
use crate::page::frame::{Frame, Section, Visitor};
use crate::page::{failed, params, shown};
use crate::search::{self, NotFound};
use crate::words::{Moment, Now, day, plural};

#[derive(Template)]
#[template(path = "read.html")]
struct ReadPage {
    frame: Frame,
    heading: String,
    /// What is read about the scope, and where its own page is.
    about: Option<(&'static str, String)>,
    search: String,
    /// Why the search was not understood.
    fault: Option<String>,
    tabs: Vec<Tab>,
    lines: Vec<Line>,
    empty: Empty,
    sidebar: Sidebar,
    /// The list itself, without its place.
    list: String,
    /// The highest number that was given by now: what comes later is not swept away.
    shown_to: i64,
    can_mark_all: bool,
    /// Says how much was just marked as read, and can be undone.
    undo: Option<String>,
    /// Further entries, and the first ones, with the words for them.
    onward: Option<String>,
    first: Option<String>,
    order: Order,
}

/// The words of the order in which entries are listed.
struct Order {
    oldest_first: bool,
    onward: &'static str,
    first: &'static str,
}

impl Order {
    const fn of(oldest_first: bool) -> Order {
        if oldest_first {
            Order { oldest_first, onward: "Newer", first: "Oldest" }
        } else {
            Order { oldest_first, onward: "Older", first: "Newest" }
        }
    }
}

fn marked(n: u64) -> String {
    format!("{} marked as read.", plural(n, "entry", "entries"))
}

struct Tab {
    name: &'static str,
    href: String,
    chosen: bool,
}

struct Line {
    id: i64,
    href: String,
    title: String,
    feed: String,
    feed_href: String,
    language: Option<String>,
    published: Moment,
    /// Where it leads on the web.
    link: Option<String>,
    /// The day on which it was published, where that begins here.
    day: Option<String>,
    teaser: String,
    read: bool,
    starred: bool,
}

/// Why there is nothing in the list.
#[derive(PartialEq, Eq)]
enum Empty {
    No,
    /// There are no feeds at all.
    NoFeeds,
    /// Nothing is unread.
    AllRead,
    /// Nothing was starred.
    NoStars,
    /// Nothing has these words.
    NotFound,
    NothingYet,
}

struct Found {
    lines: Vec<ReadEntry>,
    /// Where the list goes on.
    older: Option<ReadingPosition>,
    /// Why a search was not understood.
    fault: Option<String>,
    names: HashMap<FeedId, FeedName>,
    sidebar: Sidebar,
    /// The title of the feed that is asked for.
    feed: Option<String>,
    has_feeds: bool,
    last: i64,
}

pub async fn list(
    State(context): State<Context>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let place = Place::read(query.as_deref(), visitor.choices.oldest_first);
    let asks_undo = params::number(query.as_deref(), MARKED).is_some();
    let (store, account, wanted) = (context.store.clone(), visitor.account(), place.clone());
    let now = visitor.now(&context);
    let searched = match (&place.of, &visitor.person) {
        (Of::Search(text), Some(person)) => {
            let below = place.from.map(|from| from.entry);
            match search::find(&context, person, text, below, LINES as usize).await {
                Ok(found) => Some(Ok(found)),
                Err(NotFound::Search(fault)) => Some(Err(fault.message)),
                Err(NotFound::Store(error)) => return failed(&context, visitor, &error),
            }
        }
        _ => None,
    };
    let found = run_blocking(move || {
        let undo = if asks_undo { store.undoable(account, now.at)? } else { None };
        Ok((find(&store, account, &wanted, searched)?, undo))
    });
    match found.await {
        Ok((found, undo)) => {
            let frame = Frame::new(&context, visitor, Some(Section::Read));
            shown(&ReadPage { undo: undo.map(marked), ..composed(frame, found, &place, now) })
        }
        Err(error) => failed(&context, visitor, &error),
    }
}

/// What a search found, or what is wrong with it.
type Searched = Result<search::Found, String>;

fn find(
    store: &Store,
    account: AccountId,
    place: &Place,
    searched: Option<Searched>,
) -> Result<Found, StoreError> {
    let mut fault = None;
    let (lines, older) = match searched {
        Some(Ok(found)) => {
            // Searches go on below a number; the time beside it is not looked at.
            let from = |entry| ReadingPosition { published_at: Time::from_secs(0), entry };
            (found.entries, found.next.map(from))
        }
        Some(Err(message)) => {
            fault = Some(message);
            (Vec::new(), None)
        }
        None => listed(store, account, place)?,
    };
    let feed = match place.of {
        Of::Feed(feed) => Some(feed),
        _ => None,
    };
    let names = store.feed_names(lines.iter().map(|line| line.entry.feed).chain(feed))?;
    Ok(Found {
        lines,
        older,
        fault,
        feed: feed.map(|feed| feed_title(names.get(&feed))),
        names,
        sidebar: sidebar(store, account, place)?,
        has_feeds: store.feed_count()? > 0,
        last: store.last_entry_id()?.0,
    })
}

/// Some entries of a place, and where they go on.
fn listed(
    store: &Store,
    account: AccountId,
    place: &Place,
) -> Result<(Vec<ReadEntry>, Option<ReadingPosition>), StoreError> {
    let Some(reading) = asked(store, account, place)? else { return Ok((Vec::new(), None)) };
    // One more than is shown tells whether there are older ones.
    let mut found = store.reading(&ReadingFilter { limit: LINES + 1, ..reading })?;
    let more = store::is_full(found.iter().map(|line| &line.entry), LINES + 1);
    found.truncate(LINES as usize);
    let last = found.last().filter(|_| more).map(ReadEntry::place);
    Ok((found, last))
}

fn composed(frame: Frame, found: Found, place: &Place, now: Now) -> ReadPage {
    let Found { lines, older, fault, names, sidebar, feed, has_feeds, last: shown_to } = found;
    let about = match &place.of {
        Of::Feed(feed) => Some(("About this feed", format!("/feed/{feed}"))),
        Of::Query(name) => Some(("About this query", format!("/query/{name}"))),
        _ => None,
    };
    ReadPage {
        heading: heading(place, feed),
        about,
        search: match &place.of {
            Of::Search(text) => text.clone(),
            _ => String::new(),
        },
        fault: fault.map(|text| sentence(&text)),
        tabs: tabs(place),
        empty: empty(place, lines.is_empty(), has_feeds),
        shown_to,
        can_mark_all: !matches!(place.of, Of::Search(_)) && place.show != Show::Starred,
        lines: by_day(lines.iter().map(|entry| line(entry, &names, place, now)), place),
        sidebar,
        list: Place { from: None, ..place.clone() }.query(),
        undo: None,
        onward: older.map(|from| Place { from: Some(from), ..place.clone() }.href()),
        first: place.from.map(|_| Place { from: None, ..place.clone() }.href()),
        order: Order::of(place.oldest_first),
        frame,
    }
}

fn heading(place: &Place, feed: Option<String>) -> String {
    match &place.of {
        Of::All => "Everything".to_owned(),
        Of::Feed(_) => feed.unwrap_or_default(),
        Of::Tag(tag) => tag.clone(),
        Of::Query(name) => name.clone(),
        Of::Search(text) => format!("“{text}”"),
    }
}

fn tabs(place: &Place) -> Vec<Tab> {
    let tab = |show: Show| Tab {
        name: match show {
            Show::Unread => "Unread",
            Show::All => "All",
            Show::Starred => "Starred",
        },
        href: place.shown(show).href(),
        chosen: place.show == show,
    };
    match place.of {
        // The index knows words, not marks.
        Of::Search(_) => Vec::new(),
        _ => Show::ALL.map(tab).into(),
    }
}

fn empty(place: &Place, nothing: bool, has_feeds: bool) -> Empty {
    match (nothing, has_feeds, &place.of, place.show) {
        (false, ..) => Empty::No,
        (true, false, ..) => Empty::NoFeeds,
        (true, true, Of::Search(_), _) => Empty::NotFound,
        (true, true, _, Show::Unread) => Empty::AllRead,
        (true, true, _, Show::Starred) => Empty::NoStars,
        (true, true, _, Show::All) => Empty::NothingYet,
    }
}

/// Leaves the day only where it differs from the one before. A query is in the order of recording
/// and a search in that of numbers: there days would repeat.
fn by_day(lines: impl Iterator<Item = Line>, place: &Place) -> Vec<Line> {
    let has_days = matches!(place.of, Of::All | Of::Feed(_) | Of::Tag(_));
    let mut last = None;
    let mut kept = Vec::new();
    for mut line in lines {
        let day = line.day.take().filter(|_| has_days);
        if day != last {
            line.day.clone_from(&day);
        }
        last = day;
        kept.push(line);
    }
    kept
}

fn line(found: &ReadEntry, names: &HashMap<FeedId, FeedName>, place: &Place, now: Now) -> Line {
    let entry = &found.entry;
    let name = names.get(&entry.feed);
    let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
    let teaser = teaser(body);
    Line {
        id: entry.id.0,
        href: place.entry_href(entry.id),
        title: title(entry, &teaser),
        feed: feed_title(name),
        feed_href: Place::of(Of::Feed(entry.feed)).href(),
        language: name.and_then(|name| name.language.clone()),
        published: Moment::new(entry.published_at, now),
        link: entry.link.as_deref().and_then(web_link),
        day: Some(day(entry.published_at, now)),
        teaser,
        read: found.read,
        starred: found.starred,
    }
}

//! The page with a list of entries and the sidebar.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use feed::{FeedId, Time};
use store::{AccountId, FeedName, ReadEntry, ReadingFilter, ReadingPosition, Store, StoreError};

use super::article::{feed_title, language, teaser, title, web_link};
use super::marks::MARKED;
use super::sidebar::{Sidebar, sidebar};
use super::{LINES, ListScope, ReadFilter, ReadingList, store_reading};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::notice::{render, store_error};
use crate::page::params;
use crate::search::{self, SearchError};
use crate::words::{DisplayTime, LocalNow, day, plural, sentence};

#[derive(Template)]
#[template(path = "read.html")]
struct ReadPage {
    frame: Frame,
    heading: String,
    /// A link to the page of the feed or the query: text and address.
    about: Option<(&'static str, String)>,
    search: String,
    /// Why the search text is invalid.
    fault: Option<String>,
    tabs: Vec<ReadTab>,
    lines: Vec<EntryLine>,
    empty: EmptyReason,
    sidebar: Sidebar,
    /// The query string of the list, without a position.
    list: String,
    /// The newest entry in the store. "Mark all read" leaves later entries unread.
    shown_to: i64,
    can_mark_all: bool,
    /// The number of entries that were just marked read, in words, if that can be undone.
    undo: Option<String>,
    /// The addresses of the next page and of the first.
    onward: Option<String>,
    first: Option<String>,
    order: OrderNames,
}

/// The words of the page for the order of the list.
struct OrderNames {
    oldest_first: bool,
    onward: &'static str,
    first: &'static str,
}

impl OrderNames {
    const fn of(oldest_first: bool) -> OrderNames {
        if oldest_first {
            OrderNames { oldest_first, onward: "Newer", first: "Oldest" }
        } else {
            OrderNames { oldest_first, onward: "Older", first: "Newest" }
        }
    }
}

fn marked_message(n: u64) -> String {
    format!("{} marked as read.", plural(n, "entry", "entries"))
}

/// A link to the same list with another filter.
struct ReadTab {
    name: &'static str,
    href: String,
    chosen: bool,
}

/// One entry of the list.
struct EntryLine {
    id: i64,
    href: String,
    title: String,
    feed: String,
    feed_href: String,
    language: Option<String>,
    published: DisplayTime,
    /// The entry's address on the web.
    link: Option<String>,
    /// The day of publication, if this is the first entry of that day.
    day: Option<String>,
    teaser: String,
    read: bool,
    starred: bool,
}

/// Why the list is empty.
#[derive(PartialEq, Eq)]
enum EmptyReason {
    NotEmpty,
    NoFeeds,
    AllRead,
    NoStars,
    /// The search has no result.
    NotFound,
    NothingYet,
}

/// The rows of the store that the page shows.
struct ListData {
    lines: Vec<ReadEntry>,
    /// The position at which the list continues.
    next: Option<ReadingPosition>,
    /// Why the search text is invalid.
    fault: Option<String>,
    names: HashMap<FeedId, FeedName>,
    sidebar: Sidebar,
    /// The title of the feed, in a list of one feed.
    feed: Option<String>,
    has_feeds: bool,
    last: i64,
}

pub async fn list(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let list = ReadingList::read(query.as_deref(), visitor.choices.oldest_first);
    let offers_undo = params::number(query.as_deref(), MARKED).is_some();
    let (store, account, wanted) = (context.store.clone(), visitor.account(), list.clone());
    let now = visitor.now(&context);
    let searched = match (&list.scope, &visitor.person) {
        (ListScope::Search(text), Some(person)) => {
            let below = list.from.map(|from| from.entry);
            match search::find(&context, person, text, below, LINES as usize).await {
                Ok(found) => Some(Ok(found)),
                Err(SearchError::Query(fault)) => Some(Err(fault.message)),
                Err(SearchError::Store(error)) => return store_error(&context, visitor, &error),
            }
        }
        _ => None,
    };
    let found = run_blocking(move || {
        let undo = if offers_undo { store.undoable(account, now.at)? } else { None };
        Ok((read_list(&store, account, &wanted, searched)?, undo))
    });
    match found.await {
        Ok((data, undo)) => {
            let frame = Frame::new(&context, visitor, Some(NavSection::Read));
            render(&ReadPage { undo: undo.map(marked_message), ..compose(frame, data, &list, now) })
        }
        Err(error) => store_error(&context, visitor, &error),
    }
}

/// The result of a search, or why its text is invalid.
type SearchOutcome = Result<search::SearchResult, String>;

fn read_list(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
    searched: Option<SearchOutcome>,
) -> Result<ListData, StoreError> {
    let mut fault = None;
    let (lines, next) = match searched {
        Some(Ok(found)) => {
            // A search continues below an entry id and ignores the time.
            let from = |entry| ReadingPosition { published_at: Time::from_secs(0), entry };
            (found.entries, found.next.map(from))
        }
        Some(Err(message)) => {
            fault = Some(message);
            (Vec::new(), None)
        }
        None => read_entries(store, account, list)?,
    };
    let feed = match list.scope {
        ListScope::Feed(feed) => Some(feed),
        _ => None,
    };
    let names = store.feed_names(lines.iter().map(|line| line.entry.feed).chain(feed))?;
    Ok(ListData {
        lines,
        next,
        fault,
        feed: feed.map(|feed| feed_title(names.get(&feed))),
        names,
        sidebar: sidebar(store, account, list)?,
        has_feeds: store.feed_count()? > 0,
        last: store.last_entry_id()?.0,
    })
}

/// Reads one page of a list, and the position at which the list continues.
fn read_entries(
    store: &Store,
    account: AccountId,
    list: &ReadingList,
) -> Result<(Vec<ReadEntry>, Option<ReadingPosition>), StoreError> {
    let Some(reading) = store_reading(store, account, list)? else { return Ok((Vec::new(), None)) };
    // One more than is shown, to know whether the list continues.
    let mut found = store.reading(&ReadingFilter { limit: LINES + 1, ..reading })?;
    let more = store::is_full(found.iter().map(|line| &line.entry), LINES + 1);
    found.truncate(LINES as usize);
    let last = found.last().filter(|_| more).map(ReadEntry::place);
    Ok((found, last))
}

fn compose(frame: Frame, data: ListData, list: &ReadingList, now: LocalNow) -> ReadPage {
    let ListData { lines, next, fault, names, sidebar, feed, has_feeds, last: shown_to } = data;
    let about = match &list.scope {
        ListScope::Feed(feed) => Some(("About this feed", format!("/feed/{feed}"))),
        ListScope::Query(name) => Some(("About this query", format!("/query/{name}"))),
        _ => None,
    };
    ReadPage {
        heading: heading(list, feed),
        about,
        search: match &list.scope {
            ListScope::Search(text) => text.clone(),
            _ => String::new(),
        },
        fault: fault.map(|text| sentence(&text)),
        tabs: tabs(list),
        empty: empty_reason(list, lines.is_empty(), has_feeds),
        shown_to,
        can_mark_all: !matches!(list.scope, ListScope::Search(_))
            && list.filter != ReadFilter::Starred,
        lines: by_day(lines.iter().map(|entry| entry_line(entry, &names, list, now)), list),
        sidebar,
        list: ReadingList { from: None, ..list.clone() }.query(),
        undo: None,
        onward: next.map(|from| ReadingList { from: Some(from), ..list.clone() }.href()),
        first: list.from.map(|_| ReadingList { from: None, ..list.clone() }.href()),
        order: OrderNames::of(list.oldest_first),
        frame,
    }
}

fn heading(list: &ReadingList, feed: Option<String>) -> String {
    match &list.scope {
        ListScope::All => "Everything".to_owned(),
        ListScope::Feed(_) => feed.unwrap_or_default(),
        ListScope::Tag(tag) => tag.clone(),
        ListScope::Query(name) => name.clone(),
        ListScope::Search(text) => format!("“{text}”"),
    }
}

fn tabs(list: &ReadingList) -> Vec<ReadTab> {
    let tab = |filter: ReadFilter| ReadTab {
        name: match filter {
            ReadFilter::Unread => "Unread",
            ReadFilter::All => "All",
            ReadFilter::Starred => "Starred",
        },
        href: list.filtered(filter).href(),
        chosen: list.filter == filter,
    };
    match list.scope {
        // The search index holds words and not marks.
        ListScope::Search(_) => Vec::new(),
        _ => ReadFilter::ALL.map(tab).into(),
    }
}

fn empty_reason(list: &ReadingList, nothing: bool, has_feeds: bool) -> EmptyReason {
    match (nothing, has_feeds, &list.scope, list.filter) {
        (false, ..) => EmptyReason::NotEmpty,
        (true, false, ..) => EmptyReason::NoFeeds,
        (true, true, ListScope::Search(_), _) => EmptyReason::NotFound,
        (true, true, _, ReadFilter::Unread) => EmptyReason::AllRead,
        (true, true, _, ReadFilter::Starred) => EmptyReason::NoStars,
        (true, true, _, ReadFilter::All) => EmptyReason::NothingYet,
    }
}

/// Keeps the day only on the first entry of each day. Queries and searches have another order, in
/// which days would repeat, so their entries get no day.
fn by_day(lines: impl Iterator<Item = EntryLine>, list: &ReadingList) -> Vec<EntryLine> {
    let has_days = matches!(list.scope, ListScope::All | ListScope::Feed(_) | ListScope::Tag(_));
    let mut last = None;
    let mut grouped = Vec::new();
    for mut line in lines {
        let day = line.day.take().filter(|_| has_days);
        if day != last {
            line.day.clone_from(&day);
        }
        last = day;
        grouped.push(line);
    }
    grouped
}

fn entry_line(
    row: &ReadEntry,
    names: &HashMap<FeedId, FeedName>,
    list: &ReadingList,
    now: LocalNow,
) -> EntryLine {
    let entry = &row.entry;
    let name = names.get(&entry.feed);
    let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
    let teaser = teaser(body);
    EntryLine {
        id: entry.id.0,
        href: list.entry_href(entry.id),
        title: title(entry, &teaser),
        feed: feed_title(name),
        feed_href: ReadingList::of(ListScope::Feed(entry.feed)).href(),
        language: language(entry, name),
        published: DisplayTime::new(entry.published_at, now),
        link: entry.link.as_deref().and_then(web_link),
        day: Some(day(entry.published_at, now)),
        teaser,
        read: row.read,
        starred: row.starred,
    }
}

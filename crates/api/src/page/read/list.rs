//! The page with a list of entries and the sidebar.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use feed::{FeedId, Time};
use store::{AccountId, FeedName, FoldedEntry, ReadingPosition, Store, StoreError};

use super::article::{feed_title, language, teaser, title, web_link};
use super::marks::MARKED;
use super::sidebar::{Sidebar, sidebar};
use super::story::{FoldedStory, alone, folded, read_entries};
use super::{LINES, ListScope, ReadFilter, ReadingList};
use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::page::frame::{Frame, NavSection, Visitor};
use crate::page::icon::FeedIcon;
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
    /// The label whose entries the list shows.
    label: Option<String>,
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
    icon: FeedIcon,
    language: Option<String>,
    published: DisplayTime,
    /// The entry's address on the web.
    link: Option<String>,
    /// The day of publication, if this is the first entry of that day.
    day: Option<String>,
    teaser: String,
    read: bool,
    starred: bool,
    /// The other entries of its story.
    story: Option<FoldedStory>,
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
    /// No two feeds have the same story today.
    NoStories,
}

/// The rows of the store that the page shows.
struct ListData {
    lines: Vec<FoldedEntry>,
    /// The position at which the list continues.
    next: Option<ReadingPosition>,
    /// Why the search text is invalid.
    fault: Option<String>,
    names: HashMap<FeedId, FeedName>,
    icons: HashMap<FeedId, String>,
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
    let figures = Arc::clone(&context.languages);
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
        let sidebar = sidebar(&store, &figures, account, &wanted, now.at)?;
        Ok((read_list(&store, account, &wanted, searched, sidebar, now.at)?, undo))
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
    sidebar: Sidebar,
    now: Time,
) -> Result<ListData, StoreError> {
    let mut fault = None;
    let (lines, next) = match searched {
        Some(Ok(found)) => {
            // A search continues below an entry id and ignores the time.
            let from = |entry| ReadingPosition { published_at: Time::from_secs(0), entry };
            (found.entries.into_iter().map(alone).collect(), found.next.map(from))
        }
        Some(Err(message)) => {
            fault = Some(message);
            (Vec::new(), None)
        }
        None => read_entries(store, account, list, now)?,
    };
    let feed = match list.scope {
        ListScope::Feed(feed) => Some(feed),
        _ => None,
    };
    let shown = lines.iter().flat_map(|line| std::iter::once(&line.lead).chain(&line.others));
    let met = shown.map(|row| row.entry.feed);
    // A name is shown only with entries, or for a feed of the account.
    let own = feed.filter(|feed| store.is_subscribed(account, *feed).unwrap_or(false));
    let names = store.feed_names_of(account, met.chain(own))?;
    let shown: Vec<FeedId> = names.keys().copied().collect();
    Ok(ListData {
        icons: store.feed_icons(&shown)?,
        lines,
        next,
        fault,
        feed: feed.map(|feed| feed_title(names.get(&feed))),
        names,
        sidebar,
        has_feeds: store.reads_any_feed(account)?,
        last: store.last_entry_id()?.0,
    })
}

fn compose(frame: Frame, data: ListData, list: &ReadingList, now: LocalNow) -> ReadPage {
    let ListData { lines, next, fault, names, icons, sidebar, feed, has_feeds, last: shown_to } =
        data;
    let about = match &list.scope {
        ListScope::Feed(feed) => Some(("About this feed", format!("/feed/{feed}"))),
        ListScope::Query(name) => Some(("About this query", format!("/query/{name}"))),
        _ => None,
    };
    ReadPage {
        heading: heading(list, feed),
        about,
        label: match &list.scope {
            ListScope::Label(name) => Some(name.clone()),
            _ => None,
        },
        search: match &list.scope {
            ListScope::Search(text) => text.clone(),
            _ => String::new(),
        },
        fault: fault.map(|text| sentence(&text)),
        tabs: tabs(list),
        empty: empty_reason(list, lines.is_empty(), has_feeds),
        shown_to,
        can_mark_all: !matches!(list.scope, ListScope::Search(_) | ListScope::Top)
            && !matches!(list.filter, ReadFilter::Starred | ReadFilter::Hidden),
        lines: by_day(
            lines.iter().map(|entry| entry_line(entry, (&names, &icons), list, now)),
            list,
        ),
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
        ListScope::All if list.filter == ReadFilter::Hidden => "Hidden by rules".to_owned(),
        ListScope::All => "Everything".to_owned(),
        ListScope::Feed(_) => feed.unwrap_or_default(),
        ListScope::Tag(tag) => tag.clone(),
        ListScope::Query(name) | ListScope::Label(name) => name.clone(),
        ListScope::Search(text) => format!("“{text}”"),
        ListScope::Top => "Top stories".to_owned(),
    }
}

fn tabs(list: &ReadingList) -> Vec<ReadTab> {
    let tab = |filter: ReadFilter| ReadTab {
        name: match filter {
            ReadFilter::Unread => "Unread",
            ReadFilter::All => "All",
            ReadFilter::Starred => "Starred",
            ReadFilter::Hidden => "Hidden",
        },
        href: list.filtered(filter).href(),
        chosen: list.filter == filter,
    };
    match list.scope {
        // The search index holds words and not marks. A ranking has read entries too.
        ListScope::Search(_) | ListScope::Top => Vec::new(),
        _ => ReadFilter::OFFERED.map(tab).into(),
    }
}

fn empty_reason(list: &ReadingList, nothing: bool, has_feeds: bool) -> EmptyReason {
    match (nothing, has_feeds, &list.scope, list.filter) {
        (false, ..) => EmptyReason::NotEmpty,
        (true, false, ..) => EmptyReason::NoFeeds,
        (true, true, ListScope::Search(_), _) => EmptyReason::NotFound,
        (true, true, ListScope::Top, _) => EmptyReason::NoStories,
        (true, true, _, ReadFilter::Unread) => EmptyReason::AllRead,
        (true, true, _, ReadFilter::Starred) => EmptyReason::NoStars,
        (true, true, _, ReadFilter::All | ReadFilter::Hidden) => EmptyReason::NothingYet,
    }
}

/// Keeps the day only on the first entry of each day. Queries and searches have another order, in
/// which days would repeat, so their entries get no day.
fn by_day(lines: impl Iterator<Item = EntryLine>, list: &ReadingList) -> Vec<EntryLine> {
    let has_days = matches!(
        list.scope,
        ListScope::All | ListScope::Feed(_) | ListScope::Tag(_) | ListScope::Label(_)
    );
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
    line: &FoldedEntry,
    (names, icons): (&HashMap<FeedId, FeedName>, &HashMap<FeedId, String>),
    list: &ReadingList,
    now: LocalNow,
) -> EntryLine {
    let (row, entry) = (&line.lead, &line.lead.entry);
    let name = names.get(&entry.feed);
    let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
    let (teaser, feed) = (teaser(body), feed_title(name));
    EntryLine {
        icon: FeedIcon::new(icons.get(&entry.feed), &feed),
        id: entry.id.0,
        href: list.entry_href(entry.id),
        title: title(entry, &teaser),
        feed,
        feed_href: ReadingList::of(ListScope::Feed(entry.feed)).href(),
        language: language(entry, name),
        published: DisplayTime::new(entry.published_at, now),
        link: entry.link.as_deref().and_then(web_link),
        day: Some(day(entry.published_at, now)),
        teaser,
        read: row.read,
        starred: row.starred,
        story: folded(line, names, list, now),
    }
}

//! The sidebar of the reading page: tags with their feeds and unread counts, and queries. The page
//! holds the feeds of a tag only if there are few feeds or the tag is chosen. Otherwise the script
//! loads them when the reader opens the tag.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use feed::{FeedId, Time};
use store::{AccountId, FeedListFilter, FeedOrder, FeedRow, LanguageCount, Store, StoreError};
use url::form_urlencoded;

use super::{ListScope, ReadingList};
use crate::blocking::run_blocking;
use crate::language_figures::LanguageFigures;
use crate::page::frame::Visitor;
use crate::page::icon::FeedIcon;
use crate::page::notice::{render, store_error};
use crate::words::{count, plural};
use crate::{ServerContext, sanitise};

/// The page of feeds shows the other tags.
const TAGS_MAX: usize = 60;
const QUERIES_MAX: usize = 60;
/// Labels in the sidebar.
const LABELS_MAX: usize = 50;
const LANGUAGES_MAX: usize = 20;
/// Up to this many feeds are part of the page: about 15 KB of the 100 KB that a page may have.
const INLINE_MAX: u64 = 100;
/// Feeds under one tag. In a longer list people search.
const FOLD_MAX: u32 = 500;
/// Feeds of the chosen tag that are part of the page.
const CHOSEN_MAX: u32 = 100;

/// The content of the sidebar.
pub struct Sidebar {
    /// The number of all unread entries.
    pub unread: String,
    pub tags: Vec<SidebarTag>,
    /// The number of tags that are not shown, in words.
    pub more: Option<String>,
    pub labels: Vec<SidebarLabel>,
    pub queries: Vec<SidebarQuery>,
    /// The languages of the entries, if there are several.
    pub languages: Vec<SidebarLanguage>,
}

/// A language in the sidebar. Choosing the chosen one shows all languages again.
pub struct SidebarLanguage {
    pub tag: String,
    pub href: String,
    pub chosen: bool,
    /// The entries, where they are counted by language.
    pub entries: Option<String>,
}

/// A tag in the sidebar.
pub struct SidebarTag {
    pub name: String,
    pub href: String,
    pub chosen: bool,
    pub unread: String,
    pub n_feeds: String,
    /// The addresses of the tag's feeds, as a page and as a part for the script.
    pub feeds_href: String,
    pub fold_href: String,
    /// The HTML of the feeds, if it is part of the page.
    pub fold: Option<String>,
}

/// A label in the sidebar.
pub struct SidebarLabel {
    pub name: String,
    pub href: String,
    pub chosen: bool,
    pub entries: String,
}

/// A query in the sidebar.
pub struct SidebarQuery {
    pub name: String,
    pub href: String,
    pub chosen: bool,
}

#[derive(Template)]
#[template(path = "fold.html")]
struct TagFold {
    feeds: Vec<FoldedFeed>,
    more: Option<String>,
    feeds_href: String,
}

struct FoldedFeed {
    icon: FeedIcon,
    name: String,
    href: String,
    chosen: bool,
    unread: String,
}

pub fn sidebar(
    store: &Store,
    figures: &LanguageFigures,
    account: AccountId,
    list: &ReadingList,
    now: Time,
) -> Result<Sidebar, StoreError> {
    let unread = store.unread_by_feed(account)?;
    let mut rows = store.tag_feeds_of(account, &unread)?;
    rows.retain(|row| !row.tag.starts_with(store::QUERY_TAG));
    let n_all: u64 = rows.iter().map(|row| row.n_feeds).sum();
    let n_more = rows.len().saturating_sub(TAGS_MAX) as u64;
    rows.truncate(TAGS_MAX);
    let mut tags = Vec::with_capacity(rows.len());
    for row in rows {
        let chosen = list.scope == ListScope::Tag(row.tag.clone());
        let limit = if n_all <= INLINE_MAX { Some(FOLD_MAX) } else { chosen.then_some(CHOSEN_MAX) };
        let fold = limit
            .map(|limit| tag_fold(store, account, &row.tag, &unread, list, limit))
            .transpose()?;
        tags.push(SidebarTag {
            href: ReadingList::of(ListScope::Tag(row.tag.clone())).href(),
            chosen,
            unread: nonzero(row.unread),
            n_feeds: plural(row.n_feeds, "feed", "feeds"),
            feeds_href: feeds_href(&row.tag),
            fold_href: with_tag("/fold", &row.tag),
            fold: fold.and_then(|fold| fold.render().ok()),
            name: row.tag,
        });
    }
    let labels = store.labels(account)?.into_iter().map(|row| {
        let of = ListScope::Label(row.name.clone());
        let (chosen, href) = (list.scope == of, ReadingList::of(of).href());
        SidebarLabel { name: row.name, href, chosen, entries: nonzero(row.n_entries) }
    });
    let labels = labels.take(LABELS_MAX).collect();
    let queries = store.queries_of(account)?.into_iter().map(|row| row.name).take(QUERIES_MAX);
    let queries = queries.map(|name| {
        let of = ListScope::Query(name.clone());
        SidebarQuery { name, chosen: list.scope == of, href: ReadingList::of(of).href() }
    });
    Ok(Sidebar {
        unread: count(unread.values().sum()),
        tags,
        more: (n_more > 0)
            .then(|| format!("{} more on the page of feeds", plural(n_more, "tag", "tags"))),
        labels,
        queries: queries.collect(),
        languages: match &list.scope {
            // A search has a filter of its own.
            ListScope::Search(_) => Vec::new(),
            _ => {
                let counts = figures.of(store, account, n_all, now)?;
                languages(counts, list, account == AccountId::LOCAL)
            }
        },
    })
}

/// Returns the most frequent languages. One language needs no filter. The figures of an account are
/// those of its feeds: they order the languages, and the filter finds other numbers of entries.
fn languages(
    counts: Vec<LanguageCount>,
    list: &ReadingList,
    are_of_entries: bool,
) -> Vec<SidebarLanguage> {
    if counts.len() < 2 && list.language.is_none() {
        return Vec::new();
    }
    let shown = counts.into_iter().take(LANGUAGES_MAX).map(|row| {
        let chosen = list.language.as_deref() == Some(row.language.as_str());
        let language = (!chosen).then(|| row.language.clone());
        let href = ReadingList { language, from: None, ..list.clone() }.href();
        let entries = are_of_entries.then(|| count(row.n_entries));
        SidebarLanguage { href, chosen, entries, tag: row.language }
    });
    shown.collect()
}

/// Answers the script with the feeds of a tag.
pub async fn fold(
    State(context): State<ServerContext>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let (store, account) = (context.store.clone(), visitor.account());
    let list = ReadingList::read(query.as_deref(), false);
    let tag = if let ListScope::Tag(tag) = &list.scope { tag.clone() } else { String::new() };
    let found = run_blocking(move || {
        let unread = store.unread_by_feed(account)?;
        tag_fold(&store, account, &tag, &unread, &list, FOLD_MAX)
    });
    match found.await {
        Ok(fold) => render(&fold),
        Err(error) => store_error(&context, visitor, &error),
    }
}

fn tag_fold(
    store: &Store,
    account: AccountId,
    tag: &str,
    unread: &HashMap<FeedId, u64>,
    list: &ReadingList,
    limit: u32,
) -> Result<TagFold, StoreError> {
    let (lines, has_more) = tag_feeds(store, account, tag, limit)?;
    let ids: Vec<FeedId> = lines.iter().map(|row| row.id).collect();
    let icons = store.feed_icons(&ids)?;
    let feeds = lines.iter().map(|row| {
        let title = row.shown_title().map(sanitise::text).filter(|t| !t.trim().is_empty());
        let name = title.unwrap_or_else(|| row.location.url.masked());
        FoldedFeed {
            icon: FeedIcon::new(icons.get(&row.id), &name),
            name,
            href: ReadingList::of(ListScope::Feed(row.id)).href(),
            chosen: list.scope == ListScope::Feed(row.id),
            unread: nonzero(unread.get(&row.id).copied().unwrap_or(0)),
        }
    });
    let more = has_more.then(|| "All feeds of this tag".to_owned());
    Ok(TagFold { feeds: feeds.collect(), more, feeds_href: feeds_href(tag) })
}

/// Returns the first feeds of a tag, and whether there are more: in the order of the account, or of
/// their titles without accounts.
fn tag_feeds(
    store: &Store,
    account: AccountId,
    tag: &str,
    limit: u32,
) -> Result<(Vec<FeedRow>, bool), StoreError> {
    if account != AccountId::LOCAL {
        let mut feeds = store.feeds_in_own_order(account, Some(tag))?;
        let has_more = feeds.len() > limit as usize;
        feeds.truncate(limit as usize);
        return Ok((feeds, has_more));
    }
    let page = store.feed_list(&FeedListFilter {
        account,
        text: String::new(),
        tag: Some(tag.to_owned()),
        state: None,
        order: FeedOrder::Title,
        from: None,
        backwards: false,
        limit,
    })?;
    Ok((page.lines, page.after.is_some()))
}

/// Counts all unread entries of an account.
pub fn n_unread(store: &Store, account: AccountId) -> Result<u64, StoreError> {
    match account {
        AccountId::LOCAL => Ok(store.read_marks(account)?.n_unread()),
        _ => Ok(store.unread_by_feed(account)?.values().sum()),
    }
}

/// Writes a count; empty for zero.
fn nonzero(n: u64) -> String {
    if n == 0 { String::new() } else { count(n) }
}

fn feeds_href(tag: &str) -> String {
    with_tag("/feeds", tag)
}

fn with_tag(path: &str, tag: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("tag", tag).finish();
    format!("{path}?{query}")
}

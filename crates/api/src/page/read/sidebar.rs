//! What else there is to read, beside the list: tags with their feeds folded under them, queries,
//! and how much is unread in each. The feeds of a tag come with the page only where they are few
//! or the tag is chosen; else when its fold is opened.

use std::collections::HashMap;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use feed::FeedId;
use store::{AccountId, FeedListFilter, FeedOrder, Store, StoreError};
use url::form_urlencoded;

use super::{Of, Place};
use crate::blocking::run_blocking;
use crate::page::frame::Visitor;
use crate::page::{failed, shown};
use crate::words::{count, plural};
use crate::{Context, sanitise};

/// More tags are found on the page of feeds.
const TAGS_MAX: usize = 60;
const QUERIES_MAX: usize = 60;
/// So many feeds over all folds come with the page: some 15 KB of the 100 that it may have.
const INLINE_MAX: u64 = 100;
/// Feeds under one tag: more is quicker searched than read.
const FOLD_MAX: u32 = 500;
/// Feeds of the chosen tag that come with the page.
const CHOSEN_MAX: u32 = 100;

pub struct Sidebar {
    /// How much is unread in all.
    pub unread: String,
    pub tags: Vec<Tag>,
    /// Said where there are tags that are not shown.
    pub more: Option<String>,
    pub queries: Vec<Choice>,
}

pub struct Tag {
    pub name: String,
    pub href: String,
    pub chosen: bool,
    pub unread: String,
    pub n_feeds: String,
    /// The list of its feeds on a page of its own, and as a fold.
    pub feeds_href: String,
    pub fold_href: String,
    /// The fold where it comes with the page.
    pub fold: Option<String>,
}

pub struct Choice {
    pub name: String,
    pub href: String,
    pub chosen: bool,
}

#[derive(Template)]
#[template(path = "fold.html")]
struct Fold {
    feeds: Vec<FoldedFeed>,
    more: Option<String>,
    feeds_href: String,
}

struct FoldedFeed {
    name: String,
    href: String,
    chosen: bool,
    unread: String,
}

pub fn sidebar(store: &Store, account: AccountId, place: &Place) -> Result<Sidebar, StoreError> {
    let unread = store.unread_by_feed(account)?;
    let mut rows = store.tag_feeds(&unread)?;
    rows.retain(|row| !row.tag.starts_with(store::QUERY_TAG));
    let n_all: u64 = rows.iter().map(|row| row.n_feeds).sum();
    let n_more = rows.len().saturating_sub(TAGS_MAX) as u64;
    rows.truncate(TAGS_MAX);
    let mut tags = Vec::with_capacity(rows.len());
    for row in rows {
        let chosen = place.of == Of::Tag(row.tag.clone());
        let limit = if n_all <= INLINE_MAX { Some(FOLD_MAX) } else { chosen.then_some(CHOSEN_MAX) };
        let fold = limit.map(|limit| folded(store, &row.tag, &unread, place, limit)).transpose()?;
        tags.push(Tag {
            href: Place::of(Of::Tag(row.tag.clone())).href(),
            chosen,
            unread: some(row.unread),
            n_feeds: plural(row.n_feeds, "feed", "feeds"),
            feeds_href: feeds_href(&row.tag),
            fold_href: with_tag("/fold", &row.tag),
            fold: fold.and_then(|fold| fold.render().ok()),
            name: row.tag,
        });
    }
    let queries = store.queries()?.into_iter().map(|row| row.name).take(QUERIES_MAX);
    let queries = queries.map(|name| {
        let of = Of::Query(name.clone());
        Choice { name, chosen: place.of == of, href: Place::of(of).href() }
    });
    Ok(Sidebar {
        unread: count(store.read_marks(account)?.n_unread()),
        tags,
        more: (n_more > 0)
            .then(|| format!("{} more on the page of feeds", plural(n_more, "tag", "tags"))),
        queries: queries.collect(),
    })
}

/// The feeds of a tag, for a fold that is opened.
pub async fn fold(
    State(context): State<Context>,
    visitor: Visitor,
    RawQuery(query): RawQuery,
) -> Response {
    let (store, account) = (context.store.clone(), visitor.account());
    let place = Place::read(query.as_deref(), false);
    let tag = if let Of::Tag(tag) = &place.of { tag.clone() } else { String::new() };
    let found = run_blocking(move || {
        let unread = store.unread_by_feed(account)?;
        folded(&store, &tag, &unread, &place, FOLD_MAX)
    });
    match found.await {
        Ok(fold) => shown(&fold),
        Err(error) => failed(&context, visitor, &error),
    }
}

fn folded(
    store: &Store,
    tag: &str,
    unread: &HashMap<FeedId, u64>,
    place: &Place,
    limit: u32,
) -> Result<Fold, StoreError> {
    let page = store.feed_list(&FeedListFilter {
        text: String::new(),
        tag: Some(tag.to_owned()),
        state: None,
        order: FeedOrder::Title,
        from: None,
        backwards: false,
        limit,
    })?;
    let feeds = page.lines.iter().map(|row| {
        let title = row.shown_title().map(sanitise::text).filter(|t| !t.trim().is_empty());
        FoldedFeed {
            name: title.unwrap_or_else(|| row.location.url.masked()),
            href: Place::of(Of::Feed(row.id)).href(),
            chosen: place.of == Of::Feed(row.id),
            unread: some(unread.get(&row.id).copied().unwrap_or(0)),
        }
    });
    let more = page.after.is_some().then(|| "All feeds of this tag".to_owned());
    Ok(Fold { feeds: feeds.collect(), more, feeds_href: feeds_href(tag) })
}

/// A count that says nothing where there is nothing.
fn some(n: u64) -> String {
    if n == 0 { String::new() } else { count(n) }
}

fn feeds_href(tag: &str) -> String {
    with_tag("/feeds", tag)
}

fn with_tag(path: &str, tag: &str) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("tag", tag).finish();
    format!("{path}?{query}")
}

//! Fever's API at `/fever/`: one address, where the names of the parameters say what is requested.
//! Tags are groups. Clients send `md5(name:password)`, which cannot be checked against our password
//! hashes, so an app gets a token as its password. Hot links are not supported.

use std::collections::BTreeMap;

use axum::extract::{FromRequest, Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use feed::{EntryId, FeedId, Time};
use serde_json::{Value, json};
use store::{
    AccountId, FeedFilter, FeedRow, NumberedTag, ReadEntry, ReadingFilter, ReadingPosition, Scope,
    Store, TokenScope,
};

use super::error::{InText, ReaderApiError};
use super::icons::{FeedIcons, data_url};
use super::params::{AppParams, ParamLimits};
use super::view::{self, AppArticles};
use super::{blocking, identify};
use crate::ServerContext;
use crate::auth::Person;
use crate::feed_rows::FeedRows;

const API_VERSION: u32 = 3;
/// Entries in one answer, as Fever defines it.
const ITEMS_MAX: u32 = 50;

pub fn routes() -> Router<ServerContext> {
    Router::new()
        .route("/fever", any(answer))
        .route("/fever/", any(answer))
        .route("/fever/{*rest}", any(answer))
}

/// A request, with the account behind it if there is one.
struct FeverRequest {
    params: AppParams,
    person: Option<Person>,
    /// Only POST requests may change anything: a GET address can be hidden in a picture of any
    /// page.
    may_change: bool,
}

impl FromRequest<ServerContext> for FeverRequest {
    type Rejection = InText;

    async fn from_request(
        request: Request,
        context: &ServerContext,
    ) -> Result<FeverRequest, InText> {
        let admitted = identify::admitted(&request);
        let may_change = *request.method() == Method::POST;
        // Fever's apps send their key in the body, and mark one thing with each request.
        let params = AppParams::read(request, ParamLimits::STRANGER).await?;
        let person = match (admitted, params.in_body("api_key")) {
            (Some(person), _) => Some(person),
            (None, Some(key)) => {
                let now = (context.now)();
                context.logins.by_fever_key(&context.store, key, now).await?
            }
            (None, None) => None,
        };
        Ok(FeverRequest { params, person, may_change })
    }
}

/// Answers a request. Unknown clients get a version and `auth: 0`, as Fever does.
async fn answer(
    State(context): State<ServerContext>,
    request: FeverRequest,
) -> Result<Response, InText> {
    let FeverRequest { params, person, may_change } = request;
    let Some(person) = person.filter(|_| params.has("api")) else {
        return Ok(Json(json!({"api_version": API_VERSION, "auth": 0})).into_response());
    };
    let may_change = may_change && person.may(TokenScope::Write);
    let now = (context.now)();
    let body = blocking(move || {
        let store = &context.store;
        if let Some(kind) = params.text("mark").filter(|_| may_change) {
            mark(store, person.account, kind, &params, now)?;
        }
        let mut body = json!({"api_version": API_VERSION, "auth": 1});
        body["last_refreshed_on_time"] = store.last_poll_at()?.map_or(0, Time::secs).into();
        fill(&mut body, store, person.account, &params, now)?;
        Ok(body)
    });
    Ok(Json(body.await?).into_response())
}

/// Adds all requested parts to the answer.
fn fill(
    body: &mut Value,
    store: &Store,
    account: AccountId,
    params: &AppParams,
    now: Time,
) -> Result<(), ReaderApiError> {
    if params.has("groups") || params.has("feeds") {
        let tags = store.tags_of(account)?;
        let feeds = store.feeds_in_own_order(account, None)?;
        if params.has("groups") {
            body["groups"] = groups(&tags);
        }
        if params.has("feeds") {
            let icons = FeedIcons::read(store, feeds.iter().map(|feed| feed.id))?;
            body["feeds"] = feeds.iter().map(|feed| feed_json(feed, &icons)).collect();
        }
        body["feeds_groups"] = feeds_groups(&tags, &feeds);
    }
    if params.has("favicons") {
        let feeds = store.feeds_of(account, &FeedFilter::default())?;
        body["favicons"] =
            favicons(store, &FeedIcons::read(store, feeds.iter().map(|feed| feed.id))?)?;
    }
    if params.has("items") {
        body["items"] = items(store, account, params)?;
        body["total_items"] = n_entries(store, account, now)?.into();
    }
    if params.has("links") {
        body["links"] = json!([]);
    }
    // After a change the answer holds the new list, so that the app need not request it.
    let marked = params.text("as");
    if params.has("unread_item_ids") || matches!(marked, Some("read" | "unread")) {
        body["unread_item_ids"] = joined(store.unread_entries(account)?.into_iter()).into();
    }
    if params.has("saved_item_ids") || matches!(marked, Some("saved" | "unsaved")) {
        let mut saved = ReadingFilter::newest(account, Scope::All, u32::MAX);
        saved.starred = Some(true);
        let places = every_place(store, saved)?;
        let mut stars: Vec<EntryId> = places.iter().map(|place| place.entry).collect();
        stars.sort_unstable();
        body["saved_item_ids"] = joined(stars.into_iter()).into();
    }
    Ok(())
}

/// Counts the entries that an account can read.
fn n_entries(store: &Store, account: AccountId, now: Time) -> Result<u64, ReaderApiError> {
    if account == AccountId::LOCAL {
        return Ok(store.counts(now)?.entries);
    }
    let feeds = store.feeds_of(account, &FeedFilter::default())?;
    Ok(feeds.iter().map(|feed| feed.entries).sum())
}

/// Reads a whole list, page by page.
fn every_place(
    store: &Store,
    mut reading: ReadingFilter,
) -> Result<Vec<ReadingPosition>, ReaderApiError> {
    let mut places = Vec::new();
    loop {
        let found = store.reading_places(&reading)?;
        let Some(last) = found.last() else { return Ok(places) };
        reading.from = Some(*last);
        places.extend(found);
    }
}

fn joined(ids: impl Iterator<Item = EntryId>) -> String {
    ids.map(|id| id.to_string()).collect::<Vec<_>>().join(",")
}

fn is_group(tag: &NumberedTag) -> bool {
    !tag.tag.is_empty() && !tag.tag.starts_with(view::OF_QUERY)
}

fn groups(tags: &[NumberedTag]) -> Value {
    let groups = tags.iter().filter(|tag| is_group(tag));
    groups.map(|tag| json!({"id": tag.number, "title": tag.tag})).collect()
}

fn feeds_groups(tags: &[NumberedTag], feeds: &[FeedRow]) -> Value {
    let mut members: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for feed in feeds {
        for tag in view::own_tags(feed) {
            members.entry(tag).or_default().push(feed.id.to_string());
        }
    }
    let known = tags.iter().filter(|tag| is_group(tag));
    let with_feeds = known.filter_map(|tag| Some((tag.number, members.get(tag.tag.as_str())?)));
    with_feeds.map(|(id, feeds)| json!({"group_id": id, "feed_ids": feeds.join(",")})).collect()
}

/// Returns each icon once, as Fever wants it: a data address without its scheme.
fn favicons(store: &Store, icons: &FeedIcons) -> Result<Value, ReaderApiError> {
    let mut list = Vec::new();
    for (number, hash) in icons.all() {
        if let Some(icon) = store.icon(hash)? {
            list.push(json!({"id": number, "data": data_url(&icon)}));
        }
    }
    Ok(list.into())
}

fn feed_json(feed: &FeedRow, icons: &FeedIcons) -> Value {
    json!({
        "id": feed.id.0,
        "favicon_id": icons.of(feed.id).map_or(0, |(number, _)| number),
        "title": view::feed_title(feed),
        "url": feed.location.url.masked(),
        "site_url": view::site(feed).unwrap_or(""),
        "is_spark": 0,
        "last_updated_on_time": feed.history.last_change_at.map_or(0, Time::secs),
    })
}

/// Returns entries by their numbers, or in the order of numbers from `since_id` on. With `max_id`
/// they go back from that number.
fn items(store: &Store, account: AccountId, params: &AppParams) -> Result<Value, ReaderApiError> {
    let mut reading = ReadingFilter::newest(account, Scope::All, ITEMS_MAX);
    reading.by_number = true;
    let listed = |reading: &ReadingFilter| -> Result<Vec<EntryId>, ReaderApiError> {
        Ok(store.reading_places(reading)?.iter().map(|place| place.entry).collect())
    };
    let ids: Vec<EntryId> = if let Some(ids) = params.text("with_ids") {
        let read = |id: &str| id.trim().parse().ok().map(EntryId);
        ids.split(',').filter_map(read).take(ITEMS_MAX as usize).collect()
    } else if let Some(max) = params.number::<i64>("max_id")?.filter(|max| *max > 0) {
        reading.below = Some(EntryId(max));
        listed(&reading)?
    } else {
        let since = EntryId(params.number::<i64>("since_id")?.unwrap_or(0));
        (reading.above, reading.oldest_first) = (Some(since), true);
        listed(&reading)?
    };
    let found = store.read_entries(account, &ids)?;
    let feeds = FeedRows::of_entries(store, account, found.iter().map(|one| one.entry.feed))?;
    let mut items = Vec::new();
    let articles = AppArticles::read(store, account, &found)?;
    for one in found {
        if let Some(feed) = feeds.get(one.entry.feed) {
            items.push(item(&one, feed, &articles));
        }
    }
    Ok(items.into())
}

fn item(one: &ReadEntry, feed: &FeedRow, articles: &AppArticles) -> Value {
    let entry = &one.entry;
    json!({
        "id": entry.id.0,
        "feed_id": entry.feed.0,
        "title": view::title(entry),
        "author": view::author(entry).unwrap_or_default(),
        "html": view::html(one, feed, articles),
        "url": view::link(entry).unwrap_or(""),
        "is_saved": u8::from(one.starred),
        "is_read": u8::from(one.read),
        "created_on_time": entry.published_at.secs(),
    })
}

/// Applies `mark=item|feed|group`, `as=read|unread|saved|unsaved`, `id`, and `before` for the last
/// two.
fn mark(
    store: &Store,
    account: AccountId,
    kind: &str,
    params: &AppParams,
    now: Time,
) -> Result<(), ReaderApiError> {
    let id = params.number::<i64>("id")?.unwrap_or(-1);
    let scope = match (kind, params.text("as")) {
        ("item", Some("read")) => return Ok(store.open_entries(account, &[EntryId(id)], now)?),
        ("item", Some("unread")) => return Ok(store.mark_read(account, &[EntryId(id)], false)?),
        ("item", Some("saved")) => return Ok(store.star(account, &[EntryId(id)], true, now)?),
        ("item", Some("unsaved")) => return Ok(store.star(account, &[EntryId(id)], false, now)?),
        ("feed", Some("read")) => u32::try_from(id).ok().map(|id| Scope::Feed(FeedId(id))),
        // Group 0 is everything. Group -1 is sparks, which we do not have.
        ("group", Some("read")) if id == 0 => Some(Scope::All),
        ("group", Some("read")) => {
            store.tag_of_number(account, id)?.filter(|tag| !tag.is_empty()).map(Scope::Tag)
        }
        _ => None,
    };
    // Without `before`, the app has seen everything that is stored now.
    let before = params.number::<i64>("before")?.filter(|secs| *secs > 0);
    let up_to = match before {
        Some(secs) => {
            let end = Time::from_secs(secs.min(Time::MAX.secs() - 1) + 1);
            Some(store.last_seen_before(end)?)
        }
        None => None,
    };
    if let Some(scope) = scope.filter(|_| up_to != Some(EntryId(0))) {
        store.mark_scope_read(account, &scope, None, up_to)?;
    }
    Ok(())
}

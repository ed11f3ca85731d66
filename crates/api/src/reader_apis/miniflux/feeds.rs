//! Feeds: list, add, remove, change title and category, poll.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dispatch::command::{Command, FeedSettingsChange, Target};
use feed::{FeedId, FeedUrl, Time};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{FeedFilter, FeedRow, FeedState, NumberedTag, Scope, Store, TokenScope};

use super::category::category;
use super::{Categories, MinifluxRequest, feed_id};
use crate::ServerContext;
use crate::auth::Person;
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::icons::{FeedIcons, data_url};
use crate::reader_apis::{act, add_feed, identify, view as texts};

/// The zero time of Go, which stands for a missing time.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// Settings of miniflux that we do not have.
const EMPTY: [&str; 13] = [
    "etag_header",
    "last_modified_header",
    "scraper_rules",
    "rewrite_rules",
    "blocklist_rules",
    "keeplist_rules",
    "urlrewrite_rules",
    "user_agent",
    "cookie",
    "username",
    "password",
    "description",
    "apprise_service_urls",
];
const OFF: [&str; 6] = [
    "crawler",
    "ignore_http_cache",
    "allow_self_signed_certificates",
    "fetch_via_proxy",
    "no_media_player",
    "hide_globally",
];

/// Returns a feed in miniflux's format.
pub fn feed_json(user: i64, feed: &FeedRow, categories: &Categories, icons: &FeedIcons) -> Value {
    let (number, tag) = categories.of(feed);
    let time = |at: Option<Time>| at.map_or_else(|| NEVER.to_owned(), |at| at.to_string());
    let mut shown = json!({
        "id": feed.id.0,
        "user_id": user,
        "feed_url": feed.location.url.masked(),
        "site_url": texts::site(feed).unwrap_or(""),
        "title": texts::feed_title(feed),
        "checked_at": time(feed.history.last_poll_at),
        "next_check_at": time(feed.schedule.next_at),
        "parsing_error_count": feed.history.failures,
        "parsing_error_message": feed.error().unwrap_or(""),
        "disabled": feed.state() == FeedState::Paused,
        "category": category(user, number, tag),
        "icon": icons.of(feed.id).map(|(number, _)| json!({
            "feed_id": feed.id.0,
            "icon_id": number,
            "external_icon_id": "",
        })),
    });
    EMPTY.iter().for_each(|name| shown[*name] = "".into());
    OFF.iter().for_each(|name| shown[*name] = false.into());
    shown
}

pub async fn list(request: MinifluxRequest) -> Result<Response, InJson> {
    let list = request.with_store(|store, request| {
        let (user, categories) = (request.user(), Categories::read(store, request.person.account)?);
        let feeds = store.feeds_in_own_order(request.person.account, None)?;
        let icons = FeedIcons::read(store, feeds.iter().map(|feed| feed.id))?;
        let shown = feeds.iter().map(|feed| feed_json(user, feed, &categories, &icons));
        Ok(shown.collect::<Vec<_>>())
    });
    Ok(Json(list.await?).into_response())
}

pub async fn one(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let id = feed_id(&id)?;
    let one = request
        .with_store(move |store, request| single(store, &request.person, request.user(), id));
    Ok(Json(one.await?).into_response())
}

/// Counts read and unread entries of each feed.
pub async fn counters(request: MinifluxRequest) -> Result<Response, InJson> {
    let body = request.with_store(|store, request| {
        let unread = store.unread_by_feed(request.person.account)?;
        let (mut reads, mut unreads) = (BTreeMap::new(), BTreeMap::new());
        for feed in store.feeds_of(request.person.account, &FeedFilter::default())? {
            let n_unread = unread.get(&feed.id).copied().unwrap_or(0);
            for (counts, n) in
                [(&mut reads, feed.entries.saturating_sub(n_unread)), (&mut unreads, n_unread)]
            {
                if n > 0 {
                    counts.insert(feed.id.to_string(), n);
                }
            }
        }
        Ok(json!({"reads": reads, "unreads": unreads}))
    });
    Ok(Json(body.await?).into_response())
}

#[derive(Deserialize)]
struct DiscoverBody {
    url: String,
}

/// Answers which feeds an address may name. No request is sent: the answer is the address itself.
/// Adding it adds the feed that a page names.
pub async fn discover(request: MinifluxRequest) -> Result<Response, InJson> {
    let sought = request.json::<DiscoverBody>()?.url;
    let url =
        FeedUrl::parse(&sought).map_err(|error| ReaderApiError::bad_request(error.to_string()))?;
    let title = request.with_store(move |store, request| {
        let account = request.person.account;
        let known = store.find_feed_of(account, url.as_str())?;
        let known = known.map(|id| store.feed_of(account, id)).transpose()?;
        Ok(known.map_or_else(|| url.masked(), |feed| texts::feed_title(&feed)))
    });
    Ok(Json(json!([{"url": sought, "title": title.await?, "type": "rss"}])).into_response())
}

#[derive(Deserialize)]
struct NewFeedBody {
    feed_url: String,
    category_id: Option<i64>,
}

pub async fn create(request: MinifluxRequest) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let new: NewFeedBody = request.json()?;
    let (context, person) = (request.context.clone(), request.person.clone());
    let tags = match new.category_id {
        None | Some(NumberedTag::UNTAGGED) => Vec::new(),
        Some(number) => {
            let find = request.with_store(move |store, request| {
                let categories = Categories::read(store, request.person.account)?;
                Ok(categories.find(number)?.tag.clone())
            });
            vec![find.await?]
        }
    };
    let feed = add_feed::add_feed(&context, &person, &new.feed_url, tags).await?;
    Ok((StatusCode::CREATED, Json(json!({"feed_id": feed.0}))).into_response())
}

#[derive(Deserialize)]
struct FeedUpdateBody {
    title: Option<String>,
    category_id: Option<i64>,
    disabled: Option<bool>,
    feed_url: Option<String>,
}

/// Changes a feed. Another category removes all tags but its own, because a feed has one category
/// and would stay in the old one otherwise.
pub async fn update(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let (id, changed): (_, FeedUpdateBody) = (feed_id(&id)?, request.json()?);
    let (context, user, person) = (request.context.clone(), request.user(), request.person.clone());
    let account = person.subscriber();
    let number = changed.category_id;
    let (row, from, to) = request
        .with_store(move |store, request| {
            let account = request.person.account;
            let (row, categories) =
                (store.feed_of(account, id)?, Categories::read(store, account)?);
            let to = number.map(|number| categories.find(number).cloned()).transpose()?;
            let from = categories.of(&row).0;
            Ok((row, from, to))
        })
        .await?;
    let feed = id.to_string();
    // An app may send back the address that we showed, which is not a change.
    let is_shown =
        |url: &String| *url == row.location.url.masked() || url == row.location.url.as_str();
    let url = changed.feed_url.filter(|url| !is_shown(url));
    let paused = changed.disabled.filter(|paused| *paused != (row.state() == FeedState::Paused));
    // Both change the feed for everybody.
    if url.is_some() || paused.is_some() {
        identify::needs(&person, TokenScope::Admin)?;
    }
    if let Some(url) = url {
        act(&context, Command::Move { feed: feed.clone(), url }).await?;
    }
    if let Some(title) = changed.title {
        act(&context, Command::Title { feed: feed.clone(), title: Some(title), account }).await?;
    }
    if let Some(to) = to.filter(|to| to.number != from) {
        let remove = texts::own_tags(&row).filter(|tag| *tag != to.tag).map(str::to_owned);
        let (feeds, remove) = (vec![feed.clone()], remove.collect());
        let add = if to.tag.is_empty() { vec![] } else { vec![to.tag] };
        act(&context, Command::Tag { feeds, add, remove, account }).await?;
    }
    if let Some(paused) = paused {
        let change = FeedSettingsChange { paused: Some(paused), ..FeedSettingsChange::default() };
        act(&context, Command::Set { target: Target::Feed(feed), change }).await?;
    }
    let store = context.store.clone();
    let now = super::blocking(move || single(&store, &person, user, id));
    Ok((StatusCode::CREATED, Json(now.await?)).into_response())
}

pub async fn delete(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    let account = request.person.subscriber();
    let (feed, context) = feed_to_change(&id, request).await?;
    act(&context, Command::Remove { feed, account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Polls a feed as soon as the pace of its server allows, and waits for the result.
pub async fn refresh(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    let (feed, context) = feed_to_change(&id, request).await?;
    act(&context, Command::Poll { feeds: Some(vec![feed]) }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the number of a feed that the account reads, for a command.
async fn feed_to_change(
    id: &str,
    request: MinifluxRequest,
) -> Result<(String, ServerContext), InJson> {
    request.needs(TokenScope::Write)?;
    let (id, context) = (feed_id(id)?, request.context.clone());
    request
        .with_store(move |store, request| Ok(store.feed_of(request.person.account, id)?))
        .await?;
    Ok((id.to_string(), context))
}

pub async fn refresh_all(request: MinifluxRequest) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let context = request.context.clone();
    let own = request.with_store(|store, request| match request.person.subscriber() {
        None => Ok(None),
        Some(_) => {
            let feeds = store.feeds_of(request.person.account, &FeedFilter::default())?;
            let polled = feeds.iter().filter(|feed| feed.state().is_polled());
            Ok(Some(polled.map(|feed| feed.id.to_string()).collect()))
        }
    });
    poll_behind(&context, own.await?);
    Ok(StatusCode::NO_CONTENT)
}

/// Starts polls and does not wait for them. The pace limits them as always.
pub fn poll_behind(context: &ServerContext, feeds: Option<Vec<String>>) {
    let polls = (context.act)(Command::Poll { feeds });
    tokio::spawn(async move {
        if let Err(refusal) = polls.await {
            tracing::info!(why = refusal.message, "the engine refused polls that an app requested");
        }
    });
}

/// Returns one feed with its icon.
fn single(store: &Store, person: &Person, user: i64, id: FeedId) -> Result<Value, ReaderApiError> {
    let row = store.feed_of(person.account, id)?;
    let icons = FeedIcons::read(store, [row.id])?;
    Ok(feed_json(user, &row, &Categories::read(store, person.account)?, &icons))
}

/// Answers `GET /v1/feeds/ID/icon`.
pub async fn icon(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let id = feed_id(&id)?;
    let body = request.with_store(move |store, request| {
        store.feed_of(request.person.account, id)?;
        icon_json(store, id)
    });
    Ok(Json(body.await?).into_response())
}

/// Answers `GET /v1/icons/ID`. The number of an icon is that of a feed that shows it.
pub async fn icon_by_number(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<Response, InJson> {
    let id = feed_id(&id)?;
    let body = request.with_store(move |store, request| {
        store.feed_of(request.person.account, id)?;
        icon_json(store, id)
    });
    Ok(Json(body.await?).into_response())
}

fn icon_json(store: &Store, feed: FeedId) -> Result<Value, ReaderApiError> {
    let missing = ReaderApiError::Missing("there is no icon for this feed");
    let hash = store.feed_icon(feed)?;
    let icon = hash.map(|hash| store.icon(&hash)).transpose()?.flatten().ok_or(missing)?;
    Ok(json!({"id": feed.0, "mime_type": icon.mime_type, "data": data_url(&icon)}))
}

pub async fn mark_all(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let id = feed_id(&id)?;
    request
        .with_store(move |store, request| {
            store.feed_of(request.person.account, id)?;
            Ok(store.mark_scope_read(request.person.account, &Scope::Feed(id), None, None)?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

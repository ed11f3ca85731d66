//! Feeds: list, add, remove, change title and category, poll.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dispatch::command::{Command, FeedSettingsChange, Target};
use feed::{FeedUrl, Time};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{FeedFilter, FeedRow, FeedState, NumberedTag, Scope, TokenScope};

use super::category::category;
use super::{Categories, MinifluxRequest, feed_id};
use crate::ServerContext;
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::{act, add_feed, view as texts};

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
pub fn feed_json(user: i64, feed: &FeedRow, categories: &Categories) -> Value {
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
        "icon": null,
    });
    EMPTY.iter().for_each(|name| shown[*name] = "".into());
    OFF.iter().for_each(|name| shown[*name] = false.into());
    shown
}

pub async fn list(request: MinifluxRequest) -> Result<Response, InJson> {
    let list = request.with_store(|store, request| {
        let (user, categories) = (request.user(), Categories::read(store)?);
        let feeds = store.feeds(&FeedFilter::default())?;
        Ok(feeds.iter().map(|feed| feed_json(user, feed, &categories)).collect::<Vec<_>>())
    });
    Ok(Json(list.await?).into_response())
}

pub async fn one(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let id = feed_id(&id)?;
    let one = request.with_store(move |store, request| {
        Ok(feed_json(request.user(), &store.feed(id)?, &Categories::read(store)?))
    });
    Ok(Json(one.await?).into_response())
}

/// Counts read and unread entries of each feed.
pub async fn counters(request: MinifluxRequest) -> Result<Response, InJson> {
    let body = request.with_store(|store, request| {
        let unread = store.unread_by_feed(request.person.account)?;
        let (mut reads, mut unreads) = (BTreeMap::new(), BTreeMap::new());
        for feed in store.feeds(&FeedFilter::default())? {
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
    let title = request.with_store(move |store, _| {
        let known = store.find_feed(url.as_str())?.map(|id| store.feed(id)).transpose()?;
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
    request.needs(TokenScope::Admin)?;
    let new: NewFeedBody = request.json()?;
    let context = request.context.clone();
    let tags = match new.category_id {
        None | Some(NumberedTag::UNTAGGED) => Vec::new(),
        Some(number) => {
            let find = request
                .with_store(move |store, _| Ok(Categories::read(store)?.find(number)?.tag.clone()));
            vec![find.await?]
        }
    };
    let feed = add_feed::add_feed(&context, &new.feed_url, tags).await?;
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
    request.needs(TokenScope::Admin)?;
    let (id, changed): (_, FeedUpdateBody) = (feed_id(&id)?, request.json()?);
    let (context, user) = (request.context.clone(), request.user());
    let number = changed.category_id;
    let (row, from, to) = request
        .with_store(move |store, _| {
            let (row, categories) = (store.feed(id)?, Categories::read(store)?);
            let to = number.map(|number| categories.find(number).cloned()).transpose()?;
            let from = categories.of(&row).0;
            Ok((row, from, to))
        })
        .await?;
    let feed = id.to_string();
    // An app may send back the address that we showed, which is not a change.
    let is_shown =
        |url: &String| *url == row.location.url.masked() || url == row.location.url.as_str();
    if let Some(url) = changed.feed_url.filter(|url| !is_shown(url)) {
        act(&context, Command::Move { feed: feed.clone(), url }).await?;
    }
    if let Some(title) = changed.title {
        act(&context, Command::Title { feed: feed.clone(), title: Some(title) }).await?;
    }
    if let Some(to) = to.filter(|to| to.number != from) {
        let remove = texts::own_tags(&row).filter(|tag| *tag != to.tag).map(str::to_owned);
        let (feeds, remove) = (vec![feed.clone()], remove.collect());
        let add = if to.tag.is_empty() { vec![] } else { vec![to.tag] };
        act(&context, Command::Tag { feeds, add, remove }).await?;
    }
    if let Some(paused) = changed.disabled {
        let change = FeedSettingsChange { paused: Some(paused), ..FeedSettingsChange::default() };
        act(&context, Command::Set { target: Target::Feed(feed), change }).await?;
    }
    let store = context.store.clone();
    let now =
        super::blocking(move || Ok(feed_json(user, &store.feed(id)?, &Categories::read(&store)?)));
    Ok((StatusCode::CREATED, Json(now.await?)).into_response())
}

pub async fn delete(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    let (feed, context) = feed_to_change(&id, request).await?;
    act(&context, Command::Remove { feed }).await?;
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

/// Returns the number of a feed that exists, for a command of an administrator.
async fn feed_to_change(
    id: &str,
    request: MinifluxRequest,
) -> Result<(String, ServerContext), InJson> {
    request.needs(TokenScope::Admin)?;
    let (id, context) = (feed_id(id)?, request.context.clone());
    request.with_store(move |store, _| Ok(store.feed(id)?)).await?;
    Ok((id.to_string(), context))
}

pub async fn refresh_all(request: MinifluxRequest) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Admin)?;
    poll_behind(&request.context, None);
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

pub async fn icon(_: MinifluxRequest) -> InJson {
    ReaderApiError::Missing("icons are not stored").into()
}

pub async fn mark_all(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let id = feed_id(&id)?;
    request
        .with_store(move |store, request| {
            store.feed(id)?;
            Ok(store.mark_scope_read(request.person.account, &Scope::Feed(id), None, None)?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

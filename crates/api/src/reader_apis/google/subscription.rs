//! Feeds as subscriptions: list, add, remove, change titles and labels; OPML export and import.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dispatch::command::{Command, CommandResult};
use serde_json::{Value, json};
use store::{FeedRow, TokenScope};

use super::GoogleRequest;
use super::marks::OK;
use super::stream::{find_feed, label, label_name};
use crate::ServerContext;
use crate::own_order::feed_sort_id;
use crate::reader_apis::add_feed;
use crate::reader_apis::error::{InText, ReaderApiError};
use crate::reader_apis::params::{self, AppParams};
use crate::reader_apis::{act, blocking, identify, opml, view};

pub async fn list(request: GoogleRequest) -> Result<Response, InText> {
    let feeds = request
        .with_store(|store, request| Ok(store.feeds_in_own_order(request.person.account, None)?))
        .await?;
    let list: Vec<Value> = feeds.iter().map(subscription).collect();
    Ok(Json(json!({"subscriptions": list})).into_response())
}

fn subscription(feed: &FeedRow) -> Value {
    let categories: Vec<Value> =
        view::own_tags(feed).map(|tag| json!({"id": label(tag), "label": tag})).collect();
    json!({
        "id": format!("feed/{}", feed.id),
        "title": view::feed_title(feed),
        "categories": categories,
        "url": feed.location.url.masked(),
        "htmlUrl": view::site(feed).unwrap_or(""),
        "iconUrl": "",
        "sortid": feed_sort_id(feed.id),
        "firstitemmsec": feed.added_at.millis().to_string(),
    })
}

/// Answers whether a feed exists.
pub async fn subscribed(request: GoogleRequest) -> Result<&'static str, InText> {
    let found = request.with_store(|store, request| {
        let name = request.params.text("s").and_then(|name| name.strip_prefix("feed/"));
        let name = name.ok_or_else(|| ReaderApiError::bad_request("name a feed: s=feed/…"))?;
        match find_feed(store, request.person.account, name) {
            Err(ReaderApiError::Missing(_)) => Ok(false),
            found => found.map(|_| true),
        }
    });
    Ok(if found.await? { "true" } else { "false" })
}

/// Answers `subscription/edit`: `ac` is the action, `s` the feeds, `t` the title, `a` and `r` the
/// labels.
pub async fn edit(request: GoogleRequest) -> Result<&'static str, InText> {
    request.needs(TokenScope::Write)?;
    let params = request.params.clone();
    let streams: Vec<String> = params
        .all("s")
        .map(|stream| stream.strip_prefix("feed/").map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or_else(|| ReaderApiError::bad_request("a feed is feed/NUMBER or feed/ADDRESS"))?;
    if streams.is_empty() {
        return Err(ReaderApiError::bad_request("name a feed: s=feed/…").into());
    }
    let (add, remove) = (labels(&params, "a")?, labels(&params, "r")?);
    let (context, person) = (request.context.clone(), request.person.clone());
    let account = person.subscriber();
    match params.text("ac") {
        Some("subscribe") => {
            let mut feeds = Vec::with_capacity(streams.len());
            for url in &streams {
                let feed = add_feed::add_feed(&context, &person, url, add.clone()).await?;
                feeds.push(feed.to_string());
            }
            entitle(&context, account, &feeds, params.text("t")).await?;
        }
        Some("unsubscribe") => {
            for feed in known(request, &streams).await? {
                act(&context, Command::Remove { feed, account }).await?;
            }
        }
        Some("edit") => {
            let feeds = known(request, &streams).await?;
            if !(add.is_empty() && remove.is_empty()) {
                let feeds = feeds.clone();
                act(&context, Command::Tag { feeds, add, remove, account }).await?;
            }
            entitle(&context, account, &feeds, params.text("t")).await?;
        }
        _ => {
            return Err(
                ReaderApiError::bad_request("ac must be subscribe, unsubscribe or edit").into()
            );
        }
    }
    Ok(OK)
}

/// Returns the numbers of feeds that are named in any way.
async fn known(request: GoogleRequest, names: &[String]) -> Result<Vec<String>, ReaderApiError> {
    let names = names.to_vec();
    request
        .with_store(move |store, request| {
            let account = request.person.account;
            let found = names.iter().map(|name| find_feed(store, account, name));
            found.map(|found| found.map(|id| id.to_string())).collect()
        })
        .await
}

async fn entitle(
    context: &ServerContext,
    account: Option<i64>,
    feeds: &[String],
    title: Option<&str>,
) -> Result<(), ReaderApiError> {
    let Some(title) = title else { return Ok(()) };
    for feed in feeds {
        let (feed, title) = (feed.clone(), Some(title.to_owned()));
        let command = Command::Title { feed, title, account };
        act(context, command).await?;
    }
    Ok(())
}

fn labels(params: &AppParams, name: &str) -> Result<Vec<String>, ReaderApiError> {
    params
        .all(name)
        .filter(|stream| !stream.is_empty())
        .map(|stream| label_name(stream).map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or_else(|| ReaderApiError::bad_request("a label is user/-/label/NAME"))
}

/// Answers `subscription/quickadd`: adds a feed, or the feed that a page names.
pub async fn quick_add(request: GoogleRequest) -> Result<Response, InText> {
    request.needs(TokenScope::Write)?;
    let url = request.params.text("quickadd").or(request.params.text("q"));
    let url = url.ok_or_else(|| ReaderApiError::bad_request("name a feed: quickadd=ADDRESS"))?;
    let url = url.strip_prefix("feed/").unwrap_or(url).to_owned();
    let added = add_feed::add_feed(&request.context, &request.person, &url, Vec::new()).await;
    let body = match added {
        Ok(feed) => {
            let row = request
                .with_store(move |store, request| Ok(store.feed_of(request.person.account, feed)?));
            let row = row.await?;
            json!({
                "numResults": 1,
                "query": url,
                "streamId": format!("feed/{feed}"),
                "streamName": view::feed_title(&row),
            })
        }
        Err(trouble @ (ReaderApiError::Refused(_) | ReaderApiError::BadRequest(_))) => {
            json!({"numResults": 0, "query": url, "error": trouble.text()})
        }
        Err(trouble) => return Err(trouble.into()),
    };
    Ok(Json(body).into_response())
}

pub async fn export(request: GoogleRequest) -> Result<Response, InText> {
    let text =
        request.with_store(|store, request| opml::export(store, request.person.account)).await?;
    Ok(([(header::CONTENT_TYPE, "text/xml; charset=utf-8")], text).into_response())
}

/// Imports a list. The body is the list itself, so it is not read as a form.
pub async fn import(
    State(context): State<ServerContext>,
    request: Request,
) -> Result<String, InText> {
    // In a header only: addresses end up in the logs of proxies.
    let person = match (identify::admitted(&request), identify::google_secret(request.headers())) {
        (Some(person), _) => person,
        (None, secret) => identify::by_secret(&context, secret.unwrap_or_default(), None).await?,
    };
    identify::needs(&person, TokenScope::Write)?;
    let bytes = params::whole(request, opml::BYTES_MAX).await?;
    let feeds = blocking(move || opml::read(&bytes)).await?;
    match act(&context, Command::Import { feeds, account: person.subscriber() }).await? {
        CommandResult::Imported { added, .. } => Ok(format!("OK: {added}")),
        _ => Ok(OK.to_owned()),
    }
}

//! Categories: list, create, rename, remove. Removing a category keeps its feeds.

use std::collections::HashMap;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dispatch::command::Command;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{FeedFilter, NumberedTag, Scope, TokenScope};

use super::{Categories, MinifluxRequest, feeds, named, number};
use crate::reader_apis::act;
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::icons::FeedIcons;
use crate::reader_apis::view::OF_QUERY;

const MISSING: &str = "the category does not exist";
/// The limit of a tag.
const CHARS_MAX: usize = 100;

pub fn category(user: i64, number: i64, tag: &str) -> Value {
    json!({"id": number, "user_id": user, "title": named(tag), "hide_globally": false})
}

/// Lists categories. With `counts=true` each has its numbers of feeds and unread entries.
pub async fn list(request: MinifluxRequest) -> Result<Response, InJson> {
    let list = request.with_store(|store, request| {
        let (user, categories) = (request.user(), Categories::read(store, request.person.account)?);
        let one = |tag: &NumberedTag| category(user, tag.number, &tag.tag);
        let mut list: Vec<Value> = categories.tags.iter().map(one).collect();
        if request.params.text("counts") == Some("true") {
            let unread = store.unread_by_feed(request.person.account)?;
            let mut counts: HashMap<i64, (u64, u64)> = HashMap::new();
            for feed in store.feeds_of(request.person.account, &FeedFilter::default())? {
                let count = counts.entry(categories.of(&feed).0).or_default();
                count.0 += 1;
                count.1 += unread.get(&feed.id).copied().unwrap_or(0);
            }
            for (tag, shown) in categories.tags.iter().zip(&mut list) {
                let (feeds, unread) = counts.get(&tag.number).copied().unwrap_or_default();
                shown["feed_count"] = feeds.into();
                shown["total_unread"] = unread.into();
            }
        }
        Ok(list)
    });
    Ok(Json(list.await?).into_response())
}

#[derive(Deserialize)]
struct CategoryTitle {
    title: String,
}

impl CategoryTitle {
    /// Returns the title if it is a valid tag.
    fn tag(self) -> Result<String, ReaderApiError> {
        let tag = self.title.trim().to_owned();
        let sound = !tag.is_empty()
            && tag.chars().count() <= CHARS_MAX
            && !tag.chars().any(char::is_control)
            && !tag.starts_with(OF_QUERY);
        sound.then_some(tag).ok_or_else(|| {
            ReaderApiError::bad_request(
                "a title must have 1 to 100 characters and must not begin with `query:`",
            )
        })
    }
}

pub async fn create(request: MinifluxRequest) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let tag = request.json::<CategoryTitle>()?.tag()?;
    let made = request.with_store(move |store, request| {
        let known = Categories::read(store, request.person.account)?;
        if known.numbers.contains_key(&tag) {
            return Err(ReaderApiError::bad_request("this category exists already"));
        }
        Ok(category(request.user(), store.make_tag_of(request.person.account, &tag)?, &tag))
    });
    Ok((StatusCode::CREATED, Json(made.await?)).into_response())
}

pub async fn update(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let (number, to) = (number(&id, MISSING)?, request.json::<CategoryTitle>()?.tag()?);
    let (user, context, account) =
        (request.user(), request.context.clone(), request.person.subscriber());
    let tag = real_tag(request, number).await?;
    act(&context, Command::RenameTag { tag, to: Some(to.clone()), account }).await?;
    Ok((StatusCode::CREATED, Json(category(user, number, &to))).into_response())
}

pub async fn delete(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let (context, account) = (request.context.clone(), request.person.subscriber());
    let tag = real_tag(request, number(&id, MISSING)?).await?;
    act(&context, Command::RenameTag { tag, to: None, account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the tag of a category, if it can be changed.
async fn real_tag(request: MinifluxRequest, number: i64) -> Result<String, ReaderApiError> {
    let found = request.with_store(move |store, request| {
        Ok(Categories::read(store, request.person.account)?.find(number)?.tag.clone())
    });
    let tag = found.await?;
    if tag.is_empty() {
        return Err(ReaderApiError::bad_request(
            "the category of feeds without a tag cannot be changed",
        ));
    }
    Ok(tag)
}

pub async fn feeds(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let number = number(&id, MISSING)?;
    let list = request.with_store(move |store, request| {
        let categories = Categories::read(store, request.person.account)?;
        let feeds = categories.feeds(store, number)?;
        let user = request.user();
        let icons = FeedIcons::read(store, feeds.iter().map(|feed| feed.id))?;
        let shown = feeds.iter().map(|row| feeds::feed_json(user, row, &categories, &icons));
        Ok(shown.collect::<Vec<_>>())
    });
    Ok(Json(list.await?).into_response())
}

pub async fn mark_all(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let number = number(&id, MISSING)?;
    request
        .with_store(move |store, request| {
            let feeds = Categories::read(store, request.person.account)?.feed_ids(store, number)?;
            let scope = Scope::Feeds(feeds);
            Ok(store.mark_scope_read(request.person.account, &scope, None, None)?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Starts a poll of each feed in the category, within the pace of their servers. The client does
/// not wait for it.
pub async fn refresh(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let number = number(&id, MISSING)?;
    let context = request.context.clone();
    let feeds = request.with_store(move |store, request| {
        Categories::read(store, request.person.account)?.feed_ids(store, number)
    });
    let names = feeds.await?.iter().map(ToString::to_string).collect();
    feeds::poll_behind(&context, Some(names));
    Ok(StatusCode::NO_CONTENT)
}

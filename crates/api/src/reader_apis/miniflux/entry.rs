//! Entries: lists, single entries, read and starred marks.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use feed::EntryId;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{FeedRow, PlaybackPosition, ReadEntry, ReadingFilter, Scope, Store, TokenScope};

use super::filter::{LIMIT, fits, reading};
use super::{Categories, MinifluxRequest, enclosure, feed_id, feeds, number};
use crate::feed_rows::FeedRows;
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::icons::FeedIcons;
use crate::reader_apis::view::{self, AppArticles};
use crate::search;

/// The default and the highest number of ids in one answer.
const IDS: (u32, u32) = (1000, 1000);
/// Entries that one request may mark.
const MARKED_MAX: usize = 10_000;
/// The highest number of results of a search.
const FOUND_MAX: usize = 1000;
/// Characters read in a minute, as miniflux assumes for English words.
const CHARS_A_MINUTE: usize = 265 * 5;

const MISSING: &str = "the entry does not exist";

pub async fn list(request: MinifluxRequest) -> Result<Response, InJson> {
    entries(request, None).await
}

pub async fn of_feed(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let id = feed_id(&id)?;
    let (store, account) = (request.context.store.clone(), request.person.account);
    super::blocking(move || Ok(store.feed_of(account, id)?)).await?;
    entries(request, Some(Scope::Feed(id))).await
}

pub async fn of_category(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<Response, InJson> {
    let number: i64 = number(&id, "the category does not exist")?;
    let (store, account) = (request.context.store.clone(), request.person.account);
    let feeds =
        super::blocking(move || Categories::read(&store, account)?.feed_ids(&store, number));
    let feeds = feeds.await?;
    entries(request, Some(Scope::Feeds(feeds))).await
}

async fn entries(request: MinifluxRequest, scope: Option<Scope>) -> Result<Response, InJson> {
    if let Some(text) = request.params.text("search").map(str::to_owned) {
        return searched(request, scope, &text).await;
    }
    let body = request.with_store(move |store, request| {
        let Some(reading) = reading(store, request, scope, LIMIT)? else {
            return Ok(json!({"total": 0, "entries": []}));
        };
        // Apps continue by an offset, so a page that ends early would lose entries.
        let places = store.reading_places(&reading)?;
        let ids: Vec<EntryId> = places.iter().map(|place| place.entry).collect();
        let found = store.read_entries(request.person.account, &ids)?;
        let total = total(store, &reading, ids.len())?;
        Ok(json!({"total": total, "entries": entries_json(store, request, &found)?}))
    });
    Ok(Json(body.await?).into_response())
}

/// Searches entries, newest first, and applies the filters to the results. `total` counts up to a
/// thousand results.
async fn searched(
    request: MinifluxRequest,
    scope: Option<Scope>,
    text: &str,
) -> Result<Response, InJson> {
    let found = search::find(&request.context, &request.person, text, None, FOUND_MAX).await;
    let mut found = found.map_err(ReaderApiError::from)?.entries;
    let body = request.with_store(move |store, request| {
        let Some(reading) = reading(store, request, scope, LIMIT)? else {
            return Ok(json!({"total": 0, "entries": []}));
        };
        found.retain(|one| fits(&reading, one));
        if reading.oldest_first {
            found.reverse();
        }
        let total = found.len();
        let skipped = usize::try_from(reading.offset).unwrap_or(usize::MAX).min(total);
        let page = &found[skipped..total.min(skipped + reading.limit as usize)];
        Ok(json!({"total": total, "entries": entries_json(store, request, page)?}))
    });
    Ok(Json(body.await?).into_response())
}

/// Returns the number of entries in the whole list. A page that is not full needs no count.
fn total(store: &Store, reading: &ReadingFilter, n_found: usize) -> Result<u64, ReaderApiError> {
    let n = n_found as u64;
    if n > 0 && n < u64::from(reading.limit) {
        return Ok(reading.offset + n);
    }
    Ok(store.reading_count(reading)?)
}

/// Answers `entries/ids`.
pub async fn ids(request: MinifluxRequest) -> Result<Response, InJson> {
    let body = request.with_store(|store, request| {
        let Some(reading) = reading(store, request, None, IDS)? else {
            return Ok(json!({"total": 0, "entry_ids": []}));
        };
        let found = store.reading_places(&reading)?;
        let total = total(store, &reading, found.len())?;
        let ids: Vec<i64> = found.iter().map(|place| place.entry.0).collect();
        Ok(json!({"total": total, "entry_ids": ids}))
    });
    Ok(Json(body.await?).into_response())
}

pub async fn one(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    single(request, &id, |_| Ok(true)).await
}

pub async fn one_of_feed(
    Path((of, id)): Path<(String, String)>,
    request: MinifluxRequest,
) -> Result<Response, InJson> {
    let of = feed_id(&of)?;
    single(request, &id, move |shown| Ok(shown["feed_id"] == of.0)).await
}

pub async fn one_of_category(
    Path((of, id)): Path<(String, String)>,
    request: MinifluxRequest,
) -> Result<Response, InJson> {
    let of: i64 = number(&of, "the category does not exist")?;
    single(request, &id, move |shown| Ok(shown["feed"]["category"]["id"] == of)).await
}

async fn single(
    request: MinifluxRequest,
    id: &str,
    fits: impl FnOnce(&Value) -> Result<bool, ReaderApiError> + Send + 'static,
) -> Result<Response, InJson> {
    let id = EntryId(number(id, MISSING)?);
    let body = request.with_store(move |store, request| {
        let found = store.read_entries(request.person.account, &[id])?;
        let shown = entries_json(store, request, &found)?.into_iter().next();
        let shown = shown.ok_or(ReaderApiError::Missing(MISSING))?;
        if fits(&shown)? { Ok(shown) } else { Err(ReaderApiError::Missing(MISSING)) }
    });
    Ok(Json(body.await?).into_response())
}

#[derive(Deserialize)]
struct MinifluxMarks {
    entry_ids: Vec<i64>,
    status: Option<String>,
    starred: Option<bool>,
}

pub async fn update(request: MinifluxRequest) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let marks: MinifluxMarks = request.json()?;
    if marks.entry_ids.is_empty() || marks.entry_ids.len() > MARKED_MAX {
        return Err(ReaderApiError::bad_request("entry_ids must be 1 to 10000 numbers").into());
    }
    let read = match marks.status.as_deref() {
        None => None,
        Some("read") => Some(true),
        Some("unread") => Some(false),
        Some(_) => return Err(ReaderApiError::bad_request("status must be read or unread").into()),
    };
    if read.is_none() && marks.starred.is_none() {
        return Err(ReaderApiError::bad_request("status or starred is missing").into());
    }
    let now = (request.context.now)();
    request
        .with_store(move |store, request| {
            let entries: Vec<EntryId> = marks.entry_ids.into_iter().map(EntryId).collect();
            let account = request.person.account;
            match read {
                Some(true) => store.open_entries(account, &entries, now)?,
                Some(false) => store.mark_read(account, &entries, false)?,
                None => {}
            }
            if let Some(starred) = marks.starred {
                store.star(account, &entries, starred, now)?;
            }
            Ok(())
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn toggle_star(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let (id, now) = (EntryId(number(&id, MISSING)?), (request.context.now)());
    request
        .with_store(move |store, request| {
            let account = request.person.account;
            let found = store.read_entries(account, &[id])?;
            let starred = found.first().ok_or(ReaderApiError::Missing(MISSING))?.starred;
            Ok(store.star(account, &[id], !starred, now)?)
        })
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

fn entries_json(
    store: &Store,
    request: &MinifluxRequest,
    entries: &[ReadEntry],
) -> Result<Vec<Value>, ReaderApiError> {
    let (user, categories) = (request.user(), Categories::read(store, request.person.account)?);
    let icons = FeedIcons::read(store, entries.iter().map(|one| one.entry.feed))?;
    let articles = AppArticles::read(store, request.person.account, entries)?;
    let met = entries.iter().map(|one| one.entry.feed);
    let feeds = FeedRows::of_entries(store, request.person.account, met)?;
    let mut list = Vec::with_capacity(entries.len());
    for one in entries {
        let Some(row) = feeds.get(one.entry.feed) else { continue };
        let positions = match view::enclosures(&one.entry).next() {
            Some(_) => store.playback_positions(request.person.account, one.entry.id)?,
            None => Vec::new(),
        };
        let mut entry = entry(user, one, row, (&articles, &positions));
        entry["feed"] = feeds::feed_json(user, row, &categories, &icons);
        list.push(entry);
    }
    Ok(list)
}

/// Returns an entry in miniflux's format, without its feed.
fn entry(
    user: i64,
    one: &ReadEntry,
    feed: &FeedRow,
    (articles, positions): (&AppArticles, &[PlaybackPosition]),
) -> Value {
    let row = &one.entry;
    let content = view::html(one, feed, articles);
    let files: Vec<Value> = view::enclosures(row)
        .enumerate()
        .map(|(place, file)| {
            json!({
                "id": enclosure::number(row.id, place),
                "user_id": user,
                "entry_id": row.id.0,
                "url": file.url,
                "mime_type": file.mime_type.as_deref().unwrap_or(""),
                "size": file.length.unwrap_or(0),
                "media_progression": enclosure::progression(positions, &file.url),
            })
        })
        .collect();
    json!({
        "id": row.id.0,
        "user_id": user,
        "feed_id": row.feed.0,
        "status": if one.read { "read" } else { "unread" },
        "hash": format!("{:?}", row.key),
        "title": view::title(row),
        "url": view::link(row).unwrap_or(""),
        "comments_url": "",
        "published_at": row.published_at.to_string(),
        "created_at": row.seen_at.to_string(),
        "changed_at": row.edited_at.unwrap_or(row.seen_at).to_string(),
        "author": view::author(row).unwrap_or_default(),
        "share_code": "",
        "starred": one.starred,
        "reading_time": content.chars().count().div_ceil(CHARS_A_MINUTE),
        "enclosures": files,
        "tags": row.categories,
        "content": content,
    })
}

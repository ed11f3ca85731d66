//! Enclosures with the position of the account, and the text of the page behind an entry.

use std::time::Duration;

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use feed::{Enclosure, EntryId};
use serde::Deserialize;
use serde_json::{Value, json};
use store::{AccountId, ArticleState, PlaybackPosition, Store, TokenScope};
use url::Url;

use super::{MinifluxRequest, number as parsed};
use crate::ServerContext;
use crate::reader_apis::error::{InJson, ReaderApiError};
use crate::reader_apis::view;
use crate::{reading_time, sanitise};

/// Enclosures have no numbers of their own: the place within the entry is the end of the number.
/// The parser keeps fewer enclosures of an item.
const PLACES: i64 = 1000;
const MISSING: &str = "the enclosure does not exist";
/// The time that an app waits for the page behind an entry. Apps give up after about 30 s.
const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Returns the number of an enclosure for apps.
pub fn number(entry: EntryId, place: usize) -> i64 {
    let place = i64::try_from(place).unwrap_or(PLACES - 1).min(PLACES - 1);
    entry.0.saturating_mul(PLACES).saturating_add(place)
}

/// Returns the position in whole seconds.
pub fn progression(positions: &[PlaybackPosition], url: &str) -> u64 {
    let found = positions.iter().find(|position| position.url == url);
    // The store refuses negative numbers.
    found.map_or(0, |position| position.seconds as u64)
}

fn find(
    store: &Store,
    account: AccountId,
    id: i64,
) -> Result<(EntryId, Enclosure), ReaderApiError> {
    let (entry, place) = (EntryId(id / PLACES), usize::try_from(id % PLACES).unwrap_or(usize::MAX));
    let row = store.read_entries(account, &[entry])?.pop().map(|one| one.entry);
    let row = row.ok_or(ReaderApiError::Missing(MISSING))?;
    let file = view::enclosures(&row).nth(place).cloned();
    Ok((entry, file.ok_or(ReaderApiError::Missing(MISSING))?))
}

/// Answers `GET /v1/enclosures/ID`.
pub async fn one(Path(id): Path<String>, request: MinifluxRequest) -> Result<Response, InJson> {
    let id: i64 = parsed(&id, MISSING)?;
    let body = request.with_store(move |store, request| {
        let (entry, file) = find(store, request.person.account, id)?;
        let positions = store.playback_positions(request.person.account, entry)?;
        Ok(json!({
            "id": id,
            "user_id": request.user(),
            "entry_id": entry.0,
            "url": file.url,
            "mime_type": file.mime_type.unwrap_or_default(),
            "size": file.length.unwrap_or(0),
            "media_progression": progression(&positions, &file.url),
        }))
    });
    Ok(Json(body.await?).into_response())
}

#[derive(Deserialize)]
struct Progression {
    media_progression: f64,
}

/// Answers `PUT /v1/enclosures/ID`.
pub async fn update(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<StatusCode, InJson> {
    request.needs(TokenScope::Write)?;
    let (id, sent): (i64, Progression) = (parsed(&id, MISSING)?, request.json()?);
    let now = (request.context.now)();
    let stored = request.with_store(move |store, request| {
        let (entry, file) = find(store, request.person.account, id)?;
        let position = PlaybackPosition {
            entry,
            duration: file.duration.map(f64::from),
            url: file.url,
            seconds: sent.media_progression,
            changed_at: now,
        };
        Ok(store.put_playback_position(request.person.account, &position)?)
    });
    if stored.await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(ReaderApiError::bad_request("media_progression must not be negative").into())
    }
}

/// Answers `GET /v1/entries/ID/fetch-content`: asks for the page behind an entry and waits for it.
pub async fn fetch_content(
    Path(id): Path<String>,
    request: MinifluxRequest,
) -> Result<Response, InJson> {
    request.needs(TokenScope::Write)?;
    let id = EntryId(parsed(&id, "the entry does not exist")?);
    let (context, now) = (request.context.clone(), (request.context.now)());
    let asked = request.with_store(move |store, request| {
        let found = store.read_entries(request.person.account, &[id])?.pop();
        let entry = found.ok_or(ReaderApiError::Missing("the entry does not exist"))?.entry;
        if view::link(&entry).is_none() {
            return Err(ReaderApiError::bad_request("the entry has no link to a page"));
        }
        Ok(store.request_article_for(request.person.account, id, now)?)
    });
    if !asked.await? {
        return Err(ReaderApiError::Missing("the page belongs to a feed of somebody else").into());
    }
    let mut waited = Duration::ZERO;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        if let Some(body) = content(&context, id, waited >= PATIENCE).await? {
            return Ok(Json(body).into_response());
        }
    }
}

/// Returns the answer, or `None` while the page is on its way.
async fn content(
    context: &ServerContext,
    id: EntryId,
    is_late: bool,
) -> Result<Option<Value>, ReaderApiError> {
    let store = context.store.clone();
    super::blocking(move || match store.article_state(id)? {
        ArticleState::Waiting(_) if !is_late => Ok(None),
        ArticleState::There { .. } => {
            let row = store.article(id)?;
            let found = row.and_then(|row| Some((row.content.ok()?, row.url)));
            let (text, url) = found.ok_or(ReaderApiError::Missing("the article is gone"))?;
            let base = Url::parse(&url).ok();
            Ok(Some(json!({
                "content": sanitise::html(&text.html, base.as_ref(), Some(&url)),
                "reading_time": reading_time::minutes(&text.text),
            })))
        }
        ArticleState::Nothing { reason } => Err(ReaderApiError::bad_request(reason)),
        ArticleState::Waiting(_) | ArticleState::NotAsked => {
            Err(ReaderApiError::bad_request("the page is still on its way; ask again later"))
        }
    })
    .await
}

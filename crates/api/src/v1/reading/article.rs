//! The page behind an entry, and the positions in its recordings.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use feed::EntryId;
use store::{ArticleState, EntryRow, PlaybackPosition, Store, StoreError};
use url::Url;

use super::view::{ArticleView, PositionView, Positions};
use crate::auth::Person;
use crate::v1::blocking;
use crate::v1::error::ApiError;
use crate::v1::extract::{IdInPath, JsonBody};
use crate::v1::schema::request;
use crate::{ServerContext, sanitise};

const NOT_THEIR_LOGIN: &str =
    "the feed belongs to somebody else now, so the page would be fetched with their login";
const MISSING: ApiError = ApiError::NotFound("the entry does not exist");

request! {
    /// How far you have listened to a file of an entry.
    NewPosition {
        /// The address of the file, as the entry names it.
        enclosure: String,
        /// Seconds from the start.
        seconds: f64,
        /// The whole length in seconds.
        duration: Option<f64>,
    }
}

pub async fn article(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<ArticleView>, ApiError> {
    blocking(move || {
        let store = &context.store;
        entry(store, &person, id)?;
        Ok(Json(view(store, EntryId(id))?))
    })
    .await
}

/// Asks for the page. The answer shows the state; the page itself comes later.
pub async fn load(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<(StatusCode, Json<ArticleView>), ApiError> {
    blocking(move || {
        let (store, now) = (&context.store, (context.now)());
        let entry = entry(store, &person, id)?;
        if entry.link.is_none() {
            return Err(ApiError::Invalid("the entry has no link to a page".to_owned()));
        }
        if !store.request_article_for(person.account, EntryId(id), now)? {
            return Err(ApiError::Forbidden(NOT_THEIR_LOGIN));
        }
        Ok((StatusCode::ACCEPTED, Json(view(store, EntryId(id))?)))
    })
    .await
}

/// Returns an entry that a person may see.
fn entry(store: &Store, person: &Person, id: i64) -> Result<EntryRow, ApiError> {
    let found = store.read_entries(person.account, &[EntryId(id)])?.pop();
    found.map(|found| found.entry).ok_or(MISSING)
}

fn view(store: &Store, id: EntryId) -> Result<ArticleView, StoreError> {
    let (state, reason) = match store.article_state(id)? {
        ArticleState::NotAsked => ("not asked", None),
        ArticleState::Waiting(waiting) => ("waiting", waiting.error),
        ArticleState::There { .. } => ("there", None),
        ArticleState::Nothing { reason } => ("nothing", Some(reason)),
    };
    let row = store.article(id)?;
    let (fetched_at, url) =
        row.as_ref().map(|row| (row.fetched_at.to_string(), row.url.clone())).unzip();
    let base = url.as_deref().and_then(|url| Url::parse(url).ok());
    let text = row.and_then(|row| row.content.ok());
    let html = text.as_ref().map(|text| sanitise::html(&text.html, base.as_ref(), url.as_deref()));
    let text = text.map(|text| (text.title, text.byline, text.image, text.language, text.text));
    let (title, byline, image, language, text) = match text {
        Some((title, byline, image, language, text)) => {
            (title, byline, image, language, Some(text))
        }
        None => (None, None, None, None, None),
    };
    Ok(ArticleView { state, reason, fetched_at, url, title, byline, image, language, text, html })
}

pub async fn positions(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
) -> Result<Json<Positions>, ApiError> {
    blocking(move || {
        entry(&context.store, &person, id)?;
        let found = context.store.playback_positions(person.account, EntryId(id))?;
        let shown = found.into_iter().map(|position| PositionView {
            finished: position.is_finished(),
            enclosure: position.url,
            seconds: position.seconds,
            duration: position.duration,
            changed_at: position.changed_at.to_string(),
        });
        Ok(Json(Positions { positions: shown.collect() }))
    })
    .await
}

pub async fn keep_position(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(sent): JsonBody<NewPosition>,
) -> Result<StatusCode, ApiError> {
    blocking(move || {
        let store = &context.store;
        let entry = entry(store, &person, id)?;
        if !entry.enclosures.iter().any(|file| file.url == sent.enclosure) {
            let text = "enclosure is not the address of a file of this entry".to_owned();
            return Err(ApiError::Invalid(text));
        }
        let position = PlaybackPosition {
            entry: EntryId(id),
            url: sent.enclosure,
            seconds: sent.seconds,
            duration: sent.duration,
            changed_at: (context.now)(),
        };
        match store.put_playback_position(person.account, &position)? {
            true => Ok(StatusCode::NO_CONTENT),
            false => Err(ApiError::BadRequest("seconds and duration must not be negative")),
        }
    })
    .await
}

//! Ratings of entries by consumers.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use feed::EntryId;

use crate::ServerContext;
use crate::auth::Person;
use crate::v1::blocking;
use crate::v1::error::ApiError;
use crate::v1::extract::{IdInPath, JsonBody};
use crate::v1::schema::request;

request! {
    /// A consumer's rating of an entry.
    Word {
        /// Whether it was worth having.
        relevant: bool,
    }
}

/// Stores a rating of an entry. Only JSON is accepted, which a form on another site cannot send.
pub async fn relevance(
    State(context): State<ServerContext>,
    person: Person,
    IdInPath(id): IdInPath,
    JsonBody(word): JsonBody<Word>,
) -> Result<Response, ApiError> {
    let now = (context.now)();
    let store = context.store;
    let noted = blocking(move || {
        let visible = store.visible_entries(person.account, &[EntryId(id)])?;
        let is_visible = visible.contains(&EntryId(id));
        Ok(is_visible && store.note_relevance(EntryId(id), word.relevant, now)?)
    });
    if noted.await? {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(ApiError::NotFound("the entry does not exist"))
    }
}

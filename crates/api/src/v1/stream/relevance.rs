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

const NOT_THEIRS: &str = "ratings count for everybody, so only administrators and the owners of \
                          queries that match the entry may rate it";

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
        let id = EntryId(id);
        if !store.visible_entries(person.account, &[id])?.contains(&id) {
            return Ok(false);
        }
        if !store.may_judge(person.account, id)? {
            return Err(ApiError::Forbidden(NOT_THEIRS));
        }
        Ok(store.note_relevance(id, word.relevant, now)?)
    });
    if noted.await? {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(ApiError::NotFound("the entry does not exist"))
    }
}

//! The JSON of our API: wire forms of what the store keeps, and how trouble is told. Secrets in the
//! addresses of feeds are masked.

use std::collections::HashMap;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::FeedId;
use serde_json::{Value, json};
use store::{Cursor, EntryRow, Store, StoreError};

/// The addresses of the feeds met so far.
#[derive(Default)]
pub struct Feeds(HashMap<FeedId, String>);

impl Feeds {
    fn of(&mut self, store: &Store, feed: FeedId) -> &str {
        self.0.entry(feed).or_insert_with(|| {
            // A feed removed meanwhile takes its entries along; this one was read before.
            store.feed(feed).map(|feed| feed.url.masked()).unwrap_or_default()
        })
    }

    /// An entry in the words of the contract, with its content.
    pub fn entry(&mut self, store: &Store, cursor: Cursor, entry: &EntryRow) -> Value {
        json!({
            "cursor": cursor.to_string(),
            "id": entry.id.0,
            "feed": self.of(store, entry.feed),
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "content": entry.content,
            "categories": entry.categories,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
        })
    }
}

/// The description of the API (OpenAPI 3.1), held against the routes by a test.
pub async fn description() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("openapi.json"))
}

/// Why a question was not answered.
#[derive(Debug)]
pub enum Trouble {
    /// The question is wrong.
    Asked(&'static str),
    /// There is no such thing, or it is not for whoever asks.
    Missing(&'static str),
    /// Nobody we know asks.
    Stranger,
    /// Too many ask at once.
    Busy,
    Store(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        Trouble::Store(error)
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Trouble::Asked(what) => (StatusCode::BAD_REQUEST, what),
            Trouble::Missing(what) => (StatusCode::NOT_FOUND, what),
            Trouble::Stranger => (
                StatusCode::UNAUTHORIZED,
                "log in, or send a token: Authorization: Bearer TOKEN (tidings user token NAME)",
            ),
            Trouble::Busy => (StatusCode::SERVICE_UNAVAILABLE, "too many streams are open"),
            Trouble::Store(error) => {
                tracing::warn!(%error, "a question could not be answered");
                (StatusCode::INTERNAL_SERVER_ERROR, "the store did not answer")
            }
        };
        (status, Json(json!({"error": error}))).into_response()
    }
}

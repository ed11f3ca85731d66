//! The JSON of our API: wire forms of what the store keeps, and how trouble is told. Secrets in the
//! addresses of feeds are masked.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::Refusal;
use feed::FeedId;
use serde_json::{Value, json};
use store::{Cursor, EntryRow, Store, StoreError, TokenScope};

use crate::server;
use crate::v1::around::up;
use crate::v1::wire::answer;

/// The addresses of the feeds met so far.
#[derive(Default)]
pub struct Feeds(HashMap<FeedId, String>);

impl Feeds {
    fn of(&mut self, store: &Store, feed: FeedId) -> Result<&str, StoreError> {
        match self.0.entry(feed) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(vacant) => Ok(vacant.insert(match store.feed(feed) {
                Ok(row) => row.url.masked(),
                // It was removed and takes its entries along; this one was read before.
                Err(StoreError::NoFeed(_)) => String::new(),
                Err(error) => return Err(error),
            })),
        }
    }

    /// An entry in the words of the contract, with its content.
    pub fn entry(
        &mut self,
        store: &Store,
        cursor: Cursor,
        entry: &EntryRow,
    ) -> Result<Value, StoreError> {
        Ok(json!({
            "cursor": cursor.to_string(),
            "id": entry.id.0,
            "feed": self.of(store, entry.feed)?,
            "title": entry.title,
            "link": entry.link,
            "author": entry.author,
            "summary": entry.summary,
            "content": entry.content,
            "categories": entry.categories,
            "published_at": entry.published_at.to_string(),
            "seen_at": entry.seen_at.to_string(),
        }))
    }
}

/// Why a question was not answered.
#[derive(Debug)]
pub enum Trouble {
    /// The question is wrong.
    Asked(&'static str),
    Wrong(String),
    /// There is no such thing, or it is not for whoever asks.
    Missing(&'static str),
    /// Nobody we know asks.
    Stranger,
    /// Whoever asks may not do this.
    Scope(TokenScope),
    /// They are not at an account of their own.
    Forbidden(&'static str),
    /// Another method would do.
    Method,
    /// It stands against what there is.
    Conflict(String),
    TooLarge,
    /// The body did not come to its end.
    Cut,
    /// The body should be of this kind.
    Kind(&'static str),
    /// They ask too often.
    TooMany(Duration),
    /// Too many ask at once.
    Busy,
    /// A command was not carried out.
    Refused(Refusal),
    Store(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        match error {
            StoreError::NoFeed(_) => Trouble::Missing("there is no such feed"),
            other => Trouble::Store(other),
        }
    }
}

/// Why a body was not read.
impl From<axum::Error> for Trouble {
    fn from(error: axum::Error) -> Trouble {
        if server::is_cut(&error) { Trouble::Cut } else { Trouble::TooLarge }
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Trouble::Refused(refusal)
    }
}

answer! {
    /// Why something was not done (RFC 9457).
    Problem {
        /// Always `about:blank`: the status and the sentence say it.
        r#type: &'static str,
        /// The status in words.
        title: &'static str,
        /// The status of the answer.
        status: u16,
        /// What was wrong and what to do, in a sentence.
        detail: String,
        /// The same sentence under its older name.
        error: String,
    }
}

impl Trouble {
    fn told(&self) -> (StatusCode, String) {
        let (status, detail) = match self {
            Trouble::Asked(what) => (StatusCode::BAD_REQUEST, *what),
            Trouble::Wrong(what) => (StatusCode::BAD_REQUEST, what.as_str()),
            Trouble::Missing(what) => (StatusCode::NOT_FOUND, *what),
            Trouble::Stranger => (
                StatusCode::UNAUTHORIZED,
                "log in, or send a token: Authorization: Bearer TOKEN (tidings user token NAME)",
            ),
            Trouble::Scope(scope) => {
                let what =
                    format!("this token has too little access; this needs {} access", scope.word());
                return (StatusCode::FORBIDDEN, what);
            }
            Trouble::Forbidden(what) => (StatusCode::FORBIDDEN, *what),
            Trouble::Method => (
                StatusCode::METHOD_NOT_ALLOWED,
                "this method is not allowed here; /api/openapi.json lists the methods",
            ),
            Trouble::Conflict(what) => (StatusCode::CONFLICT, what.as_str()),
            Trouble::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is too large: the limit is 1 MB for JSON and 8 MB for OPML; import \
                 larger lists with: tidings import FILE",
            ),
            Trouble::Cut => (StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"),
            Trouble::Kind(kind) => {
                return (StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("send it as {kind}"));
            }
            Trouble::TooMany(wait) => {
                let what = format!("too many requests; wait {} s", up(*wait));
                return (StatusCode::TOO_MANY_REQUESTS, what);
            }
            Trouble::Busy => (StatusCode::SERVICE_UNAVAILABLE, "too many streams are open"),
            Trouble::Refused(refusal) if refusal.input => {
                (StatusCode::BAD_REQUEST, refusal.message.as_str())
            }
            Trouble::Refused(refusal) => {
                (StatusCode::SERVICE_UNAVAILABLE, refusal.message.as_str())
            }
            Trouble::Store(error) => {
                let cause: &(dyn std::error::Error + 'static) = error;
                tracing::warn!(error = cause, "a question could not be answered");
                (StatusCode::INTERNAL_SERVER_ERROR, "the database did not answer")
            }
        };
        (status, detail.to_owned())
    }
}

impl IntoResponse for Trouble {
    fn into_response(self) -> Response {
        let (status, detail) = self.told();
        let title = status.canonical_reason().unwrap_or("Problem");
        let error = detail.clone();
        let status_number = status.as_u16();
        let problem =
            Problem { r#type: "about:blank", title, status: status_number, detail, error };
        // Texts and numbers are always written.
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, kind, body).into_response();
        let headers = response.headers_mut();
        match self {
            Trouble::TooMany(wait) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(up(wait)));
            }
            Trouble::Stranger => {
                let how = HeaderValue::from_static("Bearer realm=\"tidings\"");
                headers.insert(header::WWW_AUTHENTICATE, how);
            }
            _ => {}
        }
        response
    }
}

//! Failures of requests by apps. Each API writes them in its own format.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::CommandRefusal;
use serde_json::json;
use store::StoreError;

use crate::auth::LoginError;
use crate::http::pairs::TooManyFields;
use crate::http::server;
use crate::search::SearchError;
use crate::store_failure;
use crate::words::ceil_secs;

#[derive(Debug)]
pub enum ReaderApiError {
    /// The request carries no valid login.
    Unauthenticated,
    /// Too many wrong passwords; the client waits this many seconds.
    Wait(u64),
    /// Too many password checks at once; the client waits this many seconds.
    Busy(u64),
    /// The token has too small a scope.
    Denied(&'static str),
    /// The request is wrong.
    BadRequest(String),
    Missing(&'static str),
    TooLarge,
    /// The body ended early or took too long.
    BodyIncomplete,
    Refused(CommandRefusal),
    Store(StoreError),
    /// The program is ending.
    Closed,
}

impl ReaderApiError {
    pub fn bad_request(what: impl Into<String>) -> ReaderApiError {
        ReaderApiError::BadRequest(what.into())
    }

    pub fn status(&self) -> StatusCode {
        match self {
            ReaderApiError::Unauthenticated => StatusCode::UNAUTHORIZED,
            ReaderApiError::Wait(_) => StatusCode::TOO_MANY_REQUESTS,
            ReaderApiError::Denied(_) => StatusCode::FORBIDDEN,
            ReaderApiError::BadRequest(_) => StatusCode::BAD_REQUEST,
            ReaderApiError::Missing(_) => StatusCode::NOT_FOUND,
            ReaderApiError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ReaderApiError::BodyIncomplete => StatusCode::REQUEST_TIMEOUT,
            ReaderApiError::Refused(refusal) if refusal.input => StatusCode::BAD_REQUEST,
            ReaderApiError::Refused(_) | ReaderApiError::Closed | ReaderApiError::Busy(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ReaderApiError::Store(error) => store_failure::status(error),
        }
    }

    pub fn text(&self) -> String {
        match self {
            ReaderApiError::Unauthenticated => "wrong name, password or token".to_owned(),
            ReaderApiError::Wait(_) => "too many wrong passwords; wait and try again".to_owned(),
            ReaderApiError::Busy(_) => {
                "too many passwords are being checked; try again soon".to_owned()
            }
            ReaderApiError::Denied(what) | ReaderApiError::Missing(what) => (*what).to_owned(),
            ReaderApiError::BadRequest(what) => what.clone(),
            ReaderApiError::TooLarge => "the request is too large".to_owned(),
            ReaderApiError::BodyIncomplete => "the request took too long to arrive".to_owned(),
            ReaderApiError::Refused(refusal) => refusal.message.clone(),
            ReaderApiError::Store(error) => store_failure::detail(error).to_owned(),
            ReaderApiError::Closed => {
                "the program is stopping; try again when it is back".to_owned()
            }
        }
    }

    /// Logs failures of the store, and adds `Retry-After`.
    fn with_headers(&self, mut response: Response) -> Response {
        if let ReaderApiError::Store(error) = self {
            store_failure::log(error, "a request of a reader app failed in the store");
            response.headers_mut().extend(store_failure::retry_after(error));
        }
        if let ReaderApiError::Wait(seconds) | ReaderApiError::Busy(seconds) = self {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response
    }
}

impl From<StoreError> for ReaderApiError {
    fn from(error: StoreError) -> ReaderApiError {
        match error {
            StoreError::NoFeed(_) => ReaderApiError::Missing("the feed does not exist"),
            other => ReaderApiError::Store(other),
        }
    }
}

impl From<axum::Error> for ReaderApiError {
    fn from(error: axum::Error) -> ReaderApiError {
        if server::is_cut(&error) {
            ReaderApiError::BodyIncomplete
        } else {
            ReaderApiError::TooLarge
        }
    }
}

impl From<TooManyFields> for ReaderApiError {
    fn from(_: TooManyFields) -> ReaderApiError {
        ReaderApiError::TooLarge
    }
}

impl From<LoginError> for ReaderApiError {
    fn from(denied: LoginError) -> ReaderApiError {
        let seconds = denied.retry_after().map_or(1, ceil_secs);
        match denied {
            LoginError::Wrong => ReaderApiError::Unauthenticated,
            LoginError::Wait(_) => ReaderApiError::Wait(seconds),
            LoginError::Busy => ReaderApiError::Busy(seconds),
            LoginError::Store(error) => ReaderApiError::Store(error),
        }
    }
}

impl From<SearchError> for ReaderApiError {
    fn from(why: SearchError) -> ReaderApiError {
        match why {
            SearchError::Query(_) => ReaderApiError::BadRequest(why.to_string()),
            SearchError::Store(error) => ReaderApiError::Store(error),
        }
    }
}

/// An error as Google Reader's clients expect it: a line of text.
pub struct InText(pub ReaderApiError);

impl<T: Into<ReaderApiError>> From<T> for InText {
    fn from(trouble: T) -> InText {
        InText(trouble.into())
    }
}

impl IntoResponse for InText {
    fn into_response(self) -> Response {
        let text = format!("{}\n", self.0.text());
        self.0.with_headers((self.0.status(), text).into_response())
    }
}

/// An error as miniflux's clients expect it: JSON.
pub struct InJson(pub ReaderApiError);

impl<T: Into<ReaderApiError>> From<T> for InJson {
    fn from(trouble: T) -> InJson {
        InJson(trouble.into())
    }
}

impl IntoResponse for InJson {
    fn into_response(self) -> Response {
        let body = Json(json!({"error_message": self.0.text()}));
        self.0.with_headers((self.0.status(), body).into_response())
    }
}

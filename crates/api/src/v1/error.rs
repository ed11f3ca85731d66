//! Errors of the JSON API: the status, and a body as RFC 9457 defines it. A cause inside the
//! store goes to the log and not to the client.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::CommandRefusal;
use store::{StoreError, TokenScope};

use super::schema::answer;
use crate::auth::Person;
use crate::http::server;
use crate::store_failure;
use crate::words::ceil_secs;

/// The reason why a reader may not change the instance.
const NEEDS_ADMIN: &str = "only administrators may do this; your account has the role reader";

/// Why a request to the API failed.
#[derive(Debug)]
pub enum ApiError {
    /// The request is wrong, for a fixed reason.
    BadRequest(&'static str),
    /// The request is wrong; the text names the value.
    Invalid(String),
    /// The thing does not exist, or this account may not see it.
    NotFound(&'static str),
    /// The request carries no valid session or token.
    Unauthenticated,
    /// The token needs at least this scope.
    ScopeTooSmall(TokenScope),
    /// The request needs an account.
    Forbidden(&'static str),
    MethodNotAllowed,
    /// The request contradicts the stored state.
    Conflict(String),
    TooLarge,
    /// The body ended early or took too long.
    BodyIncomplete,
    /// The body must have this media type.
    UnsupportedType(&'static str),
    /// The client must wait this long.
    RateLimited(Duration),
    TooManyStreams,
    /// The engine refused the command.
    Refused(CommandRefusal),
    Store(StoreError),
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        match error {
            StoreError::NoFeed(_) => ApiError::NotFound("the feed does not exist"),
            other => ApiError::Store(other),
        }
    }
}

impl From<axum::Error> for ApiError {
    fn from(error: axum::Error) -> ApiError {
        if server::is_cut(&error) { ApiError::BodyIncomplete } else { ApiError::TooLarge }
    }
}

impl From<CommandRefusal> for ApiError {
    fn from(refusal: CommandRefusal) -> ApiError {
        ApiError::Refused(refusal)
    }
}

answer! {
    /// Why a request failed (RFC 9457).
    Problem {
        /// Always `about:blank`: status and detail say everything.
        r#type: &'static str,
        /// The status in words.
        title: &'static str,
        /// The status of the answer.
        status: u16,
        /// A sentence that says what was wrong and what to do.
        detail: String,
    }
}

impl ApiError {
    /// The error of a person who lacks a right: by their role, or by the scope of their token.
    pub fn of_scope(person: &Person, scope: TokenScope) -> ApiError {
        match person.is_limited_by_role(scope) {
            true => ApiError::Forbidden(NEEDS_ADMIN),
            false => ApiError::ScopeTooSmall(scope),
        }
    }

    fn status_and_detail(&self) -> (StatusCode, String) {
        let (status, detail) = match self {
            ApiError::BadRequest(what) => (StatusCode::BAD_REQUEST, *what),
            ApiError::Invalid(what) => (StatusCode::BAD_REQUEST, what.as_str()),
            ApiError::NotFound(what) => (StatusCode::NOT_FOUND, *what),
            ApiError::Unauthenticated => (
                StatusCode::UNAUTHORIZED,
                "log in, or send a token: Authorization: Bearer TOKEN (tidings user token NAME)",
            ),
            ApiError::ScopeTooSmall(scope) => {
                let what = format!(
                    "the token's scope is too small; this needs the scope {}",
                    scope.word()
                );
                return (StatusCode::FORBIDDEN, what);
            }
            ApiError::Forbidden(what) => (StatusCode::FORBIDDEN, *what),
            ApiError::MethodNotAllowed => (
                StatusCode::METHOD_NOT_ALLOWED,
                "this method is not allowed here; /api/openapi.json lists the methods",
            ),
            ApiError::Conflict(what) => (StatusCode::CONFLICT, what.as_str()),
            ApiError::TooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is too large: the limit is 1 MB for JSON and 8 MB for OPML; import \
                 larger lists with: tidings import FILE",
            ),
            ApiError::BodyIncomplete => {
                (StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive")
            }
            ApiError::UnsupportedType(kind) => {
                return (StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("send it as {kind}"));
            }
            ApiError::RateLimited(wait) => {
                let what = format!("too many requests; wait {} s", ceil_secs(*wait));
                return (StatusCode::TOO_MANY_REQUESTS, what);
            }
            ApiError::TooManyStreams => {
                (StatusCode::SERVICE_UNAVAILABLE, "too many streams are open")
            }
            ApiError::Refused(refusal) if refusal.input => {
                (StatusCode::BAD_REQUEST, refusal.message.as_str())
            }
            ApiError::Refused(refusal) => {
                (StatusCode::SERVICE_UNAVAILABLE, refusal.message.as_str())
            }
            ApiError::Store(error) => {
                store_failure::log(error, "an API request failed in the store");
                (store_failure::status(error), store_failure::detail(error))
            }
        };
        (status, detail.to_owned())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, detail) = self.status_and_detail();
        let title = status.canonical_reason().unwrap_or("Problem");
        let status_number = status.as_u16();
        let problem = Problem { r#type: "about:blank", title, status: status_number, detail };
        // Texts and numbers always serialise.
        let body = serde_json::to_string(&problem).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, kind, body).into_response();
        let headers = response.headers_mut();
        match self {
            ApiError::RateLimited(wait) => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(ceil_secs(wait)));
            }
            ApiError::Unauthenticated => {
                let how = HeaderValue::from_static("Bearer realm=\"tidings\"");
                headers.insert(header::WWW_AUTHENTICATE, how);
            }
            ApiError::Store(error) => headers.extend(store_failure::retry_after(&error)),
            _ => {}
        }
        response
    }
}

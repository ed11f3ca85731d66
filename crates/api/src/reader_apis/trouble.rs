//! Why something was not done for an app, once; each API says it in its own form.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use dispatch::command::Refusal;
use serde_json::json;
use store::StoreError;

use crate::auth::Denied;
use crate::pairs::TooMany;
use crate::search::NotFound;
use crate::server;
use crate::words::ceil_secs;

#[derive(Debug)]
pub enum Trouble {
    /// Nobody we know asks.
    Stranger,
    /// Somebody guesses passwords; they wait so many seconds.
    Wait(u64),
    /// Too many passwords wait to be checked; they wait so many seconds.
    Busy(u64),
    /// Their token does not reach that far.
    Denied(&'static str),
    /// The question is wrong.
    Asked(String),
    Missing(&'static str),
    TooLarge,
    /// The body did not come to its end.
    Cut,
    Refused(Refusal),
    Store(StoreError),
    /// The program is ending.
    Closed,
}

impl Trouble {
    pub fn asked(what: impl Into<String>) -> Trouble {
        Trouble::Asked(what.into())
    }

    pub fn status(&self) -> StatusCode {
        match self {
            Trouble::Stranger => StatusCode::UNAUTHORIZED,
            Trouble::Wait(_) => StatusCode::TOO_MANY_REQUESTS,
            Trouble::Denied(_) => StatusCode::FORBIDDEN,
            Trouble::Asked(_) => StatusCode::BAD_REQUEST,
            Trouble::Missing(_) => StatusCode::NOT_FOUND,
            Trouble::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Trouble::Cut => StatusCode::REQUEST_TIMEOUT,
            Trouble::Refused(refusal) if refusal.input => StatusCode::BAD_REQUEST,
            Trouble::Refused(_) | Trouble::Closed | Trouble::Busy(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Trouble::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Trouble::Stranger => "name and password, or the token, are not known here".to_owned(),
            Trouble::Wait(_) => "too many wrong passwords; wait a little".to_owned(),
            Trouble::Busy(_) => "too many passwords are being checked; try again soon".to_owned(),
            Trouble::Denied(what) | Trouble::Missing(what) => (*what).to_owned(),
            Trouble::Asked(what) => what.clone(),
            Trouble::TooLarge => "that is too much at once".to_owned(),
            Trouble::Cut => "what you sent took too long to arrive".to_owned(),
            Trouble::Refused(refusal) => refusal.message.clone(),
            Trouble::Store(_) => "the store did not answer".to_owned(),
            Trouble::Closed => "the program is stopping; try again when it is back".to_owned(),
        }
    }

    /// Adds what every form of an answer needs.
    fn dress(&self, mut response: Response) -> Response {
        if let Trouble::Store(error) = self {
            tracing::warn!(%error, "a reader app was not answered");
        }
        if let Trouble::Wait(seconds) | Trouble::Busy(seconds) = self {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        match error {
            StoreError::NoFeed(_) => Trouble::Missing("there is no such feed"),
            other => Trouble::Store(other),
        }
    }
}

impl From<axum::Error> for Trouble {
    fn from(error: axum::Error) -> Trouble {
        if server::is_cut(&error) { Trouble::Cut } else { Trouble::TooLarge }
    }
}

impl From<TooMany> for Trouble {
    fn from(_: TooMany) -> Trouble {
        Trouble::TooLarge
    }
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Trouble {
        let seconds = denied.retry_after().map_or(1, ceil_secs);
        match denied {
            Denied::Wrong => Trouble::Stranger,
            Denied::Wait(_) => Trouble::Wait(seconds),
            Denied::Busy => Trouble::Busy(seconds),
            Denied::Store(error) => Trouble::Store(error),
        }
    }
}

impl From<NotFound> for Trouble {
    fn from(why: NotFound) -> Trouble {
        match why {
            NotFound::Search(_) => Trouble::Asked(why.to_string()),
            NotFound::Store(error) => Trouble::Store(error),
        }
    }
}

/// As Google Reader says it: a line of text.
pub struct InText(pub Trouble);

impl<T: Into<Trouble>> From<T> for InText {
    fn from(trouble: T) -> InText {
        InText(trouble.into())
    }
}

impl IntoResponse for InText {
    fn into_response(self) -> Response {
        let text = format!("{}\n", self.0.text());
        self.0.dress((self.0.status(), text).into_response())
    }
}

/// As miniflux says it.
pub struct InJson(pub Trouble);

impl<T: Into<Trouble>> From<T> for InJson {
    fn from(trouble: T) -> InJson {
        InJson(trouble.into())
    }
}

impl IntoResponse for InJson {
    fn into_response(self) -> Response {
        let body = Json(json!({"error_message": self.0.text()}));
        self.0.dress((self.0.status(), body).into_response())
    }
}

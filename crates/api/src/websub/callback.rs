//! `/websub/callback/…`: the address where hubs confirm or deny our subscriptions and push new
//! content (WebSub, sections 5.2, 5.3 and 7). Only one hub knows the end of each path. Pushes are
//! stored; the engine checks them later, so that a sender learns nothing from the answer.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use store::{HubVerification, PushReceipt, StoreError};
use url::form_urlencoded;

use crate::ServerContext;
use crate::blocking::run_blocking;
use crate::store_failure;

/// The same limit as for the body of a poll.
pub const BODY_BYTES_MAX: usize = 4_000_000;
/// The `Retry-After` of a push while all places are taken.
const CROWDED_WAIT: Duration = Duration::from_secs(5);
/// A challenge is echoed. An honest one is about fifty characters long.
const CHALLENGE_BYTES_MAX: usize = 2000;
/// The lease if the hub names none, although it must, and the bounds of a lease.
const LEASE: Duration = Duration::from_secs(86_400);
const LEASE_MIN: Duration = Duration::from_secs(60);
const LEASE_MAX: Duration = Duration::from_secs(366 * 86_400);
/// The time until a hub that refused is asked again: publishers change their minds.
const DENIED_WAIT: Duration = Duration::from_secs(7 * 86_400);
/// Characters that are kept of the hub's reason.
const REASON_CHARS_MAX: usize = 200;
const HUB_SIGNATURE: HeaderName = HeaderName::from_static("x-hub-signature");

/// A message of a hub about a subscription.
#[derive(Default)]
struct HubMessage {
    mode: String,
    topic: String,
    challenge: String,
    lease: Option<u64>,
    reason: String,
}

impl HubMessage {
    fn read(query: &str) -> HubMessage {
        let mut said = HubMessage::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "hub.mode" => said.mode = value.into_owned(),
                "hub.topic" => said.topic = value.into_owned(),
                "hub.challenge" => said.challenge = value.into_owned(),
                "hub.lease_seconds" => said.lease = value.parse().ok(),
                "hub.reason" => said.reason = value.chars().take(REASON_CHARS_MAX).collect(),
                _ => {}
            }
        }
        said
    }

    /// Returns the answer if the message is about a subscription that we asked for.
    fn heard(self, context: &ServerContext, token: &str) -> Result<Option<String>, StoreError> {
        let (store, now) = (&context.store, (context.now)());
        let asks = match self.mode.as_str() {
            "subscribe" => {
                let lease = self.lease.map_or(LEASE, Duration::from_secs);
                HubVerification::Subscribe { lease: lease.clamp(LEASE_MIN, LEASE_MAX) }
            }
            "unsubscribe" => HubVerification::Unsubscribe,
            "denied" => {
                let colon = if self.reason.is_empty() { "" } else { ": " };
                let why = format!("the hub will not push it{colon}{}", self.reason);
                let known = store.deny_push(token, &self.topic, &why, now + DENIED_WAIT)?;
                return Ok(known.then(String::new));
            }
            _ => return Ok(None),
        };
        if self.challenge.is_empty() || self.challenge.len() > CHALLENGE_BYTES_MAX {
            return Ok(None);
        }
        let ours = store.confirm_push(token, &self.topic, &asks, now)?;
        Ok(ours.then_some(self.challenge))
    }
}

/// Refuses a client that does not know the name of a callback before its body is read. Only that
/// name proves that the client is the hub.
pub async fn known(
    State(context): State<ServerContext>,
    Path(token): Path<String>,
    request: Request,
    next: Next,
) -> Response {
    let pushed = *request.method() == Method::POST;
    match run_blocking(move || context.store.is_push_callback(&token)).await {
        Ok(true) => next.run(request).await,
        Ok(false) if pushed => StatusCode::GONE.into_response(),
        Ok(false) => not_asked(),
        Err(error) => trouble(&error),
    }
}

fn not_asked() -> Response {
    (StatusCode::NOT_FOUND, "We did not ask for that.\n").into_response()
}

/// Answers a hub that asks us to confirm a subscription, or that refuses it.
pub async fn confirm(
    State(context): State<ServerContext>,
    Path(token): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let said = HubMessage::read(query.as_deref().unwrap_or(""));
    match run_blocking(move || said.heard(&context, &token)).await {
        Ok(Some(challenge)) => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], challenge).into_response()
        }
        Ok(None) => not_asked(),
        Err(error) => trouble(&error),
    }
}

/// Stores a push. Only a few bodies are read at once.
pub async fn receive(
    State(context): State<ServerContext>,
    Path(token): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Response {
    let Ok(_place) = context.pushes.try_acquire() else { return later(CROWDED_WAIT) };
    let text = |name: &HeaderName| {
        headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let (content_type, signature) = (text(&header::CONTENT_TYPE), text(&HUB_SIGNATURE));
    let body = match Bytes::from_request(request, &()).await {
        Ok(body) => body,
        Err(rejection) => return rejection.into_response(),
    };
    let (store, now) = (context.store.clone(), (context.now)());
    let taken = run_blocking(move || {
        store.receive_push(&token, content_type, signature, body.to_vec(), now)
    });
    match taken.await {
        Ok(PushReceipt::Kept) => StatusCode::ACCEPTED.into_response(),
        Ok(PushReceipt::Unknown) => StatusCode::GONE.into_response(),
        Ok(PushReceipt::TooMany(wait)) => later(wait),
        Err(error) => trouble(&error),
    }
}

/// Refuses a push for now. The hub sends it again, and the next poll finds the entries in any case.
fn later(wait: Duration) -> Response {
    let seconds = wait.as_secs().max(1).to_string();
    let text = "Too many pushes of this feed. Send it again later.\n";
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds)], text).into_response()
}

fn trouble(error: &StoreError) -> Response {
    store_failure::plain(error, "cannot store a message of a hub")
}

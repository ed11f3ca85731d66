//! `/websub/hub`: takes subscriptions to published feeds (WebSub, section 5). It stores a request
//! within limits; the engine asks the callback to confirm it.

pub mod callback;

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use feed::Domain;
use store::{
    StoreError, SubscriberProtocol, SubscriberRequest, SubscriberRequestKind,
    SubscriberRequestOutcome,
};
use url::{Url, form_urlencoded};

use crate::auth::ClientAddress;
use crate::blocking::run_blocking;
use crate::{ServerContext, published, store_failure};

/// The lease if the subscriber names none: ten days, as the specification proposes.
const LEASE: u64 = 10 * 86_400;
const LEASE_MIN: u64 = 300;
const LEASE_MAX: u64 = 30 * 86_400;
/// The specification's own limit.
const SECRET_BYTES_MAX: usize = 199;
/// Longer addresses are refused.
const CALLBACK_BYTES_MAX: usize = 2000;
/// The `Retry-After` of a hub without free places.
const FULL_WAIT: Duration = Duration::from_secs(600);

/// Takes a request to subscribe or to unsubscribe.
pub async fn hub(
    State(context): State<ServerContext>,
    from: ClientAddress,
    body: Bytes,
) -> Response {
    let Some(request) = HubRequest::read(&body) else {
        let what = "hub.mode, hub.topic or hub.callback is missing or invalid\n";
        return (StatusCode::BAD_REQUEST, what).into_response();
    };
    match run_blocking(move || request.note(&context, from.to_string())).await {
        Ok(Some(SubscriberRequestOutcome::Taken)) => StatusCode::ACCEPTED.into_response(),
        Ok(Some(SubscriberRequestOutcome::Full)) => later(
            StatusCode::SERVICE_UNAVAILABLE,
            FULL_WAIT,
            "The hub has no place for another subscriber of this feed.\n",
        ),
        Ok(Some(SubscriberRequestOutcome::TooMany(wait))) => later(
            StatusCode::TOO_MANY_REQUESTS,
            wait,
            "Too many requests of this client or for this callback wait for confirmation. \
             Repeat the request later.\n",
        ),
        Ok(None) => (StatusCode::NOT_FOUND, "The topic is not a published feed.\n").into_response(),
        Err(error) => store_failure::plain(&error, "cannot store a request to the hub"),
    }
}

fn later(status: StatusCode, wait: Duration, text: &'static str) -> Response {
    let seconds = wait.as_secs().max(1).to_string();
    (status, [(header::RETRY_AFTER, seconds)], text).into_response()
}

struct HubRequest {
    topic: String,
    callback: Url,
    kind: SubscriberRequestKind,
}

impl HubRequest {
    fn read(body: &[u8]) -> Option<HubRequest> {
        let (mut mode, mut topic, mut callback) = (None, None, None);
        let (mut secret, mut lease) = (None, LEASE);
        for (name, value) in form_urlencoded::parse(body) {
            match name.as_ref() {
                "hub.mode" => mode = Some(value.into_owned()),
                "hub.topic" => topic = Some(value.into_owned()),
                "hub.callback" => callback = Some(value.into_owned()),
                "hub.secret" => secret = Some(value.into_owned()).filter(|s| !s.is_empty()),
                "hub.lease_seconds" => lease = value.parse().ok()?,
                _ => {}
            }
        }
        let callback = callback.filter(|text| text.len() <= CALLBACK_BYTES_MAX)?;
        let is_web = |url: &Url| matches!(url.scheme(), "http" | "https");
        let callback = Url::parse(&callback).ok().filter(is_web)?;
        if secret.as_ref().is_some_and(|secret| secret.len() > SECRET_BYTES_MAX) {
            return None;
        }
        let lease = Duration::from_secs(lease.clamp(LEASE_MIN, LEASE_MAX));
        let kind = match mode?.as_str() {
            "subscribe" => SubscriberRequestKind::Subscribe { secret, lease },
            "unsubscribe" => SubscriberRequestKind::Unsubscribe,
            _ => return None,
        };
        Some(HubRequest { topic: topic?, callback, kind })
    }

    /// Stores the request. Returns `None` if no feed is published at the topic.
    fn note(
        self,
        context: &ServerContext,
        from: String,
    ) -> Result<Option<SubscriberRequestOutcome>, StoreError> {
        let HubRequest { topic, callback, kind } = self;
        let Some(query) = published::topic(context, &topic)? else { return Ok(None) };
        let (domain, callback) = (Domain::of(&callback), callback.into());
        let protocol = SubscriberProtocol::WebSub;
        let wish = SubscriberRequest { query, topic, callback, domain, from, kind, protocol };
        context.store.add_hub_request(&wish, (context.now)()).map(Some)
    }
}

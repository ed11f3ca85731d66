//! `/websub/hub`: where subscribers of published feeds ask to be pushed (WebSub, section 5). It
//! writes the wish down; whether the callback agrees is asked by the engine.

pub mod callback;

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use store::{HubWish, HubWishKind, StoreError};
use url::{Url, form_urlencoded};

use crate::Context;
use crate::page::ask;
use crate::published;

/// Where a subscriber says nothing: ten days, as the specification proposes.
const LEASE: u64 = 10 * 86_400;
const LEASE_MIN: u64 = 300;
const LEASE_MAX: u64 = 30 * 86_400;
/// The specification's own limit.
const SECRET_BYTES_MAX: usize = 199;
/// Longer addresses are no callbacks.
const CALLBACK_BYTES_MAX: usize = 2000;
/// Each push goes to all of them.
const SUBSCRIBERS_MAX: u64 = 1000;

/// Takes a wish to subscribe or to unsubscribe.
pub async fn hub(State(context): State<Context>, body: Bytes) -> Response {
    let Some(asked) = Asked::read(&body) else {
        let what = "hub.mode, hub.topic and hub.callback are needed, or one of them is wrong\n";
        return (StatusCode::BAD_REQUEST, what).into_response();
    };
    match ask(move || asked.note(&context)).await {
        Ok(Noted::Taken) => StatusCode::ACCEPTED.into_response(),
        Ok(Noted::NoTopic) => (StatusCode::NOT_FOUND, "There is no such feed.\n").into_response(),
        Ok(Noted::Full) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(error) => {
            tracing::warn!(%error, "a subscriber's wish could not be written down");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

struct Asked {
    topic: String,
    callback: String,
    kind: HubWishKind,
}

enum Noted {
    Taken,
    NoTopic,
    Full,
}

impl Asked {
    fn read(body: &[u8]) -> Option<Asked> {
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
        let callback = Url::parse(&callback).ok().filter(is_web)?.into();
        if secret.as_ref().is_some_and(|secret| secret.len() > SECRET_BYTES_MAX) {
            return None;
        }
        let lease = Duration::from_secs(lease.clamp(LEASE_MIN, LEASE_MAX));
        let kind = match mode?.as_str() {
            "subscribe" => HubWishKind::Subscribe { secret, lease },
            "unsubscribe" => HubWishKind::Unsubscribe,
            _ => return None,
        };
        Some(Asked { topic: topic?, callback, kind })
    }

    fn note(self, context: &Context) -> Result<Noted, StoreError> {
        let Some(topic) = published::at(context, &self.topic)? else { return Ok(Noted::NoTopic) };
        let Asked { topic: address, callback, kind } = self;
        let wish = HubWish { query: topic.query, topic: address, callback, kind };
        let taken = context.store.wish_hub(&wish, SUBSCRIBERS_MAX)?;
        Ok(if taken { Noted::Taken } else { Noted::Full })
    }
}

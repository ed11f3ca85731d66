//! One verification: a callback must echo a secret before its subscription request counts. A
//! stranger chose the address. So the verification waits behind polls, has little time, and is sent
//! at most twice.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use feed::Domain;
use fetch::{FailureKind, Fetched, Posted};
use store::{HubSubscription, StoreError, SubscriberProtocol, SubscriberRequestKind};
use url::Url;

use super::push::notice;
use super::{RestingDomains, Topics, blocking};
use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::keys;
use crate::plan::ErrandClass;

/// The time for an answer of a few bytes. A callback that never answers occupies its domain and one
/// of the places for this long.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A challenge has 43 letters. A longer answer is wrong.
const ANSWER_BYTES_MAX: usize = 1000;
/// Attempts to reach a callback before its request is refused.
const ASKED_MAX: u32 = 2;
/// The wait before a callback that could not be reached is tried again.
const RETRY_WAIT: Duration = Duration::from_secs(30);
/// A domain that answers 429 or 503 gets no verifications for this long.
const REST: Duration = Duration::from_secs(3600);
/// Domains that are remembered as waiting: more than can answer so within an hour.
const RESTING_MAX: usize = 10_000;

/// Asks the callback of a subscription request to confirm it.
pub async fn verify(
    context: &Context,
    topics: &Topics,
    resting: &RestingDomains,
    id: i64,
) -> Result<(), StoreError> {
    let store = &context.store;
    let Some(row) = store.hub_subscription(id)? else { return Ok(()) };
    let Ok(callback) = Url::parse(&row.callback) else { return store.refuse_hub_request(id).await };
    if is_resting(context, resting, &callback) {
        return store.refuse_hub_request(id).await;
    }
    let plan = PlanHandle::of(context);
    let Ok(turn) = errand::turn(&plan, &callback, ErrandClass::AfterPolls).await else {
        let again = context.clock.now() + RETRY_WAIT;
        return store.retry_hub_request(id, row.request_attempts, again).await;
    };
    // During the wait, the request may have ended, or the query may have become private.
    let Some(row) = store.hub_subscription(id)? else { return Ok(()) };
    let Some(wish) = row.request.clone() else { return Ok(()) };
    if !is_still_open(topics, &row, &wish).await? {
        return store.refuse_hub_request(id).await;
    }
    if row.protocol == SubscriberProtocol::CloudNotice {
        return match turn.post(context, &callback, notice(&row.topic)).await {
            Posted::Taken { .. } => store.confirm_hub_request(id, wish, context.clock.now()).await,
            Posted::Failed(_) => again(context, &row).await,
            Posted::Refused { .. } | Posted::Blocked { .. } => store.refuse_hub_request(id).await,
        };
    }
    let Ok(challenge) = keys::fresh() else { return store.refuse_hub_request(id).await };
    let url = match row.protocol {
        SubscriberProtocol::WebSub => question(callback, &row.topic, &wish, &challenge),
        _ => cloud_question(callback, &row.topic, &challenge),
    };
    let answer = turn.ask(context, &url, ANSWER_BYTES_MAX, ANSWER_WITHIN).await;
    let now = context.clock.now();
    match answer {
        Fetched::Body { bytes, .. } if bytes == challenge.as_bytes() => {
            store.confirm_hub_request(id, wish, now).await
        }
        Fetched::Refused { status: 429 } => {
            rest(context, resting, &url);
            store.refuse_hub_request(id).await
        }
        Fetched::Failed(failure) if failure.kind == FailureKind::Status(503) => {
            rest(context, resting, &url);
            store.refuse_hub_request(id).await
        }
        Fetched::Failed(failure) if failure.kind != FailureKind::Status(404) => {
            again(context, &row).await
        }
        Fetched::Blocked { reason } => {
            tracing::warn!(reason, "a subscriber's callback is refused");
            store.refuse_hub_request(id).await
        }
        _ => store.refuse_hub_request(id).await,
    }
}

async fn again(context: &Context, row: &HubSubscription) -> Result<(), StoreError> {
    let attempts = row.request_attempts.saturating_add(1);
    if attempts >= ASKED_MAX {
        return context.store.refuse_hub_request(row.id).await;
    }
    let next_at = context.clock.now() + RETRY_WAIT;
    context.store.retry_hub_request(row.id, attempts, next_at).await
}

/// Returns whether the topic is still published. A subscriber may always unsubscribe.
async fn is_still_open(
    topics: &Topics,
    row: &HubSubscription,
    wish: &SubscriberRequestKind,
) -> Result<bool, StoreError> {
    if *wish == SubscriberRequestKind::Unsubscribe {
        return Ok(true);
    }
    let (topic, is_open) = (row.topic.clone(), Arc::clone(&topics.is_open));
    blocking(move || is_open(&topic)).await
}

fn question(mut url: Url, topic: &str, wish: &SubscriberRequestKind, challenge: &str) -> Url {
    {
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("hub.topic", topic).append_pair("hub.challenge", challenge);
        match wish {
            SubscriberRequestKind::Subscribe { lease, .. } => pairs
                .append_pair("hub.mode", "subscribe")
                .append_pair("hub.lease_seconds", &lease.as_secs().to_string()),
            SubscriberRequestKind::Unsubscribe => pairs.append_pair("hub.mode", "unsubscribe"),
        };
    }
    url
}

/// The question of rssCloud to a callback with a host name.
fn cloud_question(mut url: Url, topic: &str, challenge: &str) -> Url {
    url.query_pairs_mut().append_pair("url", topic).append_pair("challenge", challenge);
    url
}

fn is_resting(context: &Context, resting: &RestingDomains, url: &Url) -> bool {
    let now = context.clock.now();
    let mut resting = resting.lock().unwrap_or_else(PoisonError::into_inner);
    // If the clock is set back, a wait still ends no later than it would have.
    resting.retain(|_, until| *until > now && *until <= now + REST);
    resting.contains_key(&Domain::of(url))
}

fn rest(context: &Context, resting: &RestingDomains, url: &Url) {
    let mut resting = resting.lock().unwrap_or_else(PoisonError::into_inner);
    if resting.len() < RESTING_MAX {
        resting.insert(Domain::of(url), context.clock.now() + REST);
    }
}

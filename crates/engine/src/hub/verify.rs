//! One verification: a callback must echo what only it can know before a wish holds. The address
//! comes from a stranger, so the question waits behind polls, has little time, and is asked twice
//! at most.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use feed::Domain;
use fetch::{FailureKind, Fetched, Posted};
use store::{HubSubscription, StoreError, SubscriberProtocol, SubscriberRequestKind};
use url::Url;

use super::push::notice;
use super::{Resting, Topics, blocking};
use crate::context::Context;
use crate::errand::{self, PlanHandle};
use crate::keys;
use crate::plan::ErrandClass;

/// Time for an answer of a few bytes. A callback that never answers keeps its domain, and one of
/// the places, for so long.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A challenge is 43 letters; a longer answer is wrong.
const ANSWER_BYTES_MAX: usize = 1000;
/// A callback that cannot be reached is asked this often before its wish is refused.
const ASKED_MAX: u32 = 2;
/// Until a callback that could not be reached is asked again.
const RETRY_WAIT: Duration = Duration::from_secs(30);
/// A domain that answers 429 or 503 is not asked by strangers' wishes for so long.
const REST: Duration = Duration::from_secs(3600);
/// Domains that are remembered as resting: more than can answer so within an hour.
const RESTING_MAX: usize = 10_000;

/// Asks the callback of a wish to confirm it.
pub async fn verify(
    context: &Context,
    topics: &Topics,
    resting: &Resting,
    id: i64,
) -> Result<(), StoreError> {
    let store = &context.store;
    let Some(row) = store.hub_subscription(id)? else { return Ok(()) };
    let Ok(callback) = Url::parse(&row.callback) else { return store.refuse_hub_request(id).await };
    if is_resting(context, resting, &callback) {
        return store.refuse_hub_request(id).await;
    }
    let plan = PlanHandle::of(context);
    let Some(turn) = errand::turn(&plan, &callback, ErrandClass::AfterPolls).await else {
        let again = context.clock.now() + RETRY_WAIT;
        return store.retry_hub_request(id, row.request_attempts, again).await;
    };
    // While it waited, the wish may have ended, or the query may have been made private.
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
        Some(Fetched::Body { bytes, .. }) if bytes == challenge.as_bytes() => {
            store.confirm_hub_request(id, wish, now).await
        }
        Some(Fetched::Refused { status: 429 }) => {
            rest(context, resting, &url);
            store.refuse_hub_request(id).await
        }
        Some(Fetched::Failed(failure)) if failure.kind == FailureKind::Status(503) => {
            rest(context, resting, &url);
            store.refuse_hub_request(id).await
        }
        Some(Fetched::Failed(failure)) if failure.kind != FailureKind::Status(404) => {
            again(context, &row).await
        }
        None => again(context, &row).await,
        Some(Fetched::Blocked { reason }) => {
            tracing::warn!(reason, "a subscriber's callback is not asked");
            store.refuse_hub_request(id).await
        }
        Some(_) => store.refuse_hub_request(id).await,
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

/// Returns whether the topic is still published. A subscriber may always leave.
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

fn is_resting(context: &Context, resting: &Resting, url: &Url) -> bool {
    let now = context.clock.now();
    let mut resting = resting.lock().unwrap_or_else(PoisonError::into_inner);
    // A clock that was set back ends no rest later than it would have ended.
    resting.retain(|_, until| *until > now && *until <= now + REST);
    resting.contains_key(&Domain::of(url))
}

fn rest(context: &Context, resting: &Resting, url: &Url) {
    let mut resting = resting.lock().unwrap_or_else(PoisonError::into_inner);
    if resting.len() < RESTING_MAX {
        resting.insert(Domain::of(url), context.clock.now() + REST);
    }
}

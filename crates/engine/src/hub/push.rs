//! One push: sends a published feed to one subscriber. It contains the whole feed, so the next push
//! makes up for one that failed. Subscribers by rssCloud get only its address.

use std::sync::Arc;
use std::time::Duration;

use fetch::{Parcel, Posted};
use store::{HubSubscription, StoreError, SubscriberProtocol};
use url::{Url, form_urlencoded};

use super::{Rendered, Topics, blocking};
use crate::context::Context;
use crate::deliver::waited;
use crate::errand::{self, PlanHandle};
use crate::keys;
use crate::plan::ErrandClass;

/// The wait until a domain that asked us to wait is tried again.
const BOUND_WAIT: Duration = Duration::from_secs(60);

/// Pushes the feed of a subscription. The feed is rendered only when the domain's turn has come. So
/// waiting pushes hold no copy of it, and access is checked again then.
pub async fn push(context: &Context, topics: &Topics, id: i64) -> Result<(), StoreError> {
    let store = &context.store;
    let Some(row) = store.hub_subscription(id)? else { return Ok(()) };
    let Ok(url) = Url::parse(&row.callback) else { return store.remove_hub_subscriber(id).await };
    let plan = PlanHandle::of(context);
    let Ok(turn) = errand::turn(&plan, &url, ErrandClass::BeforePolls).await else {
        let again = context.clock.now() + BOUND_WAIT;
        return store.note_hub_push(id, None, row.attempts, Some(again)).await;
    };
    let due = store.hub_subscription(id)?.filter(|row| row.is_due(context.clock.now()));
    let Some(row) = due else { return Ok(()) };
    let Some(parcel) = content(topics, &row).await? else {
        // The query was dropped, or is no longer published.
        return store.remove_hub_subscriber(id).await;
    };
    match turn.post(context, &url, parcel).await {
        Posted::Taken { .. } => store.note_hub_push(id, Some(row.last_position), 0, None).await,
        // The subscriber says that it no longer exists.
        Posted::Refused { status: 410, .. } => store.remove_hub_subscriber(id).await,
        _ => {
            let attempts = row.attempts.saturating_add(1);
            let again = context.clock.now() + waited(attempts);
            store.note_hub_push(id, None, attempts, Some(again)).await
        }
    }
}

/// Returns what a subscriber gets: the feed, or in rssCloud its address. `None` if the feed is not
/// published any more.
async fn content(topics: &Topics, row: &HubSubscription) -> Result<Option<Parcel>, StoreError> {
    let topic = row.topic.clone();
    if row.protocol != SubscriberProtocol::WebSub {
        let is_open = Arc::clone(&topics.is_open);
        let is_open = blocking(move || is_open(&topic)).await?;
        return Ok(is_open.then(|| notice(&row.topic)));
    }
    let render = Arc::clone(&topics.render);
    let rendered = blocking(move || render(&topic)).await?;
    Ok(rendered.map(|rendered| parcel(row, rendered)))
}

/// The notice of rssCloud: the address of the feed that has changed.
pub fn notice(topic: &str) -> Parcel {
    let body = form_urlencoded::Serializer::new(String::new()).append_pair("url", topic).finish();
    let content_type = "application/x-www-form-urlencoded";
    Parcel::new(content_type, Vec::new(), body.into_bytes())
}

fn parcel(row: &HubSubscription, rendered: Rendered) -> Parcel {
    let links = format!("<{}>; rel=\"hub\", <{}>; rel=\"self\"", rendered.hub, row.topic);
    let body = rendered.body.into_bytes();
    let mut headers = vec![("link", links)];
    if let Some(secret) = &row.secret {
        headers.push(("x-hub-signature", keys::hub_signature(secret, &body)));
    }
    Parcel::new(rendered.content_type, headers, body)
}

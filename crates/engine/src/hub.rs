//! Our WebSub hub: asks callbacks whether they agree, and pushes published feeds to those that did.
//! A push carries the whole feed as it is, so a missed one is made good by the next. What a feed
//! looks like is the renderer's business.

use std::sync::Arc;
use std::time::Duration;

use fetch::{Fetched, Parcel, Posted};
use store::{HubRow, HubWishKind, StoreError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use url::Url;

use crate::deliver::waited;
use crate::keys;
use crate::poll::Context;

/// How often wishes and news are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A callback that cannot be reached is asked this often before its wish is dropped.
const ASKED_MAX: u32 = 3;
/// Subscribers that are served at once.
const AT_ONCE_MAX: usize = 32;

/// A feed as it is pushed.
#[derive(Clone, Debug)]
pub struct Rendered {
    pub body: String,
    pub content_type: &'static str,
    /// The address of the hub, as the feed names it.
    pub hub: String,
}

/// Renders the feed at an address; `None` where there is none any more.
pub type Render = Arc<dyn Fn(&str) -> Result<Option<Rendered>, StoreError> + Send + Sync>;

/// Serves subscribers until told to stop.
pub async fn run(context: Arc<Context>, render: Render, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        tokio::select! {
            () = round(&context, &render) => {}
            _ = stop.changed() => break,
        }
        tokio::select! {
            () = context.clock.sleep_until(context.clock.now() + LOOK_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Whatever is due, once.
async fn round(context: &Arc<Context>, render: &Render) {
    let due = match context.store.hub_due(context.clock.now()) {
        Ok(due) => due,
        Err(error) => return tracing::error!(%error, "cannot look for subscribers of the hub"),
    };
    let mut under_way = JoinSet::new();
    for row in due {
        if under_way.len() >= AT_ONCE_MAX {
            under_way.join_next().await;
        }
        let (context, render) = (Arc::clone(context), Arc::clone(render));
        under_way.spawn(async move {
            let served = match &row.wish {
                Some(wish) => verify(&context, &row, wish).await,
                None => push(&context, &render, &row).await,
            };
            if let Err(error) = served {
                tracing::error!(%error, "what the hub did could not be kept; it is repeated");
            }
        });
    }
    while under_way.join_next().await.is_some() {}
    if let Err(error) = context.store.end_leases(context.clock.now()).await {
        tracing::error!(%error, "cannot end leases of the hub");
    }
}

/// Asks a callback whether the wish is its own: it must echo what only it can know.
async fn verify(context: &Context, row: &HubRow, wish: &HubWishKind) -> Result<(), StoreError> {
    let store = &context.store;
    let (Ok(mut url), Ok(challenge)) = (Url::parse(&row.callback), keys::fresh()) else {
        return store.refuse_hub(row.id).await;
    };
    {
        let mut pairs = url.query_pairs_mut();
        pairs.append_pair("hub.topic", &row.topic).append_pair("hub.challenge", &challenge);
        match wish {
            HubWishKind::Subscribe { lease, .. } => pairs
                .append_pair("hub.mode", "subscribe")
                .append_pair("hub.lease_seconds", &lease.as_secs().to_string()),
            HubWishKind::Unsubscribe => pairs.append_pair("hub.mode", "unsubscribe"),
        };
    }
    let now = context.clock.now();
    match context.fetcher.page(&url).await.fetched {
        Fetched::Body { bytes, .. } if bytes == challenge.as_bytes() => {
            store.grant_hub(row.id, now).await
        }
        Fetched::Failed(failure) if !matches!(failure.kind, fetch::FailureKind::Status(404)) => {
            if row.attempts + 1 >= ASKED_MAX {
                return store.refuse_hub(row.id).await;
            }
            let again = now + waited(row.attempts + 1);
            store.note_push(row.id, None, row.attempts + 1, Some(again)).await
        }
        Fetched::Blocked { reason } => {
            tracing::warn!(reason, "a subscriber's callback is not asked");
            store.refuse_hub(row.id).await
        }
        _ => store.refuse_hub(row.id).await,
    }
}

async fn push(context: &Context, render: &Render, row: &HubRow) -> Result<(), StoreError> {
    let store = &context.store;
    let (topic, render) = (row.topic.clone(), Arc::clone(render));
    // Joining fails only where the runtime ends, and the store with it.
    let rendered = tokio::task::spawn_blocking(move || render(&topic)).await;
    let rendered = rendered.unwrap_or(Err(StoreError::Closed))?;
    let (Some(rendered), Ok(url)) = (rendered, Url::parse(&row.callback)) else {
        return store.end_hub(row.id).await;
    };
    let links = format!("<{}>; rel=\"hub\", <{}>; rel=\"self\"", rendered.hub, row.topic);
    let body = rendered.body.into_bytes();
    let mut headers = vec![("link", links)];
    if let Some(secret) = &row.secret {
        headers.push(("x-hub-signature", keys::hub_signature(secret, &body)));
    }
    let parcel = Parcel { content_type: rendered.content_type, headers, body };
    match context.fetcher.post(&url, parcel).await {
        Posted::Taken { .. } => store.note_push(row.id, Some(row.last_position), 0, None).await,
        // The subscriber says that it is no longer there.
        Posted::Refused { status: 410, .. } => store.end_hub(row.id).await,
        _ => {
            let attempts = row.attempts.saturating_add(1);
            let again = context.clock.now() + waited(attempts);
            store.note_push(row.id, None, attempts, Some(again)).await
        }
    }
}

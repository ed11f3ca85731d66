//! Push in: a WebSub subscriber. Feeds that name a hub are subscribed to there ([`ask`]), what the
//! hub sends is recorded like what a poll brings ([`take`]), and a feed whose pushes end goes back
//! to its policy's rhythm. How far pushes are trusted is decided in `conclude::pushed`.

mod ask;
mod take;

use std::sync::Arc;
use std::time::Duration;

use feed::{FeedId, Time};
use store::StoreError;
use tokio::sync::watch;
use url::Url;

use crate::context::Context;
use crate::event::Event;
use crate::keys;

/// How often the inbox and the hubs to be asked are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Every so many looks subscriptions are held against the feeds as they are by now.
const SWEEP_LOOKS: u64 = 10;
/// New subscriptions that one sweep begins.
const BEGIN_MAX: u32 = 100;

/// Records what hubs send, until told to stop.
pub async fn receive(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Err(error) = take::all(&context).await {
            tracing::error!(%error, "a push could not be recorded; it is tried again");
        }
        if let Err(error) = take::refused(&context).await {
            tracing::error!(%error, "cannot look for feeds with a refused push");
        }
        pause(&mut stop).await;
    }
}

/// Keeps subscriptions and feeds together, and asks hubs, until told to stop.
pub async fn subscribe(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut looks = 0_u64;
    while !*stop.borrow() {
        if looks.is_multiple_of(SWEEP_LOOKS)
            && let Err(error) = sweep(&context).await
        {
            tracing::error!(%error, "cannot hold subscriptions against the feeds");
        }
        looks += 1;
        tokio::select! {
            () = ask::round(&context) => {}
            // A hub that was asked and could not answer is asked again at the next start.
            _ = stop.changed() => break,
        }
        pause(&mut stop).await;
    }
}

async fn pause(stop: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = tokio::time::sleep(LOOK_EVERY) => {}
        _ = stop.changed() => {}
    }
}

/// Leaves where a feed is paused, gone or pushed by another hub; begins where one names a hub; and
/// lets feeds whose pushes ended be polled as their policy wants it.
async fn sweep(context: &Context) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut on_their_own = context.store.detach_pushes(now).await?;
    on_their_own.extend(context.store.lapsed_pushes(now)?);
    for feed in on_their_own {
        poll_by_policy(context, feed)?;
    }
    if context.settings.push.public_url.is_none() {
        return Ok(());
    }
    for candidate in context.store.push_candidates(BEGIN_MAX)? {
        let (Ok(token), Ok(secret)) = (keys::fresh(), keys::fresh()) else { return Ok(()) };
        context.store.begin_push(candidate, token, secret, now).await?;
    }
    Ok(())
}

/// Nothing is pushed any more: the feed's next poll is decided anew.
fn poll_by_policy(context: &Context, feed: FeedId) -> Result<(), StoreError> {
    let planned = context.replan(&[feed])?;
    planned.into_iter().try_for_each(|(feed, next_at)| rest(context, feed, next_at))
}

/// Tells the loop when a feed is polled next.
fn rest(context: &Context, feed: FeedId, next_at: Time) -> Result<(), StoreError> {
    if let Some(scheduled) = context.scheduled(feed, next_at)? {
        // The loop ends only with the engine; then the store knows the time.
        let _ = context.events.send(Event::Schedule(scheduled));
    }
    Ok(())
}

/// An address of a hub or a topic as it may be shown.
fn masked(address: &str) -> String {
    Url::parse(address).map_or_else(|_| address.to_owned(), |url| feed::mask_secrets(&url))
}

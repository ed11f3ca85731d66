//! A WebSub subscriber. [`ask`] subscribes to feeds at the hubs that they name. [`take`] records
//! pushes like the documents of polls. A feed whose pushes end goes back to its policy. The trust
//! in pushes is decided in `conclude::pushed`. [`cloud`] does the same with rssClouds, whose
//! notices are followed by polls.

mod ask;
mod cloud;
mod take;

use std::sync::Arc;
use std::time::Duration;

use feed::{FeedId, Time};
use store::StoreError;
use tokio::sync::watch;

use crate::context::Context;
use crate::event::Event;
use crate::keys;

/// The interval between two looks at the inbox and at due requests to hubs.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The number of looks between two comparisons of subscriptions and feeds.
const SWEEP_LOOKS: u64 = 10;
/// New subscriptions that one sweep begins.
const BEGIN_MAX: u32 = 100;

/// Records what hubs send, until the program stops.
pub async fn receive(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        if let Err(error) = take::all(&context).await {
            tracing::error!(%error, "cannot record a push; retrying");
        }
        if let Err(error) = take::refused(&context).await {
            tracing::error!(%error, "cannot look for feeds with a refused push");
        }
        if let Err(error) = cloud::noticed(&context).await {
            tracing::error!(%error, "cannot look for feeds that clouds named");
        }
        pause(&mut stop).await;
    }
}

/// Keeps subscriptions and feeds together, and asks hubs, until the program stops.
pub async fn subscribe(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut looks = 0_u64;
    while !*stop.borrow() {
        if looks.is_multiple_of(SWEEP_LOOKS)
            && let Err(error) = sweep(&context).await
        {
            tracing::error!(%error, "cannot compare subscriptions with the feeds");
        }
        looks += 1;
        tokio::select! {
            () = ask_all(&context) => {}
            // A hub that was asked and could not answer is asked again at the next start.
            _ = stop.changed() => break,
        }
        pause(&mut stop).await;
    }
}

/// Asks hubs and clouds.
async fn ask_all(context: &Arc<Context>) {
    ask::round(context).await;
    if let Err(error) = cloud::round(context).await {
        tracing::error!(%error, "cannot store the answer of a cloud");
    }
}

async fn pause(stop: &mut watch::Receiver<bool>) {
    tokio::select! {
        () = tokio::time::sleep(LOOK_EVERY) => {}
        _ = stop.changed() => {}
    }
}

/// Ends the subscriptions of feeds that are paused, gone or have another hub, and begins new ones.
/// Feeds whose pushes ended are polled by their policy again.
async fn sweep(context: &Context) -> Result<(), StoreError> {
    let now = context.clock.now();
    let mut on_their_own = context.store.detach_pushes(now).await?;
    on_their_own.extend(context.store.lapsed_pushes(now)?);
    for feed in on_their_own {
        poll_by_policy(context, feed)?;
    }
    cloud::sweep(context).await?;
    if context.settings.push.public_url.is_none() {
        return Ok(());
    }
    for candidate in context.store.push_candidates(BEGIN_MAX)? {
        let (Ok(token), Ok(secret)) = (keys::fresh(), keys::fresh()) else { return Ok(()) };
        context.store.begin_push(candidate, token, secret, now).await?;
    }
    Ok(())
}

/// Decides the next poll of a feed whose pushes ended.
fn poll_by_policy(context: &Context, feed: FeedId) -> Result<(), StoreError> {
    let planned = context.replan(&[feed])?;
    planned.into_iter().try_for_each(|(feed, next_at)| rest(context, feed, next_at))
}

/// Schedules the next poll of a feed.
fn rest(context: &Context, feed: FeedId, next_at: Time) -> Result<(), StoreError> {
    if let Some(scheduled) = context.scheduled(feed, next_at)? {
        // The loop ends only with the engine; then the store knows the time.
        let _ = context.events.send(Event::Schedule(scheduled));
    }
    Ok(())
}

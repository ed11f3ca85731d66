//! Records pushes from the inbox, like the document of a poll. Entries that a push does not contain
//! count as unknown, not as removed. A push with a wrong signature is dropped without a word to its
//! sender, as the specification asks for.

use std::collections::HashSet;

use feed::{DocumentDates, FeedId, identify};
use parse::Document;
use store::{ErrorKind, InboxPush, PollInput, PushRow, StoreError};
use url::Url;

use super::rest;
use crate::conclude::{self, PushedDocument};
use crate::context::Context;
use crate::event::Event;
use crate::keys;
use crate::observe::observe;

/// A poll that ends while a push is read makes it stale; then it is read again.
const TRIES_MAX: usize = 5;

/// Records the waiting pushes, for each feed in the order of arrival. A push that cannot be
/// recorded is retried at the next look. It delays its own feed only.
pub async fn all(context: &Context) -> Result<(), StoreError> {
    let (mut after, mut held_up) = (0, HashSet::new());
    while let Some(parcel) = context.store.next_push(after)? {
        after = parcel.id;
        let (subscription, feed) = (parcel.subscription, parcel.feed);
        if held_up.contains(&subscription) {
            continue;
        }
        if let Err(error) = one(context, parcel).await {
            if is_of_all(&error) {
                return Err(error);
            }
            context.log_trouble(feed.unwrap_or(FeedId(0)), &error);
            held_up.insert(subscription);
        }
    }
    Ok(())
}

/// Polls the feeds with a refused push: the poll finds what the push held.
pub async fn refused(context: &Context) -> Result<(), StoreError> {
    for feed in context.store.take_refused_pushes().await? {
        look_soon(context, &context.store.poll_input(feed)?)?;
    }
    Ok(())
}

/// Whether the trouble is the store's own, so that no other push can be recorded either.
fn is_of_all(error: &StoreError) -> bool {
    let StoreError::Database { kind, .. } = error else {
        return matches!(error, StoreError::Closed);
    };
    matches!(kind, ErrorKind::DiskFull | ErrorKind::ReadOnly | ErrorKind::Busy)
}

async fn one(context: &Context, parcel: InboxPush) -> Result<(), StoreError> {
    let (store, topic) = (&context.store, feed::mask_address(&parcel.topic));
    let Some(feed) = parcel.feed else { return store.drop_push(parcel.id).await };
    let signature = parcel.signature.as_deref();
    if !signature.is_some_and(|said| keys::is_signed(&parcel.secret, said, &parcel.body)) {
        tracing::info!(topic, "ignored a push without a valid signature of its hub");
        return store.drop_push(parcel.id).await;
    }
    let document = match parse(context, &parcel).await {
        Ok(document) => document,
        Err(why) => {
            tracing::info!(topic, why, "a push is not a feed document; the feed is polled instead");
            store.drop_push(parcel.id).await?;
            return look_soon(context, &store.poll_input(feed)?);
        }
    };
    for _ in 0..TRIES_MAX {
        let input = store.poll_input(feed)?;
        let Some(push) = input
            .subscription()
            .cloned()
            .filter(|_| !input.settings.paused && input.location.gone.is_none())
        else {
            return store.drop_push(parcel.id).await;
        };
        match record(context, &input, &push, &parcel, &document).await {
            Err(StoreError::Stale { .. }) => {}
            ended => return ended,
        }
    }
    // The feed is polled all the time, so nothing is lost if this push waits for the next look.
    Ok(())
}

async fn parse(context: &Context, parcel: &InboxPush) -> Result<Document, String> {
    let (body, limits) = (parcel.body.clone(), context.settings.parse);
    let (content_type, base) = (parcel.content_type.clone(), Url::parse(&parcel.topic).ok());
    let n_bytes = body.len();
    let read = move || parse::document(&body, content_type.as_deref(), base.as_ref(), &limits);
    terminal::contained(n_bytes, read).await?.map_err(|not_a_feed| not_a_feed.to_string())
}

/// Compares the document with what is known and keeps what is new, all in one transaction.
async fn record(
    context: &Context,
    input: &PollInput,
    push: &PushRow,
    parcel: &InboxPush,
    document: &Document,
) -> Result<(), StoreError> {
    let store = &context.store;
    let dates = DocumentDates::default();
    let items = identify(document.items.clone(), &input.document.window);
    let observed = observe(store, input, &items, dates, parcel.at, true)?;
    let n_new = observed.n_new();
    let settings = &context.settings;
    let pushed = PushedDocument { items, observed, dates };
    let mut record = conclude::push_record(input, push, parcel, pushed, settings);
    let entries = &mut record.entries;
    crate::facts::complete_pushed(entries, document, input, parcel.at, &settings.articles);
    let next_at = record.next.at;
    let edited = crate::articles::edited_keys(Some(&record.entries));
    store.record_push(record).await?;
    crate::articles::ask_again(context, input, edited).await;
    tracing::debug!(feed = input.id.0, n_new, "pushed");
    if n_new > 0 {
        context.deliveries.notify_one();
        // The loop is gone only where the engine ends, and its figures with it.
        let _ = context.events.send(Event::Pushed { n_new });
    }
    rest(context, input.id, next_at)
}

/// Schedules a poll soon, but not before the shortest interval of the feed's policy.
pub(super) fn look_soon(context: &Context, input: &PollInput) -> Result<(), StoreError> {
    let now = context.clock.now();
    let soonest =
        input.history.last_poll_at.map_or(now, |last| last + context.settings.bounds.alpha);
    let next_at = soonest.max(now);
    if input.history.failures == 0 && input.schedule.next_at.is_none_or(|at| at > next_at) {
        rest(context, input.id, next_at)?;
    }
    Ok(())
}

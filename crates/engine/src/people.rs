//! Regular work for the accounts of an instance: it counts the readers of each feed and calculates
//! the figures behind suggestions. It pauses feeds that nobody needs any more, and removes them
//! after some time. Private feeds of removed accounts go at once, or to others who read them. Also
//! gives the queries of the person at the machine to the first account.

use std::sync::Arc;
use std::time::Duration;

use feed::Time;
use store::{FeedNeighbour, FeedNeighbours, Store, StoreError};
use suggest::Neighbour;
use tokio::sync::watch;

use crate::WeightRule;
use crate::context::Context;
use crate::event::Event;

/// The interval between two looks for an account that waits for its queries.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The interval between two searches for feeds that nobody needs, in looks: ten minutes.
const SWEEP_LOOKS: u64 = 120;
/// The interval between two counts of readers, in looks: an hour.
const COUNT_LOOKS: u64 = 720;
/// A person counts as a reader for this long after they have read something.
const READER_LASTS: Duration = Duration::from_secs(30 * 86_400);
/// Opened entries count for the popularity of their feed for this long.
const OPENED_COUNTS: Duration = Duration::from_secs(30 * 86_400);
/// How long the counts of opened entries are kept: statistics show 90 days, and whole weeks.
const OPENED_KEPT: Duration = Duration::from_secs(100 * 86_400);
/// The interval after which figures are calculated again if somebody no longer wants to be
/// counted, in looks: a minute.
const STALE_LOOKS: u64 = 12;

/// Works until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut look = 0;
    while !*stop.borrow() {
        let shared = Arc::clone(&context);
        let round = tokio::task::spawn_blocking(move || work(&shared, look));
        let done = tokio::select! {
            done = round => done,
            // The round ends by itself; its transactions are short.
            _ = stop.changed() => return,
        };
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "work for accounts failed; retrying"),
            Err(error) => tracing::error!(%error, "work for accounts ended early; retrying"),
        }
        look += 1;
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            _ = stop.changed() => {}
        }
    }
}

fn work(context: &Context, look: u64) -> Result<(), StoreError> {
    context.store.hand_over_queries()?;
    if look == 0 {
        context.store.drop_forbidden_matches()?;
    }
    for feed in context.store.drop_abandoned_queries(context.clock.now())? {
        context.send(Event::Forget(feed));
    }
    settle_abandoned(context)?;
    if look.is_multiple_of(COUNT_LOOKS) {
        count_readers(context)?;
        context.store.forget_openings(context.clock.now() - OPENED_KEPT)?;
        calculate(context)?;
    } else if look.is_multiple_of(STALE_LOOKS) && context.store.take_stale_figures()? {
        calculate(context)?;
    }
    if look.is_multiple_of(SWEEP_LOOKS) {
        sweep(context)?;
    }
    Ok(())
}

/// Hands the private feeds of removed accounts to people who read them too, or removes the feeds.
fn settle_abandoned(context: &Context) -> Result<(), StoreError> {
    let abandoned = context.store.abandoned_feeds()?;
    for feed in &abandoned {
        if context.store.hand_on(*feed)? {
            tracing::info!(%feed, "handed a private feed of a removed account to another reader");
            continue;
        }
        context.send(Event::Forget(*feed));
        context.store.remove_feed(*feed)?;
        tracing::info!(%feed, "removed a private feed of an account that was removed");
    }
    if !abandoned.is_empty() {
        // No request may carry the login of somebody who has left.
        context.fetch_book.read(&context.store, &context.settings.key_file)?;
    }
    Ok(())
}

/// Counts the readers of each feed. A feed's next poll uses the new number.
fn count_readers(context: &Context) -> Result<(), StoreError> {
    match context.settings.people.weights {
        WeightRule::Equal => context.store.forget_readers(),
        WeightRule::Readers => {
            let since = context.clock.now() - READER_LASTS;
            let changed = context.store.count_readers(since)?;
            tracing::debug!(feeds = changed.len(), "counted the readers of feeds");
            Ok(())
        }
    }
}

fn calculate(context: &Context) -> Result<(), StoreError> {
    calculate_figures(&context.store, context.settings.people.suggestions, context.clock.now())
}

/// Calculates which feeds are popular, and for suggestions which have subscribers in common.
pub fn calculate_figures(store: &Store, suggestions: bool, now: Time) -> Result<(), StoreError> {
    store.count_popularity(now - OPENED_COUNTS)?;
    if !suggestions {
        return store.put_neighbours(FeedNeighbours::new()).map(drop);
    }
    store.note_feed_sites()?;
    let found = suggest::neighbours(&store.counted_subscriptions()?);
    let rows = found.into_iter().map(|(feed, others)| {
        let row = |one: Neighbour| FeedNeighbour {
            other: one.feed,
            people: u64::from(one.people),
            similarity: one.similarity,
        };
        (feed, others.into_iter().map(row).collect())
    });
    let n_changed = store.put_neighbours(rows.collect())?;
    tracing::debug!(feeds = n_changed, "calculated the neighbours of feeds");
    Ok(())
}

/// Pauses feeds that nobody needs, and removes those that nobody has needed for long.
fn sweep(context: &Context) -> Result<(), StoreError> {
    let now = context.clock.now();
    for feed in context.store.rest_unwanted_feeds(now)? {
        context.send(Event::Forget(feed));
    }
    let before = now - context.settings.people.keep_unwanted;
    for feed in context.store.unwanted_since(before)? {
        context.send(Event::Forget(feed));
        context.store.remove_feed(feed)?;
        tracing::info!(%feed, "removed a feed that nobody has needed for long");
    }
    Ok(())
}

//! Regular work on the store while the engine runs: it drops old entries and clusters feeds that
//! share daily profiles. It also removes the rows of ended requests, and tries to write again after
//! the store could not be written. It decides neither what is old nor what is polled.

use std::sync::Arc;
use std::time::Duration;

use store::{Retention, RetentionResult};
use tokio::sync::watch;

use crate::context::Context;

/// The interval between two rounds of retention, where it is configured.
const RETAIN_EVERY: Duration = Duration::from_secs(3600);
/// The interval between two clusterings of feeds.
const CLUSTER_EVERY: Duration = Duration::from_secs(86_400);
/// The interval between two attempts to write to a store that could not be written.
const RECOVER_EVERY: Duration = Duration::from_secs(5);
/// The longest time that the row of an ended request stays.
const REMOVE_ENDED_EVERY: Duration = Duration::from_secs(1);

/// Drops old entries and keys every hour until the program stops.
pub async fn retain(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let retention = &context.settings.retention;
    if *retention == Retention::off() {
        return;
    }
    while !*stop.borrow() {
        let (store, retention, now) =
            (context.store.clone(), retention.clone(), context.clock.now());
        let round = tokio::task::spawn_blocking(move || store.retain(&retention, now));
        let done = tokio::select! {
            done = round => done,
            // The round ends by itself; its transactions are short.
            _ = stop.changed() => return,
        };
        match done {
            Ok(Ok(dropped)) if dropped != RetentionResult::default() => {
                tracing::info!(entries = dropped.entries, keys = dropped.keys, "retention");
            }
            Ok(Err(error)) => tracing::error!(%error, "retention failed; it will be retried"),
            _ => {}
        }
        pause(&mut stop, RETAIN_EVERY).await;
    }
}

/// While the store cannot be written, attempts one small change now and then, until the program
/// stops.
/// The program is ready again after the first success, though no feed may be due for hours.
pub async fn recover(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut logged = None;
    loop {
        pause(&mut stop, RECOVER_EVERY).await;
        if *stop.borrow() {
            return;
        }
        let trouble = context.store.trouble();
        if trouble != logged {
            // Logged here too: no feed may be due for hours after the files were lost.
            if let Some(error) = &trouble {
                tracing::error!(%error, "nothing can be recorded");
            }
            logged.clone_from(&trouble);
        }
        if trouble.is_none() {
            continue;
        }
        let (store, now) = (context.store.clone(), context.clock.now());
        match tokio::task::spawn_blocking(move || store.try_writing(now)).await {
            Ok(Ok(())) => tracing::info!("the store can be written again"),
            // /readyz goes on reporting it.
            error => tracing::debug!(?error, "the store cannot be written yet"),
        }
    }
}

/// Removes the rows of ended requests while no new request takes them along, until the program
/// stops.
pub async fn remove_ended_grants(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let Some(book) = context.grants.clone() else { return };
    while !*stop.borrow() {
        book.remove_ended().await;
        pause(&mut stop, REMOVE_ENDED_EVERY).await;
    }
}

/// Clusters the feeds that share daily profiles, at the start and then once a day, until the
/// program stops.
pub async fn cluster(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let shared = Arc::clone(&context);
        let round = tokio::task::spawn_blocking(move || {
            shared.clusters.find(&shared.store, &shared.settings)
        });
        let done = tokio::select! {
            done = round => done,
            // The round ends by itself; it only reads.
            _ = stop.changed() => return,
        };
        match done {
            Ok(Ok(0)) => {}
            Ok(Ok(feeds)) => tracing::info!(feeds, "clustered the daily profiles of feeds"),
            Ok(Err(error)) => tracing::error!(%error, "cannot cluster feeds; retrying tomorrow"),
            Err(error) => tracing::error!(%error, "clustering of feeds failed; retrying tomorrow"),
        }
        pause(&mut stop, CLUSTER_EVERY).await;
    }
}

/// Waits, or returns at once when the program stops.
pub async fn pause(stop: &mut watch::Receiver<bool>, wait: Duration) {
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        _ = stop.changed() => {}
    }
}

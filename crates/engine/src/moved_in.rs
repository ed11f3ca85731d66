//! Applies marks from other readers once their entries are recorded. It looks at a feed again only
//! after its newest entry has changed, so waiting marks cost one question every few seconds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use feed::EntryId;
use store::{Store, StoreError};
use tokio::sync::watch;

use crate::context::Context;
use crate::upkeep::pause;

const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The newest entry of each feed at the last look, by account and feed.
type LastLook = HashMap<(i64, u32), Option<EntryId>>;

/// Applies waiting marks until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut last = LastLook::new();
    while !*stop.borrow() {
        let (store, now) = (context.store.clone(), context.clock.now());
        let round = tokio::task::spawn_blocking(move || {
            let done = round(&store, &mut last, now);
            (last, done)
        });
        let Ok((looked, done)) = round.await else { return };
        last = looked;
        if let Err(error) = done {
            tracing::warn!(%error, "cannot apply marks from another reader; retrying");
        }
        pause(&mut stop, LOOK_EVERY).await;
    }
}

fn round(store: &Store, last: &mut LastLook, now: feed::Time) -> Result<(), StoreError> {
    let waiting = store.waiting_marks()?;
    for one in &waiting {
        let key = (one.account.0, one.feed.0);
        if last.get(&key) != Some(&one.last_entry) {
            store.apply_pending_marks(one.account, one.feed, now)?;
            last.insert(key, one.last_entry);
        }
    }
    if waiting.is_empty() {
        last.clear();
    }
    Ok(())
}

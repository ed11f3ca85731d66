//! Reads how a feed posts: the publication times from the store, described by `polling`.

use polling::model::behaviour::Behaviour;
use store::{FeedRow, Store, StoreError};

/// Returns the behaviour of a feed as known at its last poll; `None` before the first.
pub fn behaviour(store: &Store, feed: &FeedRow) -> Result<Option<Behaviour>, StoreError> {
    let Some(polled_at) = feed.history.last_poll_at else { return Ok(None) };
    Ok(Some(Behaviour::of(&store.published_times(feed.id)?, polled_at)))
}

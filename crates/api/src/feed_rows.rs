//! The feeds of a list of entries. All feeds of a list are read with one question: on PostgreSQL
//! each question is a round trip.

use std::collections::HashMap;

use feed::FeedId;
use store::{AccountId, FeedRow, Store, StoreError, TokenScope};

use crate::auth::Person;

/// Returns a feed as a person sees it: with their own title and tags, or, for an administrator who
/// does not read it, as the instance knows it.
pub fn seen_by(store: &Store, person: &Person, feed: FeedId) -> Result<FeedRow, StoreError> {
    match store.feed_of(person.account, feed) {
        Err(StoreError::NoFeed(_)) if person.may(TokenScope::Admin) => {
            let mut row = store.feed(feed)?;
            row.hide_private(person.account);
            Ok(row)
        }
        found => found,
    }
}

/// The feeds met so far, read from the store once each, with the titles and tags of one account.
pub struct FeedRows {
    account: AccountId,
    rows: HashMap<FeedId, Option<FeedRow>>,
}

impl FeedRows {
    /// No feeds yet. Account 0 sees the titles and tags of the instance.
    pub fn new(account: AccountId) -> FeedRows {
        FeedRows { account, rows: HashMap::new() }
    }

    /// Reads the feeds of some entries.
    pub fn of_entries(
        store: &Store,
        account: AccountId,
        feeds: impl Iterator<Item = FeedId>,
    ) -> Result<FeedRows, StoreError> {
        let mut rows = FeedRows::new(account);
        rows.load(store, feeds)?;
        Ok(rows)
    }

    /// Reads those that are not known yet.
    pub fn load(
        &mut self,
        store: &Store,
        feeds: impl Iterator<Item = FeedId>,
    ) -> Result<(), StoreError> {
        let mut missing: Vec<FeedId> = feeds.filter(|feed| !self.rows.contains_key(feed)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(());
        }
        let found = store.feed_rows_of(self.account, &missing)?;
        self.rows.extend(missing.into_iter().map(|feed| (feed, None)));
        self.rows.extend(found.into_iter().map(|row| (row.id, Some(row))));
        Ok(())
    }

    /// Returns a feed that was loaded, or `None` if it was removed meanwhile.
    pub fn get(&self, feed: FeedId) -> Option<&FeedRow> {
        self.rows.get(&feed).and_then(Option::as_ref)
    }
}

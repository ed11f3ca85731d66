//! The names of feeds, for lists of entries.

use std::collections::{HashMap, HashSet};

use feed::{FeedId, FeedUrl};

use crate::db::columns::url;
use crate::feeds::rows;
use crate::{Store, StoreError};

/// The name of a feed, as shown with its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedName {
    pub url: FeedUrl,
    /// The given title, or else the publisher's.
    pub title: Option<String>,
    pub language: Option<String>,
}

impl Store {
    /// Returns the names of feeds. Removed feeds are left out.
    pub fn feed_names(
        &self,
        feeds: impl IntoIterator<Item = FeedId>,
    ) -> Result<HashMap<FeedId, FeedName>, StoreError> {
        self.read(|conn| {
            let feeds: HashSet<FeedId> = feeds.into_iter().collect();
            let feeds: Vec<FeedId> = feeds.into_iter().collect();
            let sql = "select url, coalesce(given_title, title), language from feeds where id = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let names = statement.each(&rows::keys(&feeds), &[], |place, row| {
                let (url, title, language) = (url(row, 0)?, row.get(1)?, row.get(2)?);
                Ok((feeds[place], FeedName { url, title, language }))
            })?;
            Ok(names.into_iter().collect())
        })
    }
}

//! The names of feeds, for lists of entries.

use std::collections::HashMap;

use crate::db::sql::OptionalExtension;
use feed::{FeedId, FeedUrl};

use crate::db::columns::url;
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
            let sql = "select url, coalesce(given_title, title), language from feeds where id = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let mut names = HashMap::new();
            for feed in feeds {
                if names.contains_key(&feed) {
                    continue;
                }
                let found = statement.query_row([feed.0], |row| {
                    let (url, title, language) = (url(row, 0)?, row.get(1)?, row.get(2)?);
                    Ok(FeedName { url, title, language })
                });
                names.extend(found.optional()?.map(|name| (feed, name)));
            }
            Ok(names)
        })
    }
}

//! The order in which an account wants its feeds. The feeds of a tag are in the same order. Feeds
//! without a place follow by title.

use std::collections::{HashMap, HashSet};

use feed::FeedId;

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::subscriptions::account_tags;
use crate::{AccountId, FeedFilter, FeedRow, Store, StoreError};

/// A feed with its place, title and number.
type PlacedFeed = (i64, String, FeedId);

impl Store {
    /// Returns the feeds of an account in its own order. The person at the machine has none: all
    /// feeds are in the order of their numbers.
    pub fn feeds_in_own_order(
        &self,
        account: AccountId,
        tag: Option<&str>,
    ) -> Result<Vec<FeedRow>, StoreError> {
        let filter = FeedFilter { tag: tag.map(str::to_owned), ..FeedFilter::default() };
        let mut feeds = self.feeds_of(account, &filter)?;
        if account != AccountId::LOCAL {
            let order = self.read(|conn| placed(conn, account))?;
            let places: HashMap<FeedId, usize> =
                order.into_iter().enumerate().map(|(place, (.., feed))| (feed, place)).collect();
            feeds.sort_by_key(|feed| places.get(&feed.id).copied().unwrap_or(usize::MAX));
        }
        Ok(feeds)
    }

    /// Puts some feeds of an account into an order, for example those of a tag. The others keep
    /// their places. Feeds that the account does not read are ignored.
    pub fn order_subscriptions(
        &self,
        account: AccountId,
        feeds: &[FeedId],
    ) -> Result<(), StoreError> {
        let wanted = feeds.to_vec();
        self.write_own(move |conn| {
            account_tags::lock(conn, account)?;
            let now = placed(conn, account)?;
            let own: HashSet<FeedId> = now.iter().map(|(.., feed)| *feed).collect();
            let mut named: HashSet<FeedId> = HashSet::new();
            let wanted: Vec<FeedId> = wanted
                .into_iter()
                .filter(|feed| own.contains(feed) && named.insert(*feed))
                .collect();
            let mut next = wanted.into_iter();
            let sql = "update subscriptions set position = $1 where account = $2 and feed = $3";
            let mut statement = conn.prepare_cached(sql)?;
            for ((before, _, feed), place) in now.into_iter().zip(1_i64..) {
                let feed = if named.contains(&feed) { next.next().unwrap_or(feed) } else { feed };
                let is_known = before == place && !named.contains(&feed);
                if !is_known {
                    statement.execute(params![place, account.0, feed.0])?;
                }
            }
            Ok(())
        })
    }
}

/// Returns the feeds of an account in its order. Titles are compared here, because the databases
/// compare texts in different ways.
fn placed(conn: &Connection, account: AccountId) -> Result<Vec<PlacedFeed>, DbError> {
    let sql = "select s.position, coalesce(s.title, f.title, f.url), s.feed from subscriptions s \
               join feeds f on f.id = s.feed where s.account = $1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([account.0], |row| {
        let (position, title): (i64, String) = (row.get(0)?, row.get(1)?);
        let position = if position == 0 { i64::MAX } else { position };
        Ok((position, title.to_lowercase(), FeedId(row.get(2)?)))
    })?;
    let mut feeds: Vec<PlacedFeed> = rows.collect::<Result<_, _>>()?;
    feeds.sort_unstable();
    Ok(feeds)
}

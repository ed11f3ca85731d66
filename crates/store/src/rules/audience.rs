//! The people who read a feed. The sources of a rule mean the feeds of its own account: this is
//! the one place that knows which these are.

use std::collections::HashMap;

use feed::FeedId;

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::feeds::rows;
use crate::subscriptions::scope;
use crate::{AccountId, Store, StoreError};

impl Store {
    /// Returns the tags that a feed has for each of these people. People who do not read the feed
    /// are left out.
    pub fn feed_audience(
        &self,
        feed: FeedId,
        accounts: &[AccountId],
    ) -> Result<HashMap<AccountId, Vec<String>>, StoreError> {
        self.read(|conn| {
            let mut audience = HashMap::new();
            for &account in accounts {
                if scope::is_subscribed(conn, account, feed)? {
                    audience.insert(account, tags(conn, account, feed)?);
                }
            }
            Ok(audience)
        })
    }
}

/// Returns the tags that an account has given to a feed. Those of the person at the machine are the
/// tags of the feed.
fn tags(conn: &Connection, account: AccountId, feed: FeedId) -> Result<Vec<String>, DbError> {
    if account == AccountId::LOCAL {
        return rows::tags(conn, feed);
    }
    let sql = "select a.tag from subscription_tags s join account_tags a \
               on a.account = s.account and a.number = s.tag \
               where s.account = $1 and s.feed = $2 order by a.tag";
    let mut statement = conn.prepare_cached(sql)?;
    let tags = statement.query_map(params![account.0, feed.0], |row| row.get(0))?;
    Ok(tags.collect::<Result<_, _>>()?)
}

//! The people who read a feed. The sources of a rule mean the feeds of its own account: this is
//! the one place that knows which these are.

use std::collections::HashMap;

use feed::FeedId;

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::feeds::rows;
use crate::subscriptions::scope;
use crate::{AccountId, Store, StoreError};

/// The people who read a feed and have rules, each with the tags that the feed has for them.
pub type FeedAudience = HashMap<AccountId, Vec<String>>;

/// SQL: everybody who reads a feed and has a rule that is on. One row for each of their tags, or
/// one without a tag.
const READERS: &str = "select s.account, a.tag from subscriptions s \
    left join subscription_tags t on t.account = s.account and t.feed = s.feed \
    left join account_tags a on a.account = t.account and a.number = t.tag \
    where s.feed = $1 \
    and exists (select 1 from rules r where r.account = s.account and r.is_on = 1)";

impl Store {
    /// Returns the audience of each of these feeds. The number of questions depends neither on the
    /// number of feeds (on PostgreSQL) nor on that of people.
    pub fn feed_audiences(
        &self,
        feeds: &[FeedId],
    ) -> Result<HashMap<FeedId, FeedAudience>, StoreError> {
        self.read(|conn| {
            let mut audiences: HashMap<FeedId, FeedAudience> = HashMap::new();
            conn.prepare_cached(READERS)?.each(&rows::keys(feeds), &[], |place, row| {
                let audience = audiences.entry(feeds[place]).or_default();
                let tags = audience.entry(AccountId(row.get(0)?)).or_default();
                tags.extend(row.get::<_, Option<String>>(1)?);
                Ok(())
            })?;
            let sql = "select 1 from rules where account = $1 and is_on = 1 limit 1";
            if conn.prepare_cached(sql)?.exists([AccountId::LOCAL.0])? {
                let mut tags = rows::tags_of(conn, feeds)?;
                for feed in feeds {
                    let tags = tags.remove(feed).unwrap_or_default();
                    audiences.entry(*feed).or_default().insert(AccountId::LOCAL, tags);
                }
            }
            let tags = audiences.values_mut().flat_map(HashMap::values_mut);
            tags.for_each(|tags| tags.sort_unstable());
            Ok(audiences)
        })
    }

    /// Returns the tags that a feed has for an account; `None`: the account does not read it.
    pub fn reader_tags(
        &self,
        account: AccountId,
        feed: FeedId,
    ) -> Result<Option<Vec<String>>, StoreError> {
        self.read(|conn| match scope::is_subscribed(conn, account, feed)? {
            true => tags(conn, account, feed).map(Some),
            false => Ok(None),
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

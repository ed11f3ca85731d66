//! The subscriptions of an account: titles, tags and order.

use std::collections::HashMap;

use feed::{FeedId, Time};

use crate::db::columns::{count, time};
use crate::db::sql::{Connection, Row, Value, params};
use crate::error::DbError;
use crate::subscriptions::account_tags;
use crate::subscriptions::scope::is_subscribed;
use crate::{AccountId, Store, StoreError};

/// A feed that an account has subscribed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionRow {
    pub feed: FeedId,
    /// The title that the account gave; `None`: the publisher's.
    pub title: Option<String>,
    /// By name.
    pub tags: Vec<String>,
    /// The place in the account's own order; 0: it has none yet, and comes last.
    pub position: i64,
    pub subscribed_at: Time,
}

impl Store {
    /// Returns the subscriptions of an account, by feed number. The person at the machine has none:
    /// they read every feed.
    pub fn subscriptions(&self, account: AccountId) -> Result<Vec<SubscriptionRow>, StoreError> {
        self.read(|conn| subscriptions(conn, account))
    }

    /// Returns how many accounts subscribe to a feed.
    pub fn n_subscribers(&self, feed: FeedId) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql = "select count(*) from subscriptions where feed = $1";
            Ok(conn.prepare_cached(sql)?.query_row([feed.0], |row| count(row, 0))?)
        })
    }

    /// Sets the title of a subscription; `None` shows the publisher's title again.
    pub fn title_subscription(
        &self,
        account: AccountId,
        feed: FeedId,
        title: Option<&str>,
    ) -> Result<(), StoreError> {
        let title = title.map(str::to_owned);
        self.write_own(move |conn| {
            let sql = "update subscriptions set title = $1 where account = $2 and feed = $3";
            match conn.execute(sql, params![title, account.0, feed.0])? {
                0 => Err(StoreError::NoFeed(feed).into()),
                _ => Ok(()),
            }
        })
    }

    /// Adds tags to subscriptions and removes others.
    pub fn tag_subscriptions(
        &self,
        account: AccountId,
        feeds: &[FeedId],
        add: &[String],
        remove: &[String],
    ) -> Result<(), StoreError> {
        let (feeds, add, remove) = (feeds.to_vec(), add.to_vec(), remove.to_vec());
        self.write_own(move |conn| {
            account_tags::lock(conn, account)?;
            for feed in feeds {
                if !is_subscribed(conn, account, feed)? {
                    return Err(StoreError::NoFeed(feed).into());
                }
                account_tags::remove(conn, account, feed, &remove)?;
                account_tags::add(conn, account, feed, &add)?;
            }
            Ok(())
        })
    }
}

/// Returns all subscriptions of an account, by feed number.
pub(crate) fn subscriptions(
    conn: &Connection,
    account: AccountId,
) -> Result<Vec<SubscriptionRow>, DbError> {
    let sql = "select feed, title, position, subscribed_at from subscriptions \
               where account = $1 order by feed";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([account.0], |row| subscription(FeedId(row.get(0)?), row, 1))?;
    let mut found: Vec<SubscriptionRow> = rows.collect::<Result<_, _>>()?;
    let sql = "select s.feed, a.tag from subscription_tags s join account_tags a \
               on a.account = s.account and a.number = s.tag where s.account = $1 order by a.tag";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([account.0])?;
    let mut tags: HashMap<FeedId, Vec<String>> = HashMap::new();
    while let Some(row) = &rows.next()? {
        tags.entry(FeedId(row.get(0)?)).or_default().push(row.get(1)?);
    }
    for row in &mut found {
        row.tags = tags.remove(&row.feed).unwrap_or_default();
    }
    Ok(found)
}

/// Returns the subscriptions of an account to some feeds, in their order.
pub(crate) fn of_feeds(
    conn: &Connection,
    account: AccountId,
    feeds: &[FeedId],
) -> Result<Vec<SubscriptionRow>, DbError> {
    let keys: Vec<Value<'_>> = feeds.iter().map(|feed| Value::Int(i64::from(feed.0))).collect();
    let account = [Value::Int(account.0)];
    let sql = "select title, position, subscribed_at from subscriptions \
               where feed = $1 and account = $2";
    let mut found = conn
        .prepare_cached(sql)?
        .each(&keys, &account, |place, row| subscription(feeds[place], row, 0))?;
    let sql = "select a.tag from subscription_tags s join account_tags a \
               on a.account = s.account and a.number = s.tag where s.feed = $1 and s.account = $2";
    let mut tags: HashMap<FeedId, Vec<String>> = HashMap::new();
    conn.prepare_cached(sql)?.each(&keys, &account, |place, row| {
        tags.entry(feeds[place]).or_default().push(row.get(0)?);
        Ok(())
    })?;
    for row in &mut found {
        row.tags = tags.remove(&row.feed).unwrap_or_default();
        row.tags.sort_unstable();
    }
    Ok(found)
}

/// Reads the columns title, position and time from column `first` on.
fn subscription(
    feed: FeedId,
    row: &Row<'_>,
    first: usize,
) -> crate::db::sql::Result<SubscriptionRow> {
    Ok(SubscriptionRow {
        feed,
        title: row.get(first)?,
        tags: Vec::new(),
        position: row.get(first + 1)?,
        subscribed_at: time(row, first + 2)?,
    })
}

/// Subscribes an account to a feed; an existing subscription keeps its title. Returns whether it
/// is new.
pub(crate) fn put(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
    title: Option<&str>,
    tags: &[String],
    now: Time,
) -> Result<bool, DbError> {
    account_tags::lock(conn, account)?;
    let sql = "insert into subscriptions (account, feed, title, subscribed_at) \
               values ($1, $2, $3, $4) on conflict (account, feed) do nothing";
    let values = params![account.0, feed.0, title, now.millis()];
    let is_new = conn.prepare_cached(sql)?.execute(values)? > 0;
    account_tags::add(conn, account, feed, tags)?;
    Ok(is_new)
}

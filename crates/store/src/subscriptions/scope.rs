//! The feeds, entries and queries that an account may see.

use std::collections::HashSet;

use feed::{EntryId, FeedId};

use crate::db::number_lists;
use crate::db::sql::{Connection, Value, params};
use crate::error::DbError;
use crate::{AccountId, QueryId, Store, StoreError};

/// The feeds that an account reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFeeds {
    /// Every feed: there are no accounts.
    All,
    /// The feeds that the account has subscribed to.
    Only(HashSet<FeedId>),
}

impl ReadFeeds {
    pub fn contains(&self, feed: FeedId) -> bool {
        match self {
            ReadFeeds::All => true,
            ReadFeeds::Only(feeds) => feeds.contains(&feed),
        }
    }

    /// Returns the list of feeds; `None` stands for all.
    pub fn into_list(self) -> Option<HashSet<FeedId>> {
        match self {
            ReadFeeds::All => None,
            ReadFeeds::Only(feeds) => Some(feeds),
        }
    }
}

impl Store {
    /// Returns the feeds that an account reads.
    pub fn read_feeds(&self, account: AccountId) -> Result<ReadFeeds, StoreError> {
        self.read(|conn| read_feeds(conn, account))
    }

    /// Returns whether an account reads any feed.
    pub fn reads_any_feed(&self, account: AccountId) -> Result<bool, StoreError> {
        let sql = match account {
            AccountId::LOCAL => "select 1 from feeds where $1 = 0 limit 1",
            _ => "select 1 from subscriptions where account = $1 limit 1",
        };
        self.read(|conn| Ok(conn.prepare_cached(sql)?.exists([account.0])?))
    }

    /// Returns whether an account reads a feed.
    pub fn is_subscribed(&self, account: AccountId, feed: FeedId) -> Result<bool, StoreError> {
        self.read(|conn| is_subscribed(conn, account, feed))
    }

    /// Returns which of these entries an account may see: those of its feeds, and the matches of
    /// its own and of shared queries. It goes on seeing what it has starred.
    pub fn visible_entries(
        &self,
        account: AccountId,
        entries: &[EntryId],
    ) -> Result<HashSet<EntryId>, StoreError> {
        self.read(|conn| visible_entries(conn, account, entries))
    }
}

pub(crate) fn read_feeds(conn: &Connection, account: AccountId) -> Result<ReadFeeds, DbError> {
    if account == AccountId::LOCAL {
        return Ok(ReadFeeds::All);
    }
    let list = number_lists::column(conn, "feed");
    let sql = format!("select {list} from subscriptions where account = $1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([account.0])?;
    let mut feeds = HashSet::new();
    while let Some(row) = &rows.next()? {
        number_lists::each(conn, row, 0, |feed| {
            feeds.insert(feed);
        })?;
    }
    Ok(ReadFeeds::Only(feeds))
}

pub(crate) fn is_subscribed(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
) -> Result<bool, DbError> {
    if account == AccountId::LOCAL {
        let sql = "select 1 from feeds where id = $1";
        return Ok(conn.prepare_cached(sql)?.exists([feed.0])?);
    }
    let sql = "select 1 from subscriptions where account = $1 and feed = $2";
    Ok(conn.prepare_cached(sql)?.exists(params![account.0, feed.0])?)
}

/// Returns the feeds that have a tag of an account.
pub(crate) fn tagged(
    conn: &Connection,
    account: AccountId,
    tag: &str,
) -> Result<HashSet<FeedId>, DbError> {
    let feed = |row: &crate::db::sql::Row<'_>| row.get(0).map(FeedId);
    if account == AccountId::LOCAL {
        let mut statement = conn.prepare_cached("select feed from feed_tags where tag = $1")?;
        return Ok(statement.query_map([tag], feed)?.collect::<Result<_, _>>()?);
    }
    let sql = "select s.feed from account_tags a join subscription_tags s \
               on s.account = a.account and s.tag = a.number where a.account = $1 and a.tag = $2";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_map(params![account.0, tag], feed)?.collect::<Result<_, _>>()?)
}

/// Returns whether an account may see the matches of a query: it made the query, or the query is
/// shared. Queries of the instance are for admins.
pub(crate) fn may_read_query(
    conn: &Connection,
    account: AccountId,
    query: QueryId,
) -> Result<bool, DbError> {
    if account == AccountId::LOCAL {
        return Ok(true);
    }
    let sql = "select 1 from queries q where q.id = $1 and (q.owner = $2 or q.shared = 1 \
               or q.owner is null and exists (select 1 from accounts a \
                where a.id = $2 and a.role = 'admin'))";
    Ok(conn.prepare_cached(sql)?.exists(params![query.0, account.0])?)
}

pub(crate) fn visible_entries(
    conn: &Connection,
    account: AccountId,
    entries: &[EntryId],
) -> Result<HashSet<EntryId>, DbError> {
    let keys: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let sql = "select id from entries where id = $1 and ( \
               exists (select 1 from stars t where t.account = $2 and t.entry = entries.id) \
               or exists (select 1 from subscriptions s where s.account = $2 \
                and s.feed = entries.feed) \
               or exists (select 1 from query_entries m join queries q on q.id = m.query \
                where m.entry = entries.id and (q.owner = $2 or q.shared = 1 \
                or q.owner is null and exists (select 1 from accounts a \
                 where a.id = $2 and a.role = 'admin'))))";
    if account == AccountId::LOCAL {
        return Ok(entries.iter().copied().collect());
    }
    let account = [Value::Int(account.0)];
    let found =
        conn.prepare_cached(sql)?.each(&keys, &account, |_, row| row.get(0).map(EntryId))?;
    Ok(found.into_iter().collect())
}

/// Returns whether there are accounts. Without them nothing needs to be private.
pub(crate) fn has_accounts(conn: &Connection) -> Result<bool, DbError> {
    Ok(conn.prepare_cached("select 1 from accounts limit 1")?.exists([])?)
}

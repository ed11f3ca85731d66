//! Feeds whose address or settings hold a secret. Such a feed belongs to one account. Two accounts
//! may have the same address: the column `url` of such a feed ends with `#` and the owner, which
//! no address of a feed has otherwise.

use feed::{FeedId, FeedUrl};

use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::feeds::state;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, Store, StoreError};

impl Store {
    /// Returns the account that a private feed belongs to; account 0 stands for the instance.
    /// `None`: the feed is not private.
    pub fn owner_of_feed(&self, feed: FeedId) -> Result<Option<AccountId>, StoreError> {
        self.read(|conn| owner(conn, feed))
    }

    /// Returns whether a feed is private: it is never counted, suggested, shown to others or
    /// published without asking.
    pub fn is_private_feed(&self, feed: FeedId) -> Result<bool, StoreError> {
        Ok(self.owner_of_feed(feed)?.is_some())
    }

    /// Makes a feed of the instance private, because it gets a secret. `false`: people read it, or
    /// it belongs to one of them. Without accounts nothing needs to be private.
    pub fn close_to_people(&self, feed: FeedId) -> Result<bool, StoreError> {
        self.write(move |conn| {
            if !has_accounts(conn)? {
                return Ok(true);
            }
            if let Some(owner) = owner(conn, feed)? {
                return Ok(owner == AccountId::LOCAL);
            }
            let sql = "select 1 from subscriptions where feed = $1 \
                       union all select 1 from query_feeds where feed = $1";
            if conn.prepare_cached(sql)?.exists([feed.0])? {
                return Ok(false);
            }
            let sql = "select url from feeds where id = $1";
            let url = conn.query_row(sql, [feed.0], |row| crate::db::columns::url(row, 0))?;
            mark(conn, feed, AccountId::LOCAL, &url)?;
            Ok(true)
        })
    }
}

pub(crate) fn owner(conn: &Connection, feed: FeedId) -> Result<Option<AccountId>, DbError> {
    let sql = "select owner from private_feeds where feed = $1";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row([feed.0], |row| row.get(0).map(AccountId)).optional()?)
}

/// Returns whether an address holds a secret: then the address that is shown differs.
pub(crate) fn holds_secret(url: &FeedUrl) -> bool {
    url.masked() != url.as_str()
}

/// Returns the private feed of an owner with this address.
pub(crate) fn by_url(
    conn: &Connection,
    owner: AccountId,
    url: &FeedUrl,
) -> Result<Option<FeedId>, DbError> {
    let sql = "select feed from private_feeds where owner = $1 and url = $2";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_row(params![owner.0, url.as_str()], |row| row.get(0));
    Ok(found.optional()?.map(FeedId))
}

/// Returns the private feed with this address that was added first, of any owner.
pub(crate) fn first_by_url(conn: &Connection, url: &FeedUrl) -> Result<Option<FeedId>, DbError> {
    let sql = "select feed from private_feeds where url = $1 order by feed limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row([url.as_str()], |row| row.get(0)).optional()?.map(FeedId))
}

/// Makes a feed private. Its row gets an address of its own.
pub(crate) fn mark(
    conn: &Connection,
    feed: FeedId,
    owner: AccountId,
    url: &FeedUrl,
) -> Result<(), DbError> {
    let sql = "insert into private_feeds (feed, owner, url) values ($1, $2, $3) \
               on conflict (feed) do update set owner = excluded.owner, url = excluded.url";
    conn.prepare_cached(sql)?.execute(params![feed.0, owner.0, url.as_str()])?;
    let sql = "update feeds set url = $1 where id = $2";
    let stored = stored_url(owner, url);
    conn.prepare_cached(sql)?.execute(params![stored, feed.0])?;
    forget_figures(conn, feed)?;
    state::refresh_title(conn, feed)
}

/// Removes a feed from the figures that others see.
fn forget_figures(conn: &Connection, feed: FeedId) -> Result<(), DbError> {
    for (table, column) in [
        ("feed_popularity", "feed"),
        ("feed_neighbours", "feed"),
        ("feed_neighbours", "other"),
        ("feed_sites", "feed"),
        ("linked_sites", "feed"),
    ] {
        let sql = format!("delete from {table} where {column} = $1");
        conn.prepare_cached(&sql)?.execute([feed.0])?;
    }
    Ok(())
}

/// Returns the text in the column `url` of a private feed.
pub(crate) fn stored_url(owner: AccountId, url: &FeedUrl) -> String {
    format!("{}#{owner}", url.as_str())
}

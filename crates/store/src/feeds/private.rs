//! Feeds whose address or settings hold a secret. Such a feed belongs to one account. Two accounts
//! may have the same address: the column `url` of such a feed ends with `#` and the owner, which
//! no address of a feed has otherwise.

use feed::{FeedId, FeedUrl};

use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::feeds::subscribing::by_url_of;
use crate::feeds::{private_matches, state};
use crate::matching::MatcherSlot;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, QueryId, Store, StoreError};

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

    /// Returns the first of these addresses that is a private feed of an account, or would be one.
    pub fn private_among(
        &self,
        account: AccountId,
        urls: &[&FeedUrl],
    ) -> Result<Option<FeedUrl>, StoreError> {
        self.read(|conn| {
            let has_accounts = has_accounts(conn)?;
            for url in urls {
                let is_private = match by_url_of(conn, account, url)? {
                    Some(feed) => owner(conn, feed)?.is_some(),
                    None => has_accounts && holds_secret(url),
                };
                if is_private {
                    return Ok(Some((*url).clone()));
                }
            }
            Ok(None)
        })
    }

    /// Returns the private feeds of accounts that were removed. Their secrets must go, and the
    /// feeds too, unless [`Store::hand_on`] finds another reader.
    pub fn abandoned_feeds(&self) -> Result<Vec<FeedId>, StoreError> {
        self.read(abandoned)
    }

    /// Makes a feed of the instance private, because it gets a secret. `false`: people read it, or
    /// it belongs to one of them. Without accounts nothing needs to be private.
    pub fn close_to_people(&self, feed: FeedId) -> Result<bool, StoreError> {
        let slot = self.matcher();
        self.write(move |conn| {
            if !has_accounts(conn)? {
                return Ok(true);
            }
            if let Some(owner) = owner(conn, feed)? {
                return Ok(owner == AccountId::LOCAL);
            }
            if others_need(conn, &slot, feed, AccountId::LOCAL)? {
                return Ok(false);
            }
            let sql = "select url from feeds where id = $1";
            let url = conn.query_row(sql, [feed.0], |row| crate::db::columns::url(row, 0))?;
            mark(conn, feed, AccountId::LOCAL, &url)?;
            Ok(true)
        })
    }
}

pub(crate) fn abandoned(conn: &Connection) -> Result<Vec<FeedId>, DbError> {
    // The feeds of the last account belong to the instance afterwards.
    let sql = "select p.feed from private_feeds p join feeds f on f.id = p.feed \
               where p.owner <> $1 and f.of_instance = 0 \
               and not exists (select 1 from accounts a where a.id = p.owner) \
               and not exists (select 1 from query_feeds q where q.feed = p.feed) \
               order by p.feed";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([AccountId::LOCAL.0], |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns whether anybody but an account sees entries of a feed, or needs it: another subscriber,
/// a star or a label of somebody else, or a query that others see. Such a feed cannot get the
/// secrets of the account.
pub(crate) fn others_need(
    conn: &Connection,
    slot: &MatcherSlot,
    feed: FeedId,
    account: AccountId,
) -> Result<bool, DbError> {
    let sql = "select 1 from subscriptions where feed = $1 and account <> $2 \
        union all select 1 from entries e join stars s on s.entry = e.id \
         where e.feed = $1 and s.account <> $2 \
        union all select 1 from entries e join entry_labels l on l.entry = e.id and l.by_rule = 0 \
         join labels b on b.id = l.label where e.feed = $1 and b.account <> $2";
    if conn.prepare_cached(sql)?.exists(params![feed.0, account.0])? {
        return Ok(true);
    }
    let sql = "select q.id, q.shared = 1 or coalesce(q.owner, 0) <> $1 from queries q \
        where exists (select 1 from query_feeds f where f.query = q.id and f.feed = $2) \
        or exists (select 1 from entries e join query_entries m on m.entry = e.id \
         where e.feed = $2 and m.query = q.id)";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![account.0, feed.0], |row| {
        Ok((QueryId(row.get(0)?), row.get::<_, bool>(1)?))
    })?;
    let queries: Vec<(QueryId, bool)> = rows.collect::<Result<_, _>>()?;
    if queries.is_empty() {
        return Ok(false);
    }
    // Only the matcher knows which queries are published. Without one, all of them may be.
    let is_published = slot.with_matcher(conn, |matcher| {
        Ok(queries.iter().any(|(query, _)| matcher.others_see(*query)))
    })?;
    Ok(queries.iter().any(|(_, others_see)| *others_see) || is_published.unwrap_or(true))
}

pub(crate) fn owner(conn: &Connection, feed: FeedId) -> Result<Option<AccountId>, DbError> {
    let sql = "select owner from private_feeds where feed = $1";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row([feed.0], |row| row.get(0).map(AccountId)).optional()?)
}

/// Returns whether an account may have the pages behind the entries of a feed fetched. The login of
/// a private feed is for its owner. Others who read it may do so while no login is set.
pub(crate) fn may_use_login(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
) -> Result<bool, DbError> {
    let sql = "select 1 from private_feeds p where p.feed = $1 and p.owner <> $2 and not \
               (exists (select 1 from subscriptions s where s.feed = p.feed and s.account = $2) \
                and not exists (select 1 from fetch_settings f where f.feed = p.feed \
                 and f.sealed is not null))";
    let is_refused = conn.prepare_cached(sql)?.exists(params![feed.0, account.0])?;
    Ok(account == AccountId::LOCAL || !is_refused)
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
    private_matches::drop_of_feed(conn, feed)?;
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

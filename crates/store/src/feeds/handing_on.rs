//! Private feeds that more than one account reads: all accounts of an older store subscribe to what
//! they saw, also to feeds with a secret. If the owner leaves, or needs a feed alone, the next
//! subscriber gets the feed, without the login, cookies and headers of the owner.

use feed::{FeedId, FeedUrl};

use crate::db::columns;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::feeds::{fetch_settings, private};
use crate::{AccountId, Store, StoreError};

impl Store {
    /// Gives a private feed of an account that was removed to the next subscriber. Returns `false`
    /// if there is none: nobody may read the feed any more.
    pub fn hand_on(&self, feed: FeedId) -> Result<bool, StoreError> {
        self.write(move |conn| hand_on(conn, feed))
    }
}

/// Does so for all private feeds of accounts that were removed.
pub(crate) fn take_abandoned(conn: &Connection) -> Result<(), DbError> {
    private::abandoned(conn)?.into_iter().try_for_each(|feed| hand_on(conn, feed).map(drop))
}

fn hand_on(conn: &Connection, feed: FeedId) -> Result<bool, DbError> {
    let Some(heir) = next_reader(conn, feed)? else { return Ok(false) };
    conn.execute("delete from fetch_settings where feed = $1", [feed.0])?;
    give(conn, feed, heir)?;
    Ok(true)
}

/// Makes sure that nobody else reads a private feed with its secrets. Returns the address if the
/// feed has another owner now: then the old owner needs one of their own.
pub(crate) fn part(
    conn: &Connection,
    feed: FeedId,
    owner: AccountId,
) -> Result<Option<FeedUrl>, DbError> {
    let Some(heir) = next_reader(conn, feed)? else {
        // Other subscribers, if there are any, have the same address as feeds of their own.
        let sql = "delete from subscriptions where feed = $1 and account <> $2";
        conn.prepare_cached(sql)?.execute(params![feed.0, owner.0])?;
        return Ok(None);
    };
    give(conn, feed, heir).map(Some)
}

/// Moves the settings for requests to another feed with the same address. Their secrets are
/// encrypted for an origin, not for a feed.
pub(crate) fn move_settings(conn: &Connection, from: FeedId, to: FeedId) -> Result<(), DbError> {
    let sql = "update fetch_settings set feed = $1 where feed = $2";
    conn.prepare_cached(sql)?.execute([to.0, from.0])?;
    Ok(())
}

/// Returns the first subscriber of a private feed, except for its owner and for accounts that have
/// a private feed with this address.
fn next_reader(conn: &Connection, feed: FeedId) -> Result<Option<AccountId>, DbError> {
    let sql = "select s.account from subscriptions s join private_feeds p on p.feed = s.feed \
               where s.feed = $1 and s.account <> p.owner and not exists \
                (select 1 from private_feeds o where o.owner = s.account and o.url = p.url) \
               order by s.account limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row([feed.0], |row| row.get(0).map(AccountId)).optional()?)
}

/// Gives a private feed to another owner and returns its address. The next poll asks for the whole
/// document, because it is made without the login of the old owner.
fn give(conn: &Connection, feed: FeedId, heir: AccountId) -> Result<FeedUrl, DbError> {
    let sql = "select url from private_feeds where feed = $1";
    let url = conn.prepare_cached(sql)?.query_row([feed.0], |row| columns::url(row, 0))?;
    private::mark(conn, feed, heir, &url)?;
    fetch_settings::forget_validators(conn, feed)?;
    Ok(url)
}

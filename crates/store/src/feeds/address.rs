//! Gives a feed another address. Its entries and its learned state stay. Everything that belongs to
//! the old address is removed: validators, redirects, failures and the subscription at its hub.

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{FeedId, FeedUrl, Time};

use crate::error::DbError;
use crate::feeds::change::by_url;
use crate::feeds::state::{self, FeedTotal};
use crate::feeds::{domains, private};
use crate::matching::MatcherSlot;
use crate::subscriptions::scope::has_accounts;
use crate::{AccountId, Store, StoreError};

/// The result of [`Store::move_feed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressChange {
    /// The names of queries that name the old address. They no longer read the feed.
    Moved { queries: Vec<String> },
    /// Another feed has the address.
    Taken(FeedId),
    /// The address holds a secret, and more than one person needs the feed.
    Shared,
}

impl Store {
    /// Gives a feed another address and makes it due at once. Its generation rises, so that the
    /// store refuses a running poll of the old address as stale.
    pub fn move_feed(
        &self,
        feed: FeedId,
        url: &FeedUrl,
        now: Time,
    ) -> Result<AddressChange, StoreError> {
        let (url, slot) = (url.clone(), self.matcher());
        self.write(move |conn| {
            let known = private::owner(conn, feed)?;
            let is_private = known.is_some() || private::holds_secret(&url) && has_accounts(conn)?;
            let owner = match known {
                Some(owner) => owner,
                None if is_private => match sole_reader(conn, &slot, feed)? {
                    Some(owner) => owner,
                    None => return Ok(AddressChange::Shared),
                },
                None => AccountId::LOCAL,
            };
            let taken = match is_private {
                true => private::by_url(conn, owner, &url)?,
                false => by_url(conn, &url)?,
            };
            if let Some(other) = taken {
                return Ok(match other == feed {
                    true => AddressChange::Moved { queries: Vec::new() },
                    false => AddressChange::Taken(other),
                });
            }
            let sql = "update feeds set url = $1, effective_url = null, hub = null, \
                       topic = null, cloud = null where id = $2";
            let stored = match is_private {
                true => private::stored_url(owner, &url),
                false => url.as_str().to_owned(),
            };
            if conn.execute(sql, params![stored, feed.0])? == 0 {
                return Err(StoreError::NoFeed(feed).into());
            }
            if is_private {
                private::mark(conn, feed, owner, &url)?;
            }
            if known.is_none() && owner != AccountId::LOCAL {
                conn.execute("update feeds set of_instance = 0 where id = $1", [feed.0])?;
            }
            // A subscription without a feed is cancelled at its hub later.
            conn.execute("update push_subscriptions set feed = null where feed = $1", [feed.0])?;
            state::change_domain(conn, feed, domains::number(conn, &url.domain())?)?;
            reset_poll_state(conn, feed, now)?;
            state::refresh_title(conn, feed)?;
            state::refresh(conn, feed)?;
            Ok(AddressChange::Moved { queries: queries_naming(conn, feed)? })
        })
    }
}

/// Returns the only account that needs a feed; account 0, if there is none. `None`: there are
/// several.
fn sole_reader(
    conn: &Connection,
    slot: &MatcherSlot,
    feed: FeedId,
) -> Result<Option<AccountId>, DbError> {
    let sql = "select account from subscriptions where feed = $1 union \
               select coalesce(q.owner, 0) from query_feeds f join queries q on q.id = f.query \
               where f.feed = $1 limit 1";
    let mut statement = conn.prepare_cached(sql)?;
    let reader = statement.query_row([feed.0], |row| row.get(0).map(AccountId)).optional()?;
    let reader = reader.unwrap_or(AccountId::LOCAL);
    Ok((!private::others_need(conn, slot, feed, reader)?).then_some(reader))
}

/// Resets everything that was learned from the old address.
fn reset_poll_state(conn: &Connection, feed: FeedId, now: Time) -> Result<(), DbError> {
    let sql = "update feed_state set etag = null, last_modified = null, validators_of = null, \
               body_hash = null, moved_to = null, moved_count = 0, failures = 0, error = null, \
               last_outcome = null, gone_at = null, gone_reason = null, held = null, \
               wanted_at = $1, next_at = $1, generation = generation + 1 where feed = $2";
    conn.execute(sql, params![now.millis(), feed.0])?;
    FeedTotal::Polls.add(conn, 1)
}

/// Returns the names of the queries that name a feed by its address.
fn queries_naming(conn: &Connection, feed: FeedId) -> Result<Vec<String>, DbError> {
    let sql = "select q.name from query_feeds f join queries q on q.id = f.query \
               where f.feed = $1 order by q.name";
    let mut statement = conn.prepare_cached(sql)?;
    let names = statement.query_map([feed.0], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

//! Feeds that an account does not want to be suggested.

use std::collections::HashSet;

use feed::{INDEXED_ADDRESS_MAX, Time};

use crate::db::sql::params;
use crate::{AccountId, Store, StoreError};

/// Dismissed feeds of one account. The oldest go first.
const DISMISSED_MAX: i64 = 1000;

impl Store {
    /// Returns the addresses of the feeds that an account has dismissed.
    pub fn dismissed_feeds(&self, account: AccountId) -> Result<HashSet<String>, StoreError> {
        self.read(|conn| {
            let sql = "select url from dismissed_feeds where account = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Remembers that an account does not want a feed to be suggested. No suggestion has a longer
    /// address.
    pub fn dismiss_feed(&self, account: AccountId, url: &str, now: Time) -> Result<(), StoreError> {
        if url.len() > INDEXED_ADDRESS_MAX {
            return Ok(());
        }
        let url = url.to_owned();
        self.write_own(move |conn| {
            let sql = "insert into dismissed_feeds (account, url, dismissed_at) \
                       values ($1, $2, $3) on conflict (account, url) do nothing";
            conn.execute(sql, params![account.0, url, now.millis()])?;
            let sql = "delete from dismissed_feeds where account = $1 and url not in \
                       (select url from dismissed_feeds where account = $1 \
                        order by dismissed_at desc, url limit $2)";
            conn.execute(sql, [account.0, DISMISSED_MAX])?;
            Ok(())
        })
    }

    /// Forgets all dismissed feeds of an account.
    pub fn forget_dismissed_feeds(&self, account: AccountId) -> Result<(), StoreError> {
        self.write_own(move |conn| {
            conn.execute("delete from dismissed_feeds where account = $1", [account.0])?;
            Ok(())
        })
    }
}

//! The owners of queries: which queries an account sees, sharing, and the queries of the person at
//! the machine, which the first account gets.

use feed::{FeedId, Time};

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::feeds::{private_matches, takeover};
use crate::matching::put_stored;
use crate::queries::change::{COLUMNS, query_row};
use crate::subscriptions::scope::may_read_query;
use crate::{AccountId, QueryChange, QueryId, QueryRow, Store, StoreError};

impl Store {
    /// Returns the queries that an account sees, by name: its own and shared ones. An admin also
    /// sees those of the instance.
    pub fn queries_of(&self, account: AccountId) -> Result<Vec<QueryRow>, StoreError> {
        if account == AccountId::LOCAL {
            return self.queries();
        }
        self.read(|conn| {
            let sql = format!(
                "{COLUMNS} where owner = $1 or shared = 1 or owner is null and exists \
                 (select 1 from accounts a where a.id = $1 and a.role = 'admin') order by name"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([account.0], query_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns a query that an account sees.
    pub fn query_of(&self, account: AccountId, name: &str) -> Result<Option<QueryRow>, StoreError> {
        let Some(query) = self.query(name)? else { return Ok(None) };
        let may = self.read(|conn| may_read_query(conn, account, query.id))?;
        Ok(may.then_some(query))
    }

    /// Returns whether a query exists and an account sees its matches.
    pub fn sees_query(&self, account: AccountId, query: QueryId) -> Result<bool, StoreError> {
        if account == AccountId::LOCAL {
            return Ok(self.last_position(query)?.is_some());
        }
        self.read(|conn| may_read_query(conn, account, query))
    }

    /// Shares a query with everybody on the instance, or ends this. Its matches from private feeds
    /// are removed before. Returns `false` if it does not exist.
    pub fn share_query(&self, name: &str, shared: bool) -> Result<bool, StoreError> {
        let name = name.to_owned();
        let slot = self.matcher();
        self.write(move |conn| {
            let sql = "update queries set shared = $1 where name = $2 returning id";
            let mut statement = conn.prepare_cached(sql)?;
            let values = params![i64::from(shared), name];
            let changed = statement.query_map(values, |row| row.get(0).map(QueryId))?;
            let changed: Vec<QueryId> = changed.collect::<Result<_, _>>()?;
            load_again(conn, &slot, &changed)?;
            if shared {
                changed.iter().try_for_each(|query| private_matches::leave_out(conn, *query))?;
                slot.with_matcher(conn, |matcher| {
                    let mut changed = changed.iter();
                    changed.try_for_each(|query| private_matches::forget(conn, matcher, *query))
                })?;
            }
            Ok(!changed.is_empty())
        })
    }

    /// Gives the queries of the person at the machine to the first account, if they wait for it.
    pub fn hand_over_queries(&self) -> Result<(), StoreError> {
        let slot = self.matcher();
        let is_waiting = self.setting(takeover::HEIR)?.is_some();
        if !is_waiting {
            return Ok(());
        }
        self.write(move |conn| {
            let Some(heir) = takeover::take_heir(conn)? else { return Ok(()) };
            let sql = "update queries set owner = $1 where owner is null and abandoned = 0 \
                       and exists (select 1 from accounts where id = $1)";
            conn.execute(sql, [heir.0])?;
            let mut statement = conn.prepare_cached("select id from queries order by id")?;
            let all = statement.query_map([], |row| row.get(0).map(QueryId))?;
            let all: Vec<QueryId> = all.collect::<Result<_, _>>()?;
            load_again(conn, &slot, &all)
        })
    }
}

impl Store {
    /// Drops the queries of accounts that were removed. Returns the feeds that nobody needs any
    /// more.
    pub fn drop_abandoned_queries(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        let names: Vec<String> = self.read(|conn| {
            let sql = "select name from queries where abandoned = 1";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let drops = names.into_iter().map(QueryChange::Drop).collect();
        Ok(self.change_queries(drops, None, now)?.unwanted)
    }
}

/// Loads queries into the matcher again, after their owner has changed.
fn load_again(
    conn: &Connection,
    slot: &crate::matching::MatcherSlot,
    queries: &[QueryId],
) -> Result<(), DbError> {
    slot.with_matcher(conn, |matcher| {
        queries.iter().try_for_each(|query| put_stored(conn, matcher, *query))
    })?;
    Ok(())
}

//! Registrable domains and their pace. This module only stores when a domain may get the next
//! request; the engine decides it.

use crate::db::sql::{Connection, params};
use feed::{Domain, Time};

use crate::db::columns::{millis, time_or_none};
use crate::error::DbError;
use crate::{Store, StoreError};

/// The stored pace of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPace {
    pub domain: Domain,
    pub last_request_at: Option<Time>,
    /// No request before this time (Retry-After, 429, 503).
    pub not_before: Option<Time>,
    pub reason: Option<String>,
}

impl Store {
    /// Returns the pace of every domain that ever got a request.
    pub fn domain_states(&self) -> Result<Vec<StoredPace>, StoreError> {
        self.read(|conn| {
            let sql = "select name, last_request_at, not_before, reason from domains \
                       where last_request_at is not null or not_before is not null";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(StoredPace {
                    domain: Domain::from_stored(row.get_ref(0)?.as_str()?),
                    last_request_at: time_or_none(row, 1)?,
                    not_before: time_or_none(row, 2)?,
                    reason: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Stores the pace of a domain after a request that was not a poll.
    pub async fn store_pace(&self, pace: StoredPace) -> Result<(), StoreError> {
        self.write_async(move |conn| write_pace(conn, &pace)).await
    }

    /// Stores the time of a request to a domain that a stranger named. Updates known domains only,
    /// so that strangers cannot make the table grow.
    pub async fn store_known_pace(&self, pace: StoredPace) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update domains set last_request_at = $1 where name = $2";
            let at = millis(pace.last_request_at);
            conn.prepare_cached(sql)?.execute(params![at, pace.domain.as_str()])?;
            Ok(())
        })
        .await
    }
}

/// Stores a pace. An earlier `not_before` is replaced only by another one, because polls of one
/// domain may be recorded out of order. A time in the past has no effect.
pub(crate) fn write_pace(conn: &Connection, pace: &StoredPace) -> Result<(), DbError> {
    let sql = "insert into domains (name, last_request_at, not_before, reason) \
               values ($1, $2, $3, $4) on conflict (name) do update set \
               last_request_at = excluded.last_request_at, \
               not_before = coalesce(excluded.not_before, domains.not_before), \
               reason = coalesce(excluded.reason, domains.reason)";
    conn.prepare_cached(sql)?.execute(params![
        pace.domain.as_str(),
        millis(pace.last_request_at),
        millis(pace.not_before),
        pace.reason,
    ])?;
    Ok(())
}

/// Returns the number of a domain. A new domain gets one.
pub(crate) fn number(conn: &Connection, domain: &Domain) -> Result<i64, DbError> {
    let sql = "insert into domains (name) values ($1) on conflict (name) do nothing";
    conn.prepare_cached(sql)?.execute([domain.as_str()])?;
    let sql = "select id from domains where name = $1";
    Ok(conn.prepare_cached(sql)?.query_row([domain.as_str()], |row| row.get(0))?)
}

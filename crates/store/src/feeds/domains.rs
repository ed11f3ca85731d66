//! Registrable domains and their pace. This module only stores when a domain may get the next
//! request; the engine decides it.

use std::collections::BTreeMap;

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Connection, OptionalExtension, params, row, unnest};
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

    /// Returns the time before which a domain wants no request, as far as it is stored.
    pub fn domain_not_before(&self, domain: &Domain) -> Result<Option<Time>, StoreError> {
        self.read(|conn| {
            let sql = "select not_before from domains where name = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.query_row([domain.as_str()], |row| time_or_none(row, 0));
            Ok(found.optional()?.flatten())
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

/// The paces and loads that a set of polls changes, by domain (PostgreSQL).
#[derive(Default)]
pub(crate) struct PaceSet<'a>(BTreeMap<String, DomainChange<'a>>);

#[derive(Default)]
struct DomainChange<'a> {
    load: i64,
    /// The time of the last request, if a pace was stored.
    last_request_at: Option<Option<Time>>,
    not_before: Option<Time>,
    reason: Option<&'a str>,
}

impl<'a> PaceSet<'a> {
    pub fn add_load(&mut self, domain: &str, change: i64) {
        if change != 0 {
            self.0.entry(domain.to_owned()).or_default().load += change;
        }
    }

    /// Adds a pace, by the rule of [`write_pace`].
    pub fn add(&mut self, pace: &'a StoredPace) {
        let change = self.0.entry(pace.domain.as_str().to_owned()).or_default();
        change.last_request_at = Some(pace.last_request_at);
        change.not_before = pace.not_before.or(change.not_before);
        change.reason = pace.reason.as_deref().or(change.reason);
    }

    /// Adds the statement.
    pub fn write(self, flight: &mut Flight<'a>) {
        let mut lists = Lists::default();
        for (name, change) in self.0 {
            lists.push(row![
                name,
                change.load,
                change.last_request_at.is_some(),
                millis(change.last_request_at.flatten()),
                millis(change.not_before),
                change.reason,
            ]);
        }
        let columns = "name text, load bigint, paced boolean, last_request_at bigint, \
                       not_before bigint, reason text";
        let sql = format!(
            "with u as materialized (select * from {}), \
             old as (update domains d set load = d.load + u.load, last_request_at = \
             case when u.paced then u.last_request_at else d.last_request_at end, \
             not_before = coalesce(u.not_before, d.not_before), \
             reason = coalesce(u.reason, d.reason) from u where d.name = u.name \
             returning d.name) \
             insert into domains (name, last_request_at, not_before, reason) \
             select u.name, u.last_request_at, u.not_before, u.reason from u \
             where u.name not in (select name from old)",
            unnest(columns)
        );
        flight.add(sql, lists);
    }
}

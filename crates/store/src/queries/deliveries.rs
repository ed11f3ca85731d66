//! Deliveries and dead letters. A delivery is the cursor of one receiver over the positions of its
//! query. The engine sends the matches.

use std::fmt;
use std::time::Duration;

use crate::db::sql::{Connection, Row, params};
use feed::{EntryId, Time};

use crate::db::columns::{count, millis, time, time_or_none};
use crate::error::DbError;
use crate::{QueryId, Store, StoreError};

/// The number of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(pub i64);

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One receiver of one query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRow {
    pub id: DeliveryId,
    pub query: QueryId,
    pub query_name: String,
    pub receiver: String,
    /// Everything up to this position was delivered or is a dead letter.
    pub position: i64,
    /// Failures in a row with the next match.
    pub attempts: u32,
    /// The time of the next attempt; `None` is at once.
    pub next_at: Option<Time>,
    pub delivered_at: Option<Time>,
    pub error: Option<String>,
    /// The number of matches not delivered yet.
    pub n_waiting: u64,
    pub n_dead: u64,
    /// Dead letters that somebody wants to send again.
    pub n_to_replay: u64,
}

/// A delivery that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueDelivery {
    pub id: DeliveryId,
    pub query: QueryId,
    pub receiver: String,
    pub position: i64,
    pub attempts: u32,
    /// The time when it became due; `None` is at once.
    pub next_at: Option<Time>,
}

/// A match that a receiver did not accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    pub delivery: DeliveryId,
    pub position: i64,
    pub entry: EntryId,
    pub at: Time,
    pub attempts: u32,
    pub error: String,
    pub to_replay: bool,
}

const COLUMNS: &str = "select d.id, d.query, q.name, d.receiver, d.position, d.attempts, \
    d.next_at, d.delivered_at, d.error, \
    (select count(*) from query_entries e where e.query = d.query and e.position > d.position), \
    (select count(*) from dead_letters l where l.delivery = d.id), \
    (select count(*) from dead_letters l where l.delivery = d.id and l.replay = 1) \
    from deliveries d join queries q on q.id = d.query ";

/// SQL condition: a receiver has something to get. The column `waits` stores the same: a new match
/// sets it and [`clear_waits`] clears it.
const WAITING: &str = "(position < (select q.last_position from queries q \
    where q.id = deliveries.query) or exists (select 1 from dead_letters l \
    where l.delivery = deliveries.id and l.replay = 1))";

impl Store {
    /// Returns the deliveries of one query, or of all.
    pub fn deliveries(&self, query: Option<QueryId>) -> Result<Vec<DeliveryRow>, StoreError> {
        self.read(|conn| match query {
            Some(query) => {
                rows(conn, &format!("{COLUMNS} where d.query = $1 order by d.id"), [query.0])
            }
            None => rows(conn, &format!("{COLUMNS} order by d.id"), []),
        })
    }

    /// Returns the deliveries that are due. The one with the oldest last delivery comes first.
    pub fn deliveries_due(&self, now: Time) -> Result<Vec<DueDelivery>, StoreError> {
        self.read(|conn| {
            let sql = "select id, query, receiver, position, attempts, next_at from deliveries \
                       where waits = 1 and (next_at is null or next_at <= $1) \
                       order by coalesce(delivered_at, 0), id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([now.millis()], |row| {
                Ok(DueDelivery {
                    id: DeliveryId(row.get(0)?),
                    query: QueryId(row.get(1)?),
                    receiver: row.get(2)?,
                    position: row.get(3)?,
                    attempts: row.get(4)?,
                    next_at: time_or_none(row, 5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Moves the cursor of a delivery from one position to another. Does nothing if the cursor is
    /// not at `from`.
    pub async fn delivered(
        &self,
        delivery: DeliveryId,
        from: i64,
        to: i64,
        next_at: Option<Time>,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update deliveries set position = $1, attempts = 0, next_at = $2, \
                       delivered_at = $3, error = null where id = $4 and position = $5";
            let next_at = millis(next_at);
            conn.prepare_cached(sql)?.execute(params![
                to,
                next_at,
                now.millis(),
                delivery.0,
                from
            ])?;
            clear_waits(conn, delivery)
        })
        .await
    }

    /// Postpones a delivery that failed or may not be sent yet.
    pub async fn postpone_delivery(
        &self,
        delivery: DeliveryId,
        attempts: u32,
        next_at: Time,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update deliveries set attempts = $1, next_at = $2, error = $3 where id = $4";
            conn.prepare_cached(sql)?.execute(params![
                attempts,
                next_at.millis(),
                error,
                delivery.0
            ])?;
            Ok(())
        })
        .await
    }

    /// Ends all waits after the clock jumped back by more than `least`, which shows in a poll made
    /// after `now`. Receivers and subscribers of our hub that wait for a time of the old clock
    /// become due. A digest then calculates its hour again.
    pub fn end_waits_after_clock_jump(&self, least: Duration, now: Time) -> Result<(), StoreError> {
        self.write(move |conn| {
            for table in ["deliveries", "hub_subscriptions"] {
                let sql = format!(
                    "update {table} set next_at = null where next_at > $1 \
                     and exists (select 1 from feed_state where last_poll_at > $2)"
                );
                conn.execute(&sql, params![now.millis(), (now + least).millis()])?;
            }
            Ok(())
        })
    }

    /// Stores a match as a dead letter and moves the cursor on.
    pub async fn add_dead_letter(&self, letter: DeadLetter, from: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update deliveries set position = $1, attempts = 0, next_at = null, \
                       error = $2 where id = $3 and position = $4";
            let DeadLetter { delivery, position, entry, at, attempts, error, .. } = &letter;
            let moved = conn.execute(sql, params![position, error, delivery.0, from])?;
            if moved > 0 {
                let sql = "insert into dead_letters \
                           (delivery, position, entry, at, attempts, error) \
                           values ($1, $2, $3, $4, $5, $6)";
                conn.execute(
                    sql,
                    params![delivery.0, position, entry.0, at.millis(), attempts, error],
                )?;
            }
            clear_waits(conn, *delivery)
        })
        .await
    }

    /// Returns the dead letters of a delivery, oldest first.
    pub fn dead_letters(&self, delivery: DeliveryId) -> Result<Vec<DeadLetter>, StoreError> {
        self.read(|conn| {
            let sql = "select delivery, position, entry, at, attempts, error, replay \
                       from dead_letters where delivery = $1 order by position";
            let mut statement = conn.prepare_cached(sql)?;
            let letters = statement.query_map([delivery.0], letter)?;
            Ok(letters.collect::<Result<_, _>>()?)
        })
    }

    /// Marks the dead letters of a query to be sent again, and returns how many. Dead letters whose
    /// match was deleted are left out: they cannot be sent, and would keep a file or a mailbox due
    /// without end.
    pub fn replay_dead_letters(&self, query: QueryId) -> Result<usize, StoreError> {
        self.write(move |conn| {
            let sql = "update dead_letters set replay = 0 where replay = 1 and delivery in \
                       (select id from deliveries where query = $1)";
            conn.execute(sql, [query.0])?;
            let sql = "update dead_letters set replay = 1 where delivery in \
                       (select id from deliveries where query = $1) \
                       and exists (select 1 from query_entries e \
                       where e.query = $1 and e.position = dead_letters.position)";
            let n = conn.execute(sql, [query.0])?;
            let sql = "update deliveries set next_at = null where query = $1";
            conn.execute(sql, [query.0])?;
            let sql = format!(
                "update deliveries set waits = case when {WAITING} then 1 else 0 end \
                 where query = $1"
            );
            conn.execute(&sql, [query.0])?;
            Ok(n)
        })
    }

    /// Removes a dead letter that was delivered after all.
    pub async fn letter_delivered(
        &self,
        delivery: DeliveryId,
        position: i64,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "delete from dead_letters where delivery = $1 and position = $2";
            conn.prepare_cached(sql)?.execute(params![delivery.0, position])?;
            let sql = "update deliveries set delivered_at = $1 where id = $2";
            conn.prepare_cached(sql)?.execute(params![now.millis(), delivery.0])?;
            clear_waits(conn, delivery)
        })
        .await
    }

    /// Notes that a dead letter was refused again. It stays until somebody asks for another
    /// attempt.
    pub async fn letter_refused(
        &self,
        delivery: DeliveryId,
        position: i64,
        error: String,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update dead_letters set replay = 0, attempts = attempts + 1, error = $1, \
                       at = $2 where delivery = $3 and position = $4";
            conn.prepare_cached(sql)?.execute(params![
                error,
                now.millis(),
                delivery.0,
                position
            ])?;
            clear_waits(conn, delivery)
        })
        .await
    }

    /// Returns the match at a position, if it is still stored.
    pub fn query_entry_at(
        &self,
        query: QueryId,
        position: i64,
    ) -> Result<Option<crate::QueryEntry>, StoreError> {
        let page = self.query_entries(query, position - 1, 1)?;
        Ok(page.entries.into_iter().find(|found| found.position == position))
    }
}

/// Clears `waits` if nothing is left to deliver.
fn clear_waits(conn: &Connection, delivery: DeliveryId) -> Result<(), DbError> {
    let sql =
        format!("update deliveries set waits = 0 where id = $1 and waits = 1 and not {WAITING}");
    conn.prepare_cached(&sql)?.execute([delivery.0])?;
    Ok(())
}

/// Returns the deliveries whose column `waits` is wrong.
pub(crate) fn wrong_waits(conn: &Connection) -> Result<Vec<DeliveryId>, DbError> {
    let sql = format!(
        "select id from deliveries where waits <> case when {WAITING} then 1 else 0 end order by id"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let found = statement.query_map([], |row| row.get(0).map(DeliveryId))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn rows(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<DeliveryRow>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| {
        Ok(DeliveryRow {
            id: DeliveryId(row.get(0)?),
            query: QueryId(row.get(1)?),
            query_name: row.get(2)?,
            receiver: row.get(3)?,
            position: row.get(4)?,
            attempts: row.get(5)?,
            next_at: time_or_none(row, 6)?,
            delivered_at: time_or_none(row, 7)?,
            error: row.get(8)?,
            n_waiting: count(row, 9)?,
            n_dead: count(row, 10)?,
            n_to_replay: count(row, 11)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn letter(row: &Row<'_>) -> crate::db::sql::Result<DeadLetter> {
    Ok(DeadLetter {
        delivery: DeliveryId(row.get(0)?),
        position: row.get(1)?,
        entry: EntryId(row.get(2)?),
        at: time(row, 3)?,
        attempts: row.get(4)?,
        error: row.get(5)?,
        to_replay: row.get(6)?,
    })
}

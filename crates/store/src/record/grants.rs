//! Grants as rows: requests that may be under way, on a store that outlives its process. A row is
//! committed before its request is sent. The record of a poll removes the rows of its requests.

use std::time::Duration;

use feed::Domain;

use crate::db::columns::sql_count;
use crate::db::dialect;
use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Connection, params, row, unnest};
use crate::error::DbError;
use crate::{Location, Store, StoreError};

/// A request that is about to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    pub number: u64,
    pub domain: Domain,
    /// The machine that sends it.
    pub terminal: String,
}

/// A request of an earlier process that may be under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenGrantRow {
    pub number: u64,
    pub domain: Domain,
    /// The machine that was to send it.
    pub terminal: String,
    /// The time until it has certainly ended, by the clock of the database.
    pub left: Duration,
}

impl Store {
    /// Begins to grant requests. Returns the epoch of this process, and the requests of earlier
    /// ones that may be under way. On SQLite it begins an epoch; on PostgreSQL the seat did.
    pub fn begin_granting(&self) -> Result<(i64, Vec<OpenGrantRow>), StoreError> {
        let on_file = matches!(self.location(), Location::Folder(_));
        let epoch = self.epoch();
        self.write(move |conn| {
            let epoch = match on_file {
                true => {
                    let sql = "update seat set epoch = epoch + 1 returning epoch";
                    conn.query_row(sql, [], |row| row.get(0))?
                }
                false => epoch,
            };
            let sql = format!(
                "select number, domain, until - {}, terminal from grants order by number",
                dialect::now_ms(conn)
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([], |row| {
                let left: i64 = row.get(2)?;
                Ok(OpenGrantRow {
                    number: row.get::<_, i64>(0)?.unsigned_abs(),
                    domain: Domain::from_stored(&row.get::<_, String>(1)?),
                    terminal: row.get(3)?,
                    left: Duration::from_millis(left.max(0).unsigned_abs()),
                })
            })?;
            let rows = rows.collect::<Result<_, _>>()?;
            remove_ended(conn)?;
            Ok((epoch, rows))
        })
    }

    /// Commits grants that live so long, and removes the rows of requests that have ended.
    pub async fn store_grants(
        &self,
        epoch: i64,
        rows: Vec<GrantRow>,
        ended: Vec<u64>,
        life: Duration,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let life = i64::try_from(life.as_millis()).unwrap_or(i64::MAX);
            if let Some(postgres) = conn.postgres() {
                postgres.fly(&flight(conn, epoch, &rows, &ended, life))?;
                return Ok(());
            }
            let sql = format!(
                "insert into grants (number, epoch, domain, terminal, until) \
                 values ($1, $2, $3, $4, {} + $5)",
                dialect::now_ms(conn)
            );
            for GrantRow { number, domain, terminal } in &rows {
                let number = sql_count(*number);
                let values = params![number, epoch, domain.as_str(), terminal, life];
                conn.prepare_cached(&sql)?.execute(values)?;
            }
            remove(conn, &ended)
        })
        .await
    }

    /// Removes the rows of requests that have ended. All others of this epoch and machine end
    /// `within` a time, because their process stops.
    pub async fn end_grants(
        &self,
        epoch: i64,
        terminal: &str,
        ended: Vec<u64>,
        within: Duration,
    ) -> Result<(), StoreError> {
        let terminal = terminal.to_owned();
        self.write_async(move |conn| {
            remove(conn, &ended)?;
            let end = format!(
                "{} + {}",
                dialect::now_ms(conn),
                i64::try_from(within.as_millis()).unwrap_or(i64::MAX)
            );
            let sql = format!(
                "update grants set until = {end} \
                 where epoch = $1 and terminal = $2 and until > {end}"
            );
            conn.execute(&sql, params![epoch, terminal])?;
            Ok(())
        })
        .await
    }

    /// Removes the rows of requests that have ended by the clock of the database.
    pub async fn remove_ended_grants(&self) -> Result<(), StoreError> {
        self.write_async(remove_ended).await
    }

    /// Returns how many requests may be under way.
    pub fn n_grants(&self) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql =
                format!("select count(*) from grants where until > {}", dialect::now_ms(conn));
            Ok(conn.query_row(&sql, [], |row| crate::db::columns::count(row, 0))?)
        })
    }
}

fn flight<'a>(
    conn: &Connection,
    epoch: i64,
    rows: &'a [GrantRow],
    ended: &[u64],
    life: i64,
) -> Flight<'a> {
    let mut flight = Flight::default();
    let mut lists = Lists::default();
    for GrantRow { number, domain, terminal } in rows {
        lists.push(row![sql_count(*number), epoch, domain.as_str(), terminal.as_str(), life]);
    }
    let columns = "number bigint, epoch bigint, domain text, terminal text, life bigint";
    let sql = format!(
        "insert into grants (number, epoch, domain, terminal, until) \
         select u.number, u.epoch, u.domain, u.terminal, {} + u.life from {}",
        dialect::now_ms(conn),
        unnest(columns)
    );
    flight.add(sql, lists);
    remove_set(&mut flight, ended.iter().copied());
    flight
}

/// Removes the rows of requests whose polls are recorded.
pub(crate) fn remove(conn: &Connection, numbers: &[u64]) -> Result<(), DbError> {
    for number in numbers {
        let sql = "delete from grants where number = $1";
        conn.prepare_cached(sql)?.execute([sql_count(*number)])?;
    }
    Ok(())
}

/// Does the same for many, in one statement.
pub(crate) fn remove_set<'a>(flight: &mut Flight<'a>, numbers: impl Iterator<Item = u64>) {
    let mut lists = Lists::default();
    for number in numbers {
        lists.push(row![sql_count(number)]);
    }
    let from = unnest("number bigint");
    flight.add(format!("delete from grants g using {from} where g.number = u.number"), lists);
}

fn remove_ended(conn: &Connection) -> Result<(), DbError> {
    conn.execute(&format!("delete from grants where until <= {}", dialect::now_ms(conn)), [])?;
    Ok(())
}

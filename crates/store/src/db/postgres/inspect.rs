//! Facts about a database server, for `tidings doctor`. It reads catalogues and settings, writes
//! nothing, and judges nothing. It works without tables and with tables of any version.

use std::time::{Duration, Instant};

use tokio_postgres::config::Host;

use super::address::{TlsCheck, host_name};
use super::seat::{self, SeatRow};
use super::{PgAddress, connect};
use crate::StoreError;
use crate::db::migrations;
use crate::db::sql::Connection;
use crate::error::DbError;

/// The facts about a server and a database on it.
#[derive(Clone, Debug)]
pub struct ServerReport {
    pub version: String,
    pub is_supported: bool,
    pub encoding: String,
    /// The locale of the database and its provider, for people.
    pub locale: String,
    /// Text columns that do not compare byte by byte.
    pub columns_by_locale: Vec<String>,
    pub role: String,
    pub is_superuser: bool,
    /// The schema; `None` if the search path names none that exists.
    pub schema: Option<String>,
    pub may_create: bool,
    /// Tables that belong to another role, or that this role may not change.
    pub foreign_tables: Vec<String>,
    /// The server is a replica, which only reads.
    pub is_replica: bool,
    /// A confirmed commit survives a crash of the server.
    pub is_durable: bool,
    /// The server knows since when a session is idle. A waiting process must know that to tell a
    /// busy holder of the seat from one that hangs.
    pub tracks_activities: bool,
    pub connections_used: i64,
    pub connections_max: i64,
    /// The shortest time of one question and its answer.
    pub round_trip: Duration,
    /// Protocol and cipher; `None` without encryption.
    pub tls: Option<String>,
    /// The certificate of the server is checked.
    pub is_certificate_checked: bool,
    /// The server is on this machine.
    pub is_local: bool,
    /// The version of the schema; `None` without tables, or if they cannot be read.
    pub schema_version: Option<i64>,
    pub schema_version_known: i64,
    pub seat: Option<SeatRow>,
    /// A process holds the lock of the seat.
    pub is_seat_taken: bool,
}

/// Questions whose shortest answer counts.
const ROUND_TRIPS: u32 = 5;

/// Reads the facts about a server.
pub(crate) fn inspect(address: &PgAddress) -> Result<ServerReport, StoreError> {
    let file = address.shown();
    let conn = connect::reading(address).map_err(|e| StoreError::database(file, e))?;
    report(address, &conn).map_err(|fault| fault.at(file))
}

fn report(address: &PgAddress, conn: &Connection) -> Result<ServerReport, DbError> {
    let file = address.shown();
    let text = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
    let number = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let is = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, bool>(0));
    let schema = text("select current_schema()::text")?;
    let foreign_tables = names(conn, FOREIGN_TABLES)?;
    // Without a schema there are no tables to look at, and some cannot be read.
    let schema_version = match migrations::version(conn, file) {
        Err(_) if !foreign_tables.is_empty() => None,
        Ok(_) if schema.is_none() => None,
        version => version?,
    };
    let may_create = "select coalesce(has_schema_privilege(current_schema(), 'create'), false)";
    let is_durable = "select current_setting('fsync') = 'on' \
                      and current_setting('synchronous_commit') <> 'off'";
    let superuser = "select rolsuper from pg_catalog.pg_roles where rolname = current_user";
    Ok(ServerReport {
        version: text("select current_setting('server_version')")?.unwrap_or_default(),
        is_supported: seat::is_supported(number(
            "select current_setting('server_version_num')::bigint",
        )?),
        encoding: text("select current_setting('server_encoding')")?.unwrap_or_default(),
        locale: locale(conn)?,
        columns_by_locale: names(conn, COLUMNS_BY_LOCALE)?,
        role: text("select current_user::text")?.unwrap_or_default(),
        is_superuser: is(superuser)?,
        schema,
        may_create: is(may_create)?,
        foreign_tables,
        is_replica: is("select pg_is_in_recovery()")?,
        is_durable: is(is_durable)?,
        tracks_activities: is("select current_setting('track_activities') = 'on'")?,
        connections_used: number("select count(*) from pg_catalog.pg_stat_activity")?,
        connections_max: number("select current_setting('max_connections')::bigint")?,
        round_trip: round_trip(conn)?,
        tls: text(
            "select case when ssl then version || ', ' || cipher end \
             from pg_catalog.pg_stat_ssl where pid = pg_backend_pid()",
        )?,
        is_certificate_checked: address.tls_check() == TlsCheck::Full,
        is_local: is_local(address),
        schema_version,
        schema_version_known: migrations::current_version(),
        // An older schema has no such table, or another one.
        seat: seat::any_row(conn).ok(),
        is_seat_taken: seat::is_taken(conn)?,
    })
}

const COLUMNS_BY_LOCALE: &str = "select c.relname || '.' || a.attname \
    from pg_catalog.pg_attribute a join pg_catalog.pg_class c on c.oid = a.attrelid \
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
    join pg_catalog.pg_collation k on k.oid = a.attcollation \
    where n.nspname = current_schema() and c.relkind = 'r' and a.attnum > 0 \
    and not a.attisdropped and k.collname <> 'C' order by 1 limit 20";

const FOREIGN_TABLES: &str = "select c.relname::text from pg_catalog.pg_class c \
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace \
    where n.nspname = current_schema() and c.relkind = 'r' \
    and not (pg_has_role(c.relowner, 'usage') \
      and has_table_privilege(c.oid, 'select, insert, update, delete')) order by 1 limit 20";

fn names(conn: &Connection, sql: &str) -> Result<Vec<String>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map([], |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn locale(conn: &Connection) -> Result<String, DbError> {
    // The name of an ICU locale is in a column that PostgreSQL 17 renamed.
    let sql = "select d->>'datlocprovider', d->>'datcollate', \
               coalesce(d->>'datlocale', d->>'daticulocale', '') \
               from (select to_jsonb(d) as d from pg_catalog.pg_database d \
                     where datname = current_database()) x";
    Ok(conn.query_row(sql, [], |row| {
        let (provider, collate): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(match provider.as_str() {
            "i" => format!("{} (ICU)", row.get::<_, String>(2)?),
            _ => collate,
        })
    })?)
}

#[expect(clippy::disallowed_methods, reason = "measures the way to the server")]
fn round_trip(conn: &Connection) -> Result<Duration, DbError> {
    let mut shortest = Duration::MAX;
    for _ in 0..ROUND_TRIPS {
        let begun = Instant::now();
        conn.query_row("select 1", [], |_| Ok(()))?;
        shortest = shortest.min(begun.elapsed());
    }
    Ok(shortest)
}

fn is_local(address: &PgAddress) -> bool {
    address.hosts().iter().all(|host| match host.get_hosts() {
        [Host::Unix(_)] => true,
        _ => {
            let name = host_name(host);
            name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
    })
}

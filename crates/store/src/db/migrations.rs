//! The schema as an append-only list of named migrations. A released migration is never edited. A
//! database with more migrations than this program knows is refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::db::sql::{Connection, OptionalExtension};

use crate::StoreError;
use crate::db::dialect;
use crate::error::DbError;

type Migration = (&'static str, &'static str);

/// Name and SQL. The version of a database is the number of its migrations.
const STEPS: &[Migration] = &[
    ("start", include_str!("../../migrations/01_start.sql")),
    ("queries", include_str!("../../migrations/02_queries.sql")),
    ("people", include_str!("../../migrations/03_people.sql")),
    ("push", include_str!("../../migrations/04_push.sql")),
    ("tag numbers", include_str!("../../migrations/05_tag_numbers.sql")),
    ("waiting", include_str!("../../migrations/06_waiting.sql")),
    ("validators", include_str!("../../migrations/07_validators.sql")),
    ("reading choices", include_str!("../../migrations/08_reading_choices.sql")),
    ("warnings", include_str!("../../migrations/09_warnings.sql")),
    ("kinds", include_str!("../../migrations/10_kinds.sql")),
    ("hub limits", include_str!("../../migrations/11_hub_limits.sql")),
    ("provenance", include_str!("../../migrations/12_provenance.sql")),
    ("counts", include_str!("../../migrations/13_counts.sql")),
    ("stream", include_str!("../../migrations/14_stream.sql")),
    ("declared", include_str!("../../migrations/15_declared.sql")),
    ("clouds", include_str!("../../migrations/16_clouds.sql")),
    ("orders", include_str!("../../migrations/17_orders.sql")),
    ("recording", include_str!("../../migrations/18_recording.sql")),
    ("machines", include_str!("../../migrations/19_machines.sql")),
    ("articles", include_str!("../../migrations/20_articles.sql")),
    ("logins", include_str!("../../migrations/21_logins.sql")),
    ("fetch settings", include_str!("../../migrations/23_fetch_settings.sql")),
    ("rules", include_str!("../../migrations/24_rules.sql")),
    ("stories", include_str!("../../migrations/25_stories.sql")),
    ("subscriptions", include_str!("../../migrations/26_subscriptions.sql")),
    ("suggestions", include_str!("../../migrations/27_suggestions.sql")),
    ("bulk", include_str!("../../migrations/28_bulk.sql")),
];

const META: &str = "create table meta (key text primary key, value text not null) without rowid";

/// The key in `meta` of a store that `tidings migrate` has not filled completely. The value is
/// JSON; its field `from` names the source.
pub(crate) const UNFINISHED_KEY: &str = "migration";

/// Runs the missing migrations in one transaction.
pub(crate) fn migrate(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    if version(conn, file)?.is_some() {
        refuse_unfinished(conn, file)?;
    }
    take(conn, file, STEPS)
}

/// The same for the program that fills an unfinished store.
pub(crate) fn migrate_unfinished(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    take(conn, file, STEPS)
}

/// Runs the missing migrations in the open transaction, which the caller never commits.
pub(crate) fn update_uncommitted(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    take_missing(conn, file, STEPS)
}

/// Refuses a store that was not filled completely.
fn refuse_unfinished(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let sql = "select value from meta where key = $1";
    let found: Option<String> =
        conn.query_row(sql, [UNFINISHED_KEY], |row| row.get(0)).optional()?;
    let Some(text) = found else { return Ok(()) };
    let marker: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let from = marker.and_then(|marker| marker.get("from")?.as_str().map(Arc::from));
    let from = from.unwrap_or_else(|| Arc::from("another place"));
    Err(StoreError::Unfinished { file: Arc::clone(file), from }.into())
}

/// Creates the schema of a version in an empty database, as a reference.
pub(crate) fn make(conn: &Connection, version: i64) -> Result<(), DbError> {
    let n = usize::try_from(version).unwrap_or(0).min(STEPS.len());
    take(conn, &Arc::from("the reference"), &STEPS[..n])
}

/// Requires the version of this program. Used by connections that only read.
pub(crate) fn require_current(conn: &Connection, file: &Arc<str>) -> Result<(), DbError> {
    let found =
        version(conn, file)?.ok_or_else(|| StoreError::Missing { file: Arc::clone(file) })?;
    refuse_newer_than(found, STEPS, file)?;
    if found < count(STEPS) {
        return Err(StoreError::Older { file: Arc::clone(file), found }.into());
    }
    refuse_unfinished(conn, file)
}

/// Returns the version, which may be any that this program can migrate. Used for copies.
pub(crate) fn known_version(conn: &Connection, file: &Arc<str>) -> Result<i64, DbError> {
    let foreign = || StoreError::Foreign { file: Arc::clone(file) };
    let found = version(conn, file)?.ok_or_else(foreign)?;
    refuse_newer_than(found, STEPS, file)?;
    refuse_unfinished(conn, file)?;
    Ok(found)
}

/// Returns the names of all tables that some version of the schema has.
pub(crate) fn table_names(conn: &Connection) -> BTreeSet<String> {
    let steps = STEPS.iter().chain(&[("meta", META)]);
    let texts = steps.map(|(name, sql)| dialect::schema_step(conn, name, sql));
    let mut names = BTreeSet::new();
    for text in texts {
        let tables = text.lines().filter_map(|line| line.strip_prefix("create table "));
        names.extend(tables.filter_map(|rest| rest.split([' ', '(']).next()).map(str::to_owned));
    }
    names
}

pub(crate) fn current_version() -> i64 {
    count(STEPS)
}

/// Returns the version that a database claims; `None` if it is empty.
pub(crate) fn version(conn: &Connection, file: &Arc<str>) -> Result<Option<i64>, DbError> {
    if dialect::n_tables(conn)? == 0 {
        return Ok(None);
    }
    let foreign = || StoreError::Foreign { file: Arc::clone(file) };
    let ours: Option<String> = conn
        .query_row("select value from meta where key = 'version'", [], |r| r.get(0))
        .optional()
        .or_else(|e| if e.is_missing_table() { Ok(None) } else { Err(e) })?;
    let version = ours.and_then(|v| v.parse().ok()).ok_or_else(foreign)?;
    Ok(Some(version))
}

fn take(conn: &Connection, file: &Arc<str>, steps: &[Migration]) -> Result<(), DbError> {
    let found = version(conn, file)?;
    refuse_newer_than(found.unwrap_or(0), steps, file)?;
    if found == Some(count(steps)) {
        return Ok(());
    }
    conn.begin_writing()?;
    let taken = take_missing(conn, file, steps);
    conn.control(if taken.is_ok() { "commit" } else { "rollback" })?;
    taken
}

fn take_missing(conn: &Connection, file: &Arc<str>, steps: &[Migration]) -> Result<(), DbError> {
    // Read again under the lock: another process may have been faster.
    let found = version(conn, file)?;
    refuse_newer_than(found.unwrap_or(0), steps, file)?;
    if found.is_none() {
        conn.execute_batch(&dialect::schema_step(conn, "meta", META))?;
    }
    let done = usize::try_from(found.unwrap_or(0)).unwrap_or(0);
    for (name, sql) in &steps[done.min(steps.len())..] {
        conn.execute_batch(&dialect::schema_step(conn, name, sql))?;
        let key = format!("step {name}");
        conn.execute("insert into meta (key, value) values ($1, 'taken')", [key])?;
    }
    conn.execute(
        "insert into meta (key, value) values ('version', $1) \
         on conflict (key) do update set value = excluded.value",
        [count(steps).to_string()],
    )?;
    Ok(())
}

/// Refuses a version that this program does not know.
pub(crate) fn refuse_newer(found: i64, file: &Arc<str>) -> Result<(), StoreError> {
    refuse_newer_than(found, STEPS, file)
}

fn refuse_newer_than(found: i64, steps: &[Migration], file: &Arc<str>) -> Result<(), StoreError> {
    let known = count(steps);
    if found > known {
        return Err(StoreError::Newer { file: Arc::clone(file), found, known });
    }
    Ok(())
}

fn count(steps: &[Migration]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Migration =
        ("count", "create table extra (n bigint); insert into extra select count(*) from feeds");

    /// All migrations and these.
    fn more(steps: &[Migration]) -> Vec<Migration> {
        STEPS.iter().chain(steps).copied().collect()
    }

    fn open() -> (Connection, Arc<str>) {
        (Connection::Sqlite(rusqlite::Connection::open_in_memory().unwrap()), Arc::from("x.db"))
    }

    /// An empty database of each kind. PostgreSQL only if the tests have a server.
    fn empty_databases() -> Vec<(Connection, Arc<str>)> {
        let folder = tempfile::tempdir().unwrap();
        let server = crate::testing::url(folder.path()).map(|url| {
            let address = crate::PgAddress::parse(&url, &|_| None).unwrap();
            let conn = crate::db::postgres::connect::writing(&address).unwrap();
            (conn, Arc::clone(address.shown()))
        });
        [open()].into_iter().chain(server).collect()
    }

    fn say(fault: DbError) -> StoreError {
        fault.at(&Arc::from("x.db"))
    }

    #[test]
    fn missing_steps_are_taken_once_and_rows_stay() {
        empty_databases().into_iter().for_each(take_missing_steps);
    }

    fn take_missing_steps((conn, file): (Connection, Arc<str>)) {
        take(&conn, &file, STEPS).map_err(say).unwrap();
        conn.execute("insert into feeds (url, added_at) values ('u', 0)", []).unwrap();
        for _ in 0..2 {
            take(&conn, &file, &more(&[COUNT])).map_err(say).unwrap();
        }
        let n: i64 = conn.query_row("select n from extra", [], |row| row.get(0)).unwrap();
        assert_eq!(n, 1);
        assert_eq!(version(&conn, &file).map_err(say).unwrap(), Some(count(STEPS) + 1));
        let error = take(&conn, &file, STEPS).map_err(say).unwrap_err();
        assert!(
            matches!(error, StoreError::Newer { found, known, .. } if found == known + 1),
            "{error}"
        );
        let error = require_current(&conn, &file).map_err(say).unwrap_err();
        assert!(matches!(error, StoreError::Newer { .. }), "{error}");
    }

    /// One feed with a gap in its entry numbers. From version 2 on also a query with three
    /// receivers: one is up to date, one waits, one gets a dead letter again.
    const ROWS: [&str; 2] = [
        "insert into domains (id, name) values (1, 'example.org'); \
         insert into feeds (id, url, added_at) values (1, 'https://example.org/', 0); \
         insert into feed_state (feed, domain, entries) values (1, 1, 2); \
         insert into entries (id, feed, key, published_at, seen_at, content_hash) \
         values (1, 1, x'01', 0, 0, 0), (4, 1, x'02', 0, 0, 0)",
        "insert into queries (id, name, text, created_at, changed_at, last_position, link_key, \
         signing_key) values (1, 'q', 'x', 0, 0, 2, '', ''); \
         insert into query_entries (query, position, entry) values (1, 1, 1), (1, 2, 4); \
         insert into deliveries (id, query, receiver, position) \
         values (1, 1, 'a', 2), (2, 1, 'b', 1), (3, 1, 'c', 2); \
         insert into dead_letters (delivery, position, entry, at, attempts, error, replay) \
         values (3, 1, 1, 0, 12, 'no', 1)",
    ];

    #[test]
    fn every_older_version_becomes_the_present_one() {
        let list = |conn: &Connection, sql: &str| -> Vec<String> {
            let mut statement = conn.prepare_cached(sql).unwrap();
            let rows = statement.query_map([], |row| row.get(0)).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        let schema = "select coalesce(sql, name) from sqlite_schema order by type, name";
        let (fresh, file) = open();
        take(&fresh, &file, STEPS).map_err(say).unwrap();
        for n in 1..STEPS.len() {
            let (conn, file) = open();
            take(&conn, &file, &STEPS[..n]).map_err(say).unwrap();
            ROWS[..n.min(2)].iter().for_each(|rows| conn.execute_batch(rows).unwrap());
            take(&conn, &file, STEPS).map_err(say).unwrap();
            assert_eq!(list(&conn, schema), list(&fresh, schema), "from version {n}");
            assert!(list(&conn, "pragma foreign_key_check").is_empty(), "from version {n}");
            if n < 3 {
                let gaps = list(&conn, "select first || '-' || last from entry_gaps");
                assert_eq!(gaps, ["2-3"], "from version {n}");
            }
            let waiting =
                list(&conn, "select receiver from deliveries where waits = 1 order by id");
            // From version 6 on the rows have the column, and these rows leave it unset.
            let expect: &[&str] = if (2..6).contains(&n) { &["b", "c"] } else { &[] };
            assert_eq!(waiting, expect, "from version {n}");
        }
    }

    /// The first version of stores on PostgreSQL.
    const FIRST_ON_SERVER: usize = 16;

    #[test]
    fn an_older_store_on_a_server_gets_the_same_rows_as_a_file() {
        const LATER: Migration = ("later", "update feeds set url = url || '?' where id = 1");
        let steps = more(&[LATER]);
        for n in FIRST_ON_SERVER..steps.len() {
            let rows = empty_databases().into_iter().map(|(conn, file)| {
                take(&conn, &file, &steps[..n]).map_err(say).unwrap();
                let bytes = if conn.is_postgres() { " '\\x" } else { " x'" };
                let insert = |rows: &&str| conn.execute_batch(&rows.replace(" x'", bytes));
                ROWS.iter().for_each(|rows| insert(rows).unwrap());
                take(&conn, &file, &steps).map_err(say).unwrap();
                let mut rows = crate::db::transfer::table_rows(&conn).map_err(say).unwrap();
                if let Some(settings) = rows.get_mut("settings") {
                    settings.retain(|row| !row.contains("\"instance\""));
                }
                for rows in rows.values_mut() {
                    rows.retain(|row| !row.starts_with("last number"));
                }
                rows
            });
            let rows: Vec<_> = rows.collect();
            assert!(rows[0]["feeds"][0].contains("example.org/?"), "{:?}", rows[0]["feeds"]);
            rows.iter().for_each(|one| assert_eq!(one, &rows[0], "from version {n}"));
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before() {
        empty_databases().into_iter().for_each(fail_a_step);
    }

    fn fail_a_step((conn, file): (Connection, Arc<str>)) {
        take(&conn, &file, STEPS).map_err(say).unwrap();
        let broken = more(&[COUNT, ("broken", "create table feeds (x)")]);
        assert!(take(&conn, &file, &broken).is_err());
        assert_eq!(version(&conn, &file).map_err(say).unwrap(), Some(count(STEPS)));
        let n = conn.query_row("select count(*) from extra", [], |row| row.get::<_, i64>(0));
        assert!(n.is_err(), "nothing of the steps before it stays either");
        take(&conn, &file, &more(&[COUNT])).map_err(say).unwrap();
    }

    #[test]
    fn steps_have_names_of_their_own() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len());
    }
}

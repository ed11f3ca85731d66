//! The schema as an append-only list of named steps. A step that was released is never edited;
//! a database that knows more steps than this program is refused.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};

use crate::StoreError;
use crate::error::Fault;

type Step = (&'static str, &'static str);

/// Name and SQL. A database's version is the number of steps it has taken.
const STEPS: &[Step] = &[
    ("start", include_str!("../migrations/01_start.sql")),
    ("queries", include_str!("../migrations/02_queries.sql")),
    ("people", include_str!("../migrations/03_people.sql")),
    ("push", include_str!("../migrations/04_push.sql")),
    ("tag numbers", include_str!("../migrations/05_tag_numbers.sql")),
    ("waiting", include_str!("../migrations/06_waiting.sql")),
];

const META: &str = "create table meta (key text primary key, value text not null) without rowid";

/// Takes the steps that are missing, all in one transaction.
pub(crate) fn migrate(conn: &Connection, file: &Arc<str>) -> Result<(), Fault> {
    take(conn, file, STEPS)
}

/// For those who only read: the version must be this program's own.
pub(crate) fn require_current(conn: &Connection, file: &Arc<str>) -> Result<(), Fault> {
    let found =
        version(conn, file)?.ok_or_else(|| StoreError::Missing { file: Arc::clone(file) })?;
    refuse_newer(found, STEPS, file)?;
    if found < count(STEPS) {
        return Err(StoreError::Older { file: Arc::clone(file), found }.into());
    }
    Ok(())
}

/// For those who copy: any version that this program can go on from.
pub(crate) fn known_version(conn: &Connection, file: &Arc<str>) -> Result<i64, Fault> {
    let foreign = || StoreError::Foreign { file: Arc::clone(file) };
    let found = version(conn, file)?.ok_or_else(foreign)?;
    refuse_newer(found, STEPS, file)?;
    Ok(found)
}

pub(crate) fn current_version() -> i64 {
    count(STEPS)
}

/// The version a database says it has; `None` if it is empty.
pub(crate) fn version(conn: &Connection, file: &Arc<str>) -> Result<Option<i64>, Fault> {
    let tables: i64 =
        conn.query_row("select count(*) from sqlite_schema where type = 'table'", [], |r| {
            r.get(0)
        })?;
    if tables == 0 {
        return Ok(None);
    }
    let foreign = || StoreError::Foreign { file: Arc::clone(file) };
    let ours: Option<String> = conn
        .query_row("select value from meta where key = 'version'", [], |r| r.get(0))
        .optional()
        .or_else(|e| {
            if e.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) {
                Ok(None)
            } else {
                Err(e)
            }
        })?;
    let version = ours.and_then(|v| v.parse().ok()).ok_or_else(foreign)?;
    Ok(Some(version))
}

fn take(conn: &Connection, file: &Arc<str>, steps: &[Step]) -> Result<(), Fault> {
    let found = version(conn, file)?;
    refuse_newer(found.unwrap_or(0), steps, file)?;
    if found == Some(count(steps)) {
        return Ok(());
    }
    conn.execute_batch("begin immediate")?;
    let taken = take_missing(conn, file, steps);
    conn.execute_batch(if taken.is_ok() { "commit" } else { "rollback" })?;
    taken
}

fn take_missing(conn: &Connection, file: &Arc<str>, steps: &[Step]) -> Result<(), Fault> {
    // Asked again under the lock: another process may have been first.
    let found = version(conn, file)?;
    refuse_newer(found.unwrap_or(0), steps, file)?;
    if found.is_none() {
        conn.execute_batch(META)?;
    }
    let done = usize::try_from(found.unwrap_or(0)).unwrap_or(0);
    for (name, sql) in &steps[done.min(steps.len())..] {
        conn.execute_batch(sql)?;
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

fn refuse_newer(found: i64, steps: &[Step], file: &Arc<str>) -> Result<(), StoreError> {
    let known = count(steps);
    if found > known {
        return Err(StoreError::Newer { file: Arc::clone(file), found, known });
    }
    Ok(())
}

fn count(steps: &[Step]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Step =
        ("count", "create table extra (n bigint); insert into extra select count(*) from feeds");

    /// The steps there are, and these.
    fn more(steps: &[Step]) -> Vec<Step> {
        STEPS.iter().chain(steps).copied().collect()
    }

    fn open() -> (Connection, Arc<str>) {
        (Connection::open_in_memory().unwrap(), Arc::from("x.db"))
    }

    fn say(fault: Fault) -> StoreError {
        fault.at(&Arc::from("x.db"))
    }

    #[test]
    fn missing_steps_are_taken_once_and_rows_stay() {
        let (conn, file) = open();
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

    #[test]
    fn a_step_that_fails_leaves_the_version_before() {
        let (conn, file) = open();
        take(&conn, &file, STEPS).map_err(say).unwrap();
        let broken = more(&[COUNT, ("broken", "create table feeds (x)")]);
        assert!(take(&conn, &file, &broken).is_err());
        assert_eq!(version(&conn, &file).map_err(say).unwrap(), Some(count(STEPS)));
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

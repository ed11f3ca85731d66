//! Checks the database file itself: pages, schema version, schema objects and references between
//! rows. It does not interpret the rows and repairs nothing.

use std::sync::Arc;

use feed::FeedId;

use crate::db::sql::Connection;
use crate::db::{migrations, schema};
use crate::error::DbError;

/// Findings of one kind that are listed; more would hide the others.
pub(crate) const FINDINGS_MAX: usize = 20;

/// A problem in the store and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub feed: Option<FeedId>,
    pub what: String,
    pub remedy: String,
    /// Worth knowing, but not an error.
    pub harmless: bool,
}

/// The findings about a file.
pub(crate) struct FileCheck {
    pub findings: Vec<Finding>,
    /// The pages are damaged, so that no answer of the file can be trusted.
    pub is_damaged: bool,
}

/// Checks pages, schema and references.
pub(crate) fn check_file(conn: &Connection, file: &Arc<str>) -> Result<FileCheck, DbError> {
    // PostgreSQL checks references itself; its pages are the business of its own tools.
    let is_file = !conn.is_postgres();
    let mut findings = if is_file { pages(conn)? } else { Vec::new() };
    if !findings.is_empty() {
        return Ok(FileCheck { findings, is_damaged: true });
    }
    if migrations::version(conn, file)? != Some(migrations::current_version()) {
        findings.push(finding(
            None,
            "the schema has another version than this program".to_owned(),
            "start `tidings run` once, or use the program that wrote it",
        ));
    } else if is_file {
        findings.extend(objects(conn)?);
    }
    if is_file {
        findings.extend(foreign_keys(conn)?);
    }
    Ok(FileCheck { findings, is_damaged: false })
}

/// Makes a finding that is not harmless.
pub(crate) fn finding(feed: Option<i64>, what: String, remedy: &str) -> Finding {
    let feed = feed.and_then(|id| u32::try_from(id).ok()).map(FeedId);
    Finding { feed, what, remedy: remedy.to_owned(), harmless: false }
}

/// Checks the pages and indexes of the file.
fn pages(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let mut statement = conn.prepare_cached("pragma quick_check(20)")?;
    let said = statement.query_map([], |row| row.get::<_, String>(0))?;
    let mut findings = Vec::new();
    for line in said {
        let line = line?;
        if line != "ok" {
            let remedy = "move the file away and restore a backup, or start with an empty store";
            findings.push(finding(None, format!("the file is damaged: {line}"), remedy));
        }
    }
    Ok(findings)
}

fn foreign_keys(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let broken = broken_references(conn)?.into_iter().map(|(table, parent)| {
        let what = format!("a row of {table} refers to a row of {parent} that does not exist");
        finding(None, what, "restore a backup; another program has changed the file")
    });
    Ok(broken.collect())
}

/// Returns the tables with rows that refer to a missing row, each with the referenced table.
pub(crate) fn broken_references(conn: &Connection) -> Result<Vec<(String, String)>, DbError> {
    let mut statement = conn.prepare_cached("pragma foreign_key_check")?;
    let said = statement.query_map([], |row| Ok((row.get(0)?, row.get(2)?)))?;
    Ok(said.take(FINDINGS_MAX).collect::<Result<_, _>>()?)
}

/// Finds schema objects that somebody added, changed or removed. A backup with such a change cannot
/// be restored.
fn objects(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let different = schema::differences(conn, migrations::current_version())?;
    let remedy = "undo the change; a backup with this change cannot be restored";
    let found = different.into_iter().take(FINDINGS_MAX);
    Ok(found.map(|what| finding(None, format!("the schema was changed: {what}"), remedy)).collect())
}

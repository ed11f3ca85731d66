//! The checks of `tidings doctor` on the rows of the store. It repairs nothing.

use std::sync::Arc;

use crate::db::dialect;
use crate::db::sql::{Connection, params};
use feed::{EntryKey, Window};

use crate::db::integrity::{FINDINGS_MAX, FileCheck, Finding, check_file, finding};
use crate::error::DbError;
use crate::facts::languages;
use crate::feeds::state::{FeedTotal, LOAD, SORT_TITLE, STATE};
use crate::queries::deliveries;
use crate::{Store, StoreError};

impl Store {
    /// Checks the whole database. An empty result means that it is healthy.
    pub fn check(&self) -> Result<Vec<Finding>, StoreError> {
        let file = self.file().clone();
        self.read(|conn| check_rows(conn, &file))
    }
}

/// Checks a database through a connection in a transaction.
pub(crate) fn check_rows(conn: &Connection, file: &Arc<str>) -> Result<Vec<Finding>, DbError> {
    let FileCheck { mut findings, is_damaged } = check_file(conn, file)?;
    if is_damaged {
        return Ok(findings);
    }
    findings.extend(validators_ahead(conn)?);
    findings.extend(counters(conn)?);
    findings.extend(states(conn)?);
    findings.extend(totals(conn)?);
    findings.extend(language_totals(conn)?);
    findings.extend(windows(conn)?);
    findings.extend(twins(conn)?);
    findings.extend(receivers(conn)?);
    Ok(findings)
}

fn receivers(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let found = deliveries::wrong_waits(conn)?.into_iter().take(FINDINGS_MAX);
    let remedy = "`tidings query deliveries` shows it; report it with the log";
    let what = |id| format!("the stored waiting mark of delivery {id} is wrong");
    Ok(found.map(|id| finding(None, what(id), remedy)).collect())
}

/// Finds feeds with validators but without a window. Validators claim that we have the document, so
/// its entries would be lost.
fn validators_ahead(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let sql = "select s.feed from feed_state s left join feed_window w on w.feed = s.feed \
               where (s.etag is not null or s.last_modified is not null \
                      or s.body_hash is not null) \
               and (w.feed is null or length(w.shown) = 0) limit $1";
    let mut statement = conn.prepare_cached(sql)?;
    let feeds = statement.query_map(params![FINDINGS_MAX as i64], |row| row.get(0))?;
    feeds
        .map(|feed| {
            let what = "it has validators, but not the document that they belong to".to_owned();
            Ok(finding(Some(feed?), what, "remove the feed and add it again"))
        })
        .collect()
}

fn counters(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let sql = "select s.feed, s.entries, (select count(*) from entries e where e.feed = s.feed) n \
               from feed_state s where s.entries <> \
               (select count(*) from entries e where e.feed = s.feed) limit $1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![FINDINGS_MAX as i64], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    })?;
    rows.map(|row| {
        let (feed, said, found) = row?;
        let what = format!("it counts {said} entries, but the store has {found}");
        Ok(finding(Some(feed), what, "restore a backup; another program has changed the file"))
    })
    .collect()
}

/// Checks that the stored state, load and sort title of each feed follow from its other columns.
fn states(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let sql = format!(
        "select s.feed from feed_state s join feeds f on f.id = s.feed \
         where s.state <> {STATE} or s.sort_title <> {SORT_TITLE} \
         or s.load <> case when s.state in (4, 5) then 0 else {LOAD} end limit $1"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let feeds = statement.query_map(params![FINDINGS_MAX as i64], |row| row.get(0))?;
    feeds
        .map(|feed| {
            let what = "its stored state is not its actual state".to_owned();
            Ok(finding(Some(feed?), what, "restore a backup; another program has changed the file"))
        })
        .collect()
}

/// Checks the stored totals and the sums by domain against a count.
fn totals(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let remedy = "restore a backup; another program has changed the file";
    let mut findings = Vec::new();
    for total in FeedTotal::all() {
        let (kept, counted) = (total.stored(conn)?, total.counted(conn)?);
        if kept != counted {
            let what = format!("the stored total {total:?} is {kept}, but a count finds {counted}");
            findings.push(finding(None, what, remedy));
        }
    }
    let sql = "select d.name from domains d left join \
               (select domain, count(*) as feeds, sum(load) as load from feed_state \
                group by domain) s on s.domain = d.id \
               where d.feeds <> coalesce(s.feeds, 0) or d.load <> coalesce(s.load, 0) limit $1";
    let mut statement = conn.prepare_cached(sql)?;
    let names = statement.query_map(params![FINDINGS_MAX as i64], |row| row.get(0))?;
    for name in names {
        let name: String = name?;
        let what = format!("the stored load of {name} is not the sum of its feeds");
        findings.push(finding(None, what, remedy));
    }
    Ok(findings)
}

/// Checks the stored number of entries in each language against a count.
fn language_totals(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let found = languages::wrong_counts(conn, FINDINGS_MAX as i64)?;
    let remedy = "restore a backup; another program has changed the file";
    let what = |language| format!("the stored number of entries in `{language}` is wrong");
    Ok(found.into_iter().map(|language| finding(None, what(language), remedy)).collect())
}

/// Entries of windows that are looked up with one question.
const LOOKED_UP_AT_ONCE: usize = 5000;

/// Checks the entries of each window. An unknown entry would be new again. A key that is marked as
/// left would be deleted later.
fn windows(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let mut statement = conn.prepare_cached("select feed, shown from feed_window")?;
    let mut rows = statement.query([])?;
    let (mut findings, mut shown) = (Vec::new(), Vec::new());
    while let Some(row) = &rows.next()? {
        let feed: i64 = row.get(0)?;
        match Window::decode(row.get_ref(1)?.as_blob()?) {
            Ok(window) => shown.extend(window.entries().iter().map(|entry| (feed, entry.key))),
            Err(error) => findings.push(finding(Some(feed), error.to_string(), NEXT_POLL)),
        }
        if shown.len() >= LOOKED_UP_AT_ONCE {
            findings.extend(shown_entries(conn, &std::mem::take(&mut shown))?);
        }
        if findings.len() >= FINDINGS_MAX {
            break;
        }
    }
    findings.extend(shown_entries(conn, &shown)?);
    findings.truncate(FINDINGS_MAX);
    Ok(findings)
}

/// The remedy for a wrong window.
const NEXT_POLL: &str = "nothing to do: the next poll with new entries repairs it";

/// Checks entries that windows show, by feed and key.
fn shown_entries(conn: &Connection, shown: &[(i64, EntryKey)]) -> Result<Vec<Finding>, DbError> {
    let listed = shown.iter().map(|(feed, key)| {
        let key = key.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        serde_json::json!({ "feed": feed, "key": key })
    });
    let listed = serde_json::Value::from_iter(listed).to_string();
    let sql = format!(
        "select feed, unknown, \"left\" from \
         (select cast(v.value ->> 'feed' as bigint) as feed, \
          sum(case when k.feed is null then 1 else 0 end) as unknown, \
          sum(case when k.left_window_at is null then 0 else 1 end) as \"left\" \
          from {} v left join entry_keys k on k.feed = cast(v.value ->> 'feed' as bigint) \
          and k.key = {} group by 1) w where unknown > 0 or \"left\" > 0 order by feed",
        dialect::json_elements(conn, "$1"),
        dialect::bytes_of_hex(conn, "v.value ->> 'key'"),
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let counts =
        statement.query_map([listed], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut findings = Vec::new();
    for counted in counts {
        let (feed, unknown, left): (i64, i64, i64) = counted?;
        if unknown > 0 {
            let what = format!("its window shows {unknown} unknown entries");
            findings.push(finding(Some(feed), what, NEXT_POLL));
        }
        if left > 0 {
            let what = format!("its window shows {left} entries that are marked as left");
            findings.push(finding(Some(feed), what, NEXT_POLL));
        }
    }
    Ok(findings)
}

/// Finds feeds that look like the same one. They are reported and never merged.
fn twins(conn: &Connection) -> Result<Vec<Finding>, DbError> {
    let sql = "select a.id, b.id from feeds a join feeds b \
               on b.url = 'http' || substr(a.url, 6) where a.url like 'https:%' \
               union select a.id, b.id from feeds a join feeds b on b.url = a.effective_url \
               where a.effective_url is not null and a.id <> b.id limit $1";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![FINDINGS_MAX as i64], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
    })?;
    rows.map(|row| {
        let (one, other) = row?;
        let what = format!("it looks like the same feed as feed {other}");
        let found = finding(Some(one), what, "if they are the same, remove one of them");
        Ok(Finding { harmless: true, ..found })
    })
    .collect()
}

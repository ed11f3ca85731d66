//! Retention: deletes the texts of old entries, then the keys of entries that left the window long
//! ago. It works in small steps, so that no poll waits long for its commit. It is off by default.
//! Entries in the window stay, because they would be new again. Undelivered matches stay for a
//! while; if such an entry is deleted later, it becomes a dead letter.

use std::collections::HashMap;
use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, FeedId, Time};

use crate::db::columns::{count, sql_count};
use crate::db::dialect;
use crate::error::DbError;
use crate::facts::languages;
use crate::feeds::state::FeedTotal;
use crate::reading::marks;
use crate::{Store, StoreError, search};

/// The shortest time that a key stays after its entry left the window. Yearly columns and rotating
/// archives show entries again after a year.
pub const KEYS_AGE_MIN: Duration = Duration::from_secs(400 * 86_400);

/// Entries that one step deletes at most, which takes a few milliseconds. Most of the time goes to
/// the full-text index.
const STEP_ROWS: u64 = 50;
/// Keys that one step deletes at most. No other rows depend on them.
const STEP_KEYS: u64 = 500;

/// The longest time that an undelivered entry stays. Receivers come back within weeks, or never.
const UNDELIVERED_AGE_MAX: Duration = Duration::from_secs(30 * 86_400);

/// The limits of retention. Ages count from `seen_at`; `None` means no limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retention {
    pub entries_age_max: Option<Duration>,
    pub entries_per_feed_max: Option<u64>,
    pub entries_max: Option<u64>,
    /// How long a key stays after its entry left the window and its text was deleted; at least
    /// [`KEYS_AGE_MIN`].
    pub keys_age_max: Option<Duration>,
    /// Limits of single feeds, which replace the first two.
    pub per_feed: HashMap<FeedId, FeedRetention>,
}

/// The limits of one feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedRetention {
    pub entries_age_max: Option<Duration>,
    pub entries_max: Option<u64>,
}

/// The numbers of deleted entries and keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionResult {
    pub entries: u64,
    pub keys: u64,
}

impl Retention {
    /// Returns a retention that deletes nothing.
    pub fn off() -> Retention {
        Retention {
            entries_age_max: None,
            entries_per_feed_max: None,
            entries_max: None,
            keys_age_max: None,
            per_feed: HashMap::new(),
        }
    }

    fn of(&self, feed: FeedId) -> FeedRetention {
        let general = FeedRetention {
            entries_age_max: self.entries_age_max,
            entries_max: self.entries_per_feed_max,
        };
        self.per_feed.get(&feed).copied().unwrap_or(general)
    }
}

impl Store {
    /// Deletes what exceeds the limits. Each step is its own transaction. After an interruption,
    /// the next call continues.
    pub fn retain(&self, retention: &Retention, now: Time) -> Result<RetentionResult, StoreError> {
        let mut retained = RetentionResult::default();
        for feed in self.feeds_with_entries()? {
            let rule = retention.of(feed);
            if let Some(age) = rule.entries_age_max {
                retained.entries += self.delete_older(feed, now - age, now)?;
            }
            if let Some(max) = rule.entries_max {
                retained.entries += self.delete_surplus(feed, max, now)?;
            }
        }
        if let Some(max) = retention.entries_max {
            retained.entries += self.delete_over_all(max, now)?;
        }
        if let Some(age) = retention.keys_age_max {
            retained.keys = self.delete_keys(now - age.max(KEYS_AGE_MIN))?;
        }
        Ok(retained)
    }

    fn feeds_with_entries(&self) -> Result<Vec<FeedId>, StoreError> {
        self.read(|conn| feeds(conn, "select feed from feed_state where entries > 0", []))
    }

    fn delete_older(&self, feed: FeedId, before: Time, now: Time) -> Result<u64, StoreError> {
        // A feed's entries were seen in the order of their ids, so it is enough to check the
        // oldest.
        let oldest = self.read(|conn| {
            let sql = "select id, seen_at from entries where feed = $1 order by id limit 1";
            let mut statement = conn.prepare_cached(sql)?;
            let seen_at = statement.query_row([feed.0], |row| row.get::<_, i64>(1)).optional()?;
            Ok(seen_at.map(Time::from_millis))
        })?;
        if oldest.is_none_or(|seen_at| seen_at >= before) {
            return Ok(0);
        }
        self.in_steps(now, move |conn, after| {
            let sql = format!(
                "select id from (select e.id, e.seen_at from entries e where e.feed = $1 \
                 and e.id > $2 and not ({}) order by e.id limit $3) as oldest where seen_at < $4",
                protected(now)
            );
            let step = sql_count(STEP_ROWS);
            ids(conn, &sql, params![feed.0, after.0, step, before.millis()])
        })
    }

    /// Deletes all but the newest `max` entries of a feed. Protected entries count and stay.
    fn delete_surplus(&self, feed: FeedId, max: u64, now: Time) -> Result<u64, StoreError> {
        let last = self.read(|conn| {
            let sql = "select entries from feed_state where feed = $1";
            let kept = conn.prepare_cached(sql)?.query_row([feed.0], |r| count(r, 0)).optional()?;
            let surplus = kept.unwrap_or(0).saturating_sub(max);
            let sql = "select max(id) from \
                       (select id from entries where feed = $1 order by id limit $2) as oldest";
            let bounds = params![feed.0, sql_count(surplus)];
            Ok(conn.prepare_cached(sql)?.query_row(bounds, |row| row.get::<_, Option<i64>>(0))?)
        })?;
        let Some(last) = last else { return Ok(0) };
        self.in_steps(now, move |conn, after| {
            let sql = format!(
                "select e.id from entries e where e.feed = $1 and e.id > $2 and e.id <= $3 \
                 and not ({}) order by e.id limit $4",
                protected(now)
            );
            ids(conn, &sql, params![feed.0, after.0, last, sql_count(STEP_ROWS)])
        })
    }

    /// Deletes all but the newest `max` entries of the whole store.
    fn delete_over_all(&self, max: u64, now: Time) -> Result<u64, StoreError> {
        let last = self.read(|conn| {
            let kept = FeedTotal::Entries.stored(conn)?.max(0).unsigned_abs();
            let surplus = kept.saturating_sub(max);
            let sql = "select max(id) from (select id from entries order by id limit $1) as oldest";
            let bounds = [sql_count(surplus)];
            Ok(conn.prepare_cached(sql)?.query_row(bounds, |row| row.get::<_, Option<i64>>(0))?)
        })?;
        let Some(last) = last else { return Ok(0) };
        self.in_steps(now, move |conn, after| {
            let sql = format!(
                "select e.id from entries e where e.id > $1 and e.id <= $2 and not ({}) \
                 order by e.id limit $3",
                protected(now)
            );
            ids(conn, &sql, params![after.0, last, sql_count(STEP_ROWS)])
        })
    }

    /// Deletes old keys. A key stays as long as its entry, which would otherwise be recorded twice.
    fn delete_keys(&self, left_before: Time) -> Result<u64, StoreError> {
        let found = self.read(|conn| {
            let sql = "select distinct feed from entry_keys where left_window_at < $1";
            feeds(conn, sql, [left_before.millis()])
        })?;
        let mut deleted = 0;
        for feed in found {
            loop {
                let n = self.write(move |conn| {
                    let sql = "delete from entry_keys where feed = $1 and key in \
                               (select k.key from entry_keys k where k.feed = $1 \
                                and k.left_window_at < $2 \
                                and not exists (select 1 from entries e where e.id = k.entry) \
                                limit $3)";
                    let mut statement = conn.prepare_cached(sql)?;
                    let bounds = params![feed.0, left_before.millis(), sql_count(STEP_KEYS)];
                    Ok(statement.execute(bounds)? as u64)
                })?;
                deleted += n;
                if n < STEP_KEYS {
                    break;
                }
            }
        }
        Ok(deleted)
    }

    /// Deletes the entries that `which` finds, step by step, until a step is not full. Each step
    /// continues after the last one, so that protected entries are read only once.
    fn in_steps<F>(&self, now: Time, which: F) -> Result<u64, StoreError>
    where
        F: Fn(&Connection, EntryId) -> Result<Vec<EntryId>, DbError> + Clone + Send + 'static,
    {
        let (mut deleted, mut after) = (0, EntryId(0));
        loop {
            let which = which.clone();
            let (found, n_deleted) = self.write(move |conn| {
                let found = which(conn, after)?;
                let unprotected = lock_unprotected(conn, found.clone(), now)?;
                delete_entries(conn, &unprotected, now)?;
                Ok((found, unprotected.len() as u64))
            })?;
            deleted += n_deleted;
            match found.last() {
                Some(last) if found.len() as u64 >= STEP_ROWS => after = *last,
                _ => return Ok(deleted),
            }
        }
    }
}

/// Returns an SQL condition: the entry `e` is starred or labelled by a person, or a receiver still
/// waits for it.
fn protected(now: Time) -> String {
    let since = (now - UNDELIVERED_AGE_MAX).millis();
    format!(
        "exists (select 1 from stars s where s.entry = e.id) \
         or exists (select 1 from entry_labels l where l.entry = e.id and l.by_rule = 0) \
         or e.seen_at > {since} and exists (select 1 from query_entries q \
         join deliveries d on d.query = q.query left join dead_letters l \
         on l.delivery = d.id and l.position = q.position where q.entry = e.id \
         and (q.position > d.position or l.replay = 1))"
    )
}

/// Locks these entries and returns those that are still unprotected. Another process may have
/// starred or labelled an entry since it was found. SQLite has one writer.
fn lock_unprotected(
    conn: &Connection,
    found: Vec<EntryId>,
    now: Time,
) -> Result<Vec<EntryId>, DbError> {
    if !conn.is_postgres() || found.is_empty() {
        return Ok(found);
    }
    let list = json(&found);
    let numbers = dialect::json_numbers(conn, "$1");
    let lock = dialect::for_update(conn);
    let sql = format!("select id from entries where id in ({numbers}) order by id{lock}");
    ids(conn, &sql, [&list])?;
    // A statement sees what was committed before it began, so the question needs a statement of
    // its own.
    let sql = format!(
        "select e.id from entries e where e.id in ({numbers}) and not ({}) order by e.id",
        protected(now)
    );
    ids(conn, &sql, [&list])
}

/// The numbers of entries as a JSON array.
fn json(entries: &[EntryId]) -> String {
    let numbers: Vec<String> = entries.iter().map(|entry| entry.0.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

/// Deletes entries with their revisions and updates the totals. An undelivered match becomes a dead
/// letter, so that the loss is reported.
fn delete_entries(conn: &Connection, entries: &[EntryId], now: Time) -> Result<(), DbError> {
    let mut bury = conn.prepare_cached(
        "insert into dead_letters (delivery, position, entry, at, attempts, error) \
         select d.id, q.position, q.entry, $1, d.attempts, \
         'deleted by retention before it was delivered' \
         from query_entries q join deliveries d on d.query = q.query \
         where q.position > d.position and q.entry = $2 \
         on conflict (delivery, position) do nothing",
    )?;
    let mut remove =
        conn.prepare_cached("delete from entries where id = $1 returning feed, lang")?;
    let mut count =
        conn.prepare_cached("update feed_state set entries = entries - 1 where feed = $1")?;
    for entry in entries {
        bury.execute(params![now.millis(), entry.0])?;
        let (feed, language): (u32, Option<String>) =
            remove.query_row([entry.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
        count.execute([feed])?;
        if let Some(language) = language {
            languages::count(conn, &language, -1)?;
        }
    }
    FeedTotal::Entries.add(conn, -sql_count(entries.len() as u64))?;
    marks::remove_entries(conn, entries)?;
    search::remove_entries(conn, entries)
}

fn ids(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<EntryId>, DbError> {
    // Not cached, because the text contains a time.
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| row.get(0).map(EntryId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn feeds(
    conn: &Connection,
    sql: &str,
    params: impl crate::db::sql::Params,
) -> Result<Vec<FeedId>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

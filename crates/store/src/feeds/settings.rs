//! Settings of feeds, tags and the whole instance. The caller decides which of them wins, except
//! for `paused`, which the store needs to find the due feeds.

use std::collections::HashMap;
use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, Row, params};

use feed::{FeedId, Time};

use crate::db::columns::{count, duration, duration_ms};
use crate::error::DbError;
use crate::feeds::state;
use crate::{Store, StoreError};

/// The settings of one feed or tag. `None` means not set here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub policy: Option<String>,
    pub alpha: Option<Duration>,
    pub beta: Option<Duration>,
    pub weight: Option<f64>,
    pub max_delay: Option<Duration>,
    pub paused: Option<bool>,
}

/// A change of settings. `None` leaves a setting, `Some(None)` removes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SettingsChange {
    pub policy: Option<Option<String>>,
    pub alpha: Option<Option<Duration>>,
    pub beta: Option<Option<Duration>>,
    pub weight: Option<Option<f64>>,
    pub max_delay: Option<Option<Duration>>,
    pub paused: Option<Option<bool>>,
}

/// A tag that a feed has or that has settings.
#[derive(Clone, Debug, PartialEq)]
pub struct TagRow {
    pub tag: String,
    pub n_feeds: u64,
    pub settings: Settings,
}

impl SettingsChange {
    fn change(&self, settings: &mut Settings) {
        fn put<T: Clone>(place: &mut Option<T>, change: &Option<Option<T>>) {
            if let Some(value) = change {
                place.clone_from(value);
            }
        }
        put(&mut settings.policy, &self.policy);
        put(&mut settings.alpha, &self.alpha);
        put(&mut settings.beta, &self.beta);
        put(&mut settings.weight, &self.weight);
        put(&mut settings.max_delay, &self.max_delay);
        put(&mut settings.paused, &self.paused);
    }
}

impl Store {
    pub fn set_feed(&self, feed: FeedId, change: &SettingsChange) -> Result<(), StoreError> {
        let change = change.clone();
        self.write(move |conn| {
            let sql = "select f.policy, f.alpha_ms, f.beta_ms, f.weight, f.max_delay_ms, s.paused \
                       from feeds f join feed_state s on s.feed = f.id where f.id = $1";
            let found = conn.query_row(sql, [feed.0], |row| settings(row, 0)).optional()?;
            let mut set = found.ok_or(StoreError::NoFeed(feed))?;
            change.change(&mut set);
            let sql = "update feeds set policy = $1, alpha_ms = $2, beta_ms = $3, weight = $4, \
                       max_delay_ms = $5 where id = $6";
            conn.execute(
                sql,
                params![
                    set.policy,
                    set.alpha.map(duration_ms),
                    set.beta.map(duration_ms),
                    set.weight,
                    set.max_delay.map(duration_ms),
                    feed.0,
                ],
            )?;
            let sql = "update feed_state set paused = $1 where feed = $2";
            conn.execute(sql, params![set.paused.map(i64::from), feed.0])?;
            state::refresh(conn, feed)
        })
    }

    pub fn set_tag(&self, tag: &str, change: &SettingsChange) -> Result<(), StoreError> {
        let (tag, change) = (tag.to_owned(), change.clone());
        self.write(move |conn| {
            let sql = "select policy, alpha_ms, beta_ms, weight, max_delay_ms, paused \
                       from tag_settings where tag = $1";
            let found = conn.query_row(sql, [&tag], |row| settings(row, 0)).optional()?;
            let mut set = found.unwrap_or_default();
            let paused_before = set.paused;
            change.change(&mut set);
            if set == Settings::default() {
                conn.execute("delete from tag_settings where tag = $1", [&tag])?;
                return state::refresh_tagged(conn, &tag);
            }
            let sql = "insert into tag_settings \
                       (tag, policy, alpha_ms, beta_ms, weight, max_delay_ms, paused) \
                       values ($1, $2, $3, $4, $5, $6, $7) on conflict (tag) do update set \
                       policy = excluded.policy, alpha_ms = excluded.alpha_ms, \
                       beta_ms = excluded.beta_ms, weight = excluded.weight, \
                       max_delay_ms = excluded.max_delay_ms, paused = excluded.paused";
            conn.execute(
                sql,
                params![
                    tag,
                    set.policy,
                    set.alpha.map(duration_ms),
                    set.beta.map(duration_ms),
                    set.weight,
                    set.max_delay.map(duration_ms),
                    set.paused.map(i64::from),
                ],
            )?;
            if set.paused == paused_before {
                return Ok(());
            }
            state::refresh_tagged(conn, &tag)
        })
    }

    /// Returns all tags in use or with settings, by name.
    pub fn tags(&self) -> Result<Vec<TagRow>, StoreError> {
        self.read(|conn| {
            let sql = "select t.tag, (select count(*) from feed_tags f where f.tag = t.tag), \
                       s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused \
                       from (select distinct tag from feed_tags \
                             union select tag from tag_settings) t \
                       left join tag_settings s on s.tag = t.tag order by t.tag";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(TagRow {
                    tag: row.get(0)?,
                    n_feeds: count(row, 1)?,
                    settings: settings(row, 2)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns a setting of the instance, for example the budget.
    pub fn setting(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached("select value from settings where key = $1")?;
            Ok(statement.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    /// Changes a setting of the instance; `None` removes it.
    pub fn set_setting(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let (key, value) = (key.to_owned(), value.map(str::to_owned));
        self.write(move |conn| put_setting(conn, &key, value.as_deref()))
    }

    /// Changes a setting that any process on the database may change, such as a key or a stored
    /// result.
    pub fn set_own_setting(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let (key, value) = (key.to_owned(), value.map(str::to_owned));
        self.write_own(move |conn| put_setting(conn, &key, value.as_deref()))
    }

    /// Writes a setting to prove that the store can be changed.
    pub fn try_writing(&self, now: Time) -> Result<(), StoreError> {
        self.set_own_setting("written_at", Some(&now.to_string()))
    }
}

pub(crate) fn put_setting(
    conn: &Connection,
    key: &str,
    value: Option<&str>,
) -> Result<(), DbError> {
    let Some(value) = value else {
        conn.execute("delete from settings where key = $1", [key])?;
        return Ok(());
    };
    let sql = "insert into settings (key, value) values ($1, $2) \
               on conflict (key) do update set value = excluded.value";
    conn.execute(sql, [key, value])?;
    Ok(())
}

/// Reads six columns from `first` on: policy, alpha, beta, weight, max_delay, paused.
pub(crate) fn settings(row: &Row<'_>, first: usize) -> crate::db::sql::Result<Settings> {
    Ok(Settings {
        policy: row.get(first)?,
        alpha: duration(row, first + 1)?,
        beta: duration(row, first + 2)?,
        weight: row.get(first + 3)?,
        max_delay: duration(row, first + 4)?,
        paused: row.get::<_, Option<i64>>(first + 5)?.map(|p| p != 0),
    })
}

/// Returns the settings of the tags of a feed, by tag.
pub(crate) fn of_tags(conn: &Connection, feed: FeedId) -> Result<Vec<(String, Settings)>, DbError> {
    let sql = "select t.tag, s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused \
               from feed_tags t join tag_settings s on s.tag = t.tag where t.feed = $1 \
               order by t.tag";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([feed.0], |row| Ok((row.get(0)?, settings(row, 1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the same for every feed that has a tag with settings.
pub(crate) fn of_all_tags(
    conn: &Connection,
) -> Result<HashMap<FeedId, Vec<(String, Settings)>>, DbError> {
    let sql = "select t.tag, s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused, \
               t.feed from tag_settings s join feed_tags t on t.tag = s.tag order by t.tag";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut of_feeds: HashMap<FeedId, Vec<(String, Settings)>> = HashMap::new();
    while let Some(row) = &rows.next()? {
        let of_feed = of_feeds.entry(FeedId(row.get(7)?)).or_default();
        of_feed.push((row.get(0)?, settings(row, 1)?));
    }
    Ok(of_feeds)
}

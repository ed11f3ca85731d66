//! Settings of feeds, tags and the whole instance. The caller decides which of them wins, except
//! for `paused`, which the store needs to find the due feeds.

use std::collections::HashMap;
use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, Row, params};

use feed::{ArticleMode, FeedId, Time};

use crate::db::columns::{count, duration, duration_ms};
use crate::error::DbError;
use crate::feeds::{rows, state, subscribing};
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
    pub article: ArticleSettings,
}

/// The settings for the pages behind entries. `None` means not set here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleSettings {
    pub mode: Option<ArticleMode>,
    /// A CSS selector for the main text.
    pub selector: Option<String>,
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
    pub articles: Option<Option<ArticleMode>>,
    pub article_selector: Option<Option<String>>,
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
        put(&mut settings.article.mode, &self.articles);
        put(&mut settings.article.selector, &self.article_selector);
    }
}

impl Store {
    pub fn set_feed(&self, feed: FeedId, change: &SettingsChange) -> Result<(), StoreError> {
        let change = change.clone();
        self.write(move |conn| {
            let sql = "select f.policy, f.alpha_ms, f.beta_ms, f.weight, f.max_delay_ms, s.paused, \
                       f.articles, f.article_selector \
                       from feeds f join feed_state s on s.feed = f.id where f.id = $1";
            let found = conn.query_row(sql, [feed.0], |row| all_settings(row, 0)).optional()?;
            let mut set = found.ok_or(StoreError::NoFeed(feed))?;
            change.change(&mut set);
            let sql = "update feeds set policy = $1, alpha_ms = $2, beta_ms = $3, weight = $4, \
                       max_delay_ms = $5, articles = $6, article_selector = $7 where id = $8";
            conn.execute(
                sql,
                params![
                    set.policy,
                    set.alpha.map(duration_ms),
                    set.beta.map(duration_ms),
                    set.weight,
                    set.max_delay.map(duration_ms),
                    set.article.mode.map(mode_code),
                    set.article.selector,
                    feed.0,
                ],
            )?;
            let sql = "update feed_state set paused = $1 where feed = $2";
            conn.execute(sql, params![set.paused.map(i64::from), feed.0])?;
            if change.paused == Some(Some(false)) {
                subscribing::keep_resumed(conn, feed)?;
            }
            state::refresh(conn, feed)
        })
    }

    pub fn set_tag(&self, tag: &str, change: &SettingsChange) -> Result<(), StoreError> {
        let (tag, change) = (tag.to_owned(), change.clone());
        self.write(move |conn| {
            let sql = "select policy, alpha_ms, beta_ms, weight, max_delay_ms, paused, \
                       articles, article_selector from tag_settings where tag = $1";
            let found = conn.query_row(sql, [&tag], |row| all_settings(row, 0)).optional()?;
            let mut set = found.unwrap_or_default();
            let paused_before = set.paused;
            change.change(&mut set);
            if set == Settings::default() {
                // A row that only names a region stays.
                let sql = "delete from tag_settings where tag = $1 and region is null";
                conn.execute(sql, [&tag])?;
                let sql = "update tag_settings set policy = null, alpha_ms = null, beta_ms = null, \
                           weight = null, max_delay_ms = null, paused = null where tag = $1";
                conn.execute(sql, [&tag])?;
                return state::refresh_tagged(conn, &tag);
            }
            let sql = "insert into tag_settings \
                       (tag, policy, alpha_ms, beta_ms, weight, max_delay_ms, paused, articles, \
                        article_selector) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (tag) do update set \
                       policy = excluded.policy, alpha_ms = excluded.alpha_ms, \
                       beta_ms = excluded.beta_ms, weight = excluded.weight, \
                       max_delay_ms = excluded.max_delay_ms, paused = excluded.paused, \
                       articles = excluded.articles, \
                       article_selector = excluded.article_selector";
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
                    set.article.mode.map(mode_code),
                    set.article.selector,
                ],
            )?;
            if set.paused == paused_before {
                return Ok(());
            }
            state::refresh_tagged(conn, &tag)
        })
    }

    /// Returns whether a feed or a tag has a policy of its own whose name begins so.
    pub fn has_policy(&self, name: &str) -> Result<bool, StoreError> {
        self.read(|conn| {
            let sql = "select 1 from feeds where policy like $1 union all \
                       select 1 from tag_settings where policy like $1 limit 1";
            Ok(conn.prepare_cached(sql)?.exists([format!("{name}%")])?)
        })
    }

    /// Returns all tags in use or with settings, in the order of the person at the machine and
    /// then by name.
    pub fn tags(&self) -> Result<Vec<TagRow>, StoreError> {
        self.read(|conn| {
            let sql = "select t.tag, (select count(*) from feed_tags f where f.tag = t.tag), \
                       s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused, \
                       s.articles, s.article_selector from (select distinct tag from feed_tags \
                             union select tag from tag_settings) t \
                       left join tag_settings s on s.tag = t.tag \
                       left join tag_numbers n on n.tag = t.tag \
                       order by n.position is null, n.position, t.tag";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(TagRow {
                    tag: row.get(0)?,
                    n_feeds: count(row, 1)?,
                    settings: all_settings(row, 2)?,
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

    /// Returns a setting that all processes on the database share. The first one that asks gives
    /// its value.
    pub fn shared_setting(&self, key: &str, first: &str) -> Result<String, StoreError> {
        let read = "select value from settings where key = $1";
        let find = |conn: &Connection| conn.query_row(read, [key], |row| row.get(0)).optional();
        if let Some(found) = self.read(|conn| Ok(find(conn)?))? {
            return Ok(found);
        }
        let (key, first) = (key.to_owned(), first.to_owned());
        self.write_own(move |conn| {
            let sql = "insert into settings (key, value) values ($1, $2) \
                       on conflict (key) do nothing";
            conn.execute(sql, params![key, first])?;
            Ok(conn.query_row(read, [key], |row| row.get(0))?)
        })
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

/// Reads six columns from `first` on: policy, alpha, beta, weight, max_delay, paused. The settings
/// for articles are elsewhere in the row.
pub(crate) fn settings(row: &Row<'_>, first: usize) -> crate::db::sql::Result<Settings> {
    Ok(Settings {
        policy: row.get(first)?,
        alpha: duration(row, first + 1)?,
        beta: duration(row, first + 2)?,
        weight: row.get(first + 3)?,
        max_delay: duration(row, first + 4)?,
        paused: row.get::<_, Option<i64>>(first + 5)?.map(|p| p != 0),
        article: ArticleSettings::default(),
    })
}

/// Reads the same six columns, and the two of [`article_settings`] after them.
fn all_settings(row: &Row<'_>, first: usize) -> crate::db::sql::Result<Settings> {
    Ok(Settings { article: article_settings(row, first + 6)?, ..settings(row, first)? })
}

/// Reads two columns: when pages are fetched, and the selector.
pub(crate) fn article_settings(
    row: &Row<'_>,
    first: usize,
) -> crate::db::sql::Result<ArticleSettings> {
    let code: Option<i64> = row.get(first)?;
    let mode = code.and_then(|code| ArticleMode::ALL.get(usize::try_from(code).ok()?).copied());
    Ok(ArticleSettings { mode, selector: row.get(first + 1)? })
}

/// The number in the column `articles`: the place in [`ArticleMode::ALL`].
const fn mode_code(mode: ArticleMode) -> i64 {
    mode as i64
}

/// Returns the settings of the tags of feeds, by tag.
pub(crate) fn of_tags(
    conn: &Connection,
    feeds: &[FeedId],
) -> Result<HashMap<FeedId, Vec<(String, Settings)>>, DbError> {
    let sql = "select t.tag, s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused, \
               s.articles, s.article_selector from feed_tags t \
               join tag_settings s on s.tag = t.tag where t.feed = $1";
    let mut of_feeds: HashMap<FeedId, Vec<(String, Settings)>> = HashMap::new();
    conn.prepare_cached(sql)?.each(&rows::keys(feeds), &[], |place, row| {
        let of_feed = of_feeds.entry(feeds[place]).or_default();
        of_feed.push((row.get(0)?, all_settings(row, 1)?));
        Ok(())
    })?;
    for of_feed in of_feeds.values_mut() {
        of_feed.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    }
    Ok(of_feeds)
}

/// Returns the same for every feed that has a tag with settings.
pub(crate) fn of_all_tags(
    conn: &Connection,
) -> Result<HashMap<FeedId, Vec<(String, Settings)>>, DbError> {
    let sql = "select t.tag, s.policy, s.alpha_ms, s.beta_ms, s.weight, s.max_delay_ms, s.paused, \
               s.articles, s.article_selector, t.feed from tag_settings s \
               join feed_tags t on t.tag = s.tag order by t.tag";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut of_feeds: HashMap<FeedId, Vec<(String, Settings)>> = HashMap::new();
    while let Some(row) = &rows.next()? {
        let of_feed = of_feeds.entry(FeedId(row.get(9)?)).or_default();
        of_feed.push((row.get(0)?, all_settings(row, 1)?));
    }
    Ok(of_feeds)
}

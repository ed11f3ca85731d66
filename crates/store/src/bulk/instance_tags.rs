//! Tags of the feeds themselves, which also choose settings: many feeds get or lose tags, a tag
//! gets another name.

use std::collections::HashSet;

use feed::FeedId;
use serde::{Deserialize, Serialize};

use super::{BulkBefore, json_list};
use crate::db::dialect;
use crate::db::sql::{Connection, OptionalExtension, Row, params};
use crate::error::DbError;
use crate::feeds::{change, state};

/// A tag with some of its feeds.
#[derive(Debug, Deserialize, Serialize)]
struct NamedFeeds {
    tag: String,
    feeds: Vec<FeedId>,
}

/// The tags that feeds got and lost.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct InstanceTagsBefore {
    gained: Vec<NamedFeeds>,
    lost: Vec<NamedFeeds>,
}

/// A tag before it was renamed, removed, or became one with another.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct InstanceTagBefore {
    was: NamedFeeds,
    number: Option<TagNumberBefore>,
    settings: Option<TagSettingsBefore>,
    /// The new name, and the feeds that got it only now.
    to: Option<NamedFeeds>,
    /// Whether the new name had a number and settings of its own.
    to_had_number: bool,
    to_had_settings: bool,
}

#[derive(Debug, Deserialize, Serialize)]
struct TagNumberBefore {
    id: i64,
    made: i64,
    position: Option<i64>,
}

/// The columns of `tag_settings`.
#[derive(Debug, Deserialize, Serialize)]
struct TagSettingsBefore {
    policy: Option<String>,
    alpha_ms: Option<i64>,
    beta_ms: Option<i64>,
    weight: Option<f64>,
    max_delay_ms: Option<i64>,
    paused: Option<i64>,
    articles: Option<i64>,
    article_selector: Option<String>,
    region: Option<String>,
}

/// Removes tags from feeds, then adds others.
pub(super) fn tag(
    conn: &Connection,
    feeds: &[FeedId],
    add: &[String],
    remove: &[String],
) -> Result<InstanceTagsBefore, DbError> {
    let mut before = InstanceTagsBefore::default();
    for tag in remove {
        let tagged = tagged(conn, tag)?;
        let feeds: Vec<FeedId> = feeds.iter().copied().filter(|f| tagged.contains(f)).collect();
        take(conn, tag, &feeds)?;
        before.lost.push(NamedFeeds { tag: tag.clone(), feeds });
    }
    for tag in add {
        let tagged = tagged(conn, tag)?;
        let feeds: Vec<FeedId> = feeds.iter().copied().filter(|f| !tagged.contains(f)).collect();
        give(conn, tag, &feeds)?;
        before.gained.push(NamedFeeds { tag: tag.clone(), feeds });
    }
    state::refresh_many(conn, feeds)?;
    Ok(before)
}

/// Renames a tag, or removes it. `None`: the tag does not exist.
pub(super) fn rename(
    conn: &Connection,
    tag: &str,
    to: Option<&str>,
) -> Result<Option<(BulkBefore, usize, Vec<FeedId>)>, DbError> {
    let mut feeds: Vec<FeedId> = tagged(conn, tag)?.into_iter().collect();
    feeds.sort_unstable();
    let (number, settings) = (number(conn, tag)?, settings(conn, tag)?);
    if feeds.is_empty() && number.is_none() && settings.is_none() {
        return Ok(None);
    }
    let (mut to_had_number, mut to_had_settings) = (false, false);
    let mut touched: HashSet<FeedId> = feeds.iter().copied().collect();
    let mut merged = None;
    if let Some(to) = to {
        to_had_number = self::number(conn, to)?.is_some();
        to_had_settings = self::settings(conn, to)?.is_some();
        let had = tagged(conn, to)?;
        let feeds = feeds.iter().copied().filter(|feed| !had.contains(feed)).collect();
        merged = Some(NamedFeeds { tag: to.to_owned(), feeds });
        touched.extend(had);
    }
    change::rename_tag(conn, tag, to)?;
    let n_feeds = feeds.len();
    let was = NamedFeeds { tag: tag.to_owned(), feeds };
    let before =
        InstanceTagBefore { was, number, settings, to: merged, to_had_number, to_had_settings };
    Ok(Some((BulkBefore::InstanceTag(before), n_feeds, touched.into_iter().collect())))
}

impl InstanceTagsBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        for one in &self.gained {
            take(conn, &one.tag, &one.feeds)?;
        }
        for one in &self.lost {
            give(conn, &one.tag, &one.feeds)?;
        }
        let touched = self.gained.iter().chain(&self.lost).flat_map(|one| &one.feeds);
        let touched: HashSet<FeedId> = touched.copied().collect();
        let touched: Vec<FeedId> = touched.into_iter().collect();
        state::refresh_many(conn, &touched)?;
        Ok(touched)
    }
}

impl InstanceTagBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        let mut touched: HashSet<FeedId> = self.was.feeds.iter().copied().collect();
        let to = self.to.as_ref().map(|to| to.tag.as_str());
        if let Some(to) = &self.to {
            touched.extend(tagged(conn, &to.tag)?);
            take(conn, &to.tag, &to.feeds)?;
        }
        give(conn, &self.was.tag, &self.was.feeds)?;
        if let Some(number) = &self.number {
            let moved = to.filter(|_| !self.to_had_number);
            number.restore(conn, &self.was.tag, moved)?;
        }
        if let Some(settings) = &self.settings {
            let moved = to.filter(|_| !self.to_had_settings);
            settings.restore(conn, &self.was.tag, moved)?;
        }
        let touched: Vec<FeedId> = touched.into_iter().collect();
        state::refresh_many(conn, &touched)?;
        Ok(touched)
    }
}

impl TagNumberBefore {
    /// Gives the number to its tag again; `moved` is the tag that got it.
    fn restore(&self, conn: &Connection, tag: &str, moved: Option<&str>) -> Result<(), DbError> {
        if let Some(moved) = moved {
            conn.execute(
                "delete from tag_numbers where tag = $1 and id <> $2",
                params![tag, self.id],
            )?;
            let sql = "update tag_numbers set tag = $1 where id = $2 and tag = $3";
            if conn.execute(sql, params![tag, self.id, moved])? > 0 {
                return Ok(());
            }
        }
        let sql = "insert into tag_numbers (id, tag, made, position) values ($1, $2, $3, $4) \
                   on conflict do nothing";
        conn.execute(sql, params![self.id, tag, self.made, self.position])?;
        Ok(())
    }
}

impl TagSettingsBefore {
    /// Gives the settings to their tag again; `moved` is the tag that got them.
    fn restore(&self, conn: &Connection, tag: &str, moved: Option<&str>) -> Result<(), DbError> {
        if let Some(moved) = moved {
            conn.execute("delete from tag_settings where tag = $1", [moved])?;
        }
        let sql = "insert into tag_settings (tag, policy, alpha_ms, beta_ms, weight, \
                   max_delay_ms, paused, articles, article_selector, region) \
                   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (tag) do nothing";
        conn.execute(
            sql,
            params![
                tag,
                self.policy,
                self.alpha_ms,
                self.beta_ms,
                self.weight,
                self.max_delay_ms,
                self.paused,
                self.articles,
                self.article_selector,
                self.region,
            ],
        )?;
        Ok(())
    }
}

fn number(conn: &Connection, tag: &str) -> Result<Option<TagNumberBefore>, DbError> {
    let sql = "select id, made, position from tag_numbers where tag = $1";
    let read = |row: &Row<'_>| {
        Ok(TagNumberBefore { id: row.get(0)?, made: row.get(1)?, position: row.get(2)? })
    };
    Ok(conn.prepare_cached(sql)?.query_row([tag], read).optional()?)
}

fn settings(conn: &Connection, tag: &str) -> Result<Option<TagSettingsBefore>, DbError> {
    let sql = "select policy, alpha_ms, beta_ms, weight, max_delay_ms, paused, articles, \
               article_selector, region from tag_settings where tag = $1";
    let read = |row: &Row<'_>| {
        Ok(TagSettingsBefore {
            policy: row.get(0)?,
            alpha_ms: row.get(1)?,
            beta_ms: row.get(2)?,
            weight: row.get(3)?,
            max_delay_ms: row.get(4)?,
            paused: row.get(5)?,
            articles: row.get(6)?,
            article_selector: row.get(7)?,
            region: row.get(8)?,
        })
    };
    Ok(conn.prepare_cached(sql)?.query_row([tag], read).optional()?)
}

/// Returns the feeds that have a tag.
fn tagged(conn: &Connection, tag: &str) -> Result<HashSet<FeedId>, DbError> {
    let mut statement = conn.prepare_cached("select feed from feed_tags where tag = $1")?;
    let rows = statement.query_map([tag], |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Gives a tag to those of the feeds that exist.
fn give(conn: &Connection, tag: &str, feeds: &[FeedId]) -> Result<(), DbError> {
    let sql = format!(
        "insert into feed_tags (feed, tag) select f.id, $1 from feeds f where f.id in ({}) \
         on conflict (feed, tag) do nothing",
        dialect::json_numbers(conn, "$2")
    );
    conn.prepare_cached(&sql)?.execute(params![tag, json_list(feeds)])?;
    Ok(())
}

fn take(conn: &Connection, tag: &str, feeds: &[FeedId]) -> Result<(), DbError> {
    let sql = format!(
        "delete from feed_tags where tag = $1 and feed in ({})",
        dialect::json_numbers(conn, "$2")
    );
    conn.prepare_cached(&sql)?.execute(params![tag, json_list(feeds)])?;
    Ok(())
}

//! Pauses and resumes many feeds, and changes their policy.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use feed::FeedId;
use serde::{Deserialize, Serialize};

use super::json_list;
use super::leaving::{pause, set_of_instance};
use crate::db::dialect;
use crate::db::sql::{Connection, Value, params};
use crate::error::DbError;
use crate::feeds::{rows, state};

/// The settings that feeds had.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct ManySettingsBefore {
    /// The policy that they got, if it was changed. Feeds with another one stay as they are.
    set_policy: Option<NewPolicy>,
    /// The pause that they got, likewise.
    set_pause: Option<i64>,
    groups: Vec<EqualFeeds>,
    /// Feeds that nobody needed until they were resumed: since when, and the old pause.
    kept: Vec<(FeedId, Option<i64>, i64)>,
}

/// `None` in it: the policy was removed.
#[derive(Debug, Deserialize, Serialize)]
struct NewPolicy {
    policy: Option<String>,
}

/// Feeds with the same settings.
#[derive(Debug, Deserialize, Serialize)]
struct EqualFeeds {
    policy: Option<String>,
    paused: Option<i64>,
    feeds: Vec<FeedId>,
}

/// Changes the policy, the pause, or both. The instance keeps a resumed feed that nobody needed.
pub(super) fn set(
    conn: &Connection,
    feeds: &[FeedId],
    policy: Option<&Option<String>>,
    paused: Option<bool>,
) -> Result<ManySettingsBefore, DbError> {
    let sql = "select f.policy, s.paused from feeds f join feed_state s on s.feed = f.id \
               where f.id = $1";
    let mut groups: BTreeMap<(Option<String>, Option<i64>), Vec<FeedId>> = BTreeMap::new();
    conn.prepare_cached(sql)?.each(&rows::keys(feeds), &[], |place, row| {
        groups.entry((row.get(0)?, row.get(1)?)).or_default().push(feeds[place]);
        Ok(())
    })?;
    if let Some(policy) = policy {
        set_policy(conn, feeds, policy.as_deref())?;
    }
    let mut kept = Vec::new();
    if let Some(paused) = paused {
        pause(conn, feeds, Some(i64::from(paused)))?;
        if !paused {
            kept = keep(conn, feeds)?;
        }
    }
    state::refresh_many(conn, feeds)?;
    let equal = |((policy, paused), feeds)| EqualFeeds { policy, paused, feeds };
    Ok(ManySettingsBefore {
        set_policy: policy.map(|policy| NewPolicy { policy: policy.clone() }),
        set_pause: paused.map(i64::from),
        groups: groups.into_iter().map(equal).collect(),
        kept,
    })
}

impl ManySettingsBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        let (mut touched, mut unpaused) = (BTreeSet::new(), HashSet::new());
        for EqualFeeds { policy, paused, feeds } in &self.groups {
            if let Some(NewPolicy { policy: set }) = &self.set_policy {
                let set = Value::Text(set.as_deref().unwrap_or_default());
                let feeds = still(conn, feeds, "coalesce(f.policy, '')", set)?;
                set_policy(conn, &feeds, policy.as_deref())?;
                touched.extend(feeds);
            }
            if let Some(set) = self.set_pause {
                let feeds = still(conn, feeds, "s.paused", Value::Int(set))?;
                pause(conn, &feeds, *paused)?;
                unpaused.extend(feeds.iter().copied());
                touched.extend(feeds);
            }
        }
        let kept: Vec<_> = self.kept.iter().filter(|(feed, ..)| unpaused.contains(feed)).collect();
        let list = serde_json::to_string(&kept).unwrap_or_default();
        let sql = format!(
            "insert into query_orphans (feed, since, was_paused) \
             select f.id, cast(value ->> 1 as bigint), cast(value ->> 2 as smallint) from {} \
             join feeds f on f.id = cast(value ->> 0 as bigint) where true \
             on conflict (feed) do nothing",
            dialect::json_elements(conn, "$1")
        );
        conn.prepare_cached(&sql)?.execute([list])?;
        let kept: Vec<FeedId> = kept.into_iter().map(|(feed, ..)| *feed).collect();
        set_of_instance(conn, &kept, 0)?;
        // A feed counts once, also if it gets both settings back.
        let touched: Vec<FeedId> = touched.into_iter().collect();
        state::refresh_many(conn, &touched)?;
        Ok(touched)
    }
}

/// Returns those of the feeds whose setting still has a value.
fn still(
    conn: &Connection,
    feeds: &[FeedId],
    setting: &str,
    value: Value<'_>,
) -> Result<Vec<FeedId>, DbError> {
    let sql = format!(
        "select f.id from feeds f join feed_state s on s.feed = f.id \
         where f.id = $1 and {setting} = $2"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    Ok(statement.each(&rows::keys(feeds), &[value], |place, _| Ok(feeds[place]))?)
}

fn set_policy(conn: &Connection, feeds: &[FeedId], policy: Option<&str>) -> Result<(), DbError> {
    let numbers = dialect::json_numbers(conn, "$2");
    let sql = format!("update feeds set policy = $1 where id in ({numbers})");
    conn.prepare_cached(&sql)?.execute(params![policy, json_list(feeds)])?;
    Ok(())
}

/// Gives feeds that nobody needed to the instance.
fn keep(conn: &Connection, feeds: &[FeedId]) -> Result<Vec<(FeedId, Option<i64>, i64)>, DbError> {
    let sql = "select since, was_paused from query_orphans where feed = $1";
    let kept = conn
        .prepare_cached(sql)?
        .each(&rows::keys(feeds), &[], |place, row| Ok((feeds[place], row.get(0)?, row.get(1)?)))?;
    let resting: Vec<FeedId> = kept.iter().map(|(feed, ..)| *feed).collect();
    let numbers = dialect::json_numbers(conn, "$1");
    let sql = format!("delete from query_orphans where feed in ({numbers})");
    conn.prepare_cached(&sql)?.execute([json_list(&resting)])?;
    set_of_instance(conn, &resting, 1)?;
    Ok(kept)
}

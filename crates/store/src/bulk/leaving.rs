//! Ends many subscriptions. Feeds that nobody needs then are paused, and removed some time later.

use std::collections::{BTreeMap, HashSet};

use feed::{FeedId, Time};
use serde::{Deserialize, Serialize};

use super::json_list;
use super::own_tags::{TaggedFeeds, give_back};
use crate::AccountId;
use crate::db::dialect;
use crate::db::sql::{Connection, Value, params};
use crate::error::DbError;
use crate::feeds::{rows, state};
use crate::subscriptions::account_tags;
use crate::subscriptions::limits::check_subscriptions;

/// The subscriptions of an account that have ended.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct SubscriptionsBefore {
    account: AccountId,
    /// Feed, title, position, and the time of the subscription in milliseconds.
    rows: Vec<(FeedId, Option<String>, i64, i64)>,
    tags: Vec<TaggedFeeds>,
    rested: Vec<RestedFeeds>,
}

/// The feeds that belonged to the instance.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct OwnershipBefore {
    feeds: Vec<FeedId>,
    rested: Vec<RestedFeeds>,
}

/// Feeds that nobody needs since the change, with the setting `paused` that they had.
#[derive(Debug, Deserialize, Serialize)]
struct RestedFeeds {
    paused: Option<i64>,
    feeds: Vec<FeedId>,
}

/// Ends subscriptions of an account. Also returns the feeds that nobody needs any more.
pub(super) fn unsubscribe(
    conn: &Connection,
    account: AccountId,
    feeds: &[FeedId],
    now: Time,
) -> Result<(SubscriptionsBefore, Vec<FeedId>), DbError> {
    account_tags::lock(conn, account)?;
    let sql = "select feed, title, position, subscribed_at from subscriptions \
               where feed = $1 and account = $2";
    let whose = [Value::Int(account.0)];
    let rows = conn.prepare_cached(sql)?.each(&rows::keys(feeds), &whose, |place, row| {
        Ok((feeds[place], row.get(1)?, row.get(2)?, row.get(3)?))
    })?;
    let tags = tags(conn, account, &feeds.iter().copied().collect())?;
    let sql = format!(
        "delete from subscriptions where account = $1 and feed in ({})",
        dialect::json_numbers(conn, "$2")
    );
    conn.prepare_cached(&sql)?.execute(params![account.0, json_list(feeds)])?;
    let (rested, touched) = rest(conn, feeds, now)?;
    Ok((SubscriptionsBefore { account, rows, tags, rested }, touched))
}

/// Says that the instance does not need feeds any more. Queries and accounts may need them.
pub(super) fn give_up(
    conn: &Connection,
    feeds: &[FeedId],
    now: Time,
) -> Result<(OwnershipBefore, Vec<FeedId>), DbError> {
    let sql = "select id from feeds where id = $1 and of_instance = 1";
    let mut statement = conn.prepare_cached(sql)?;
    let owned = statement.each(&rows::keys(feeds), &[], |place, _| Ok(feeds[place]))?;
    set_of_instance(conn, &owned, 0)?;
    let (rested, touched) = rest(conn, feeds, now)?;
    Ok((OwnershipBefore { feeds: owned, rested }, touched))
}

impl SubscriptionsBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        account_tags::lock(conn, self.account)?;
        let list = serde_json::to_string(&self.rows).unwrap_or_default();
        let sql = format!(
            "insert into subscriptions (account, feed, title, position, subscribed_at) \
             select cast($1 as bigint), f.id, value ->> 1, cast(value ->> 2 as bigint), \
             cast(value ->> 3 as bigint) from {} \
             join feeds f on f.id = cast(value ->> 0 as bigint) where not exists \
             (select 1 from private_feeds p where p.feed = f.id \
              and p.owner <> cast($1 as bigint)) on conflict (account, feed) do nothing",
            dialect::json_elements(conn, "$2")
        );
        conn.prepare_cached(&sql)?.execute(params![self.account.0, list])?;
        check_subscriptions(conn, self.account)?;
        for tagged in &self.tags {
            give_back(conn, self.account, tagged)?;
        }
        wake(conn, self.account, &self.rested)
    }
}

impl OwnershipBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        let mut feeds = self.feeds.clone();
        let private = private_of_others(conn, AccountId::LOCAL, &feeds)?;
        feeds.retain(|feed| !private.contains(feed));
        set_of_instance(conn, &feeds, 1)?;
        wake(conn, AccountId::LOCAL, &self.rested)
    }
}

/// Returns those of the feeds that have become private feeds of somebody else.
fn private_of_others(
    conn: &Connection,
    account: AccountId,
    feeds: &[FeedId],
) -> Result<HashSet<FeedId>, DbError> {
    let sql = "select feed from private_feeds where feed = $1 and owner <> $2";
    let whose = [Value::Int(account.0)];
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.each(&rows::keys(feeds), &whose, |place, _| Ok(feeds[place]))?;
    Ok(found.into_iter().collect())
}

/// Returns the tags of these feeds.
fn tags(
    conn: &Connection,
    account: AccountId,
    feeds: &HashSet<FeedId>,
) -> Result<Vec<TaggedFeeds>, DbError> {
    let sql = "select a.number, a.tag, s.feed from subscription_tags s join account_tags a \
               on a.account = s.account and a.number = s.tag where s.account = $1 \
               order by a.number, s.feed";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([account.0])?;
    let mut tags: Vec<TaggedFeeds> = Vec::new();
    while let Some(row) = &rows.next()? {
        let (number, feed): (i64, FeedId) = (row.get(0)?, FeedId(row.get(2)?));
        if !feeds.contains(&feed) {
            continue;
        }
        match tags.last_mut().filter(|last| last.number == number) {
            Some(last) => last.feeds.push(feed),
            None => tags.push(TaggedFeeds { number, tag: row.get(1)?, feeds: vec![feed] }),
        }
    }
    Ok(tags)
}

pub(super) fn set_of_instance(
    conn: &Connection,
    feeds: &[FeedId],
    of_instance: i64,
) -> Result<(), DbError> {
    let numbers = dialect::json_numbers(conn, "$2");
    let sql = format!("update feeds set of_instance = $1 where id in ({numbers})");
    conn.prepare_cached(&sql)?.execute(params![of_instance, json_list(feeds)])?;
    Ok(())
}

/// Pauses those of the feeds that nobody needs: no subscriber, no query, and not the instance.
fn rest(
    conn: &Connection,
    feeds: &[FeedId],
    now: Time,
) -> Result<(Vec<RestedFeeds>, Vec<FeedId>), DbError> {
    let sql = "select t.paused from feeds f join feed_state t on t.feed = f.id \
               where f.id = $1 and f.of_instance = 0 \
               and not exists (select 1 from subscriptions s where s.feed = f.id) \
               and not exists (select 1 from query_feeds q where q.feed = f.id) \
               and not exists (select 1 from query_orphans o where o.feed = f.id)";
    let mut statement = conn.prepare_cached(sql)?;
    let unwanted: Vec<(FeedId, Option<i64>)> =
        statement.each(&rows::keys(feeds), &[], |place, row| Ok((feeds[place], row.get(0)?)))?;
    let mut by_setting: BTreeMap<Option<i64>, Vec<FeedId>> = BTreeMap::new();
    for (feed, paused) in &unwanted {
        by_setting.entry(*paused).or_default().push(*feed);
    }
    let rested: Vec<FeedId> = unwanted.into_iter().map(|(feed, _)| feed).collect();
    let list = json_list(&rested);
    let sql = format!(
        "insert into query_orphans (feed, since, was_paused) \
         select feed, $1, case when paused = 1 then 1 else 0 end from feed_state \
         where feed in ({}) on conflict (feed) do nothing",
        dialect::json_numbers(conn, "$2")
    );
    conn.prepare_cached(&sql)?.execute(params![now.millis(), list])?;
    pause(conn, &rested, Some(1))?;
    state::refresh_many(conn, &rested)?;
    let groups = by_setting.into_iter().map(|(paused, feeds)| RestedFeeds { paused, feeds });
    Ok((groups.collect(), rested))
}

/// Ends the rest of feeds, unless somebody else has ended it or owns the feed now. They get the
/// setting that they had.
fn wake(
    conn: &Connection,
    account: AccountId,
    rested: &[RestedFeeds],
) -> Result<Vec<FeedId>, DbError> {
    let mut woken = Vec::new();
    for RestedFeeds { paused, feeds } in rested {
        let private = private_of_others(conn, account, feeds)?;
        let feeds: Vec<FeedId> =
            feeds.iter().copied().filter(|feed| !private.contains(feed)).collect();
        let sql = "select feed from query_orphans where feed = $1";
        let mut statement = conn.prepare_cached(sql)?;
        let resting = statement.each(&rows::keys(&feeds), &[], |place, _| Ok(feeds[place]))?;
        let numbers = dialect::json_numbers(conn, "$1");
        let sql = format!("delete from query_orphans where feed in ({numbers})");
        conn.prepare_cached(&sql)?.execute([json_list(&resting)])?;
        pause(conn, &resting, *paused)?;
        woken.extend(resting);
    }
    state::refresh_many(conn, &woken)?;
    Ok(woken)
}

/// Sets or removes the setting `paused` of feeds.
pub(super) fn pause(
    conn: &Connection,
    feeds: &[FeedId],
    paused: Option<i64>,
) -> Result<(), DbError> {
    let numbers = dialect::json_numbers(conn, "$2");
    let sql = format!("update feed_state set paused = $1 where feed in ({numbers})");
    conn.prepare_cached(&sql)?.execute(params![paused, json_list(feeds)])?;
    Ok(())
}

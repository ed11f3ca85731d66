//! The rows of the feeds on a page of the list.

use std::collections::HashMap;

use feed::{FeedId, FeedUrl, Outcome, Time, Trouble};

use crate::db::columns::{count, outcome, time_or_none, trouble, url};
use crate::db::sql::{Connection, Value};
use crate::error::DbError;
use crate::feeds::list_order::ListedFeed;
use crate::feeds::{of_account, rows};
use crate::{AccountId, FeedRow, FeedState};

/// One feed in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedListRow {
    pub id: FeedId,
    pub url: FeedUrl,
    /// The given title, or else the publisher's.
    pub title: Option<String>,
    pub tags: Vec<String>,
    pub state: FeedState,
    pub entries: u64,
    /// Entries published since the query's `since`.
    pub n_since: u64,
    pub added_at: Time,
    pub last_poll_at: Option<Time>,
    pub last_outcome: Option<Outcome>,
    pub last_status: Option<u16>,
    pub next_at: Option<Time>,
    pub failures: u32,
    pub error: Option<String>,
    pub trouble: Option<Trouble>,
    pub gone_reason: Option<String>,
}

/// Returns the rows of listed feeds, as an account sees them.
pub(super) fn list_rows(
    conn: &Connection,
    account: AccountId,
    listed: &[ListedFeed],
    since: Time,
) -> Result<Vec<FeedListRow>, DbError> {
    let sql = "select f.url, case when exists (select 1 from private_feeds p \
                where p.feed = f.id and p.owner > 0) then null \
                else coalesce(f.given_title, f.title) end, s.entries, f.added_at, \
               s.last_poll_at, s.last_outcome, s.next_at, s.failures, s.error, s.gone_reason, \
               (select p.status from polls p where p.feed = $1 \
                order by p.generation desc limit 1), \
               (select count(*) from entry_keys k where k.feed = $1 and k.published_at >= $2), \
               s.trouble from feeds f join feed_state s on s.feed = f.id where f.id = $1";
    let feeds: Vec<FeedId> = listed.iter().map(|listed| listed.feed).collect();
    let (keys, since) = (rows::keys(&feeds), [Value::Int(since.millis())]);
    let mut lines = conn.prepare_cached(sql)?.each(&keys, &since, |place, row| {
        Ok(FeedListRow {
            id: listed[place].feed,
            url: url(row, 0)?,
            title: row.get(1)?,
            tags: Vec::new(),
            state: listed[place].state,
            entries: count(row, 2)?,
            added_at: Time::from_millis(row.get(3)?),
            last_poll_at: time_or_none(row, 4)?,
            last_outcome: outcome(row, 5)?,
            next_at: time_or_none(row, 6)?,
            failures: row.get(7)?,
            error: row.get(8)?,
            gone_reason: row.get(9)?,
            last_status: row.get(10)?,
            n_since: count(row, 11)?,
            trouble: trouble(row, 12)?,
        })
    })?;
    let mut tags = rows::tags_of(conn, &feeds)?;
    if account != AccountId::LOCAL {
        let own = of_account::find_all(conn, account, &feeds)?.into_iter();
        let mut own: HashMap<FeedId, FeedRow> = own.map(|row| (row.id, row)).collect();
        for line in &mut lines {
            let row = own.remove(&line.id);
            line.title = row.as_ref().and_then(|row| row.shown_title()).map(str::to_owned);
            line.tags = row.map(|row| row.tags).unwrap_or_default();
        }
        return Ok(lines);
    }
    for line in &mut lines {
        line.tags = tags.remove(&line.id).unwrap_or_default();
    }
    Ok(lines)
}

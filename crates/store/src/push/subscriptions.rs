//! Our subscriptions at other hubs (WebSub): hub, lease and trust for each feed. The engine sends
//! the requests and decides how far to trust the pushes.

use crate::db::sql::{Connection, OptionalExtension, Row, params};
use feed::{Cause, FeedId, Time};

use crate::db::columns::{count, time, time_or_none};
use crate::error::DbError;
use crate::{Store, StoreError};

/// How reliable the pushes were, compared with polls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushTrust {
    /// Pushes since a poll last found an entry that no push had brought.
    pub n_proofs: u32,
    /// How often a poll found such an entry while pushes were trusted.
    pub n_misses: u32,
}

/// A feed's subscription, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushRow {
    pub id: i64,
    pub hub: String,
    pub topic: String,
    /// The time of a request that waits for the hub's verification.
    pub asked_at: Option<Time>,
    /// `None`: the hub does not push.
    pub lease_until: Option<Time>,
    /// The time of the next request to the hub.
    pub next_at: Time,
    pub error: Option<String>,
    pub pushed_at: Option<Time>,
    pub n_pushes: u64,
    pub trust: PushTrust,
}

/// A subscription with a due request to its hub.
#[derive(Clone, PartialEq, Eq)]
pub struct PushDue {
    pub id: i64,
    /// `None`: the subscription is to be cancelled.
    pub feed: Option<FeedId>,
    pub token: String,
    pub secret: String,
    pub hub: String,
    pub topic: String,
    pub asked_at: Option<Time>,
    pub lease_until: Option<Time>,
    pub attempts: u32,
}

/// A feed that names a hub without a subscription of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushCandidate {
    pub feed: FeedId,
    pub hub: String,
    pub topic: String,
}

/// SQL condition: the feed of `f` and `s` is neither gone nor paused.
pub(crate) const POLLED: &str = "s.gone_at is null and coalesce(s.paused, \
    (select max(g.paused) from feed_tags t join tag_settings g on g.tag = t.tag \
     where t.feed = s.feed), 0) = 0";

pub(crate) const COLUMNS: &str = "p.id, p.hub, p.topic, p.asked_at, p.lease_until, p.next_at, \
    p.error, p.pushed_at, p.n_pushes, p.n_proofs, p.n_misses";

/// Reads the columns of [`COLUMNS`] from `first` on; `None` if a join found no row.
pub(crate) fn push_row(row: &Row<'_>, first: usize) -> crate::db::sql::Result<Option<PushRow>> {
    let Some(id) = row.get(first)? else { return Ok(None) };
    Ok(Some(PushRow {
        id,
        hub: row.get(first + 1)?,
        topic: row.get(first + 2)?,
        asked_at: time_or_none(row, first + 3)?,
        lease_until: time_or_none(row, first + 4)?,
        next_at: time(row, first + 5)?,
        error: row.get(first + 6)?,
        pushed_at: time_or_none(row, first + 7)?,
        n_pushes: count(row, first + 8)?,
        trust: PushTrust { n_proofs: row.get(first + 9)?, n_misses: row.get(first + 10)? },
    }))
}

impl Store {
    /// Returns the subscription of a feed.
    pub fn push(&self, feed: FeedId) -> Result<Option<PushRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("select {COLUMNS} from push_subscriptions p where p.feed = $1");
            let found = conn.prepare_cached(&sql)?.query_row([feed.0], |row| push_row(row, 0));
            Ok(found.optional()?.flatten())
        })
    }

    /// Returns how many polled feeds name a hub.
    pub fn n_with_hub(&self) -> Result<u64, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select count(*) from feeds f join feed_state s on s.feed = f.id \
                 where f.hub is not null and {POLLED}"
            );
            Ok(conn.prepare_cached(&sql)?.query_row([], |row| count(row, 0))?)
        })
    }

    /// Returns polled feeds that name a hub without a subscription of ours.
    pub fn push_candidates(&self, limit: u32) -> Result<Vec<PushCandidate>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select f.id, f.hub, f.topic from feeds f join feed_state s on s.feed = f.id \
                 where f.hub is not null and f.topic is not null and {POLLED} and not exists \
                 (select 1 from push_subscriptions p where p.feed = f.id) order by f.id limit $1"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([limit], |row| {
                let feed = FeedId(row.get(0)?);
                Ok(PushCandidate { feed, hub: row.get(1)?, topic: row.get(2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Adds a subscription. The first request to its hub is due at `now`.
    pub async fn begin_push(
        &self,
        candidate: PushCandidate,
        token: String,
        secret: String,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let PushCandidate { feed, hub, topic } = &candidate;
            let sql = "insert into push_subscriptions (token, secret, hub, topic, next_at, feed) \
                       select $1, $2, $3, $4, $5, id from feeds where id = $6 \
                       on conflict (feed) do nothing";
            conn.execute(sql, params![token, secret, hub, topic, now.millis(), feed.0])?;
            Ok(())
        })
        .await
    }

    /// Detaches the subscriptions of feeds that are paused or gone or name another hub now. Returns
    /// these feeds. Usually there are none, and then nothing is written.
    pub async fn detach_pushes(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        let sql = format!(
            "select p.feed from push_subscriptions p join feeds f on f.id = p.feed \
             join feed_state s on s.feed = p.feed \
             where f.hub is distinct from p.hub or f.topic is distinct from p.topic \
             or not ({POLLED})"
        );
        let found = self.read(|conn| feeds(conn, &sql))?;
        if found.is_empty() {
            return Ok(found);
        }
        self.write_async(move |conn| {
            let sql = "update push_subscriptions set feed = null, asked_at = null, attempts = 0, \
                       next_at = $1 where feed = $2";
            for feed in &found {
                conn.prepare_cached(sql)?.execute(params![now.millis(), feed.0])?;
            }
            Ok(found)
        })
        .await
    }

    /// Returns the feeds whose next poll relies on pushes, although their lease has ended.
    pub fn lapsed_pushes(&self, now: Time) -> Result<Vec<FeedId>, StoreError> {
        self.read(|conn| {
            let sql = "select s.feed from push_subscriptions p \
                       join feed_state s on s.feed = p.feed \
                       where (p.lease_until is null or p.lease_until <= $1) and s.cause = $2";
            let mut statement = conn.prepare_cached(sql)?;
            let cause = Cause::PushCheck.code();
            let rows =
                statement.query_map(params![now.millis(), cause], |row| row.get(0).map(FeedId))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the subscriptions with a due request: to subscribe, to renew or to cancel.
    pub fn pushes_due(&self, now: Time, limit: u32) -> Result<Vec<PushDue>, StoreError> {
        self.read(|conn| {
            let sql = "select id, feed, token, secret, hub, topic, asked_at, lease_until, attempts \
                       from push_subscriptions where next_at <= $1 or feed is null \
                       and asked_at is null and attempts = 0 order by next_at limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![now.millis(), limit], |row| {
                Ok(PushDue {
                    id: row.get(0)?,
                    feed: row.get::<_, Option<u32>>(1)?.map(FeedId),
                    token: row.get(2)?,
                    secret: row.get(3)?,
                    hub: row.get(4)?,
                    topic: row.get(5)?,
                    asked_at: time_or_none(row, 6)?,
                    lease_until: time_or_none(row, 7)?,
                    attempts: row.get(8)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes a request to a hub. It is repeated at `next_at` if the hub has not verified it by
    /// then.
    pub async fn note_hub_asked(
        &self,
        id: i64,
        asked_at: Time,
        attempts: u32,
        next_at: Time,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update push_subscriptions set asked_at = $1, attempts = $2, next_at = $3, \
                       error = $4 where id = $5";
            conn.prepare_cached(sql)?.execute(params![
                asked_at.millis(),
                attempts,
                next_at.millis(),
                error,
                id
            ])?;
            Ok(())
        })
        .await
    }

    /// Notes that the hub refused a request, unless it has verified the request meanwhile.
    pub async fn note_hub_refused(
        &self,
        id: i64,
        next_at: Time,
        why: String,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update push_subscriptions set asked_at = null, next_at = $1, error = $2 \
                       where id = $3 and asked_at is not null";
            conn.prepare_cached(sql)?.execute(params![next_at.millis(), why, id])?;
            Ok(())
        })
        .await
    }

    /// Deletes a cancelled subscription.
    pub async fn end_push(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from push_subscriptions where id = $1 and feed is null", [id])?;
            Ok(())
        })
        .await
    }
}

fn feeds(conn: &Connection, sql: &str) -> Result<Vec<FeedId>, DbError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

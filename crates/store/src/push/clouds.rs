//! Our subscriptions at rssClouds: the cloud, the lease and the waiting notice of each feed. The
//! engine sends the requests and polls the feeds that clouds name.

use std::time::Duration;

use crate::db::sql::{OptionalExtension, params};
use feed::{FeedId, FeedUrl, Time};

use crate::db::columns::{count, time, time_or_none, url};
use crate::push::subscriptions::POLLED;
use crate::{Store, StoreError};

/// A cloud forgets a subscriber after 25 hours. The subscriber asks again after 24.
pub const CLOUD_LEASE: Duration = Duration::from_secs(25 * 3600);
const RENEW_AFTER: Duration = Duration::from_secs(24 * 3600);

/// A polled feed that names a cloud and no hub, without a subscription of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudCandidate {
    pub feed: FeedId,
    /// As the document names it.
    pub cloud: String,
    pub url: FeedUrl,
}

/// A subscription with a due request to its cloud.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudDue {
    pub feed: FeedId,
    pub token: String,
    pub cloud: String,
    pub topic: String,
    pub asked_at: Option<Time>,
    pub attempts: u32,
}

/// A feed's subscription at a cloud, without its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudRow {
    /// `None`: the cloud has not called.
    pub lease_until: Option<Time>,
    /// The time of the next request to the cloud.
    pub next_at: Time,
    pub error: Option<String>,
    pub n_notices: u64,
}

impl Store {
    /// Returns polled feeds that name a cloud and no hub, without a subscription of ours.
    pub fn cloud_candidates(&self, limit: u32) -> Result<Vec<CloudCandidate>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select f.id, f.cloud, coalesce(f.effective_url, f.url) from feeds f \
                 join feed_state s on s.feed = f.id \
                 where f.cloud is not null and f.hub is null and {POLLED} and not exists \
                 (select 1 from cloud_subscriptions c where c.feed = f.id) order by f.id limit $1"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([limit], |row| {
                let feed = FeedId(row.get(0)?);
                Ok(CloudCandidate { feed, cloud: row.get(1)?, url: url(row, 2)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Adds a subscription. The first request to its cloud is due at `next_at`. A cloud that cannot
    /// be asked has an error.
    pub async fn begin_cloud(
        &self,
        candidate: CloudCandidate,
        token: String,
        next_at: Time,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let CloudCandidate { feed, cloud, url } = &candidate;
            let sql = "insert into cloud_subscriptions (feed, token, cloud, topic, next_at, error) \
                       select id, $1, $2, $3, $4, $5 from feeds where id = $6 \
                       on conflict (feed) do nothing";
            let values = params![token, cloud, url.as_str(), next_at.millis(), error, feed.0];
            conn.execute(sql, values)?;
            Ok(())
        })
        .await
    }

    /// Ends the subscriptions of feeds that are paused or gone, name another cloud, or name a hub
    /// now. The protocol has no word for leaving; the cloud forgets us.
    pub async fn end_clouds(&self) -> Result<(), StoreError> {
        let stale = format!(
            "select c.feed from cloud_subscriptions c join feeds f on f.id = c.feed \
             join feed_state s on s.feed = c.feed where f.cloud is distinct from c.cloud \
             or f.hub is not null or coalesce(f.effective_url, f.url) is distinct from c.topic \
             or not ({POLLED})"
        );
        // Usually there are none, and then nothing is written.
        let found = self.read(|conn| Ok(conn.prepare_cached(&stale)?.exists([])?))?;
        if !found {
            return Ok(());
        }
        self.write_async(move |conn| {
            let sql = format!("delete from cloud_subscriptions where feed in ({stale})");
            conn.execute(&sql, [])?;
            Ok(())
        })
        .await
    }

    /// Returns the subscriptions with a due request.
    pub fn clouds_due(&self, now: Time, limit: u32) -> Result<Vec<CloudDue>, StoreError> {
        self.read(|conn| {
            let sql = "select feed, token, cloud, topic, asked_at, attempts \
                       from cloud_subscriptions where next_at <= $1 order by next_at limit $2";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![now.millis(), limit], |row| {
                Ok(CloudDue {
                    feed: FeedId(row.get(0)?),
                    token: row.get(1)?,
                    cloud: row.get(2)?,
                    topic: row.get(3)?,
                    asked_at: time_or_none(row, 4)?,
                    attempts: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes a request to a cloud, or its failure. It is repeated at `next_at` unless the cloud
    /// calls before.
    pub async fn note_cloud_asked(
        &self,
        feed: FeedId,
        asked_at: Option<Time>,
        attempts: u32,
        next_at: Time,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update cloud_subscriptions set asked_at = $1, attempts = $2, next_at = $3, \
                       error = $4 where feed = $5";
            let asked_at = asked_at.map(Time::millis);
            conn.execute(sql, params![asked_at, attempts, next_at.millis(), error, feed.0])?;
            Ok(())
        })
        .await
    }

    /// Notes that the cloud of a callback called about this address. A call proves that the
    /// subscription holds. A notice makes the feed due for a poll. Returns `false` for a callback
    /// or an address that is not ours.
    pub fn hear_cloud(
        &self,
        token: &str,
        topic: &str,
        is_notice: bool,
        now: Time,
    ) -> Result<bool, StoreError> {
        let known = self.read(|conn| {
            let sql = "select asked_at is null, noticed_at is not null from cloud_subscriptions \
                       where token = $1 and topic = $2";
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.query_row(params![token, topic], |row| {
                Ok((row.get::<_, bool>(0)?, row.get::<_, bool>(1)?))
            });
            Ok(found.optional()?)
        })?;
        match known {
            None => return Ok(false),
            // A notice that waits already says the same.
            Some((true, true)) if is_notice => return Ok(true),
            Some((true, _)) if !is_notice => return Ok(true),
            Some(_) => {}
        }
        let token = token.to_owned();
        self.write_own(move |conn| {
            let sql = "update cloud_subscriptions set asked_at = null, attempts = 0, error = null, \
                       lease_until = case when asked_at is null then lease_until else $1 end, \
                       next_at = case when asked_at is null then next_at else $2 end, \
                       noticed_at = case when $3 = 1 then $4 else noticed_at end, \
                       n_notices = n_notices + $5 where token = $6";
            let (lease, renew) = ((now + CLOUD_LEASE).millis(), (now + RENEW_AFTER).millis());
            let notice = i64::from(is_notice);
            conn.execute(sql, params![lease, renew, notice, now.millis(), notice, token])?;
            Ok(true)
        })
    }

    /// Returns the feeds that clouds named since the last call.
    pub async fn take_cloud_notices(&self) -> Result<Vec<FeedId>, StoreError> {
        let noticed = self.read(|conn| {
            let sql = "select feed from cloud_subscriptions where noticed_at is not null";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| row.get(0).map(FeedId))?;
            Ok(rows.collect::<Result<Vec<FeedId>, _>>()?)
        })?;
        if noticed.is_empty() {
            return Ok(noticed);
        }
        self.write_async(move |conn| {
            let sql = "update cloud_subscriptions set noticed_at = null where feed = $1";
            for feed in &noticed {
                conn.prepare_cached(sql)?.execute([feed.0])?;
            }
            Ok(noticed)
        })
        .await
    }

    /// Returns the subscription of a feed.
    pub fn cloud(&self, feed: FeedId) -> Result<Option<CloudRow>, StoreError> {
        self.read(|conn| {
            let sql = "select lease_until, next_at, error, n_notices from cloud_subscriptions \
                       where feed = $1";
            let found = conn.prepare_cached(sql)?.query_row([feed.0], |row| {
                Ok(CloudRow {
                    lease_until: time_or_none(row, 0)?,
                    next_at: time(row, 1)?,
                    error: row.get(2)?,
                    n_notices: count(row, 3)?,
                })
            });
            Ok(found.optional()?)
        })
    }
}

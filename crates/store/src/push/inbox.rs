//! Requests of hubs to our callbacks: verifications, refusals and pushes. A push is stored
//! unchanged until it is recorded; the engine checks its signature. The number and size of waiting
//! and recent pushes are limited for each feed.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Connection, OptionalExtension, params, row, unnest};
use feed::{FeedId, Time};

use crate::db::columns::{count, time, time_or_none};
use crate::db::dialect;
use crate::error::DbError;
use crate::{PushTrust, Store, StoreError};

/// Pushes of one subscription that may wait. A hub repeats those that are refused.
const WAITING_MAX: u64 = 32;
/// Bytes of one subscription's pushes that may wait: two of the largest documents.
const WAITING_BYTES_MAX: u64 = 8_000_000;
/// The period over which the pushes of one subscription are counted: the shortest default interval
/// between two polls.
const WINDOW: Duration = Duration::from_secs(300);
/// Pushes in that period: one every five seconds, enough for a live ticker.
const WINDOW_PUSHES_MAX: u64 = 60;
/// Bytes in that period: two of the largest documents that a poll accepts. Without this limit a hub
/// can fill the disk with signed pushes (a test wrote 763 MB in 20 s).
const WINDOW_BYTES_MAX: u64 = 8_000_000;
/// The time after which a hub may repeat a push that found the inbox full.
const FULL_WAIT: Duration = Duration::from_secs(60);

/// The request that a hub asks our callback to verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubVerification {
    Subscribe { lease: Duration },
    Unsubscribe,
}

/// The store's answer to a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushReceipt {
    Kept,
    /// The callback does not exist.
    Unknown,
    /// Too many pushes or bytes came or wait. The hub may repeat it after this time.
    TooMany(Duration),
}

/// The counters of a subscription when a push comes.
struct Inbox {
    subscription: i64,
    n_waiting: u64,
    bytes_waiting: u64,
    window_at: Option<Time>,
    window_n: u64,
    window_bytes: u64,
}

impl Inbox {
    /// Counts a push of so many bytes. `Err` is the time that it has to wait.
    fn count(&mut self, bytes: u64, now: Time) -> Result<Time, Duration> {
        let began = self.window_at.filter(|at| *at <= now && now.since(*at) < WINDOW);
        if began.is_none() {
            (self.window_n, self.window_bytes) = (0, 0);
        }
        let began = began.unwrap_or(now);
        self.window_n += 1;
        self.window_bytes += bytes;
        if self.window_n > WINDOW_PUSHES_MAX || self.window_bytes > WINDOW_BYTES_MAX {
            return Err((began + WINDOW).since(now));
        }
        if self.n_waiting >= WAITING_MAX || self.bytes_waiting + bytes > WAITING_BYTES_MAX {
            return Err(FULL_WAIT);
        }
        Ok(began)
    }
}

/// A stored push, as the hub sent it.
#[derive(Clone, PartialEq, Eq)]
pub struct InboxPush {
    pub id: i64,
    pub subscription: i64,
    /// `None`: the subscription is being cancelled.
    pub feed: Option<FeedId>,
    pub topic: String,
    pub secret: String,
    pub at: Time,
    pub content_type: Option<String>,
    pub signature: Option<String>,
    pub body: Vec<u8>,
}

/// The new trust in the pushes of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushTrustChange {
    pub subscription: i64,
    pub trust: PushTrust,
}

impl Store {
    /// Answers the verification of a hub: `true` if callback, topic and mode are those of our
    /// request. Then the lease begins. It is renewed after nine tenths of its time.
    pub fn confirm_push(
        &self,
        token: &str,
        topic: &str,
        asks: &HubVerification,
        now: Time,
    ) -> Result<bool, StoreError> {
        let (token, topic, asks) = (token.to_owned(), topic.to_owned(), asks.clone());
        self.write_own(move |conn| {
            let n = match asks {
                HubVerification::Subscribe { lease } => {
                    let sql = "update push_subscriptions set lease_until = $1, asked_at = null, \
                               attempts = 0, next_at = $2, error = null \
                               where token = $3 and topic = $4 and feed is not null \
                               and (asked_at is not null or lease_until > $5)";
                    let (until, renew_at) = (now + lease, now + lease * 9 / 10);
                    let (until, renew_at) = (until.millis(), renew_at.millis());
                    let values = params![until, renew_at, token, topic, now.millis()];
                    conn.execute(sql, values)?
                }
                HubVerification::Unsubscribe => {
                    let sql = "delete from push_subscriptions where token = $1 and topic = $2 \
                               and feed is null";
                    conn.execute(sql, params![token, topic])?
                }
            };
            Ok(n > 0)
        })
    }

    /// Notes that a hub does not push the feed. The next request to it is at `next_at`.
    pub fn deny_push(
        &self,
        token: &str,
        topic: &str,
        why: &str,
        next_at: Time,
    ) -> Result<bool, StoreError> {
        let (token, topic, why) = (token.to_owned(), topic.to_owned(), why.to_owned());
        self.write_own(move |conn| {
            let sql = "update push_subscriptions set lease_until = null, asked_at = null, \
                       next_at = $1, error = $2 where token = $3 and topic = $4";
            Ok(conn.execute(sql, params![next_at.millis(), why, token, topic])? > 0)
        })
    }

    /// Returns whether a callback exists. Callers check this first, because anybody may send a
    /// push.
    pub fn is_push_callback(&self, token: &str) -> Result<bool, StoreError> {
        self.read(|conn| {
            let sql = "select 1 from push_subscriptions where token = $1";
            Ok(conn.prepare_cached(sql)?.exists([token])?)
        })
    }

    /// Stores a push until it is recorded, if the limits allow it. A refused push is noted, so that
    /// the feed is polled instead.
    pub fn receive_push(
        &self,
        token: &str,
        content_type: Option<String>,
        signature: Option<String>,
        body: Vec<u8>,
        now: Time,
    ) -> Result<PushReceipt, StoreError> {
        let token = token.to_owned();
        self.write_own(move |conn| {
            lock(conn, &token)?;
            let Some(mut inbox) = inbox(conn, &token)? else { return Ok(PushReceipt::Unknown) };
            let began = match inbox.count(body.len() as u64, now) {
                Ok(began) => began,
                Err(wait) => {
                    let sql = "update push_subscriptions set refused_at = $1 where id = $2";
                    let mut statement = conn.prepare_cached(sql)?;
                    statement.execute(params![now.millis(), inbox.subscription])?;
                    return Ok(PushReceipt::TooMany(wait));
                }
            };
            let sql = "update push_subscriptions set window_at = $1, window_n = $2, \
                       window_bytes = $3 where id = $4";
            let (n, bytes) = (inbox.window_n.cast_signed(), inbox.window_bytes.cast_signed());
            let values = params![began.millis(), n, bytes, inbox.subscription];
            conn.prepare_cached(sql)?.execute(values)?;
            let sql = "insert into push_inbox (subscription, at, content_type, signature, body) \
                       values ($1, $2, $3, $4, $5)";
            let mut statement = conn.prepare_cached(sql)?;
            let values = params![inbox.subscription, now.millis(), content_type, signature, body];
            statement.execute(values)?;
            Ok(PushReceipt::Kept)
        })
    }

    /// Returns the feeds with a push that was refused since the last call.
    pub async fn take_refused_pushes(&self) -> Result<Vec<FeedId>, StoreError> {
        // Usually there are none, and then nothing is written.
        let any = self.read(|conn| {
            let sql = "select 1 from push_subscriptions where refused_at is not null";
            Ok(conn.prepare_cached(sql)?.exists([])?)
        })?;
        if !any {
            return Ok(Vec::new());
        }
        self.write_async(|conn| {
            // One statement: another process may refuse a push at any time.
            let sql = "update push_subscriptions set refused_at = null \
                       where refused_at is not null returning feed";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| row.get::<_, Option<u32>>(0))?;
            let feeds: Vec<Option<u32>> = rows.collect::<Result<_, _>>()?;
            let mut feeds: Vec<FeedId> = feeds.into_iter().flatten().map(FeedId).collect();
            feeds.sort_unstable();
            Ok(feeds)
        })
        .await
    }

    /// Returns the oldest waiting push with a higher number than `after`.
    pub fn next_push(&self, after: i64) -> Result<Option<InboxPush>, StoreError> {
        self.read(|conn| {
            let sql = "select i.id, i.subscription, p.feed, p.topic, p.secret, i.at, \
                       i.content_type, i.signature, i.body \
                       from push_inbox i join push_subscriptions p on p.id = i.subscription \
                       where i.id > $1 order by i.id limit 1";
            let found = conn.prepare_cached(sql)?.query_row([after], |row| {
                Ok(InboxPush {
                    id: row.get(0)?,
                    subscription: row.get(1)?,
                    feed: row.get::<_, Option<u32>>(2)?.map(FeedId),
                    topic: row.get(3)?,
                    secret: row.get(4)?,
                    at: time(row, 5)?,
                    content_type: row.get(6)?,
                    signature: row.get(7)?,
                    body: row.get(8)?,
                })
            });
            Ok(found.optional()?)
        })
    }

    /// Deletes a push that is not recorded: its signature is wrong, it is not a feed, or its
    /// subscription is being cancelled.
    pub async fn drop_push(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from push_inbox where id = $1", [id])?;
            Ok(())
        })
        .await
    }
}

/// Locks a subscription: its counters are read and then written. The counters need a statement of
/// their own, because a statement sees what was committed before it began.
fn lock(conn: &Connection, token: &str) -> Result<(), DbError> {
    if conn.is_postgres() {
        let lock = dialect::for_update(conn);
        let sql = format!("select 1 from push_subscriptions where token = $1{lock}");
        conn.prepare_cached(&sql)?.exists([token])?;
    }
    Ok(())
}

fn inbox(conn: &Connection, token: &str) -> Result<Option<Inbox>, DbError> {
    let sql = "select p.id, \
               (select count(*) from push_inbox i where i.subscription = p.id), \
               (select coalesce(sum(length(i.body)), 0) from push_inbox i \
                where i.subscription = p.id), \
               p.window_at, p.window_n, p.window_bytes \
               from push_subscriptions p where p.token = $1";
    let found = conn.prepare_cached(sql)?.query_row([token], |row| {
        Ok(Inbox {
            subscription: row.get(0)?,
            n_waiting: count(row, 1)?,
            bytes_waiting: count(row, 2)?,
            window_at: time_or_none(row, 3)?,
            window_n: count(row, 4)?,
            window_bytes: count(row, 5)?,
        })
    });
    Ok(found.optional()?)
}

/// Writes the trust in a subscription's pushes. Called inside the transaction of a record.
pub(crate) fn write_trust(conn: &Connection, change: &PushTrustChange) -> Result<(), DbError> {
    let PushTrust { n_proofs, n_misses } = change.trust;
    let sql = "update push_subscriptions set n_proofs = $1, n_misses = $2 where id = $3";
    conn.prepare_cached(sql)?.execute(params![n_proofs, n_misses, change.subscription])?;
    Ok(())
}

/// Adds the statement that writes the trust in the pushes of many subscriptions.
pub(crate) fn write_trust_set(flight: &mut Flight<'_>, changes: &BTreeMap<i64, PushTrust>) {
    let mut lists = Lists::default();
    for (subscription, PushTrust { n_proofs, n_misses }) in changes {
        lists.push(row![*subscription, *n_proofs, *n_misses]);
    }
    let sql = format!(
        "update push_subscriptions p set n_proofs = u.n_proofs, n_misses = u.n_misses from {} \
         where p.id = u.id",
        unnest("id bigint, n_proofs bigint, n_misses bigint")
    );
    flight.add(sql, lists);
}

/// Counts a recorded push and removes it from the inbox. Called inside its transaction.
pub(crate) fn close(
    conn: &Connection,
    subscription: i64,
    push: i64,
    at: Time,
) -> Result<(), DbError> {
    let sql = "update push_subscriptions set pushed_at = $1, n_pushes = n_pushes + 1 \
               where id = $2";
    conn.prepare_cached(sql)?.execute(params![at.millis(), subscription])?;
    conn.prepare_cached("delete from push_inbox where id = $1")?.execute([push])?;
    Ok(())
}

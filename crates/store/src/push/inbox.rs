//! What hubs tell us at our callbacks: that they mean it, that they will not, and what is new. What
//! is new is kept as it came until it is recorded; whether it is genuine is judged elsewhere. What
//! waits, and what comes within some minutes, has limits for each feed.

use std::time::Duration;

use feed::{FeedId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::db::columns::{count, time, time_or_none};
use crate::error::Fault;
use crate::{PushRecord, PushTrust, Store, StoreError};

/// So many pushes of one subscription may wait. A hub that sends more sends them again.
const WAITING_MAX: u64 = 32;
/// Bytes of one subscription's pushes that may wait: two of the largest documents.
const WAITING_BYTES_MAX: u64 = 8_000_000;
/// The time over which the pushes of one subscription are counted: the shortest interval between
/// two polls, by default.
const WINDOW: Duration = Duration::from_secs(300);
/// Pushes in that time: one every five seconds, which a live ticker needs.
const WINDOW_PUSHES_MAX: u64 = 60;
/// Bytes in that time: two of the largest documents that a poll may bring. Without this limit a
/// hub fills the disk by signed pushes (763 MB in 20 s were seen).
const WINDOW_BYTES_MAX: u64 = 8_000_000;
/// Until a push that found the inbox full is repeated.
const FULL_WAIT: Duration = Duration::from_secs(60);

/// What a hub asks our callback to confirm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubAsks {
    Subscribe { lease: Duration },
    Unsubscribe,
}

/// What becomes of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushTaken {
    Kept,
    /// There is no such callback (any more).
    Unknown,
    /// Too many, or too many bytes, came or wait already: again after this long.
    TooMany(Duration),
}

/// What is known of a subscription when a push comes.
struct Inbox {
    subscription: i64,
    n_waiting: u64,
    bytes_waiting: u64,
    window_at: Option<Time>,
    window_n: u64,
    window_bytes: u64,
}

impl Inbox {
    /// Counts a push of so many bytes. `Err` is how long it has to wait.
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

/// A push as it came.
#[derive(Clone, PartialEq, Eq)]
pub struct PushParcel {
    pub id: i64,
    pub subscription: i64,
    /// `None`: we leave, and want nothing more.
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
    /// A hub asks whether a wish is ours. It is where the callback, the topic and the mode are the
    /// ones that we sent; then the lease begins, and is to be renewed when nine tenths are over.
    pub fn confirm_push(
        &self,
        token: &str,
        topic: &str,
        asks: &HubAsks,
        now: Time,
    ) -> Result<bool, StoreError> {
        let (token, topic, asks) = (token.to_owned(), topic.to_owned(), asks.clone());
        self.write(move |conn| {
            let n = match asks {
                HubAsks::Subscribe { lease } => {
                    let sql = "update push_subscriptions set lease_until = $1, asked_at = null, \
                               attempts = 0, next_at = $2, error = null \
                               where token = $3 and topic = $4 and feed is not null \
                               and (asked_at is not null or lease_until > $5)";
                    let (until, renew_at) = (now + lease, now + lease * 9 / 10);
                    let (until, renew_at) = (until.millis(), renew_at.millis());
                    let values = params![until, renew_at, token, topic, now.millis()];
                    conn.execute(sql, values)?
                }
                HubAsks::Unsubscribe => {
                    let sql = "delete from push_subscriptions where token = $1 and topic = $2 \
                               and feed is null";
                    conn.execute(sql, params![token, topic])?
                }
            };
            Ok(n > 0)
        })
    }

    /// A hub says that it will not push (any more); it is asked again at `next_at`.
    pub fn deny_push(
        &self,
        token: &str,
        topic: &str,
        why: &str,
        next_at: Time,
    ) -> Result<bool, StoreError> {
        let (token, topic, why) = (token.to_owned(), topic.to_owned(), why.to_owned());
        self.write(move |conn| {
            let sql = "update push_subscriptions set lease_until = null, asked_at = null, \
                       next_at = $1, error = $2 where token = $3 and topic = $4";
            Ok(conn.execute(sql, params![next_at.millis(), why, token, topic])? > 0)
        })
    }

    /// Whether there is a callback of that name. It is asked before anything is read or written
    /// for a sender who may be anybody.
    pub fn is_push_callback(&self, token: &str) -> Result<bool, StoreError> {
        self.read(|conn| {
            let sql = "select 1 from push_subscriptions where token = $1";
            Ok(conn.prepare_cached(sql)?.exists([token])?)
        })
    }

    /// Keeps what a hub sent until it is recorded, as far as limits allow it. A refused push is
    /// remembered, so that the feed is polled instead.
    pub fn receive_push(
        &self,
        token: &str,
        content_type: Option<String>,
        signature: Option<String>,
        body: Vec<u8>,
        now: Time,
    ) -> Result<PushTaken, StoreError> {
        let token = token.to_owned();
        self.write(move |conn| {
            let Some(mut inbox) = inbox(conn, &token)? else { return Ok(PushTaken::Unknown) };
            let began = match inbox.count(body.len() as u64, now) {
                Ok(began) => began,
                Err(wait) => {
                    let sql = "update push_subscriptions set refused_at = $1 where id = $2";
                    let mut statement = conn.prepare_cached(sql)?;
                    statement.execute(params![now.millis(), inbox.subscription])?;
                    return Ok(PushTaken::TooMany(wait));
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
            Ok(PushTaken::Kept)
        })
    }

    /// The feeds with a push that was refused since this was last asked.
    pub async fn take_refused_pushes(&self) -> Result<Vec<FeedId>, StoreError> {
        // Nearly always none was: then nothing is written.
        let any = self.read(|conn| {
            let sql = "select 1 from push_subscriptions where refused_at is not null";
            Ok(conn.prepare_cached(sql)?.exists([])?)
        })?;
        if !any {
            return Ok(Vec::new());
        }
        self.write_async(|conn| {
            let sql = "select feed from push_subscriptions where refused_at is not null \
                       and feed is not null";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok(FeedId(row.get(0)?)))?;
            let feeds = rows.collect::<Result<_, _>>()?;
            let sql = "update push_subscriptions set refused_at = null \
                       where refused_at is not null";
            conn.execute(sql, [])?;
            Ok(feeds)
        })
        .await
    }

    /// The push that has waited longest, after the one with this number.
    pub fn next_push(&self, after: i64) -> Result<Option<PushParcel>, StoreError> {
        self.read(|conn| {
            let sql = "select i.id, i.subscription, p.feed, p.topic, p.secret, i.at, \
                       i.content_type, i.signature, i.body \
                       from push_inbox i join push_subscriptions p on p.id = i.subscription \
                       where i.id > $1 order by i.id limit 1";
            let found = conn.prepare_cached(sql)?.query_row([after], |row| {
                Ok(PushParcel {
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

    /// A push that is not recorded: it is not genuine, no feed, or for nobody.
    pub async fn drop_push(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from push_inbox where id = $1", [id])?;
            Ok(())
        })
        .await
    }
}

fn inbox(conn: &Connection, token: &str) -> Result<Option<Inbox>, Fault> {
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

/// Keeps the trust in a subscription's pushes. Called inside a record's transaction.
pub(crate) fn keep_trust(conn: &Connection, change: &PushTrustChange) -> Result<(), Fault> {
    let PushTrust { n_proofs, n_misses } = change.trust;
    let sql = "update push_subscriptions set n_proofs = $1, n_misses = $2 where id = $3";
    conn.prepare_cached(sql)?.execute(params![n_proofs, n_misses, change.subscription])?;
    Ok(())
}

/// Counts a recorded push and removes it from the inbox. Called inside its transaction.
pub(crate) fn close(conn: &Connection, record: &PushRecord) -> Result<(), Fault> {
    let sql = "update push_subscriptions set pushed_at = $1, n_pushes = n_pushes + 1 \
               where id = $2";
    let subscription = record.trust.subscription;
    conn.prepare_cached(sql)?.execute(params![record.at.millis(), subscription])?;
    conn.prepare_cached("delete from push_inbox where id = $1")?.execute([record.parcel])?;
    Ok(())
}

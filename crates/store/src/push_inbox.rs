//! What hubs tell us at our callbacks: that they mean it, that they will not, and what is new. What
//! is new is kept as it came until it is recorded; whether it is genuine is judged elsewhere.

use std::time::Duration;

use feed::{FeedId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::columns::time;
use crate::error::Fault;
use crate::{PollRecord, PushTrust, Store, StoreError};

/// So many pushes of one subscription may wait. A hub that sends more sends them again.
const WAITING_MAX: u64 = 32;

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
    /// Too many wait already.
    Full,
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

/// What a record means for a subscription; kept with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PushNote {
    pub subscription: i64,
    pub trust: PushTrust,
    /// The push that is recorded; `None` for a poll.
    pub parcel: Option<i64>,
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

    /// Keeps what a hub sent until it is recorded.
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
            let sql = "select p.id, \
                       (select count(*) from push_inbox i where i.subscription = p.id) \
                       from push_subscriptions p where p.token = $1";
            let found = conn.prepare_cached(sql)?.query_row([token], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
            });
            let Some((id, n_waiting)) = found.optional()? else { return Ok(PushTaken::Unknown) };
            if n_waiting >= WAITING_MAX {
                return Ok(PushTaken::Full);
            }
            let sql = "insert into push_inbox (subscription, at, content_type, signature, body) \
                       values ($1, $2, $3, $4, $5)";
            let mut statement = conn.prepare_cached(sql)?;
            statement.execute(params![id, now.millis(), content_type, signature, body])?;
            Ok(PushTaken::Kept)
        })
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

/// Keeps what a record means for its subscription. Called inside the record's transaction.
pub(crate) fn keep(conn: &Connection, record: &PollRecord) -> Result<(), Fault> {
    let Some(note) = &record.push else { return Ok(()) };
    let PushTrust { n_proofs, n_misses } = note.trust;
    let sql = "update push_subscriptions set n_proofs = $1, n_misses = $2 where id = $3";
    conn.prepare_cached(sql)?.execute(params![n_proofs, n_misses, note.subscription])?;
    if let Some(parcel) = note.parcel {
        let sql = "update push_subscriptions set pushed_at = $1, n_pushes = n_pushes + 1 \
                   where id = $2";
        conn.prepare_cached(sql)?.execute(params![record.at.millis(), note.subscription])?;
        conn.prepare_cached("delete from push_inbox where id = $1")?.execute([parcel])?;
    }
    Ok(())
}

//! Who wants to be pushed which published feed (WebSub), and how far each was served. Whether a
//! callback agrees is asked elsewhere.

use std::time::Duration;

use feed::Time;
use rusqlite::{Row, params};

use crate::columns::{count, duration, duration_ms, millis, time_or_none};
use crate::{QueryId, Store, StoreError};

/// What a subscriber asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubWish {
    pub query: QueryId,
    /// The address of the feed as the subscriber knows it.
    pub topic: String,
    pub callback: String,
    pub kind: HubWishKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubWishKind {
    Subscribe { secret: Option<String>, lease: Duration },
    Unsubscribe,
}

/// A subscription that something is to be done for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubRow {
    pub id: i64,
    pub topic: String,
    pub callback: String,
    pub secret: Option<String>,
    /// `None`: the callback has not agreed yet.
    pub lease_until: Option<Time>,
    pub wish: Option<HubWishKind>,
    pub position: i64,
    /// The last position of its query.
    pub last_position: i64,
    pub attempts: u32,
}

impl Store {
    /// Notes a wish; `false` where too many subscribers follow the query already.
    pub fn wish_hub(&self, wish: &HubWish, n_max: u64) -> Result<bool, StoreError> {
        let wish = wish.clone();
        self.write(move |conn| {
            let (kind, secret, lease) = match &wish.kind {
                HubWishKind::Subscribe { secret, lease } => ("subscribe", secret.as_ref(), *lease),
                HubWishKind::Unsubscribe => ("unsubscribe", None, Duration::ZERO),
            };
            let lease = duration_ms(lease);
            let sql = "update hub_subscriptions set wish = $1, wish_secret = $2, \
                       wish_lease_ms = $3, attempts = 0, next_at = null \
                       where topic = $4 and callback = $5";
            let known =
                conn.execute(sql, params![kind, secret, lease, wish.topic, wish.callback])?;
            if known > 0 || wish.kind == HubWishKind::Unsubscribe {
                return Ok(true);
            }
            let sql = "select count(*) from hub_subscriptions where query = $1";
            if conn.query_row(sql, [wish.query.0], |row| count(row, 0))? >= n_max {
                return Ok(false);
            }
            let sql = "insert into hub_subscriptions \
                       (topic, callback, wish, wish_secret, wish_lease_ms, query, position) \
                       select $1, $2, $3, $4, $5, id, last_position from queries where id = $6";
            let values = params![wish.topic, wish.callback, kind, secret, lease, wish.query.0];
            conn.execute(sql, values)?;
            Ok(true)
        })
    }

    /// Subscriptions with a wish, or with something to push, whose time has come.
    pub fn hub_due(&self, now: Time) -> Result<Vec<HubRow>, StoreError> {
        self.read(|conn| {
            let sql = "select h.id, h.topic, h.callback, h.secret, h.lease_until, h.wish, \
                       h.wish_secret, h.wish_lease_ms, h.position, q.last_position, h.attempts \
                       from hub_subscriptions h join queries q on q.id = h.query \
                       where (h.next_at is null or h.next_at <= $1) and (h.wish is not null \
                       or (h.lease_until > $1 and q.last_position > h.position)) order by h.id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([now.millis()], hub_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The callback agreed: the wish holds.
    pub async fn grant_hub(&self, id: i64, now: Time) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "delete from hub_subscriptions where id = $1 and wish = 'unsubscribe'";
            conn.execute(sql, [id])?;
            let sql = "update hub_subscriptions set secret = wish_secret, \
                       lease_until = $1 + wish_lease_ms, wish = null, wish_secret = null, \
                       attempts = 0, next_at = null where id = $2 and wish = 'subscribe'";
            conn.execute(sql, params![now.millis(), id])?;
            Ok(())
        })
        .await
    }

    /// It did not: what held before holds on.
    pub async fn refuse_hub(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "delete from hub_subscriptions where id = $1 and lease_until is null";
            conn.execute(sql, [id])?;
            let sql = "update hub_subscriptions set wish = null, wish_secret = null, \
                       attempts = 0, next_at = null where id = $1";
            conn.execute(sql, [id])?;
            Ok(())
        })
        .await
    }

    /// The feed was pushed up to a position, or (without one) is to be tried again later.
    pub async fn note_push(
        &self,
        id: i64,
        position: Option<i64>,
        attempts: u32,
        next_at: Option<Time>,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update hub_subscriptions set position = coalesce($1, position), \
                       attempts = $2, next_at = $3 where id = $4";
            conn.execute(sql, params![position, attempts, millis(next_at), id])?;
            Ok(())
        })
        .await
    }

    /// The subscriber is gone.
    pub async fn end_hub(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from hub_subscriptions where id = $1", [id])?;
            Ok(())
        })
        .await
    }

    /// Forgets subscriptions whose lease has run out. Returns how many.
    pub async fn end_leases(&self, now: Time) -> Result<usize, StoreError> {
        // Nearly always none has: then nothing is written.
        let ended = self.read(|conn| {
            let sql = "select 1 from hub_subscriptions where lease_until <= $1 and wish is null";
            Ok(conn.prepare_cached(sql)?.exists([now.millis()])?)
        })?;
        if !ended {
            return Ok(0);
        }
        self.write_async(move |conn| {
            let sql = "delete from hub_subscriptions where lease_until <= $1 and wish is null";
            Ok(conn.execute(sql, [now.millis()])?)
        })
        .await
    }
}

fn hub_row(row: &Row<'_>) -> rusqlite::Result<HubRow> {
    let wish: Option<String> = row.get(5)?;
    let (secret, lease) = (row.get(6)?, duration(row, 7)?.unwrap_or_default());
    Ok(HubRow {
        id: row.get(0)?,
        topic: row.get(1)?,
        callback: row.get(2)?,
        secret: row.get(3)?,
        lease_until: time_or_none(row, 4)?,
        wish: wish.map(|word| match word.as_str() {
            "subscribe" => HubWishKind::Subscribe { secret, lease },
            _ => HubWishKind::Unsubscribe,
        }),
        position: row.get(8)?,
        last_position: row.get(9)?,
        attempts: row.get(10)?,
    })
}

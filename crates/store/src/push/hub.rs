//! Subscribers of published feeds (WebSub): who waits for a confirmation, and how far each was
//! served. Which wishes are taken is decided in `hub_wishes`; the engine asks callbacks.

use std::time::Duration;

use feed::{Domain, Time};
use rusqlite::{OptionalExtension, Row, params};

use crate::db::columns::{duration, millis, time_or_none};
use crate::{QueryId, Store, StoreError};

/// How long a wish waits for its confirmation. A wish that was refused counts for as long.
pub const WISH_LIFE: Duration = Duration::from_secs(120);

/// What a subscriber asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubWish {
    pub query: QueryId,
    /// The address of the feed as the subscriber knows it.
    pub topic: String,
    pub callback: String,
    /// The registrable domain of the callback.
    pub domain: Domain,
    /// The network address of the client that sent the wish.
    pub from: String,
    pub kind: HubWishKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubWishKind {
    Subscribe { secret: Option<String>, lease: Duration },
    Unsubscribe,
}

/// What became of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WishNoted {
    Taken,
    /// The query, or the hub, has no place for another subscriber.
    Full,
    /// The client or the callback's domain has too many unconfirmed wishes, or the callback
    /// refused the same wish just now: it may be repeated after this long.
    TooMany(Duration),
}

/// A subscription that something is to be done for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubDue<'a> {
    pub id: i64,
    pub callback: &'a str,
    /// How often it failed in a row.
    pub attempts: u32,
}

/// A subscription, or a wish for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubRow {
    pub id: i64,
    pub topic: String,
    pub callback: String,
    pub secret: Option<String>,
    /// `None`: the callback has not agreed yet.
    pub lease_until: Option<Time>,
    pub wish: Option<HubWishKind>,
    pub wish_attempts: u32,
    pub position: i64,
    /// The last position of its query.
    pub last_position: i64,
    pub attempts: u32,
}

impl HubRow {
    /// Whether there is something to push.
    pub fn is_due(&self, now: Time) -> bool {
        self.lease_until.is_some_and(|until| until > now) && self.last_position > self.position
    }
}

impl Store {
    /// Visits the wishes that are to be verified now, the least often tried first.
    pub fn hub_wishes_due(
        &self,
        now: Time,
        visit: impl FnMut(HubDue<'_>),
    ) -> Result<(), StoreError> {
        let sql = "select id, callback, wish_attempts from hub_subscriptions \
                   where wish is not null and (wish_next_at is null or wish_next_at <= $1) \
                   order by wish_attempts, id";
        self.visit_hub(sql, now, visit)
    }

    /// Visits the subscriptions that something is to be pushed to now, the least failing first.
    pub fn hub_pushes_due(
        &self,
        now: Time,
        visit: impl FnMut(HubDue<'_>),
    ) -> Result<(), StoreError> {
        let sql = "select h.id, h.callback, h.attempts \
                   from hub_subscriptions h join queries q on q.id = h.query \
                   where h.lease_until > $1 and q.last_position > h.position \
                   and (h.next_at is null or h.next_at <= $1) order by h.attempts, h.id";
        self.visit_hub(sql, now, visit)
    }

    fn visit_hub(
        &self,
        sql: &str,
        now: Time,
        mut visit: impl FnMut(HubDue<'_>),
    ) -> Result<(), StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([now.millis()])?;
            while let Some(row) = rows.next()? {
                let callback = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
                visit(HubDue { id: row.get(0)?, callback, attempts: row.get(2)? });
            }
            Ok(())
        })
    }

    /// A subscription by its number.
    pub fn hub_subscription(&self, id: i64) -> Result<Option<HubRow>, StoreError> {
        self.read(|conn| {
            let sql = "select h.id, h.topic, h.callback, h.secret, h.lease_until, h.wish, \
                       h.wish_secret, h.wish_lease_ms, h.position, q.last_position, h.attempts, \
                       h.wish_attempts \
                       from hub_subscriptions h join queries q on q.id = h.query where h.id = $1";
            Ok(conn.prepare_cached(sql)?.query_row([id], hub_row).optional()?)
        })
    }

    /// The callback confirmed this wish: it holds, and nobody needs to know who sent it.
    pub async fn grant_hub(&self, id: i64, wish: HubWishKind, now: Time) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let HubWishKind::Subscribe { secret, lease } = wish else {
                conn.execute("delete from hub_subscriptions where id = $1", [id])?;
                return Ok(());
            };
            let sql = "update hub_subscriptions set secret = $1, lease_until = $2, wish = null, \
                       wish_secret = null, wish_from = null, wished_at = null, \
                       attempts = 0, next_at = null where id = $3";
            conn.execute(sql, params![secret, (now + lease).millis(), id])?;
            Ok(())
        })
        .await
    }

    /// The callback did not confirm: what held before holds on. The wish is counted until its
    /// life ends.
    pub async fn refuse_hub(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update hub_subscriptions set wish = null, wish_secret = null where id = $1";
            conn.execute(sql, [id])?;
            Ok(())
        })
        .await
    }

    /// The callback could not be asked: the wish is tried again later.
    pub async fn retry_hub_wish(
        &self,
        id: i64,
        attempts: u32,
        next_at: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update hub_subscriptions set wish_attempts = $1, wish_next_at = $2 \
                       where id = $3";
            conn.execute(sql, params![attempts, next_at.millis(), id])?;
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

    /// Forgets subscriptions whose lease has run out, and wishes that nobody confirmed in time.
    /// A wish from the future was noted before the clock was set back.
    pub async fn end_leases(&self, now: Time) -> Result<(), StoreError> {
        let times = [now, now - WISH_LIFE, now + WISH_LIFE].map(Time::millis);
        // Nearly always none has: then nothing is written.
        let ended = self.read(|conn| {
            let sql = "select 1 from hub_subscriptions where (lease_until <= $1 and wish is null) \
                       or wished_at <= $2 or wished_at > $3";
            Ok(conn.prepare_cached(sql)?.exists(times)?)
        })?;
        if !ended {
            return Ok(());
        }
        self.write_async(move |conn| {
            let [now, earliest, latest] = times;
            let sql = "delete from hub_subscriptions where lease_until is null \
                       and (wished_at <= $1 or wished_at > $2)";
            conn.execute(sql, [earliest, latest])?;
            let sql = "update hub_subscriptions set wish = null, wish_secret = null, \
                       wish_from = null, wished_at = null \
                       where wished_at <= $1 or wished_at > $2";
            conn.execute(sql, [earliest, latest])?;
            let sql = "delete from hub_subscriptions where lease_until <= $1 and wish is null";
            conn.execute(sql, [now])?;
            Ok(())
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
        wish_attempts: row.get(11)?,
        position: row.get(8)?,
        last_position: row.get(9)?,
        attempts: row.get(10)?,
    })
}

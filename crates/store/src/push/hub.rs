//! Subscribers of our own hub (WebSub): pending requests, leases, and the last position pushed to
//! each subscriber. `hub_requests` applies the limits; the engine sends the requests to the
//! callbacks.

use std::time::Duration;

use crate::db::sql::{OptionalExtension, Row, params};
use feed::{Domain, Time};

use crate::db::columns::{duration, millis, time_or_none};
use crate::{QueryId, Store, StoreError};

/// How long a request waits for its verification. A refused request counts as long against the
/// limits.
pub const HUB_REQUEST_LIFE: Duration = Duration::from_secs(120);

/// A request of a subscriber, before its callback has verified it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberRequest {
    pub query: QueryId,
    /// The address of the feed, as the subscriber wrote it.
    pub topic: String,
    pub callback: String,
    /// The registrable domain of the callback.
    pub domain: Domain,
    /// The network address of the client that sent the request.
    pub from: String,
    pub kind: SubscriberRequestKind,
    pub protocol: SubscriberProtocol,
}

/// How a subscriber is verified and learns about changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SubscriberProtocol {
    /// It echoes a challenge and gets the feed.
    #[default]
    WebSub,
    /// rssCloud: it echoes a challenge and gets the address of the feed.
    CloudChallenge,
    /// rssCloud without a host name: it accepts a first notice and gets the address of the feed.
    CloudNotice,
}

impl SubscriberProtocol {
    /// The number in the store.
    pub(crate) const fn number(self) -> i64 {
        match self {
            SubscriberProtocol::WebSub => 0,
            SubscriberProtocol::CloudChallenge => 1,
            SubscriberProtocol::CloudNotice => 2,
        }
    }

    const fn from_number(number: i64) -> SubscriberProtocol {
        match number {
            1 => SubscriberProtocol::CloudChallenge,
            2 => SubscriberProtocol::CloudNotice,
            _ => SubscriberProtocol::WebSub,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriberRequestKind {
    Subscribe { secret: Option<String>, lease: Duration },
    Unsubscribe,
}

/// The store's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubscriberRequestOutcome {
    Taken,
    /// The query or the hub has too many subscribers.
    Full,
    /// The client or the callback's domain has too many unverified requests, or the callback has
    /// just refused the same request. The client may repeat it after this time.
    TooMany(Duration),
}

/// A subscription that needs a verification or a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueSubscriber<'a> {
    pub id: i64,
    pub callback: &'a str,
    /// Failures in a row.
    pub attempts: u32,
}

/// A subscription, or a request for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubSubscription {
    pub id: i64,
    pub topic: String,
    pub callback: String,
    pub protocol: SubscriberProtocol,
    pub secret: Option<String>,
    /// `None`: the callback has not verified the request yet.
    pub lease_until: Option<Time>,
    pub request: Option<SubscriberRequestKind>,
    pub request_attempts: u32,
    pub position: i64,
    /// The last position of its query.
    pub last_position: i64,
    pub attempts: u32,
}

impl HubSubscription {
    /// Returns whether there is something to push.
    pub fn is_due(&self, now: Time) -> bool {
        self.lease_until.is_some_and(|until| until > now) && self.last_position > self.position
    }
}

impl Store {
    /// Visits the requests that are due for verification, those with the fewest attempts first.
    pub fn hub_requests_due(
        &self,
        now: Time,
        visit: impl FnMut(DueSubscriber<'_>),
    ) -> Result<(), StoreError> {
        let sql = "select id, callback, wish_attempts from hub_subscriptions \
                   where wish is not null and (wish_next_at is null or wish_next_at <= $1) \
                   order by wish_attempts, id";
        self.visit_hub(sql, now, visit)
    }

    /// Visits the subscriptions that are due for a push, those with the fewest failures first.
    pub fn hub_pushes_due(
        &self,
        now: Time,
        visit: impl FnMut(DueSubscriber<'_>),
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
        mut visit: impl FnMut(DueSubscriber<'_>),
    ) -> Result<(), StoreError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            let mut rows = statement.query([now.millis()])?;
            while let Some(row) = &rows.next()? {
                let callback = row.get_ref(1)?.as_str()?;
                visit(DueSubscriber { id: row.get(0)?, callback, attempts: row.get(2)? });
            }
            Ok(())
        })
    }

    /// Returns a subscription by its number.
    pub fn hub_subscription(&self, id: i64) -> Result<Option<HubSubscription>, StoreError> {
        self.read(|conn| {
            let sql = "select h.id, h.topic, h.callback, h.secret, h.lease_until, h.wish, \
                       h.wish_secret, h.wish_lease_ms, h.position, q.last_position, h.attempts, \
                       h.wish_attempts, h.protocol \
                       from hub_subscriptions h join queries q on q.id = h.query where h.id = $1";
            Ok(conn.prepare_cached(sql)?.query_row([id], hub_row).optional()?)
        })
    }

    /// Carries out a request that the callback has verified, and deletes the address of its sender.
    pub async fn confirm_hub_request(
        &self,
        id: i64,
        request: SubscriberRequestKind,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let SubscriberRequestKind::Subscribe { secret, lease } = request else {
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

    /// Drops a request that the callback has refused. An existing subscription stays. The request
    /// counts against the limits until its life ends.
    pub async fn refuse_hub_request(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update hub_subscriptions set wish = null, wish_secret = null where id = $1";
            conn.execute(sql, [id])?;
            Ok(())
        })
        .await
    }

    /// Postpones the verification after the callback could not be reached.
    pub async fn retry_hub_request(
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

    /// Notes that the feed was pushed up to a position, or without a position that the push failed
    /// and is repeated at `next_at`.
    pub async fn note_hub_push(
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

    /// Removes a subscriber.
    pub async fn remove_hub_subscriber(&self, id: i64) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from hub_subscriptions where id = $1", [id])?;
            Ok(())
        })
        .await
    }

    /// Removes subscriptions with an expired lease, and requests that were not verified in time. A
    /// request from the future was stored before the clock jumped back.
    pub async fn end_leases(&self, now: Time) -> Result<(), StoreError> {
        let times = [now, now - HUB_REQUEST_LIFE, now + HUB_REQUEST_LIFE].map(Time::millis);
        // Usually there are none, and then nothing is written.
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

fn hub_row(row: &Row<'_>) -> crate::db::sql::Result<HubSubscription> {
    let request: Option<String> = row.get(5)?;
    let (secret, lease) = (row.get(6)?, duration(row, 7)?.unwrap_or_default());
    Ok(HubSubscription {
        id: row.get(0)?,
        topic: row.get(1)?,
        callback: row.get(2)?,
        protocol: SubscriberProtocol::from_number(row.get(12)?),
        secret: row.get(3)?,
        lease_until: time_or_none(row, 4)?,
        request: request.map(|word| match word.as_str() {
            "subscribe" => SubscriberRequestKind::Subscribe { secret, lease },
            _ => SubscriberRequestKind::Unsubscribe,
        }),
        request_attempts: row.get(11)?,
        position: row.get(8)?,
        last_position: row.get(9)?,
        attempts: row.get(10)?,
    })
}

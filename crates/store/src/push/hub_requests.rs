//! Subscription requests to our own hub, and their limits. Until its callback verifies it, a
//! request comes from a stranger. So unverified requests have their own limits, and a verified
//! subscriber never loses its place to them.

use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::Time;

use crate::db::columns::{count, duration_ms, time_or_none};
use crate::db::dialect::{self, LockSubject};
use crate::error::DbError;
use crate::push::hub::HUB_REQUEST_LIFE;
use crate::{
    Store, StoreError, SubscriberRequest, SubscriberRequestKind, SubscriberRequestOutcome,
};

/// Verified subscribers of one query. Each push goes to all of them.
const SUBSCRIBERS_MAX: u64 = 1000;
/// Verified subscribers of one query with callbacks at one domain. A reader service needs one for
/// each format of the feed. More would let one domain take all places.
const SUBSCRIBERS_PER_DOMAIN_MAX: u64 = 20;
/// Unverified requests in total. They do not count as subscribers. With 32 verifications at a time,
/// each of 10 s at most, all are verified in time.
const REQUESTS_MAX: u64 = 256;
/// Unverified requests for one callback domain: it gets one verification at a time, with a gap.
const REQUESTS_PER_DOMAIN_MAX: u64 = 4;
/// Unverified and refused requests of one client address. A client whose requests are never
/// verified makes this server send requests to others.
const REQUESTS_PER_CLIENT_MAX: u64 = 16;

/// The stored subscription that a request is about.
struct KnownSubscription {
    id: i64,
    is_confirmed: bool,
    is_pending: bool,
    requested_at: Option<Time>,
}

impl Store {
    /// Stores a request if the limits allow it.
    pub fn add_hub_request(
        &self,
        request: &SubscriberRequest,
        now: Time,
    ) -> Result<SubscriberRequestOutcome, StoreError> {
        let request = request.clone();
        self.write_own(move |conn| {
            // The limits count the requests of all processes.
            dialect::one_at_a_time(conn, LockSubject::HubRequests, 0)?;
            let known = known(conn, &request)?;
            if known.is_none() && request.kind == SubscriberRequestKind::Unsubscribe {
                return Ok(SubscriberRequestOutcome::Taken);
            }
            // A request that is repeated while it waits only replaces the first one.
            if !known.as_ref().is_some_and(|known| known.is_pending)
                && let Some(refused) = refused(conn, &request, known.as_ref(), now)?
            {
                return Ok(refused);
            }
            note(conn, &request, known.as_ref(), now)?;
            Ok(SubscriberRequestOutcome::Taken)
        })
    }
}

fn known(
    conn: &Connection,
    request: &SubscriberRequest,
) -> Result<Option<KnownSubscription>, DbError> {
    let sql = "select id, lease_until is not null, wish is not null, wished_at \
               from hub_subscriptions where topic = $1 and callback = $2";
    let found =
        conn.prepare_cached(sql)?.query_row(params![request.topic, request.callback], |row| {
            Ok(KnownSubscription {
                id: row.get(0)?,
                is_confirmed: row.get(1)?,
                is_pending: row.get(2)?,
                requested_at: time_or_none(row, 3)?,
            })
        });
    Ok(found.optional()?)
}

/// Returns why a request is not stored, if a limit forbids it. A verified subscriber already has
/// its place.
fn refused(
    conn: &Connection,
    request: &SubscriberRequest,
    known: Option<&KnownSubscription>,
    now: Time,
) -> Result<Option<SubscriberRequestOutcome>, DbError> {
    let number = |sql: &str, values: &[&dyn crate::db::sql::ToValue]| -> Result<u64, DbError> {
        Ok(conn.prepare_cached(sql)?.query_row(values, |row| count(row, 0))?)
    };
    // The callback has just refused the same request.
    let ends_at = known.and_then(|known| known.requested_at).map(|at| at + HUB_REQUEST_LIFE);
    let wait = ends_at.map_or(Duration::ZERO, |at| at.since(now).min(HUB_REQUEST_LIFE));
    if !wait.is_zero() {
        return Ok(Some(SubscriberRequestOutcome::TooMany(wait)));
    }
    let sql = "select count(*) from hub_subscriptions where wish_from = $1 and wished_at > $2";
    let since = (now - HUB_REQUEST_LIFE).millis();
    if number(sql, &[&request.from, &since])? >= REQUESTS_PER_CLIENT_MAX {
        return Ok(Some(SubscriberRequestOutcome::TooMany(HUB_REQUEST_LIFE)));
    }
    if known.is_some_and(|known| known.is_confirmed) {
        return Ok(None);
    }
    let domain = request.domain.as_str();
    let sql = "select count(*) from hub_subscriptions where callback_domain = $1 \
               and lease_until is null and wish is not null";
    if number(sql, &[&domain])? >= REQUESTS_PER_DOMAIN_MAX {
        return Ok(Some(SubscriberRequestOutcome::TooMany(HUB_REQUEST_LIFE)));
    }
    let sql = "select count(*) from hub_subscriptions where lease_until is null \
               and wish is not null";
    let subscribed = "select count(*) from hub_subscriptions where query = $1 \
                      and lease_until is not null";
    let of_domain = "select count(*) from hub_subscriptions where query = $1 \
                     and lease_until is not null and callback_domain = $2";
    let is_full = number(sql, &[])? >= REQUESTS_MAX
        || number(subscribed, &[&request.query.0])? >= SUBSCRIBERS_MAX
        || number(of_domain, &[&request.query.0, &domain])? >= SUBSCRIBERS_PER_DOMAIN_MAX;
    Ok(is_full.then_some(SubscriberRequestOutcome::Full))
}

fn note(
    conn: &Connection,
    request: &SubscriberRequest,
    known: Option<&KnownSubscription>,
    now: Time,
) -> Result<(), DbError> {
    let (kind, secret, lease) = match &request.kind {
        SubscriberRequestKind::Subscribe { secret, lease } => {
            ("subscribe", secret.as_ref(), *lease)
        }
        SubscriberRequestKind::Unsubscribe => ("unsubscribe", None, Duration::ZERO),
    };
    let lease = duration_ms(lease);
    let (domain, from, now) = (request.domain.as_str(), &request.from, now.millis());
    let protocol = request.protocol.number();
    match known {
        Some(KnownSubscription { id, is_pending: true, .. }) => {
            let sql = "update hub_subscriptions set wish = $1, wish_secret = $2, \
                       wish_lease_ms = $3, protocol = $4 where id = $5";
            conn.execute(sql, params![kind, secret, lease, protocol, id])?;
        }
        Some(KnownSubscription { id, .. }) => {
            let sql = "update hub_subscriptions set wish = $1, wish_secret = $2, \
                       wish_lease_ms = $3, wish_from = $4, wished_at = $5, wish_attempts = 0, \
                       wish_next_at = null, callback_domain = $6, protocol = $7 where id = $8";
            conn.execute(sql, params![kind, secret, lease, from, now, domain, protocol, id])?;
        }
        None => {
            let sql = "insert into hub_subscriptions (topic, callback, callback_domain, wish, \
                       wish_secret, wish_lease_ms, wish_from, wished_at, protocol, query, \
                       position) select $1, $2, $3, $4, $5, $6, $7, $8, $9, id, last_position \
                       from queries where id = $10";
            let (topic, callback) = (&request.topic, &request.callback);
            let query = request.query.0;
            conn.execute(
                sql,
                params![topic, callback, domain, kind, secret, lease, from, now, protocol, query],
            )?;
        }
    }
    Ok(())
}

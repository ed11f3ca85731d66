//! Limits the number of idle connections. The HTTP client limits them for each host only; this
//! module limits the number of hosts. It opens and closes nothing: an exchange without a lease uses
//! a client that keeps no connection.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use url::Url;

/// The lifetime of an idle connection. Common servers close it after 5 s, and a request must not be
/// sent into a closing connection. Two polls of a domain are 2 s apart and should share a
/// connection.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// The client looks for expired connections once in each timeout, so one may live for two.
const LEASE: Duration = Duration::from_secs(IDLE_TIMEOUT.as_secs() * 2 + 1);
/// A request is on its way for less than this, even to the other side of the world.
const MARGIN: Duration = Duration::from_secs(1);

/// The origins that may have an idle connection, at most `max` of them.
pub(crate) struct Leases {
    max: usize,
    origins: Mutex<HashMap<Origin, OriginLease>>,
}

type Origin = (bool, String, u16);

struct OriginLease {
    n_under_way: usize,
    /// Until then a connection may be open, and the lease counts.
    until: Instant,
    /// Until then the server has certainly not closed the connection.
    warm_until: Instant,
}

/// A lease in use. When it is dropped, it continues for as long as a connection may stay idle.
pub(crate) struct Lease<'a> {
    leases: &'a Leases,
    origin: Origin,
    /// Whether an open connection can be reused without sending into a closing one.
    pub reusable: bool,
    /// How long the server says it keeps an unused connection (`Keep-Alive: timeout=…`).
    pub server_keeps: Option<Duration>,
}

impl Leases {
    pub fn new(max: usize) -> Leases {
        Leases { max, origins: Mutex::new(HashMap::new()) }
    }

    /// Returns a lease for the URL's origin, or `None` if all are taken.
    pub fn take(&self, url: &Url, now: Instant) -> Option<Lease<'_>> {
        let host = url.host_str()?.to_owned();
        let origin = (url.scheme() == "https", host, url.port_or_known_default()?);
        let mut origins = self.lock();
        let mut reusable = true;
        if let Some(held) = origins.get_mut(&origin) {
            held.n_under_way += 1;
            reusable = held.n_under_way > 1 || now < held.warm_until || now >= held.until;
        } else {
            if origins.len() >= self.max {
                origins.retain(|_, held| held.n_under_way > 0 || held.until > now);
            }
            if origins.len() >= self.max {
                return None;
            }
            origins.insert(
                origin.clone(),
                OriginLease { n_under_way: 1, until: now, warm_until: now },
            );
        }
        Some(Lease { leases: self, origin, reusable, server_keeps: None })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, OriginLease>> {
        // No code panics while it holds the lock, and the map is valid after every statement.
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(held) = self.leases.lock().get_mut(&self.origin) {
            let now = moment();
            let kept =
                self.server_keeps.map_or(LEASE, |time| time.saturating_sub(MARGIN).min(LEASE));
            held.n_under_way -= 1;
            // An exchange on a separate connection says nothing about the idle one.
            if self.reusable {
                held.until = now + LEASE;
                held.warm_until = now + kept;
            }
        }
    }
}

/// Reads the machine's monotonic clock.
#[expect(clippy::disallowed_methods, reason = "sockets idle and exchanges last in real time")]
pub(crate) fn moment() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(n: usize) -> Url {
        Url::parse(&format!("http://host{n}.example/feed")).unwrap()
    }

    #[test]
    fn no_more_origins_than_allowed_hold_a_lease() {
        let leases = Leases::new(3);
        let held: Vec<_> = (0..10).filter_map(|n| leases.take(&url(n), moment())).collect();
        assert_eq!(held.len(), 3);
        assert!(leases.take(&url(2), moment()).is_some(), "a held origin may be used again");
    }

    #[test]
    fn a_connection_that_the_server_is_about_to_close_is_not_used_again() {
        let leases = Leases::new(1);
        let mut lease = leases.take(&url(1), moment()).unwrap();
        assert!(lease.reusable);
        lease.server_keeps = Some(Duration::from_secs(2));
        drop(lease);
        let end = moment();
        let reusable = |after| leases.take(&url(1), end + after).is_some_and(|l| l.reusable);
        assert!(!reusable(Duration::from_secs(2)), "it may be closing just now");
        assert!(!reusable(Duration::from_secs(3)), "the exchange between did not use it");
        assert!(reusable(LEASE * 2), "by now it is gone, and a new one may be kept");
    }

    #[test]
    fn a_server_that_keeps_connections_for_ever_is_believed_for_as_long_as_we_do() {
        let leases = Leases::new(1);
        let mut lease = leases.take(&url(1), moment()).unwrap();
        lease.server_keeps = Some(Duration::from_secs(u64::MAX));
        drop(lease);
        assert!(leases.take(&url(1), moment()).is_some_and(|lease| lease.reusable));
    }

    #[test]
    fn a_lease_ends_some_time_after_its_last_use() {
        let leases = Leases::new(1);
        let start = moment();
        let first = leases.take(&url(1), start);
        assert!(leases.take(&url(2), start + LEASE * 9).is_none(), "it is in use");
        drop(first);
        assert!(leases.take(&url(2), start).is_none(), "its connection may still be open");
        assert!(leases.take(&url(2), moment() + LEASE * 2).is_some());
    }
}

//! Limits guesses of passwords. Failures are counted for each name and client, and for each name
//! over all clients. After some failures in a row the waits double. Time is an argument.
//!
//! Guesses from one client do not lock the owner of a name out elsewhere. The count over all
//! clients slows down guesses from many clients; clients where the owner has logged in are exempt
//! from it. Counts of existing names are never dropped to make room for others.

use std::collections::HashMap;
use std::time::Duration;

use feed::Time;
use store::Digest;

use super::client_address::ClientAddress;

/// Failures of one client that cost no wait, because people mistype.
const FREE: u32 = 5;
const WAIT_MAX: Duration = Duration::from_secs(300);
/// The same limit for a name over all clients. It is much higher, because strangers can use it up.
/// With the wait below, a guesser with any number of addresses has 2,880 guesses a day.
const NAME_FREE: u32 = 100;
const NAME_WAIT_MAX: Duration = Duration::from_secs(30);
/// After this time without a failure a count starts at zero.
const FORGET_AFTER: Duration = Duration::from_secs(3600);
/// Names without an account that are counted, so that they behave as existing names do. Beyond that
/// the oldest count is dropped: nobody can log in under such a name.
const MADE_UP_MAX: usize = 10_000;
/// Clients that are counted for one name. Beyond that the oldest is dropped; the count of the name
/// stays.
const CLIENTS_MAX: usize = 100;
/// How long a login makes a client trusted: as long as a session of the page lasts.
const TRUSTED: Duration = Duration::from_secs(30 * 86_400);
/// Trusted clients over all names. Only a correct password adds one.
const TRUSTED_MAX: usize = 1000;

/// A login attempt: the name, and the client. Names are digests, so that long names cost no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoginAttempt {
    pub name: Digest,
    /// Whether an account has this name.
    pub exists: bool,
    pub client: ClientAddress,
}

#[derive(Debug, Default)]
pub struct Throttle {
    existing: HashMap<Digest, NameFailures>,
    made_up: HashMap<Digest, NameFailures>,
    /// The last login of a name from a client.
    trusted: HashMap<(Digest, ClientAddress), Time>,
}

#[derive(Debug, Default)]
struct NameFailures {
    all: FailureCount,
    clients: HashMap<ClientAddress, FailureCount>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FailureCount {
    n: u32,
    last_at: Time,
}

impl Throttle {
    /// Returns how long the next attempt must wait.
    pub fn wait(&self, claim: &LoginAttempt, now: Time) -> Duration {
        let names = if claim.exists { &self.existing } else { &self.made_up };
        let Some(name) = names.get(&claim.name) else { return Duration::ZERO };
        let here = name.clients.get(&claim.client);
        let here = here.map_or(Duration::ZERO, |failures| failures.wait(FREE, WAIT_MAX, now));
        if self.is_trusted(claim, now) {
            return here;
        }
        here.max(name.all.wait(NAME_FREE, NAME_WAIT_MAX, now))
    }

    /// Whether this name has logged in from this client recently.
    pub fn is_trusted(&self, claim: &LoginAttempt, now: Time) -> bool {
        let at = self.trusted.get(&(claim.name, claim.client));
        at.is_some_and(|at| now.since(*at) <= TRUSTED)
    }

    pub fn failed(&mut self, claim: &LoginAttempt, now: Time) {
        if !claim.exists {
            make_room(&mut self.made_up, &claim.name, MADE_UP_MAX, |name| name.all.last_at);
        }
        let names = if claim.exists { &mut self.existing } else { &mut self.made_up };
        let name = names.entry(claim.name).or_default();
        name.all.add(now);
        make_room(&mut name.clients, &claim.client, CLIENTS_MAX, |failures| failures.last_at);
        name.clients.entry(claim.client).or_default().add(now);
    }

    pub fn succeeded(&mut self, claim: &LoginAttempt, now: Time) {
        // Only for this client: another client may still be guessing.
        if let Some(name) = self.existing.get_mut(&claim.name) {
            name.clients.remove(&claim.client);
        }
        let key = (claim.name, claim.client);
        make_room(&mut self.trusted, &key, TRUSTED_MAX, |at| *at);
        self.trusted.insert(key, now);
    }
}

impl FailureCount {
    fn wait(&self, free: u32, longest: Duration, now: Time) -> Duration {
        let wait = match self.n.checked_sub(free) {
            None => Duration::ZERO,
            Some(over) => Duration::from_secs(1 << over.min(9)).min(longest),
        };
        // After the clock was set back, the wait stays at most as long as it was.
        (self.last_at + wait).since(now).min(wait)
    }

    fn add(&mut self, now: Time) {
        if now.since(self.last_at) > FORGET_AFTER {
            self.n = 0;
        }
        self.n = self.n.saturating_add(1);
        self.last_at = now;
    }
}

/// Removes the oldest value if the map is full and the key is new.
fn make_room<K: Copy + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    key: &K,
    most: usize,
    at: impl Fn(&V) -> Time,
) {
    if map.len() >= most && !map.contains_key(key) {
        let oldest = map.iter().min_by_key(|(_, value)| at(value)).map(|(key, _)| *key);
        oldest.map(|key| map.remove(&key));
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const T0: Time = Time::from_secs(1_700_000_000);

    fn after(secs: u64) -> Time {
        T0 + Duration::from_secs(secs)
    }

    fn claim(name: u32, client: u32) -> LoginAttempt {
        let mut digest = [0; 32];
        digest[..4].copy_from_slice(&name.to_le_bytes());
        let client = ClientAddress::of(Ipv4Addr::from_bits(client).into());
        LoginAttempt { name: digest, exists: true, client }
    }

    fn made_up(name: u32, client: u32) -> LoginAttempt {
        LoginAttempt { exists: false, ..claim(name, client) }
    }

    #[test]
    fn waits_double_after_five_failures_and_end_with_a_success() {
        let mut throttle = Throttle::default();
        let (anna, bert) = (claim(1, 1), claim(2, 1));
        let mut waits = Vec::new();
        for _ in 0..16 {
            throttle.failed(&anna, T0);
            waits.push(throttle.wait(&anna, T0).as_secs());
        }
        assert_eq!(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]);
        assert_eq!(throttle.wait(&anna, after(290)).as_secs(), 10);
        assert_eq!(throttle.wait(&anna, after(300)), Duration::ZERO);
        assert_eq!(throttle.wait(&bert, T0), Duration::ZERO);
        throttle.succeeded(&anna, T0);
        assert_eq!(throttle.wait(&anna, T0), Duration::ZERO);
    }

    #[test]
    fn guesses_at_one_place_do_not_keep_the_owner_out_elsewhere() {
        let mut throttle = Throttle::default();
        for _ in 0..50 {
            throttle.failed(&claim(1, 1), T0);
        }
        assert_eq!(throttle.wait(&claim(1, 1), T0).as_secs(), 300);
        assert_eq!(throttle.wait(&claim(1, 2), T0), Duration::ZERO);
    }

    #[test]
    fn guesses_from_many_places_are_slowed_down_but_not_where_the_owner_was() {
        for exists in [true, false] {
            let mut throttle = Throttle::default();
            for client in 0..200 {
                throttle.failed(&LoginAttempt { exists, ..claim(1, client) }, T0);
            }
            let elsewhere = LoginAttempt { exists, ..claim(1, 999) };
            assert_eq!(throttle.wait(&elsewhere, T0).as_secs(), 30, "{exists}");
        }
        let mut throttle = Throttle::default();
        throttle.succeeded(&claim(1, 999), T0);
        for client in 0..200 {
            throttle.failed(&claim(1, client), T0);
        }
        assert_eq!(throttle.wait(&claim(1, 999), T0), Duration::ZERO);
        assert_eq!(throttle.wait(&claim(1, 1000), T0).as_secs(), 30);
        let month = TRUSTED + Duration::from_secs(1);
        throttle.failed(&claim(1, 5), T0 + month);
        assert!(!throttle.is_trusted(&claim(1, 999), T0 + month), "trust ends");
    }

    #[test]
    fn names_that_are_made_up_push_no_count_of_a_real_name_out() {
        let mut throttle = Throttle::default();
        for _ in 0..20 {
            throttle.failed(&claim(1, 1), T0);
        }
        let waits = throttle.wait(&claim(1, 1), after(60));
        for name in 0..MADE_UP_MAX as u32 + 50 {
            throttle.failed(&made_up(name + 10, 1), after(1));
        }
        assert_eq!(throttle.made_up.len(), MADE_UP_MAX, "memory is bounded");
        assert_eq!(throttle.wait(&claim(1, 1), after(60)), waits);
        assert!(!waits.is_zero());
    }

    #[test]
    fn places_of_a_name_and_trusted_places_are_bounded() {
        let mut throttle = Throttle::default();
        for client in 0..CLIENTS_MAX as u32 + 50 {
            throttle.failed(&claim(1, client), after(u64::from(client)));
        }
        let name = &throttle.existing[&claim(1, 0).name];
        assert_eq!((name.clients.len(), name.all.n), (CLIENTS_MAX, CLIENTS_MAX as u32 + 50));
        for client in 0..TRUSTED_MAX as u32 + 50 {
            throttle.succeeded(&claim(1, client), after(u64::from(client)));
        }
        assert_eq!(throttle.trusted.len(), TRUSTED_MAX);
    }

    #[test]
    fn an_hour_of_peace_is_a_new_start() {
        let mut throttle = Throttle::default();
        for _ in 0..9 {
            throttle.failed(&claim(1, 1), T0);
        }
        throttle.failed(&claim(1, 1), after(3601));
        assert_eq!(throttle.wait(&claim(1, 1), after(3601)), Duration::ZERO);
    }

    #[test]
    fn a_clock_that_goes_back_makes_nobody_wait_longer() {
        let mut throttle = Throttle::default();
        for _ in 0..FREE {
            throttle.failed(&claim(1, 1), after(86_400));
        }
        assert_eq!(throttle.wait(&claim(1, 1), T0).as_secs(), 1);
    }
}

//! Distinguishes a failure of our network from failures of feeds. If nearly all domains are
//! unreachable at once, no feed is blamed. The outage ends as soon as one domain answers.
//!
//! ```
//! use feed::Time;
//! use polling::outage::{Outage, Reach};
//!
//! let (mut outage, now) = (Outage::default(), Time::from_secs(100));
//! (0..10).for_each(|domain| outage.record(domain, now, Reach::Unreachable));
//! assert!(outage.verdict(now).is_some());
//! outage.record(3, now, Reach::Answered);
//! assert!(outage.verdict(now).is_none());
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use feed::Time;

/// Older requests say nothing about the present.
const LOOK_BACK: Duration = Duration::from_secs(60);
/// Fewer domains may well be down together, for example on one host.
const DOMAINS_MIN: usize = 10;
/// The share of unreachable domains, in percent, that counts as our outage.
const SHARE_PERCENT: usize = 80;
/// Limits the memory. At more polls a minute the newest are a large enough sample.
const RECORDS_MAX: usize = 16_384;

/// The result of a request for the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The server answered. Even an error shows that the network works.
    Answered,
    /// The name does not exist. Usually the domain has ended, since a name server said so. A
    /// network without a connection may say it about every name.
    NoSuchHost,
    /// No name server, no connection, or no answer at all.
    Unreachable,
}

/// The requests of the last minute by domain.
#[derive(Clone, Debug, Default)]
pub struct Outage {
    /// The last request of each domain, and its result.
    domains: BTreeMap<u32, (Time, Reach)>,
    /// The requests in order, for removal after a minute.
    order: VecDeque<(Time, u32)>,
    n_unreachable: usize,
    n_answered: usize,
    since: Option<NetworkOutage>,
}

/// An outage of our network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkOutage {
    /// The first of the failures that showed it.
    pub at: Time,
    /// Unreachable domains, and all domains tried within a minute.
    pub n_unreachable: usize,
    pub n_domains: usize,
}

impl Outage {
    /// Records how a request ended. `domain` is the caller's number for it.
    pub fn record(&mut self, domain: u32, at: Time, reach: Reach) {
        if self.since.is_some() && reach == Reach::Answered {
            *self = Outage::default();
        }
        self.forget(at);
        let before = self.domains.insert(domain, (at, reach));
        self.count(before.map(|(_, reach)| reach), Some(reach));
        self.order.push_back((at, domain));
        if self.since.is_none() && reach != Reach::Answered && self.is_all_at_once() {
            let failures = self.domains.values().filter(|(_, reach)| *reach != Reach::Answered);
            let first = failures.map(|(at, _)| *at).min().unwrap_or(at);
            let n_domains = self.domains.len();
            let n_unreachable = n_domains - self.n_answered;
            self.since = Some(NetworkOutage { at: first, n_unreachable, n_domains });
        }
    }

    /// Returns whether nearly all domains are unreachable, or none answered at all.
    fn is_all_at_once(&self) -> bool {
        let n_domains = self.domains.len();
        let nearly_all = self.n_unreachable * 100 >= n_domains * SHARE_PERCENT;
        n_domains >= DOMAINS_MIN && (nearly_all || self.n_answered == 0)
    }

    fn count(&mut self, gone: Option<Reach>, came: Option<Reach>) {
        self.n_unreachable += usize::from(came == Some(Reach::Unreachable));
        self.n_unreachable -= usize::from(gone == Some(Reach::Unreachable));
        self.n_answered += usize::from(came == Some(Reach::Answered));
        self.n_answered -= usize::from(gone == Some(Reach::Answered));
    }

    /// Returns the outage, if our network is down. It lasts until a request succeeds: the caller
    /// keeps trying one feed now and then, and blames none.
    pub fn verdict(&self, now: Time) -> Option<NetworkOutage> {
        self.since.filter(|since| since.at <= now)
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(at, domain)) = self.order.front() {
            if at + LOOK_BACK >= now && self.order.len() < RECORDS_MAX {
                break;
            }
            self.order.pop_front();
            if self.domains.get(&domain).is_some_and(|(last, _)| *last == at) {
                let gone = self.domains.remove(&domain);
                self.count(gone.map(|(_, reach)| reach), None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(error: bool) -> Reach {
        if error { Reach::Unreachable } else { Reach::Answered }
    }

    fn outage(polls: impl IntoIterator<Item = (u32, i64, bool)>) -> Outage {
        let mut outage = Outage::default();
        for (domain, secs, error) in polls {
            outage.record(domain, Time::from_secs(secs), reach(error));
        }
        outage
    }

    #[test]
    fn ten_unreachable_domains_within_a_minute_are_our_network() {
        let down = outage((0..10).map(|d| (d, 100 + i64::from(d), true)));
        let since = down.verdict(Time::from_secs(110)).unwrap();
        assert_eq!((since.at, since.n_unreachable), (Time::from_secs(100), 10));
    }

    #[test]
    fn nine_domains_or_a_fifth_that_answers_are_not() {
        assert_eq!(outage((0..9).map(|d| (d, 100, true))).verdict(Time::from_secs(100)), None);
        let mixed = outage((0..40).map(|d| (d, 100, d % 4 != 0)));
        assert_eq!(mixed.verdict(Time::from_secs(100)), None);
        let eighty = outage((0..40).map(|d| (d, 100, d % 5 != 0)));
        assert!(eighty.verdict(Time::from_secs(100)).is_some());
    }

    #[test]
    fn one_domain_failing_often_is_one_domain() {
        let one = outage((0..100).map(|i| (7, 100 + i, true)));
        assert_eq!(one.verdict(Time::from_secs(200)), None);
    }

    #[test]
    fn failures_spread_over_minutes_are_the_feeds_own() {
        let slow = outage((0..30).map(|d| (d, i64::from(d) * 7, true)));
        assert_eq!(slow.verdict(Time::from_secs(300)), None);
    }

    #[test]
    fn it_ends_with_the_first_answer() {
        let mut down = outage((0..20).map(|d| (d, 100, true)));
        assert!(down.verdict(Time::from_secs(5000)).is_some());
        down.record(3, Time::from_secs(5000), Reach::Answered);
        assert_eq!(down.verdict(Time::from_secs(5000)), None);
        down.record(4, Time::from_secs(5001), Reach::Unreachable);
        assert_eq!(down.verdict(Time::from_secs(5001)), None);
    }

    #[test]
    fn unknown_names_are_our_outage_only_if_no_domain_answers() {
        let names = |n_alive: u32| {
            let mut outage = Outage::default();
            for domain in 0..20 {
                let reach = if domain < n_alive { Reach::Answered } else { Reach::NoSuchHost };
                outage.record(domain, Time::from_secs(100), reach);
            }
            outage.verdict(Time::from_secs(100))
        };
        assert!(names(0).is_some());
        assert_eq!(names(1), None, "an old list of dead blogs is not an outage");
    }

    #[test]
    fn memory_is_bounded() {
        let busy = outage((0..100_000).map(|d| (d, 100, d % 2 == 0)));
        assert!(busy.order.len() <= RECORDS_MAX && busy.domains.len() <= RECORDS_MAX);
        let n = |reach| busy.domains.values().filter(|d| d.1 == reach).count();
        assert_eq!(
            (busy.n_unreachable, busy.n_answered),
            (n(Reach::Unreachable), n(Reach::Answered))
        );
    }
}

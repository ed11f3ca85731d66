//! The pages behind entries that are being loaded, so that no page is loaded twice at once. Also
//! the domains whose pages do not come: they rest, because each request in vain delays their polls.
//! And the sites that all pages wait for, and how many requests of people went before polls.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use feed::{Domain, EntryId, Time};
use tokio::sync::Notify;

use crate::page_room::PageRoom;

/// The rest after the first failure. Each further one doubles it.
const REST_MIN: Duration = Duration::from_secs(60);
const REST_MAX: Duration = Duration::from_secs(3600);
/// The longest wait that holds for all pages of a site. Later each asks for itself again.
const WAIT_MAX: Duration = Duration::from_secs(86_400);
/// Requests of people that go before the polls of a domain, in this time. They take a quarter of
/// the turns at a domain at most.
const HURRIED_MAX: u32 = 5;
const HURRIED_WITHIN: Duration = Duration::from_secs(60);
const HURRIED_GAPS: u32 = 20;
/// Domains and sites that are remembered. A restart forgets them all.
const REMEMBERED_MAX: usize = 10_000;

/// The pages under way.
#[derive(Default)]
pub struct ArticleWork {
    entries: Mutex<HashSet<EntryId>>,
    resting: Mutex<HashMap<Domain, RestingDomain>>,
    waiting: Mutex<HashMap<String, PageWait>>,
    hurried: Mutex<HashMap<Domain, HurriedDomain>>,
    pub room: PageRoom,
    /// Wakes the loop: somebody asked for a page.
    pub asked: Notify,
}

/// A domain whose last pages did not come.
#[derive(Clone, Copy)]
struct RestingDomain {
    n_failures: u32,
    until: Time,
}

/// Requests of people that went before the polls of a domain.
#[derive(Clone, Copy, Debug)]
struct HurriedDomain {
    n: u32,
    until: Time,
}

/// A wait for something besides the turn of a page. It is not a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWait {
    /// The domain or the origin that is waited for. Its other pages wait as well.
    pub whose: String,
    pub at: Time,
    pub why: String,
}

/// A page under way. It ends with this value.
pub struct PageUnderWay<'a> {
    work: &'a ArticleWork,
    entry: EntryId,
}

impl ArticleWork {
    /// Begins a page; `None`: it is under way already.
    pub fn begin(&self, entry: EntryId) -> Option<PageUnderWay<'_>> {
        let mut entries = lock(&self.entries);
        // Made only if it is returned: its drop would wait for the lock that is held here.
        entries.insert(entry).then(|| PageUnderWay { work: self, entry })
    }

    /// Notes that a page of a domain did not come, but may come later.
    pub fn failed(&self, domain: Domain, now: Time) {
        let mut resting = lock(&self.resting);
        if resting.len() >= REMEMBERED_MAX {
            resting.retain(|_, rest| rest.until > now);
        }
        let n_failures = resting.get(&domain).map_or(1, |rest| rest.n_failures.saturating_add(1));
        let rest = REST_MIN.saturating_mul(1 << (n_failures - 1).min(10)).min(REST_MAX);
        if resting.len() < REMEMBERED_MAX {
            resting.insert(domain, RestingDomain { n_failures, until: now + rest });
        }
    }

    /// Notes that a domain answered for a page.
    pub fn answered(&self, domain: &Domain) {
        lock(&self.resting).remove(domain);
    }

    /// Whether pages of a domain wait that nobody asked for. A clock that jumped back does not
    /// prolong a rest.
    pub fn rests(&self, domain: &Domain, now: Time) -> bool {
        let until = lock(&self.resting).get(domain).map(|rest| rest.until);
        until.is_some_and(|until| until > now && until <= now + REST_MAX)
    }

    /// Lets the other pages of a site wait as well.
    pub fn wait(&self, wait: PageWait, now: Time) {
        let mut waiting = lock(&self.waiting);
        if waiting.len() >= REMEMBERED_MAX {
            waiting.retain(|_, wait| wait.at > now);
        }
        if waiting.len() < REMEMBERED_MAX {
            let at = wait.at.min(now + WAIT_MAX);
            waiting.insert(wait.whose.clone(), PageWait { at, ..wait });
        }
    }

    /// Returns what a page of these sites waits for that nobody asked for. A clock that jumped back
    /// does not prolong a wait.
    pub fn waits(&self, sites: &[&str], now: Time) -> Option<PageWait> {
        let waiting = lock(&self.waiting);
        let waits = sites.iter().filter_map(|site| waiting.get(*site));
        waits
            .filter(|wait| wait.at > now && wait.at <= now + WAIT_MAX)
            .max_by_key(|w| w.at)
            .cloned()
    }

    /// Whether a request of a person may go before the polls of a domain. If so, it counts.
    /// Otherwise people who ask for many pages would stop the polls.
    pub fn may_hurry(&self, domain: &Domain, gap: Duration, now: Time) -> bool {
        let within = HURRIED_WITHIN.max(gap.saturating_mul(HURRIED_GAPS));
        let mut hurried = lock(&self.hurried);
        if hurried.len() >= REMEMBERED_MAX {
            hurried.retain(|_, one| one.until > now);
        }
        let before = hurried.get(domain).copied();
        // A clock that jumped back does not prolong the time.
        let before = before.filter(|one| one.until > now && one.until <= now + within);
        let one = before.unwrap_or(HurriedDomain { n: 0, until: now + within });
        let may = one.n < HURRIED_MAX && (before.is_some() || hurried.len() < REMEMBERED_MAX);
        if may {
            hurried.insert(domain.clone(), HurriedDomain { n: one.n + 1, ..one });
        }
        may
    }
}

fn lock<T>(values: &Mutex<T>) -> MutexGuard<'_, T> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for PageUnderWay<'_> {
    fn drop(&mut self) {
        lock(&self.work.entries).remove(&self.entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_under_way_once_until_it_ends() {
        let work = ArticleWork::default();
        let page = work.begin(EntryId(1));
        assert!(page.is_some());
        assert!(work.begin(EntryId(1)).is_none());
        assert!(work.begin(EntryId(1)).is_none(), "the first one still runs");
        assert!(work.begin(EntryId(2)).is_some());
        drop(page);
        assert!(work.begin(EntryId(1)).is_some());
    }

    #[test]
    fn a_domain_rests_twice_as_long_after_each_failure_and_at_most_an_hour() {
        let (work, start) = (ArticleWork::default(), Time::from_millis(1_000_000_000));
        let domain = Domain::from_stored("a.test");
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            work.failed(domain.clone(), start);
            let end = start + Duration::from_secs(60 * minutes);
            assert!(work.rests(&domain, end - Duration::from_millis(1)), "{minutes}");
            assert!(!work.rests(&domain, end), "{minutes}");
        }
        assert!(!work.rests(&Domain::from_stored("b.test"), start));
        assert!(!work.rests(&domain, start - Duration::from_secs(86_400)), "the clock jumped");
        work.answered(&domain);
        assert!(!work.rests(&domain, start));
        work.failed(domain.clone(), start);
        assert!(!work.rests(&domain, start + REST_MIN), "it begins from one minute");
    }

    #[test]
    fn pages_of_a_site_wait_together_and_at_most_a_day() {
        let (work, now) = (ArticleWork::default(), Time::from_millis(1_000_000_000));
        let hour = Duration::from_secs(3600);
        let wait = |whose: &str, at| PageWait { whose: whose.to_owned(), at, why: String::new() };
        work.wait(wait("a.test", now + hour), now);
        work.wait(wait("https://www.a.test", now + hour * 100), now);
        let sites = ["a.test", "https://a.test"];
        assert_eq!(work.waits(&sites, now).unwrap().at, now + hour);
        assert_eq!(work.waits(&sites, now + hour), None);
        let sites = ["a.test", "https://www.a.test"];
        assert_eq!(work.waits(&sites, now).unwrap().at, now + WAIT_MAX);
        assert_eq!(work.waits(&["b.test"], now), None);
        assert_eq!(work.waits(&["a.test"], now - WAIT_MAX), None, "the clock jumped");
    }

    #[test]
    fn some_requests_of_people_go_before_polls_and_the_rest_does_not() {
        let (work, now) = (ArticleWork::default(), Time::from_millis(1_000_000_000));
        let (slow, fast) = (Domain::from_stored("slow.test"), Domain::from_stored("fast.test"));
        let gap = Duration::from_secs(60);
        let n =
            |domain: &Domain, gap, at| (0..9).filter(|_| work.may_hurry(domain, gap, at)).count();
        assert_eq!(n(&fast, Duration::ZERO, now), 5);
        assert_eq!(n(&fast, Duration::ZERO, now + HURRIED_WITHIN), 5, "a minute later");
        assert_eq!(n(&slow, gap, now), 5);
        assert_eq!(n(&slow, gap, now + HURRIED_WITHIN), 0, "a long gap has a long time");
        assert_eq!(n(&slow, gap, now + gap * HURRIED_GAPS), 5);
        assert_eq!(n(&slow, gap, now - WAIT_MAX), 5, "the clock jumped");
    }
}

//! Where pictures come from: a few exchanges at once, two with one domain, a few redirects. Every
//! hop passes the guard of `fetch`, so that no redirect leads where an address may not.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use feed::Domain;
use fetch::{Exchange, FailureKind, Fetched, Fetcher};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use url::Url;

use super::kind;

/// Pictures fetched at once; with the largest in each place 40 MB.
const PLACES: usize = 8;
/// A page's pictures mostly come from one domain. A browser would open six connections to it.
const PLACES_PER_DOMAIN: usize = 2;
/// How long a picture waits for its place before the browser is told to come again.
const PATIENCE: Duration = Duration::from_secs(15);
const HOPS_MAX: usize = 3;

/// Why there is nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The address, or one that it leads to, is not public.
    NotPublic,
    NoPicture,
    TooLarge,
    Failed,
    /// Too many are under way.
    Crowded,
}

pub struct Upstream {
    fetcher: Fetcher,
    places: Semaphore,
    domains: Mutex<HashMap<Domain, Weak<Semaphore>>>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    shown: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

impl Upstream {
    pub fn new(fetcher: Fetcher) -> Upstream {
        let places = Semaphore::new(PLACES);
        Upstream { fetcher, places, domains: Mutex::default(), tally: Tally::default() }
    }

    pub fn tally(&self) -> [(&'static str, u64); 3] {
        let Tally { shown, refused, failed } = &self.tally;
        [("shown", shown), ("refused", refused), ("failed", failed)]
            .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
    }

    /// The bytes of a picture and what they are.
    pub async fn picture(&self, url: Url) -> Result<(Vec<u8>, &'static str), Refusal> {
        let found = follow(url, |url| self.asked(url)).await;
        let counter = match found {
            Ok(_) => &self.tally.shown,
            Err(Refusal::NotPublic | Refusal::NoPicture | Refusal::TooLarge) => &self.tally.refused,
            Err(Refusal::Failed | Refusal::Crowded) => &self.tally.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// One exchange, once there is a place at its domain and then one of ours: a domain that
    /// never answers keeps two of those busy and no more, however many of its pictures wait.
    async fn asked(&self, url: Url) -> Result<Exchange, Refusal> {
        let domain = Domain::of(&url);
        let places = async {
            let at_domain = self.place_at(&domain).await?;
            Some((at_domain, self.places.acquire().await.ok()?))
        };
        // No semaphore is ever closed, so only time can run out.
        let waited = tokio::time::timeout(PATIENCE, places).await;
        let _places = waited.ok().flatten().ok_or(Refusal::Crowded)?;
        Ok(self.fetcher.image(&url).await)
    }

    async fn place_at(&self, domain: &Domain) -> Option<OwnedSemaphorePermit> {
        let places = {
            let mut domains = self.domains.lock().unwrap_or_else(PoisonError::into_inner);
            // Domains that nobody asks any more are forgotten.
            domains.retain(|_, places| places.strong_count() > 0);
            let known = domains.get(domain).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let places = Arc::new(Semaphore::new(PLACES_PER_DOMAIN));
                domains.insert(domain.clone(), Arc::downgrade(&places));
                places
            })
        };
        places.acquire_owned().await.ok()
    }
}

/// Asks, and asks again where it was sent on.
async fn follow<F: Future<Output = Result<Exchange, Refusal>>>(
    mut url: Url,
    ask: impl Fn(Url) -> F,
) -> Result<(Vec<u8>, &'static str), Refusal> {
    for _ in 0..=HOPS_MAX {
        match ask(url).await?.fetched {
            Fetched::Body { bytes, .. } => {
                let kind = kind::sniffed(&bytes).ok_or(Refusal::NoPicture)?;
                return Ok((bytes, kind));
            }
            Fetched::Moved { to, .. } => url = to,
            Fetched::Blocked { .. } => return Err(Refusal::NotPublic),
            Fetched::Failed(failure) if failure.kind == FailureKind::TooLarge => {
                return Err(Refusal::TooLarge);
            }
            Fetched::NotModified { .. }
            | Fetched::Gone
            | Fetched::Refused { .. }
            | Fetched::Failed(_) => return Err(Refusal::Failed),
        }
    }
    Err(Refusal::Failed)
}

#[cfg(test)]
mod tests {
    use fetch::{ExchangeFacts, Settings};

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn moved(to: &str) -> Exchange {
        let fetched = Fetched::Moved { to: url(to), permanent: false };
        Exchange { fetched, facts: ExchangeFacts::default() }
    }

    #[tokio::test]
    async fn a_redirect_into_the_own_network_is_refused_by_the_real_guard() {
        let upstream =
            Upstream::new(Fetcher::new(Settings::new("https://e.org/")).expect("a fetcher"));
        for target in [
            "http://127.0.0.1/secret.png",
            "http://169.254.169.254/latest/meta-data",
            "http://[::1]:8080/",
            "http://0x7f.1/",
            "http://localhost/",
            "http://10.0.0.1/",
        ] {
            // The first hop is a machine on the Internet, which sends the picture elsewhere.
            let ask = async |at: Url| match at.host_str() {
                Some("pictures.example") => Ok(moved(target)),
                _ => upstream.asked(at).await,
            };
            let found = follow(url("http://pictures.example/a.png"), ask).await;
            assert_eq!(found, Err(Refusal::NotPublic), "{target}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_domain_that_never_answers_keeps_no_other_waiting() {
        let upstream =
            Upstream::new(Fetcher::new(Settings::new("https://e.org/")).expect("a fetcher"));
        let slow = Domain::of(&url("http://slow.test/"));
        let held = [upstream.place_at(&slow).await, upstream.place_at(&slow).await];
        let waiting = (0..50).map(|_| upstream.asked(url("http://slow.test/")));
        let waiting = futures_util::future::join_all(waiting);
        let other = upstream.asked(url("http://10.0.0.1/"));
        let (waited, other) = tokio::join!(waiting, other);
        assert!(
            waited.into_iter().all(|w| w.err() == Some(Refusal::Crowded)),
            "told to come again"
        );
        assert!(matches!(other.map(|o| o.fetched), Ok(Fetched::Blocked { .. })));
        assert_eq!(upstream.places.available_permits(), PLACES);
        drop(held);
    }

    #[tokio::test(start_paused = true)]
    async fn a_redirect_waits_for_a_place_at_the_domain_it_leads_to() {
        let upstream =
            Upstream::new(Fetcher::new(Settings::new("https://e.org/")).expect("a fetcher"));
        let slow = Domain::of(&url("http://slow.test/"));
        let _held = [upstream.place_at(&slow).await, upstream.place_at(&slow).await];
        let ask = async |at: Url| match at.host_str() {
            Some("pictures.example") => Ok(moved("http://cdn.slow.test/a.png")),
            _ => upstream.asked(at).await,
        };
        let found = follow(url("http://pictures.example/a.png"), ask).await;
        assert_eq!(found, Err(Refusal::Crowded));
    }

    #[tokio::test]
    async fn redirects_come_to_an_end() {
        let asked = AtomicU64::new(0);
        let ask = async |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            Ok(moved("http://pictures.example/again"))
        };
        assert_eq!(follow(url("http://pictures.example/"), ask).await, Err(Refusal::Failed));
        assert_eq!(asked.into_inner() as usize, HOPS_MAX + 1);
    }

    #[tokio::test]
    async fn a_domain_has_two_places_and_is_forgotten_after() {
        let upstream =
            Upstream::new(Fetcher::new(Settings::new("https://e.org/")).expect("a fetcher"));
        let domain = Domain::of(&url("http://a.example.org/"));
        let held = [upstream.place_at(&domain).await, upstream.place_at(&domain).await];
        let third = tokio::time::timeout(Duration::from_millis(20), upstream.place_at(&domain));
        assert!(third.await.is_err());
        drop(held);
        assert!(upstream.place_at(&domain).await.is_some());
        let other = Domain::of(&url("http://other.test/"));
        assert!(upstream.place_at(&other).await.is_some());
        assert_eq!(upstream.domains.lock().expect("unpoisoned").len(), 1);
    }
}

//! Errands that fetch a page, a picture or a part of a recording, with the limits of each. It does
//! not look at the bytes.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use feed::{ExchangeFacts, RequestSettings, Validators};
use fetch::{Exchange, Fetched, Fetcher, Parcel, PartOutcome};
use url::Url;

use super::{PlanHandle, alone, follow, turn};
use crate::Clock;
use crate::plan::{ErrandClass, Gaps};

/// Redirects of a page, as many as a poll follows.
pub const PAGE_HOPS_MAX: usize = 5;
const PICTURE_HOPS_MAX: usize = 3;
/// The time that a picture waits for its turn. A browser asks again later.
const PICTURE_PATIENCE: Duration = Duration::from_secs(15);
/// A photograph for a screen. Larger pictures are not meant for reading.
const PICTURE_BYTES_MAX: usize = 5_000_000;
/// A reader does not wait longer.
const PICTURE_HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const PICTURE_BODY_TIMEOUT: Duration = Duration::from_secs(20);
/// Connections that stay open for the next picture of a page.
const PICTURE_IDLE_CONNECTIONS: usize = 16;

/// Returns the settings of a fetcher for pictures; `settings` say which machines it may reach.
pub fn picture_settings(settings: fetch::Settings) -> fetch::Settings {
    fetch::Settings {
        body_bytes_max: PICTURE_BYTES_MAX,
        header_timeout: PICTURE_HEADER_TIMEOUT,
        body_timeout: PICTURE_BODY_TIMEOUT,
        idle_connections_max: PICTURE_IDLE_CONNECTIONS,
        no_cache: false,
        ..settings
    }
}

/// Sends errands with a fetcher of its own, in turn with all other requests of its plan.
#[derive(Clone)]
pub struct Errands {
    plan: PlanHandle,
    fetcher: Arc<Fetcher>,
}

impl Errands {
    pub(crate) fn new(plan: PlanHandle, fetcher: Fetcher) -> Errands {
        Errands { plan, fetcher: Arc::new(fetcher) }
    }

    /// Begins a plan of its own, for a command without a daemon. Needs a runtime.
    pub fn alone(fetcher: Fetcher, gaps: Gaps) -> Errands {
        Errands::new(alone::start(gaps, Clock::System), fetcher)
    }

    /// Fetches a page. Returns its last address and the answer; `None`: the plan has ended.
    pub async fn page(&self, url: Url) -> Option<(Url, Fetched)> {
        let send = async |url: Url| {
            let turn = turn(&self.plan, &url, ErrandClass::BeforePolls).await.map_err(|_| ())?;
            let none = Validators::default();
            Ok::<_, ()>(match turn.place(&self.fetcher).await {
                Ok(place) => turn.exchange(place.page(&url, &none, None)).await,
                Err(not_sent) => not_sent,
            })
        };
        follow(url, PAGE_HOPS_MAX, send).await.ok()
    }

    /// Makes one request with headers of its own, such as a token. Redirects are not followed, so
    /// that the token stays with its server. `None`: the plan has ended.
    pub async fn call(&self, url: &Url, own: &RequestSettings) -> Option<Fetched> {
        let turn = turn(&self.plan, url, ErrandClass::BeforePolls).await.ok()?;
        let none = Validators::default();
        Some(match turn.place(&self.fetcher).await {
            Ok(place) => turn.exchange(place.page(url, &none, Some(own))).await,
            Err(not_sent) => not_sent,
        })
    }

    /// Sends a form and returns the answer. Redirects are not followed.
    pub async fn send_form(&self, url: &Url, body: Vec<u8>, bytes_max: usize) -> Option<Fetched> {
        let turn = turn(&self.plan, url, ErrandClass::BeforePolls).await.ok()?;
        let content_type = "application/x-www-form-urlencoded";
        let parcel = Parcel::new(content_type, Vec::new(), body);
        let place = match turn.place(&self.fetcher).await {
            Ok(place) => place,
            Err(not_sent) => return Some(not_sent),
        };
        let post = place.post_for(url, parcel, bytes_max);
        let exchange =
            async { Exchange { fetched: post.await, facts: ExchangeFacts::default(), raw: None } };
        Some(turn.exchange(exchange).await)
    }

    /// Fetches a picture; `None`: too many others were before it.
    pub async fn picture(&self, url: Url) -> Option<Fetched> {
        let send = |url| async { self.picture_hop(url).await.ok_or(()) };
        follow(url, PICTURE_HOPS_MAX, send).await.ok().map(|(_, fetched)| fetched)
    }

    /// Fetches a part of a recording that somebody plays; `None`: too many others were before it.
    pub async fn part(&self, url: Url, wanted: Range<u64>) -> Option<PartOutcome> {
        let send = async |url: Url| {
            let turn = turn(&self.plan, &url, ErrandClass::Picture);
            let turn = tokio::time::timeout(PICTURE_PATIENCE, turn).await.map_err(|_| ())?;
            let turn = turn.map_err(|_| ())?;
            Ok::<_, ()>(turn.part(self.fetcher.part(&url, wanted.clone())).await)
        };
        follow(url, PAGE_HOPS_MAX, send).await.ok().map(|(_, part)| part)
    }

    async fn picture_hop(&self, url: Url) -> Option<Fetched> {
        let turn = turn(&self.plan, &url, ErrandClass::Picture);
        let turn = tokio::time::timeout(PICTURE_PATIENCE, turn).await.ok()?.ok()?;
        Some(turn.exchange(self.fetcher.image(&url)).await)
    }
}

#[cfg(test)]
mod tests {
    use fetch::Settings;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    fn errands() -> Errands {
        let fetcher = Fetcher::new(Settings::new("https://e.org/")).expect("a fetcher");
        let gaps = Gaps { default: Duration::from_secs(2), by_domain: Default::default() };
        Errands::alone(fetcher, gaps)
    }

    /// Follows a picture whose first hop redirects to `target`.
    async fn redirected(errands: &Errands, target: &str) -> Option<Fetched> {
        let send = async |at: Url| match at.host_str() {
            Some("pictures.example") => Ok(Fetched::Moved { to: url(target), permanent: false }),
            _ => errands.picture_hop(at).await.ok_or(()),
        };
        let start = url("http://pictures.example/a.png");
        follow(start, PICTURE_HOPS_MAX, send).await.ok().map(|(_, fetched)| fetched)
    }

    #[tokio::test]
    async fn a_redirect_into_the_own_network_is_refused_by_the_real_guard() {
        let errands = errands();
        for target in [
            "http://127.0.0.1/secret.png",
            "http://169.254.169.254/latest/meta-data",
            "http://[::1]:8080/",
            "http://0x7f.1/",
            "http://localhost/",
            "http://10.0.0.1/",
        ] {
            let found = redirected(&errands, target).await;
            assert!(matches!(found, Some(Fetched::Blocked { .. })), "{target}: {found:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_domain_that_never_answers_delays_no_other() {
        let errands = errands();
        let slow = url("http://slow.test/");
        let take = || turn(&errands.plan, &slow, ErrandClass::Picture);
        let _held = [take().await, take().await];
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (errands, slow) = (errands.clone(), slow.clone());
            waiting.spawn(async move { errands.picture(slow).await });
        }
        tokio::task::yield_now().await;
        let other = errands.picture(url("http://10.0.0.1/")).await;
        assert!(matches!(other, Some(Fetched::Blocked { .. })));
        let waited = waiting.join_all().await;
        assert!(waited.iter().all(Option::is_none), "each gives up");
    }

    #[tokio::test(start_paused = true)]
    async fn a_redirect_waits_for_a_place_at_the_domain_it_leads_to() {
        let errands = errands();
        let slow = url("http://slow.test/");
        let take = || turn(&errands.plan, &slow, ErrandClass::Picture);
        let _held = [take().await, take().await];
        assert!(redirected(&errands, "http://cdn.slow.test/a.png").await.is_none());
    }
}

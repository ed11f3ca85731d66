//! The limit of an exchange whose parts hang.

use super::*;
use crate::names::testing::silent_names;

// The paused clock moves on while everything waits, so it does not measure a busy machine.
#[tokio::test(start_paused = true)]
#[expect(clippy::disallowed_methods, reason = "the paused clock of the test")]
async fn a_lookup_before_the_request_counts_against_its_limit() {
    let limit = Duration::from_millis(300);
    let settings = Settings { header_timeout: limit, ..Settings::new("https://example.org/") };
    let mut fetcher = Fetcher::new(settings).expect("a fetcher");
    fetcher.tailored.guarded = silent_names().await;
    let proxy = Some("http://9.9.9.9:3128".to_owned());
    let own = RequestSettings { proxy, ..RequestSettings::default() };
    let asked = AskedExchange { accept: ACCEPT_FEED, own: Some(&own) };
    let url = Url::parse("http://target.example/feed").expect("a URL");
    let started = tokio::time::Instant::now();
    let exchange = fetcher.exchange_as(&url, asked, &Validators::default(), &fetcher.limits).await;
    let Fetched::Failed(Failure { kind, .. }) = exchange.fetched else { panic!("it failed") };
    assert_eq!(kind, FailureKind::Timeout);
    assert!(started.elapsed() < limit * 5, "the lookup alone may take 6 s");
}

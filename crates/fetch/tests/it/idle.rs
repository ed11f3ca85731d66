//! The number of connections that stay open while they are not used.

use std::time::Duration;

use fetch::{Fetched, Fetcher, Settings, Validators};
use rustix::process::{Resource, getrlimit};
use url::Url;

use crate::server::{answer, replies};
use crate::settings;

#[tokio::test]
async fn idle_connections_are_bounded_over_all_hosts() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let fetcher = Fetcher::new(Settings { idle_connections_max: 5, ..settings() }).unwrap();
    for host in 1..=40 {
        let url = Url::parse(&format!("http://127.0.0.{host}:{}/", server.port)).unwrap();
        let exchange = fetcher.fetch(&url, &Validators::default()).await;
        assert!(matches!(exchange.fetched, Fetched::Body { .. }), "{exchange:?}");
    }
    // The server notices a closed socket a moment later, so wait as long as it needs.
    while server.n_open() > 5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(server.n_accepted(), 40);
    let url = Url::parse(&format!("http://127.0.0.1:{}/", server.port)).unwrap();
    fetcher.fetch(&url, &Validators::default()).await;
    assert_eq!(server.n_accepted(), 40, "the first host still has its connection");
}

#[tokio::test]
async fn many_exchanges_with_one_host_leave_one_connection() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let fetcher = Fetcher::new(settings()).unwrap();
    let url = Url::parse(&server.url("/")).unwrap();
    let validators = Validators::default();
    let (a, b, c) = tokio::join!(
        fetcher.fetch(&url, &validators),
        fetcher.fetch(&url, &validators),
        fetcher.fetch(&url, &validators),
    );
    for exchange in [a, b, c] {
        assert!(matches!(exchange.fetched, Fetched::Body { .. }), "{exchange:?}");
    }
    while server.n_open() > 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = server.n_accepted();
    fetcher.fetch(&url, &validators).await;
    assert_eq!(server.n_accepted(), before, "the one that is left is used again");
}

#[tokio::test]
async fn exchanges_under_way_fit_into_the_limit_of_open_files() {
    let fetcher = Fetcher::new(settings()).unwrap();
    let limit = getrlimit(Resource::Nofile);
    if let Some(files) = limit.maximum {
        assert_eq!(limit.current, Some(files), "the soft limit was raised to the hard one");
        assert!(fetcher.connections_max() as u64 <= files.max(64));
    }
    assert!(fetcher.connections_max() >= 8);
}

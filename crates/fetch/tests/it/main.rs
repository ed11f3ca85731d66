//! Exchanges with servers on loopback that behave as servers do: well, oddly and badly.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod answers;
mod child;
mod idle;
mod limits;
mod manners;
mod posts;
mod reach;
mod server;
mod tailored;
mod tls;

use fetch::{Exchange, Failure, FailureKind, Fetched, Fetcher, Settings, Validators};
use url::Url;

fn settings() -> Settings {
    Settings { allow_private: true, ..Settings::new("https://example.org/about") }
}

fn fetcher() -> Fetcher {
    Fetcher::new(settings()).unwrap()
}

async fn get(url: &str) -> Exchange {
    fetcher().fetch(&Url::parse(url).unwrap(), &Validators::default()).await
}

fn known(etag: &[u8], last_modified: &[u8]) -> Validators {
    Validators { etag: Some(etag.to_vec()), last_modified: Some(last_modified.to_vec()) }
}

#[track_caller]
fn body(exchange: &Exchange) -> &[u8] {
    match &exchange.fetched {
        Fetched::Body { bytes, .. } => bytes,
        other => panic!("no body but {other:?}"),
    }
}

#[track_caller]
fn failure(exchange: &Exchange) -> &Failure {
    match &exchange.fetched {
        Fetched::Failed(failure) => failure,
        other => panic!("no failure but {other:?}"),
    }
}

#[track_caller]
fn assert_failure(exchange: &Exchange, kind: FailureKind, words: &str) {
    let failure = failure(exchange);
    assert_eq!(failure.kind, kind, "{failure}");
    assert!(failure.detail.contains(words), "`{failure}` does not say `{words}`");
}

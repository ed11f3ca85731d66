//! POST requests, with the same guard as GET requests.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use fetch::{FailureKind, Fetcher, Parcel, Posted, RetryAfter, Settings};
use url::Url;

use crate::server::{always, answer, raw, read_head};
use crate::settings;

fn parcel() -> Parcel {
    let headers = vec![("webhook-id", "a/1".to_owned()), ("x-bad", "a\nb".to_owned())];
    Parcel::new("application/json", headers, b"{}".to_vec())
}

async fn post(settings: Settings, url: &str) -> Posted {
    Fetcher::new(settings).unwrap().post(&Url::parse(url).unwrap(), parcel()).await
}

#[tokio::test]
async fn a_parcel_arrives_with_its_headers_and_every_2xx_takes_it() {
    for (status, code) in [("200 OK", 200), ("202 Accepted", 202), ("204 No Content", 204)] {
        let server = always(answer(status, "", b"")).await;
        let url = server.url("/hook").replace("http://", "http://me:pw@");
        assert_eq!(post(settings(), &url).await, Posted::Taken { status: code });
        let head = server.heads()[0].to_lowercase();
        for part in ["post /hook ", "content-type: application/json", "webhook-id: a/1"] {
            assert!(head.contains(part), "{part} is not in {head}");
        }
        assert!(head.contains("authorization: basic") && !head.contains("x-bad"), "{head}");
        assert!(head.contains("content-length: 2"), "{head}");
    }
}

#[tokio::test]
async fn anything_else_is_no_and_no_redirect_is_followed() {
    let elsewhere = always(answer("200 OK", "", b"")).await;
    let location = format!("Location: {}\r\n", elsewhere.url("/"));
    let server = always(answer("307 Temporary Redirect", &location, b"")).await;
    let posted = post(settings(), &server.url("/")).await;
    assert_eq!(
        posted,
        Posted::Refused { status: 307, retry_after: None, to: elsewhere.url("/").parse().ok() }
    );
    assert!(elsewhere.heads().is_empty(), "the body goes where it was sent and nowhere else");
    let server = always(answer("503 Busy", "Retry-After: 7\r\n", b"later")).await;
    let retry_after = Some(RetryAfter::After(Duration::from_secs(7)));
    let posted = post(settings(), &server.url("/")).await;
    assert_eq!(posted, Posted::Refused { status: 503, retry_after, to: None });
}

#[tokio::test]
async fn addresses_that_are_not_public_get_nothing() {
    let server = always(answer("200 OK", "", b"")).await;
    let name = ("rebound.example".to_owned(), vec![Ipv4Addr::LOCALHOST.into()]);
    let guarded = Settings { allow_private: false, resolve: HashMap::from([name]), ..settings() };
    for host in ["127.0.0.1", "localhost", "[::1]", "rebound.example"] {
        let posted = post(guarded.clone(), &format!("http://{host}:{}/", server.port)).await;
        assert!(matches!(posted, Posted::Blocked { .. }), "{host}: {posted:?}");
    }
    assert_eq!(server.n_accepted(), 0);
}

#[tokio::test]
async fn a_receiver_that_hangs_is_given_up() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
    })
    .await;
    let hasty = Settings { header_timeout: Duration::from_millis(200), ..settings() };
    match post(hasty, &server.url("/")).await {
        Posted::Failed(failure) => assert_eq!(failure.kind, FailureKind::Timeout),
        posted => panic!("{posted:?}"),
    }
}

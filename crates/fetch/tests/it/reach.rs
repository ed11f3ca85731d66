//! The addresses that may be reached, and the messages about those that may not.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use fetch::{FailureKind, Fetched, Fetcher, Settings, Validators};
use tokio::net::TcpListener;
use url::Url;

use crate::server::{always, answer};
use crate::{assert_failure, body, child, failure, get, settings};

fn guarded() -> Settings {
    Settings { allow_private: false, ..settings() }
}

/// A name that leads to this machine.
fn local(name: &str) -> HashMap<String, Vec<IpAddr>> {
    HashMap::from([(name.to_owned(), vec![Ipv4Addr::LOCALHOST.into()])])
}

async fn with(settings: Settings, url: &str) -> Fetched {
    let fetcher = Fetcher::new(settings).unwrap();
    fetcher.fetch(&Url::parse(url).unwrap(), &Validators::default()).await.fetched
}

#[tokio::test]
async fn addresses_that_are_not_public_are_never_connected_to() {
    let server = always(answer("200 OK", "", b"<rss/>")).await;
    let port = server.port;
    let guarded = Settings { resolve: local("rebound.example"), ..guarded() };
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "localhost",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::127.0.0.1]",
        "rebound.example",
        "rebound.example.",
        "REBOUND.example",
        "169.254.169.254",
        "10.0.0.1",
        "[fe80::1]",
    ] {
        let fetched = with(guarded.clone(), &format!("http://{host}:{port}/")).await;
        let Fetched::Blocked { reason } = fetched else { panic!("{host}: {fetched:?}") };
        assert!(reason.contains("not a public address; allow it with --allow-private"), "{reason}");
    }
    assert_eq!(server.n_accepted(), 0);
}

#[tokio::test]
async fn names_given_by_the_operator_need_no_dns() {
    let server = always(answer("200 OK", "", b"<rss/>")).await;
    let settings = Settings { resolve: local("Feeds.Example"), ..settings() };
    let fetched = with(settings, &format!("http://FEEDS.example:{}/feed", server.port)).await;
    assert!(matches!(fetched, Fetched::Body { .. }), "{fetched:?}");
    assert!(server.heads()[0].contains(&format!("host: feeds.example:{}\r\n", server.port)));
}

#[tokio::test]
async fn a_refused_connection_is_named_and_may_be_our_network() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let exchange = get(&format!("http://127.0.0.1:{port}/")).await;
    assert_failure(&exchange, FailureKind::Connect, "connection refused");
    assert!(failure(&exchange).kind.may_be_our_network());
}

#[tokio::test]
async fn only_the_road_to_a_server_may_be_our_network() {
    for kind in [
        FailureKind::NoSuchHost,
        FailureKind::Tls,
        FailureKind::Timeout,
        FailureKind::Status(500),
        FailureKind::Protocol,
        FailureKind::Encoding,
    ] {
        assert!(!kind.may_be_our_network(), "{kind:?}");
    }
    assert!(FailureKind::Dns.may_be_our_network());
}

#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    const TEST: &str = "reach::proxies_of_the_environment_are_ignored";
    if let Some(url) = child::argument() {
        assert_eq!(body(&get(&url).await), b"<rss/>");
        return;
    }
    let server = always(answer("200 OK", "", b"<rss/>")).await;
    let proxy = always(answer("200 OK", "", b"from the proxy")).await;
    let proxy_url = proxy.url("");
    let names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
    let environment = names.map(|name| (name, proxy_url.as_str()));
    child::run(TEST, &server.url("/"), &environment).await;
    assert_eq!((server.n_accepted(), proxy.n_accepted()), (1, 0));
}

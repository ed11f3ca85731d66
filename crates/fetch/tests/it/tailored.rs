//! Requests with settings of their own: headers, a login, a proxy, unchecked certificates.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use feed::RequestSettings;
use fetch::{Exchange, Fetched, Fetcher, Settings, Validators};
use url::Url;

use crate::server::{answer, replies};
use crate::{body, fetcher, settings};

async fn ask(fetcher: &Fetcher, url: &str, own: &RequestSettings) -> Exchange {
    let (url, none) = (Url::parse(url).unwrap(), Validators::default());
    fetcher.place().await.fetch(&url, &none, Some(own)).await
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[tokio::test]
async fn headers_cookies_login_and_user_agent_are_sent() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let own = RequestSettings {
        headers: vec![
            ("x-api-key".to_owned(), "k1".to_owned()),
            ("host".to_owned(), "evil.example".to_owned()),
            ("content-length".to_owned(), "99".to_owned()),
            ("x-bad".to_owned(), "a\r\nx-smuggled: 1".to_owned()),
        ],
        cookie: text("a=1; b=2"),
        user_agent: text("Other/2"),
        login: text("anna:s3cret"),
        ..RequestSettings::default()
    };
    let fetcher = fetcher();
    assert_eq!(body(&ask(&fetcher, &server.url("/f"), &own).await), b"<rss/>");
    let head = server.heads().remove(0).to_lowercase();
    for line in [
        "x-api-key: k1\r\n",
        "cookie: a=1; b=2\r\n",
        "user-agent: other/2\r\n",
        "authorization: basic yw5uytpzm2nyzxq=\r\n",
    ] {
        assert!(head.contains(line), "{line} is not in {head}");
    }
    for wrong in ["evil.example", "content-length", "x-smuggled", "x-bad"] {
        assert!(!head.contains(wrong), "{wrong} is in {head}");
    }
    // The next request of another feed has none of it.
    fetcher.fetch(&Url::parse(&server.url("/g")).unwrap(), &Validators::default()).await;
    let plain = server.heads().remove(1).to_lowercase();
    assert!(!plain.contains("cookie") && plain.contains("user-agent: tidings"), "{plain}");
}

#[tokio::test]
async fn a_recording_has_no_header_of_the_settings() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let keeping = Fetcher::new(Settings { keep_heads: true, ..settings() }).unwrap();
    let own = RequestSettings {
        headers: vec![("x-api-key".to_owned(), "hunter2".to_owned())],
        cookie: text("hunter2"),
        login: text("anna:hunter2"),
        ..RequestSettings::default()
    };
    let raw = ask(&keeping, &server.url("/f"), &own).await.raw.unwrap();
    let head = String::from_utf8(raw.request).unwrap();
    assert!(head.starts_with("GET /f") && !head.contains("hunter2"), "{head}");
    assert!(!head.contains("authorization") && !head.contains("x-api-key"), "{head}");
}

#[tokio::test]
async fn a_proxy_gets_the_request_if_the_operator_vouches_for_it() {
    let proxy = replies(|_| answer("200 OK", "", b"<rss>by proxy</rss>")).await;
    let own = RequestSettings { proxy: text(&proxy.url("")), ..RequestSettings::default() };
    let target = "http://feeds.example/f";
    // The target has a public address here, so that only the proxy is in question.
    let resolve = HashMap::from([(
        "feeds.example".to_owned(),
        vec![IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14))],
    )]);
    let guarded =
        Settings { resolve: resolve.clone(), ..Settings::new("https://example.org/about") };
    let refused = ask(&Fetcher::new(guarded.clone()).unwrap(), target, &own).await;
    let Fetched::Blocked { reason } = &refused.fetched else { panic!("{refused:?}") };
    assert!(reason.contains("outgoing_proxies"), "{reason}");
    assert_eq!(proxy.n_accepted(), 0);

    let vouched = Settings { outgoing_proxies: vec![proxy.url("/")], ..guarded };
    let vouching = Fetcher::new(vouched).unwrap();
    assert_eq!(body(&ask(&vouching, target, &own).await), b"<rss>by proxy</rss>");
    let head = proxy.heads().remove(0);
    assert!(head.starts_with("GET http://feeds.example/f HTTP/1.1"), "{head}");
    // An address that is not public is refused all the same.
    let inside = ask(&vouching, "http://10.0.0.1/f", &own).await;
    assert!(matches!(inside.fetched, Fetched::Blocked { .. }), "{inside:?}");
    assert_eq!(proxy.n_accepted(), 1);
}

#[tokio::test]
async fn a_proxy_does_not_open_the_private_network() {
    // A public proxy: nothing is sent, because the name of the target leads inside.
    let own =
        RequestSettings { proxy: text("http://93.184.215.14:3128"), ..RequestSettings::default() };
    let resolve = HashMap::from([(
        "inside.example".to_owned(),
        vec![IpAddr::V4(Ipv4Addr::new(192, 168, 1, 1))],
    )]);
    let guarded = Settings { resolve, ..Settings::new("https://example.org/about") };
    let refused = ask(&Fetcher::new(guarded).unwrap(), "http://inside.example/f", &own).await;
    let Fetched::Blocked { reason } = &refused.fetched else { panic!("{refused:?}") };
    assert!(reason.contains("192.168.1.1"), "{reason}");
}

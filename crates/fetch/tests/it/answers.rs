//! The outcome of each kind of answer.

use std::time::Duration;

use fetch::{FailureKind, Fetched, HttpVersion, RetryAfter, Validators};
use url::Url;

use crate::server::{always, answer};
use crate::{assert_failure, body, fetcher, get, known};

#[tokio::test]
async fn a_document_comes_with_its_validators_and_facts() {
    let headers = "Content-Type: application/rss+xml; charset=utf-8\r\nETag: W/\"a b\"\r\n\
        Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nDate: Sun, 06 Nov 1994 08:50:00 GMT\r\n\
        Age: 7\r\nCache-Control: public, max-age=600\r\nExpires: 0\r\n";
    let whole = answer("200 OK", headers, b"<rss/>");
    let server = always(&whole).await;
    let exchange = get(&server.url("/")).await;
    let validators = known(b"W/\"a b\"", b"Sun, 06 Nov 1994 08:49:37 GMT");
    let expect = Fetched::Body {
        bytes: b"<rss/>".to_vec(),
        content_type: Some("application/rss+xml; charset=utf-8".to_owned()),
        validators,
        partial: false,
    };
    assert_eq!(exchange.fetched, expect);
    let facts = exchange.facts;
    assert_eq!(facts.status, Some(200));
    assert_eq!(facts.http_version, Some(HttpVersion::Http11));
    assert_eq!(facts.date, Some(feed::Time::from_secs(784_111_800)));
    assert_eq!(facts.max_age, Some(Duration::from_secs(593)), "it lay in a cache for 7 s");
    assert_eq!((facts.expires, facts.retry_after), (None, None));
    assert_eq!(facts.wire_bytes, whole.len() as u64);
    assert!(facts.elapsed > Duration::ZERO);
}

#[tokio::test]
async fn unchanged_keeps_what_the_304_says() {
    let sent = known(b"\"1\"", b"then");
    let server = always("HTTP/1.1 304 Not Modified\r\nETag: \"2\"\r\n\r\n").await;
    let exchange = fetcher().fetch(&Url::parse(&server.url("/")).unwrap(), &sent).await;
    let validators = Validators { etag: Some(b"\"2\"".to_vec()), last_modified: None };
    assert_eq!(exchange.fetched, Fetched::NotModified { validators });
}

#[tokio::test]
async fn unchanged_without_a_question_is_a_failure() {
    let server = always("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    assert_failure(&get(&server.url("/")).await, FailureKind::Status(304), "no validators");
}

#[tokio::test]
async fn a_226_is_a_partial_document() {
    let url = |port: u16| Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
    let sent = known(b"\"1\"", b"then");
    let server = always(answer("226 IM Used", "IM: feed\r\nETag: \"2\"\r\n", b"<rss/>")).await;
    let exchange = fetcher().fetch(&url(server.port), &sent).await;
    assert!(matches!(exchange.fetched, Fetched::Body { partial: true, .. }));
    assert_eq!(body(&exchange), b"<rss/>");
    assert!(server.heads()[0].to_lowercase().contains("a-im: feed\r\n"));

    let server = always(answer("226 IM Used", "IM: vcdiff\r\n", b"...")).await;
    let exchange = fetcher().fetch(&url(server.port), &sent).await;
    assert_failure(&exchange, FailureKind::Encoding, "vcdiff");
}

#[tokio::test]
async fn redirects_are_handed_back_and_never_followed() {
    for (status, permanent) in [(301, true), (308, true), (302, false), (303, false), (307, false)]
    {
        let server =
            always(answer(&format!("{status} Moved"), "Location: /new\r\n", b"moved")).await;
        let to = Url::parse(&server.url("/new")).unwrap();
        assert_eq!(get(&server.url("/old")).await.fetched, Fetched::Moved { to, permanent });
        assert_eq!(server.heads().len(), 1);
    }
    for headers in ["", "Location: \r\n", "Location: mailto:a@b.example\r\n"] {
        let server = always(answer("301 Moved", headers, b"")).await;
        assert_failure(&get(&server.url("/")).await, FailureKind::Redirect, "a redirect ");
    }
    let bytes = b"HTTP/1.1 302 Found\r\nLocation: /\xc3\xbc\xff\r\nContent-Length: 0\r\n\r\n";
    let server = always(bytes).await;
    let to = Url::parse(&server.url("/%C3%BC%EF%BF%BD")).unwrap();
    assert_eq!(get(&server.url("/")).await.fetched, Fetched::Moved { to, permanent: false });
}

#[tokio::test]
async fn gone_refused_and_failed_are_told_apart() {
    let server = always(answer("410 Gone", "", b"")).await;
    assert_eq!(get(&server.url("/")).await.fetched, Fetched::Gone);
    for status in [401, 403, 429, 451] {
        let server = always(answer(&format!("{status} No"), "", b"no")).await;
        assert_eq!(get(&server.url("/")).await.fetched, Fetched::Refused { status });
    }
    for status in [201, 202, 204, 206, 300, 305, 400, 404, 418, 500, 502, 503, 599, 999] {
        let server = always(format!("HTTP/1.1 {status} X\r\nConnection: close\r\n\r\n")).await;
        let exchange = get(&server.url("/")).await;
        assert_failure(&exchange, FailureKind::Status(status), &format!("status {status}"));
        assert_eq!(exchange.facts.status, Some(status));
    }
}

#[tokio::test]
async fn retry_after_is_noted_with_any_status() {
    let server = always(answer("503 Later", "Retry-After: 120\r\n", b"")).await;
    let after = RetryAfter::After(Duration::from_secs(120));
    assert_eq!(get(&server.url("/")).await.facts.retry_after, Some(after));
    let date = "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let server = always(answer("429 Slow down", date, b"")).await;
    let at = RetryAfter::At(feed::Time::from_secs(784_111_777));
    assert_eq!(get(&server.url("/")).await.facts.retry_after, Some(at));
}

#[tokio::test]
async fn old_and_sloppy_servers_are_understood() {
    for (raw, expect) in [
        ("HTTP/1.0 200 OK\r\n\r\n<rss/>", "<rss/>"),
        ("HTTP/1.1 200\r\nConnection: close\r\n\r\n<rss/>", "<rss/>"),
        ("HTTP/1.1 200 OK\nContent-Length: 6\n\n<rss/>", "<rss/>"),
        ("HTTP/1.1 200 OK\r\nX Y: bad name\r\nContent-Length: 6\r\n\r\n<rss/>", "<rss/>"),
        ("HTTP/1.1 200 OK\r\nX-A: folded\r\n over\r\nContent-Length: 6\r\n\r\n<rss/>", "<rss/>"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\n<rs\r\n3\r\ns/>\r\n0\r\n\r\n",
            "<rss/>",
        ),
        (
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<rss/>",
            "<rss/>",
        ),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
    ] {
        let server = always(raw).await;
        assert_eq!(body(&get(&server.url("/")).await), expect.as_bytes(), "{raw:?}");
    }
}

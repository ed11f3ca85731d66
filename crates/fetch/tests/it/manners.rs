//! Our requests are honest and exact, and identify no reader.

use fetch::{Fetcher, Settings, Validators};
use url::Url;

use crate::server::{answer, replies};
use crate::{body, fetcher, get, known, settings};

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(": ")?;
        found.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[tokio::test]
async fn a_first_poll_is_honest_and_unconditional() {
    let server = replies(|_| answer("200 OK", "Set-Cookie: a=b; Path=/\r\n", b"<rss/>")).await;
    get(&server.url("/feed?x=1#part")).await;
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /feed?x=1 HTTP/1.1\r\n"), "{head}");
    let agent = concat!("Tidings/", env!("CARGO_PKG_VERSION"), " (+https://example.org/about)");
    assert_eq!(header(head, "user-agent"), Some(agent));
    assert_eq!(header(head, "cache-control"), Some("no-cache"));
    assert_eq!(header(head, "accept-encoding"), Some("gzip, br, zstd, deflate"));
    assert!(header(head, "accept").unwrap().starts_with("application/atom+xml"));
    for absent in
        ["if-none-match", "if-modified-since", "a-im", "cookie", "referer", "authorization"]
    {
        assert_eq!(header(head, absent), None);
    }
}

#[tokio::test]
async fn validators_are_echoed_byte_for_byte() {
    let odd: [(&[u8], &[u8]); 4] = [
        (b"\"abc\"", b"Sun, 06 Nov 1994 08:49:37 GMT"),
        (b"W/\"a b,c\"", b"sunday at noon"),
        (b"no-quotes", b"1994-11-06"),
        (b"\"\xfc\xe9\xff\"", b"\x80\t2"),
    ];
    for (etag, last_modified) in odd {
        let headers = [b"ETag: ", etag, b"\r\nLast-Modified: ", last_modified].concat();
        let reply =
            [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", &headers[..], b"\r\n\r\n"].concat();
        let server = replies(move |_| reply.clone()).await;
        let (fetcher, url) = (fetcher(), Url::parse(&server.url("/")).unwrap());
        let first = fetcher.fetch(&url, &Validators::default()).await;
        let fetch::Fetched::Body { validators, .. } = first.fetched else { panic!("{first:?}") };
        assert_eq!(validators, known(etag, last_modified));
        fetcher.fetch(&url, &validators).await;
        let second = server.score.heads.lock().unwrap()[1].clone();
        for line in
            [[b"if-none-match: ", etag].concat(), [b"if-modified-since: ", last_modified].concat()]
        {
            let line = [b"\r\n", &line[..], b"\r\n"].concat();
            assert!(second.windows(line.len()).any(|w| w == line), "{second:?}");
        }
    }
}

#[tokio::test]
async fn one_validator_alone_is_sent_alone() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let sent = Validators { etag: None, last_modified: Some(b"then".to_vec()) };
    fetcher().fetch(&Url::parse(&server.url("/")).unwrap(), &sent).await;
    let head = &server.heads()[0];
    assert_eq!(header(head, "if-modified-since"), Some("then"));
    assert_eq!(header(head, "a-im"), Some("feed"));
    assert_eq!(header(head, "if-none-match"), None);
}

#[tokio::test]
async fn validators_that_are_too_long_are_not_kept() {
    let server =
        replies(|_| answer("200 OK", &format!("ETag: \"{}\"\r\n", "x".repeat(5000)), b"<rss/>"))
            .await;
    let exchange = get(&server.url("/")).await;
    assert!(
        matches!(exchange.fetched, fetch::Fetched::Body { validators, .. } if validators.is_empty())
    );
}

#[tokio::test]
async fn cookies_are_neither_kept_nor_sent() {
    let server = replies(|_| answer("200 OK", "Set-Cookie: id=1\r\n", b"<rss/>")).await;
    let (fetcher, url) = (fetcher(), Url::parse(&server.url("/")).unwrap());
    for _ in 0..3 {
        fetcher.fetch(&url, &Validators::default()).await;
    }
    assert_eq!(server.heads().len(), 3);
    assert!(server.heads().iter().all(|head| header(head, "cookie").is_none()));
    assert_eq!(server.n_accepted(), 1, "the connection is used again");
}

#[tokio::test]
async fn caches_may_be_asked_if_the_operator_wants() {
    let server = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let fetcher = Fetcher::new(Settings { no_cache: false, ..settings() }).unwrap();
    fetcher.fetch(&Url::parse(&server.url("/")).unwrap(), &Validators::default()).await;
    assert_eq!(header(&server.heads()[0], "cache-control"), None);
}

#[tokio::test]
async fn a_page_is_asked_for_as_a_page() {
    let server = replies(|_| answer("200 OK", "", b"<html>")).await;
    let exchange = fetcher().page(&Url::parse(&server.url("/")).unwrap()).await;
    assert_eq!(body(&exchange), b"<html>");
    assert!(header(&server.heads()[0], "accept").unwrap().starts_with("text/html,"));
}

#[tokio::test]
async fn user_and_password_become_a_header_for_their_origin() {
    let other = replies(|_| answer("200 OK", "", b"<rss/>")).await;
    let location = format!("Location: {}\r\n", other.url("/there"));
    let server = replies(move |_| answer("302 Found", &location, b"")).await;
    let url = format!("http://m%20e:p%40ss@127.0.0.1:{}/f", server.port);
    let fetch::Fetched::Moved { to, .. } = get(&url).await.fetched else { panic!("no redirect") };
    let head = &server.heads()[0];
    assert!(head.starts_with("GET /f HTTP/1.1\r\n"));
    assert_eq!(header(head, "authorization"), Some("Basic bSBlOnBAc3M="));
    assert_eq!(header(head, "host"), Some(format!("127.0.0.1:{}", server.port).as_str()));
    get(to.as_str()).await;
    assert_eq!(header(&other.heads()[0], "authorization"), None);
}

#[tokio::test]
async fn no_error_text_shows_a_password() {
    for url in [
        "http://me:hunter2@127.0.0.1:1/",
        "https://me:hunter2@127.0.0.1:1/",
        "http://me:hunter2@nowhere.invalid/",
        "gopher://me:hunter2@127.0.0.1/",
        "http://me:%ff%fehunter2@127.0.0.1:1/",
    ] {
        let exchange = format!("{:?}", get(url).await);
        assert!(exchange.contains("Failed"), "{exchange}");
        assert!(!exchange.contains("hunter2"), "{exchange}");
    }
}

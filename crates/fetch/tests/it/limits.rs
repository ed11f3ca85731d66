//! Servers that stall, drip, cut off, lie, flood and send bombs.

use std::io::Write;
use std::time::Duration;

use fetch::{Exchange, FailureKind, Fetcher, Settings, Validators};
use tokio::io::AsyncWriteExt;
use url::Url;

use crate::server::{Server, always, answer, raw, read_head};
use crate::{assert_failure, body, failure, get, settings};

async fn with(settings: Settings, url: &str) -> Exchange {
    let fetcher = Fetcher::new(settings).unwrap();
    fetcher.fetch(&Url::parse(url).unwrap(), &Validators::default()).await
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let short = Settings { header_timeout: Duration::from_millis(200), ..settings() };
    let exchange = with(short, &server.url("/")).await;
    assert_failure(&exchange, FailureKind::Timeout, "no answer within 0.2 s");
    assert!(exchange.facts.elapsed >= Duration::from_millis(200));
}

#[tokio::test]
async fn a_head_that_drips_is_cut() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Slow: ").await;
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let short = Settings { header_timeout: Duration::from_millis(300), ..settings() };
    assert_failure(&with(short, &server.url("/")).await, FailureKind::Timeout, "within 0.3 s");
}

#[tokio::test]
async fn a_body_that_drips_is_cut() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(b"<").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let short = Settings { body_timeout: Duration::from_millis(300), ..settings() };
    let exchange = with(short, &server.url("/")).await;
    assert_failure(&exchange, FailureKind::Timeout, "the body did not end within 0.3 s");
    assert_eq!(exchange.facts.status, Some(200));
}

#[tokio::test]
async fn a_body_that_stalls_is_cut() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n<rss").await;
        std::future::pending::<()>().await;
    })
    .await;
    let short = Settings { body_timeout: Duration::from_millis(200), ..settings() };
    assert_failure(&with(short, &server.url("/")).await, FailureKind::Timeout, "did not end");
}

#[tokio::test]
async fn an_error_page_that_never_ends_holds_nobody() {
    let server = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 500 Oops\r\n\r\n").await;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    })
    .await;
    assert_failure(&get(&server.url("/")).await, FailureKind::Status(500), "status 500");
}

#[tokio::test]
async fn cut_connections_are_named() {
    let cut_at_once = raw(|_, _| async {}).await;
    let cut_after_request = raw(|mut stream, _| async move {
        read_head(&mut stream).await;
    })
    .await;
    let cut_in_head = always("HTTP/1.1 200 OK\r\nContent-Le").await;
    let cut_in_body = always("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n<rss>").await;
    let cut_in_chunk =
        always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<rss>\r\n").await;
    for server in [cut_at_once, cut_after_request, cut_in_head, cut_in_body, cut_in_chunk] {
        assert_failure(&get(&server.url("/")).await, FailureKind::Protocol, "the server cut");
    }
}

#[tokio::test]
async fn what_is_not_http_is_named() {
    for garbage in [
        "\x00\x01\x02\x03\x04\x05\x06\x07\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n\r\n",
        "<rss/>\r\n\r\n",
        "HTTP/1.1 OK 200\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n<rss/>",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n<rss/>",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n<rss/>",
    ] {
        let server = always(garbage).await;
        let exchange = get(&server.url("/")).await;
        assert_eq!(failure(&exchange).kind, FailureKind::Protocol, "{garbage:?}: {exchange:?}");
    }
}

#[tokio::test]
async fn floods_of_headers_are_refused() {
    let many: String = (0..5000).map(|n| format!("X-{n}: y\r\n")).collect();
    let server = always(answer("200 OK", &many, b"<rss/>")).await;
    assert_eq!(failure(&get(&server.url("/")).await).kind, FailureKind::Protocol);
    let long = format!("X-Long: {}\r\n", "y".repeat(2_000_000));
    let server = always(answer("200 OK", &long, b"<rss/>")).await;
    assert_eq!(failure(&get(&server.url("/")).await).kind, FailureKind::Protocol);
}

#[tokio::test]
async fn bytes_beyond_the_claimed_length_are_not_read() {
    let server = always("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<rss/>and more").await;
    assert_eq!(body(&get(&server.url("/")).await), b"<rss/>");
}

async fn endless(head: &'static str, piece: Vec<u8>) -> Server {
    raw(move |mut stream, _| {
        let piece = piece.clone();
        async move {
            read_head(&mut stream).await;
            let _ = stream.write_all(head.as_bytes()).await;
            while stream.write_all(&piece).await.is_ok() {}
        }
    })
    .await
}

#[tokio::test]
async fn long_bodies_are_refused_as_soon_as_they_are_too_long() {
    let small = || Settings { body_bytes_max: 100_000, ..settings() };
    let claimed = always("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n<rss>").await;
    let exchange = with(small(), &claimed.url("/")).await;
    assert_failure(&exchange, FailureKind::TooLarge, "longer than 100000 bytes");

    let plain = endless("HTTP/1.1 200 OK\r\n\r\n", vec![b' '; 8192]).await;
    let exchange = with(small(), &plain.url("/")).await;
    assert_failure(&exchange, FailureKind::TooLarge, "longer than 100000 bytes");

    let member = gzip(&vec![b' '; 50_000_000]);
    let wire_max = member.len() as u64;
    let bomb = endless("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", member).await;
    let exchange = with(small(), &bomb.url("/")).await;
    assert_failure(&exchange, FailureKind::TooLarge, "longer than 100000 bytes");
    assert!(exchange.facts.wire_bytes < wire_max, "{}", exchange.facts.wire_bytes);
}

/// Such a server was once read for the whole time limit: gigabytes, with a busy core.
#[tokio::test]
async fn a_stream_without_output_is_cut_at_the_body_limit() {
    let small = || Settings { body_bytes_max: 100_000, ..settings() };
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let server = endless(head, gzip(b"").repeat(100)).await;
    let exchange = with(small(), &server.url("/")).await;
    assert_failure(&exchange, FailureKind::TooLarge, "longer than 100000 bytes");
    assert!(exchange.facts.wire_bytes < 1_000_000, "{}", exchange.facts.wire_bytes);
}

/// The HTTP library limits everything outside of the body. This test checks it.
#[tokio::test]
async fn endless_chunk_extensions_and_trailers_are_refused() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let extensions = format!("1;{}\r\n \r\n", "x".repeat(100));
    let server = endless(chunked, extensions.into_bytes()).await;
    assert_eq!(failure(&get(&server.url("/")).await).kind, FailureKind::Protocol);
    let server = raw(move |mut stream, _| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(chunked.as_bytes()).await;
        let _ = stream.write_all(b"6\r\n<rss/>\r\n0\r\n").await;
        while stream.write_all(&b"X-Trailer: y\r\n".repeat(100)).await.is_ok() {}
    })
    .await;
    assert_eq!(failure(&get(&server.url("/")).await).kind, FailureKind::Protocol);
}

#[tokio::test]
async fn compressed_bodies_are_counted_as_they_came() {
    let text = "<item/>".repeat(10_000);
    let wire = answer("200 OK", "Content-Encoding: gzip\r\n", &gzip(text.as_bytes()));
    let server = always(&wire).await;
    let exchange = get(&server.url("/")).await;
    assert_eq!(body(&exchange), text.as_bytes());
    assert_eq!(exchange.facts.wire_bytes, wire.len() as u64);
}

#[tokio::test]
async fn lies_about_the_encoding_are_forgiven_or_named() {
    let plain = always(answer("200 OK", "Content-Encoding: gzip\r\n", b"<rss></rss>")).await;
    assert_eq!(body(&get(&plain.url("/")).await), b"<rss></rss>");
    let noise = [0xde, 0xad, 0xbe, 0xef].repeat(50);
    let lie = always(answer("200 OK", "Content-Encoding: gzip\r\n", &noise)).await;
    assert_failure(&get(&lie.url("/")).await, FailureKind::Encoding, "gzip, but it is not");
    let half = gzip("<item/>".repeat(1000).as_bytes());
    let cut = always(answer("200 OK", "Content-Encoding: gzip\r\n", &half[..half.len() / 2])).await;
    assert_failure(&get(&cut.url("/")).await, FailureKind::Encoding, "cut off or damaged");
}

#[tokio::test]
async fn a_recording_keeps_the_beginning_of_an_errors_body() {
    let recording = || Settings { keep_heads: true, ..settings() };
    let kept = async |settings: Settings, status: &str, headers: &str, sent: &[u8]| {
        let server = always(answer(status, headers, sent)).await;
        with(settings, &server.url("/")).await.raw.and_then(|raw| raw.body)
    };
    let (short, long) = (b"no such page".to_vec(), vec![b'x'; 200_000]);
    let body = kept(recording(), "404 Not Found", "", &short).await;
    assert_eq!(body, Some(short.clone()));
    let packed = "Content-Encoding: gzip\r\n";
    let body = kept(recording(), "503 Busy", packed, &gzip(&long)).await;
    assert_eq!(body, Some(long[..feed::ERROR_BYTES_MAX].to_vec()), "unpacked and cut");
    let body = kept(recording(), "403 Forbidden", "", &long).await;
    assert_eq!(body.map(|body| body.len()), Some(feed::ERROR_BYTES_MAX));
    // Nothing came, or it is not what the server says, or it is not an error, or nobody records.
    assert_eq!(kept(recording(), "404 Not Found", "", b"").await, None);
    assert_eq!(kept(recording(), "500 Broken", packed, &gzip(&short)[..12]).await, None);
    assert_eq!(kept(recording(), "302 Found", "Location: /x\r\n", &short).await, None);
    assert_eq!(kept(settings(), "404 Not Found", "", &short).await, None);
}

#[tokio::test]
async fn only_the_beginning_of_a_long_file_is_read() {
    let beginning = async |server: &Server| {
        let (fetcher, url) = (Fetcher::new(settings()).unwrap(), Url::parse(&server.url("/")));
        let place = fetcher.place().await;
        place.beginning(&url.unwrap(), &Validators::default(), 50_000, 200_000).await
    };
    let claimed = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n";
    for head in [claimed, "HTTP/1.1 200 OK\r\n\r\n"] {
        let exchange = beginning(&endless(head, b"Disallow: /x\n".repeat(100)).await).await;
        assert_eq!(body(&exchange), &b"Disallow: /x\n".repeat(4000)[..50_000]);
    }
    let packed = "Content-Encoding: gzip\r\n";
    let long = gzip(&b"Disallow: /x\n".repeat(100_000));
    let exchange = beginning(&always(answer("200 OK", packed, &long)).await).await;
    assert_eq!(body(&exchange), &b"Disallow: /x\n".repeat(4000)[..50_000]);
    let exchange = beginning(&always(answer("200 OK", packed, &gzip(b"short"))).await).await;
    assert_eq!(body(&exchange), b"short");
    // Without output, the limit of the bytes on the wire holds.
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n";
    let exchange = beginning(&endless(head, gzip(b"").repeat(100)).await).await;
    assert_failure(&exchange, FailureKind::TooLarge, "longer than 200000 bytes");
}

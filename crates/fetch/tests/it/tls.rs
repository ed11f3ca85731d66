//! TLS: trusted certificates, messages about others, and HTTP/2.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use fetch::{Exchange, FailureKind, Fetcher, HttpVersion, Settings, Validators};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, version};
use tokio_rustls::server::TlsStream;
use url::Url;

use crate::server::{Server, answer, raw, read_head};
use crate::{assert_failure, body, child, get, known, settings};

const ROOT: &[u8] = include_bytes!("../data/root.pem");
const GOOD: &[u8] = include_bytes!("../data/server.pem");
const EXPIRED: &[u8] = include_bytes!("../data/expired.pem");
const KEY: &[u8] = include_bytes!("../data/server.key.pem");

fn acceptor(certificate: &[u8], protocols: &[&str]) -> TlsAcceptor {
    let chain = vec![CertificateDer::from_pem_slice(certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|p| p.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

async fn tls_server(certificate: &'static [u8], protocols: &'static [&'static str]) -> Server {
    let acceptor = acceptor(certificate, protocols);
    raw(move |stream: TcpStream, score| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                return speak_h2(stream).await;
            }
            while let Some(head) = read_head(&mut stream).await {
                score.heads.lock().unwrap().push(head);
                let _ = stream.write_all(&answer("200 OK", "", b"<rss/>")).await;
            }
        }
    })
    .await
}

async fn speak_h2(stream: TlsStream<TcpStream>) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        let same = request.headers().get("if-none-match").is_some_and(|v| v == "\"1\"");
        let status = if same { 304 } else { 200 };
        let response = http::Response::builder().status(status).header("etag", "\"1\"");
        let mut send = respond.send_response(response.body(()).unwrap(), same).unwrap();
        if !same {
            send.send_data("<rss/>".into(), true).unwrap();
        }
    }
}

fn trusting() -> Settings {
    Settings { authorities_pem: ROOT.to_vec(), ..settings() }
}

async fn with(settings: Settings, host: &str, server: &Server) -> Exchange {
    let resolve = HashMap::from([(host.to_owned(), vec![Ipv4Addr::LOCALHOST.into()])]);
    let fetcher = Fetcher::new(Settings { resolve, ..settings }).unwrap();
    let url = Url::parse(&format!("https://{host}:{}/feed", server.port)).unwrap();
    fetcher.fetch(&url, &Validators::default()).await
}

#[tokio::test]
async fn http_1_and_2_are_spoken_over_tls() {
    let one = tls_server(GOOD, &["http/1.1"]).await;
    let exchange = with(trusting(), "feeds.example", &one).await;
    assert_eq!(body(&exchange), b"<rss/>");
    assert_eq!(exchange.facts.http_version, Some(HttpVersion::Http11));
    let two = tls_server(GOOD, &["h2", "http/1.1"]).await;
    let exchange = with(trusting(), "feeds.example", &two).await;
    assert_eq!(body(&exchange), b"<rss/>");
    assert_eq!(exchange.facts.http_version, Some(HttpVersion::Http2));
}

#[tokio::test]
async fn a_304_over_http_2_uses_the_same_connection() {
    let server = tls_server(GOOD, &["h2"]).await;
    let fetcher = Fetcher::new(trusting()).unwrap();
    let url = Url::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    for _ in 0..3 {
        let exchange = fetcher.fetch(&url, &known(b"\"1\"", b"then")).await;
        assert!(matches!(exchange.fetched, fetch::Fetched::NotModified { .. }), "{exchange:?}");
    }
    assert_eq!(server.n_accepted(), 1);
}

#[tokio::test]
async fn http_2_needs_no_connection_that_is_kept() {
    let server = tls_server(GOOD, &["h2"]).await;
    let fetcher = Fetcher::new(Settings { idle_connections_max: 0, ..trusting() }).unwrap();
    let url = Url::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    for _ in 0..3 {
        assert_eq!(body(&fetcher.fetch(&url, &Validators::default()).await), b"<rss/>");
    }
    assert_eq!(server.n_accepted(), 3);
    while server.n_open() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn certificates_nobody_vouches_for_are_refused() {
    let server = tls_server(GOOD, &["h2"]).await;
    let exchange = with(settings(), "feeds.example", &server).await;
    assert_failure(&exchange, FailureKind::Tls, "certificate");
}

#[tokio::test]
async fn a_feed_may_ignore_certificates_for_itself_only() {
    let server = tls_server(EXPIRED, &["h2", "http/1.1"]).await;
    let fetcher = Fetcher::new(settings()).unwrap();
    let url = Url::parse(&format!("https://127.0.0.1:{}/", server.port)).unwrap();
    let own = feed::RequestSettings { insecure_tls: true, ..Default::default() };
    let none = Validators::default();
    assert_eq!(body(&fetcher.place().await.fetch(&url, &none, Some(&own)).await), b"<rss/>");
    assert_failure(&fetcher.fetch(&url, &none).await, FailureKind::Tls, "certificate");
    let checked = feed::RequestSettings::default();
    let exchange = fetcher.place().await.fetch(&url, &none, Some(&checked)).await;
    assert_failure(&exchange, FailureKind::Tls, "certificate");
}

#[tokio::test]
async fn a_machine_without_authorities_works_and_names_the_remedy() {
    const TEST: &str = "tls::a_machine_without_authorities_works_and_names_the_remedy";
    if let Some(url) = child::argument() {
        assert_failure(&get(&url).await, FailureKind::Tls, "install the package ca-certificates");
        return;
    }
    let server = tls_server(GOOD, &["h2"]).await;
    let nowhere = [("SSL_CERT_FILE", "/nowhere/at/all"), ("SSL_CERT_DIR", "/nowhere/at/all")];
    child::run(TEST, &format!("https://127.0.0.1:{}/", server.port), &nowhere).await;
    assert_eq!(server.n_accepted(), 1);
}

#[tokio::test]
async fn expired_and_foreign_certificates_are_told_apart() {
    let expired = tls_server(EXPIRED, &["h2"]).await;
    let exchange = with(trusting(), "feeds.example", &expired).await;
    assert_failure(&exchange, FailureKind::Tls, "the server's certificate expired");
    let foreign = tls_server(GOOD, &["h2"]).await;
    let exchange = with(trusting(), "other.example", &foreign).await;
    assert_failure(&exchange, FailureKind::Tls, "the server's certificate is for another name");
}

#[tokio::test]
async fn a_port_without_tls_is_named() {
    let server = raw(|mut stream, _| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    let exchange = get(&format!("https://127.0.0.1:{}/", server.port)).await;
    assert_failure(&exchange, FailureKind::Tls, "does not speak TLS");
}

#[tokio::test]
async fn a_handshake_that_is_cut_or_stalls_is_named() {
    let cut = raw(|stream, _| async move { drop(stream) }).await;
    let exchange = get(&format!("https://127.0.0.1:{}/", cut.port)).await;
    assert!(matches!(exchange.fetched, fetch::Fetched::Failed(_)), "{exchange:?}");
    let stalled = raw(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let short = Settings { connect_timeout: Duration::from_millis(300), ..settings() };
    let exchange = with(short, "feeds.example", &stalled).await;
    assert_failure(&exchange, FailureKind::Connect, "no connection within 0.3 s");
}

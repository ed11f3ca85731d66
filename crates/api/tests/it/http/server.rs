//! The server against clients that hold connections and do not read answers.

use std::sync::Arc;
use std::time::Duration;

use api::PeerAddress;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::{get, post};
use axum::{Extension, Router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// More than the buffers of two sockets hold.
const BIG: usize = 32 << 20;

/// Adds a note to routes: the head of a request has arrived.
fn noted(router: Router) -> (Router, Arc<Notify>) {
    let arrived = Arc::new(Notify::new());
    let noted = Arc::clone(&arrived);
    let note = move |request: Request, next: Next| {
        noted.notify_one();
        next.run(request)
    };
    (router.layer(from_fn(note)), arrived)
}

async fn served() -> (std::net::SocketAddr, tokio::sync::oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new()
        .route("/", get(async || "hello"))
        .route("/peer", get(async |Extension(peer): Extension<PeerAddress>| peer.0.to_string()))
        .route("/big", get(async || "x".repeat(BIG)));
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    tokio::spawn(api::serve(listener, router, async {
        let _ = stopped.await;
    }));
    (address, stop)
}

/// Returns the answer of the server until it closes the connection.
async fn said(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    // A reset connection has ended too.
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

// A paused clock moves on if nothing else can happen, so these tests do not wait. Bytes between two
// sockets are something that the clock does not know of. So it is paused only while none are
// expected.

#[tokio::test(start_paused = true)]
async fn a_head_that_never_ends_loses_its_connection() {
    let (address, _stop) = served().await;
    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ").await.unwrap();
    let text = said(&mut slow).await;
    assert!(!text.contains("hello"), "{text}");
    tokio::time::resume();
    let mut good = TcpStream::connect(address).await.unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    good.write_all(request).await.unwrap();
    assert!(said(&mut good).await.ends_with("hello"));
}

#[tokio::test]
async fn a_body_that_never_ends_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (router, arrived) = noted(Router::new().route("/echo", post(async |body: String| body)));
    tokio::spawn(api::serve(listener, router, std::future::pending()));
    let mut slow = TcpStream::connect(address).await.unwrap();
    let head = "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nsome";
    slow.write_all(head.as_bytes()).await.unwrap();
    arrived.notified().await;
    tokio::time::pause();
    let text = said(&mut slow).await;
    assert!(text.starts_with("HTTP/1.1 400"), "{text}");
}

#[tokio::test]
async fn what_comes_too_slowly_is_not_called_too_long() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shelf = crate::fixture::Fixture::new(true);
    let (router, arrived) = noted(shelf.router.clone());
    tokio::spawn(api::serve(listener, router, std::future::pending()));
    for (path, kind) in [
        ("/import", "multipart/form-data; boundary=x"),
        ("/api/v1/opml", "text/x-opml"),
        ("/reader/api/0/edit-tag", "application/x-www-form-urlencoded"),
    ] {
        let mut slow = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n\
             content-length: 100\r\n\r\nsome"
        );
        slow.write_all(head.as_bytes()).await.unwrap();
        arrived.notified().await;
        tokio::time::pause();
        let text = said(&mut slow).await;
        tokio::time::resume();
        assert!(
            text.starts_with("HTTP/1.1 408") && text.contains("too long to arrive"),
            "{path}: {text}"
        );
    }
}

#[tokio::test]
async fn an_idle_connection_is_given_up() {
    let (address, _stop) = served().await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"hello") {
        answer.push(idle.read_u8().await.unwrap());
    }
    tokio::time::pause();
    assert_eq!(said(&mut idle).await, "", "it ends without another answer");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_reads_is_given_up() {
    let (address, _stop) = served().await;
    let mut deaf = TcpStream::connect(address).await.unwrap();
    deaf.write_all(b"GET /big HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let text = said(&mut deaf).await;
    assert!(text.len() < BIG, "the server has waited for five minutes");
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused_and_a_route_knows_its_peer() {
    let (address, _stop) = served().await;
    // The server reads a little more than the limit before it checks the head.
    let long = format!("x-long: {}", "a".repeat(200 << 10));
    for (line, answered) in [("x-short: a", true), (long.as_str(), false)] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head =
            format!("GET /peer HTTP/1.1\r\nhost: localhost\r\n{line}\r\nconnection: close\r\n\r\n");
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(head.as_bytes()).await;
        let text = said(&mut stream).await;
        assert_eq!(text.ends_with("127.0.0.1"), answered, "{text}");
    }
}

#[tokio::test]
async fn a_long_answer_is_sent_to_whoever_reads_it() {
    let (address, _stop) = served().await;
    let mut patient = TcpStream::connect(address).await.unwrap();
    let request = b"GET /big HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    patient.write_all(request).await.unwrap();
    assert!(said(&mut patient).await.len() > BIG);
}

#[tokio::test]
async fn the_end_closes_what_is_idle_and_takes_nobody_more() {
    let (address, stop) = served().await;
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut start = [0; 12];
    idle.read_exact(&mut start).await.unwrap();
    stop.send(()).unwrap();
    let rest = tokio::time::timeout(Duration::from_secs(120), said(&mut idle)).await.unwrap();
    assert!(rest.ends_with("hello"), "{rest}");
    assert!(TcpStream::connect(address).await.is_err());
}

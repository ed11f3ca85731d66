//! A server that shows each feed of a world as it is at the moment of a clock: `/0` is the first.
//! It knows validators, so that an unchanged window is answered with 304.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use engine::Clock;
use lab::{PolledFeed, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub async fn serve(world: Arc<World>, clock: Clock) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(talk(stream, Arc::clone(&world), clock.clone()));
        }
    });
    address
}

/// Answers requests on one connection until the other side ends it.
async fn talk(mut stream: TcpStream, world: Arc<World>, clock: Clock) {
    let mut request = Vec::new();
    loop {
        let mut piece = [0; 4096];
        match stream.read(&mut piece).await {
            Ok(n) if n > 0 => request.extend_from_slice(&piece[..n]),
            _ => return,
        }
        while let Some(end) = request.windows(4).position(|w| w == b"\r\n\r\n") {
            let head: Vec<u8> = request.drain(..end + 4).collect();
            let answer = answer(&world, &clock, &String::from_utf8_lossy(&head));
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

fn answer(world: &World, clock: &Clock, head: &str) -> String {
    let path = head.split(' ').nth(1).unwrap();
    let number: usize = path.trim_start_matches('/').parse().unwrap();
    let feed = &world.feeds[number];
    let mut polled = PolledFeed::new(world, feed);
    polled.poll(clock.now());
    let shown = polled.shown();
    let tag = format!("\"{}-{}\"", shown.start, shown.end);
    if head.lines().any(|l| l.to_lowercase().starts_with("if-none-match:") && l.contains(&tag)) {
        return format!("HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n");
    }
    let mut body = String::from("<rss version=\"2.0\"><channel><title>A feed</title>");
    for entry in shown.rev() {
        // RFC 3339 is not what RSS asks for, and what many publishers write.
        let at = feed.visible()[entry];
        write!(body, "<item><guid>{number}-{entry}</guid><pubDate>{at}</pubDate></item>").unwrap();
    }
    body.push_str("</channel></rss>");
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nETag: {tag}\r\nContent-Type: text/xml\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

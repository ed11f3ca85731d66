//! A server with every kind of fault: it cuts, stalls and drips connections, sends garbage, bombs
//! and endless bodies, and gives a wrong length, coding or charset.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::documents::{gzip_bomb, rss};
use crate::wire::{Next, Request, Response, Server};

/// The expected state of a feed with such answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No entry, and an error in plain words.
    Error,
    /// All three items, in spite of the fault.
    Salvaged,
    /// One of the two, but nothing in between.
    ErrorOrSalvaged,
}

pub const FAULTS: [(&str, Expect); 21] = [
    ("/cut-at-once", Expect::Error),
    ("/cut-in-head", Expect::Error),
    ("/cut-in-body", Expect::Error),
    ("/cut-in-chunk", Expect::Error),
    ("/stall-before-head", Expect::Error),
    ("/stall-in-body", Expect::Error),
    ("/drip-head", Expect::Error),
    ("/drip-body", Expect::Error),
    ("/garbage", Expect::Error),
    ("/garbage-body", Expect::Error),
    ("/bad-chunk", Expect::Error),
    ("/two-lengths", Expect::Error),
    ("/endless-head", Expect::Error),
    ("/endless-body", Expect::Error),
    ("/bomb", Expect::Error),
    ("/broken-gzip", Expect::Error),
    ("/coding-lie", Expect::ErrorOrSalvaged),
    ("/coding-unknown", Expect::ErrorOrSalvaged),
    ("/charset-lie", Expect::Salvaged),
    ("/html", Expect::Error),
    ("/empty", Expect::Error),
];

pub fn start(addresses: &[Ipv4Addr]) -> Server {
    Server::start(addresses, answer)
}

fn answer(request: &Request, stream: &mut TcpStream) -> io::Result<Next> {
    let document = rss("faulty", 3);
    let len = document.len();
    let half = &document.as_bytes()[..len / 2];
    let head =
        |extra: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n{extra}\r\n\r\n");
    match request.target.as_str() {
        "/cut-at-once" => {}
        "/cut-in-head" => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Ty")?,
        "/cut-in-body" => {
            stream
                .write_all(head(&format!("ETag: \"cut\"\r\nContent-Length: {len}")).as_bytes())?;
            stream.write_all(half)?;
        }
        "/cut-in-chunk" => {
            stream.write_all(head("ETag: \"cut\"\r\nTransfer-Encoding: chunked").as_bytes())?;
            stream.write_all(format!("{len:x}\r\n").as_bytes())?;
            stream.write_all(half)?;
        }
        "/stall-before-head" => wait_for_the_other_side(stream),
        "/stall-in-body" => {
            stream.write_all(head(&format!("Content-Length: {len}")).as_bytes())?;
            stream.write_all(half)?;
            wait_for_the_other_side(stream);
        }
        "/drip-head" => drip(stream, b"HTTP/1.1 200 OK\r\n", b"X-Drop: y\r\n")?,
        "/drip-body" => drip(stream, head("Content-Length: 90000000").as_bytes(), b" ")?,
        "/garbage" => stream.write_all(&[0x16, 3, 1, 0, 0xff, 0, b'\r', b'\n', 0x80, b'\n'])?,
        "/garbage-body" => {
            let noise: Vec<u8> = (0..5000_u32).map(|i| (i * i % 251) as u8).collect();
            return Response::rss(noise).send(stream);
        }
        "/bad-chunk" => {
            stream.write_all(head("Transfer-Encoding: chunked").as_bytes())?;
            stream.write_all(b"zz\r\n<rss>\r\n0\r\n\r\n")?;
        }
        "/two-lengths" => {
            let lengths = format!("Content-Length: {len}\r\nContent-Length: {}", len + 7);
            stream.write_all(head(&lengths).as_bytes())?;
            stream.write_all(document.as_bytes())?;
        }
        "/endless-head" => {
            endless(stream, b"HTTP/1.1 200 OK\r\n", &b"X-More: of the same\r\n".repeat(400))?;
        }
        "/endless-body" => {
            let chunk = [b"4000\r\n".as_slice(), &[b' '; 0x4000], b"\r\n"].concat();
            endless(stream, head("Transfer-Encoding: chunked").as_bytes(), &chunk)?;
        }
        other => return in_the_body(other, document).send(stream),
    }
    Ok(Next::Close)
}

/// Responses with a wrong body.
fn in_the_body(path: &str, document: String) -> Response {
    match path {
        "/bomb" => {
            let bomb = gzip_bomb(b"<rss version=\"2.0\"><channel><title>b</title>", 100 << 20);
            Response::rss(bomb).with("Content-Encoding", "gzip")
        }
        "/broken-gzip" => {
            let mut bytes = crate::documents::gzip(document.as_bytes());
            bytes.truncate(bytes.len() / 2);
            Response::rss(bytes).with("Content-Encoding", "gzip")
        }
        "/coding-lie" => Response::rss(document).with("Content-Encoding", "gzip"),
        "/coding-unknown" => Response::rss(document).with("Content-Encoding", "rot13"),
        "/charset-lie" => {
            let mut bytes = Vec::new();
            for part in document.split_inclusive("<title>") {
                bytes.extend(part.as_bytes());
                bytes.extend(b"caf\xe9 ");
            }
            bytes.truncate(bytes.len() - 5);
            Response::rss(bytes)
        }
        "/html" => Response::new(200)
            .with("Content-Type", "text/html")
            .body("<!doctype html><html><head><title>Hello</title></head><body><p>Hi</html>"),
        "/empty" => Response::rss(""),
        "/healthy" => Response::rss(document).with("ETag", "\"h\""),
        _ => Response::new(404),
    }
}

/// Waits until the client gives up, with a limit so that no test leaves a thread behind.
fn wait_for_the_other_side(stream: &mut TcpStream) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(200)));
    let _ = stream.read(&mut [0; 64]);
}

fn drip(stream: &mut TcpStream, head: &[u8], drop: &[u8]) -> io::Result<()> {
    stream.write_all(head)?;
    for byte in drop.iter().cycle().take(2000) {
        stream.write_all(&[*byte])?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn endless(stream: &mut TcpStream, head: &[u8], part: &[u8]) -> io::Result<()> {
    stream.set_write_timeout(Some(Duration::from_secs(60)))?;
    stream.write_all(head)?;
    // For a feed, a gigabyte is endless.
    for _ in 0..(1 << 30) / part.len() {
        stream.write_all(part)?;
    }
    Ok(())
}

//! The program on a PostgreSQL server: it loses its database, several processes share one, and an
//! operator looks after it. Without `TIDINGS_TEST_STORE` most of these tests end at once.

mod bus;
mod bus_fleet;
mod bus_keys;
mod doctor;
mod hangs;
mod hosts;
mod lost;
mod machines;
mod moved;
mod secure;
mod settings;
mod upgrade;
mod web;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use crate::program::Instance;

/// Polls without gaps, on loopback.
const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// An empty database of its own; `None` without a server.
fn database(instance: &Instance) -> Option<String> {
    store::testing::url(&instance.home.path().join("on server"))
}

/// Opens an event stream and returns its lines as they come.
fn event_lines(address: SocketAddr, path: &str) -> Receiver<String> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Waits for a line that contains a text.
#[track_caller]
fn comes(lines: &Receiver<String>, text: &str) {
    let limit = std::time::Duration::from_secs(60);
    loop {
        match lines.recv_timeout(limit) {
            Ok(line) if line.contains(text) => return,
            Ok(_) => {}
            Err(error) => panic!("no event with `{text}`: {error}"),
        }
    }
}

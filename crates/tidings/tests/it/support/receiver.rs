//! A receiver of webhooks. It records every delivery and answers as the test requires.

use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::wire::{Next, Request, Response, Server, addresses};

/// One delivery as it arrived.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub id: String,
    pub timestamp: String,
    pub signature: String,
    pub body: Vec<u8>,
}

impl Arrived {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn title(&self) -> String {
        self.json()["entry"]["title"].as_str().unwrap().to_owned()
    }
}

/// The answer to a delivery, by its number from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Takes,
    /// Accepts it after a while.
    Slow(u64),
    /// Answers with this status and does not accept it.
    Refuses(u16),
    /// Accepts it, but closes the connection without an answer.
    Silent,
    /// Accepts it and never answers: the connection stays open until the sender gives up.
    Hangs,
}

pub struct Receiver {
    server: Server,
    address: Ipv4Addr,
    arrived: Arc<Mutex<Vec<Arrived>>>,
}

impl Receiver {
    pub fn start(mood: impl Fn(usize) -> Mood + Send + Sync + 'static) -> Receiver {
        Receiver::start_at(addresses(1)[0], mood)
    }

    /// The same at an address of this machine.
    pub fn start_at(
        address: Ipv4Addr,
        mood: impl Fn(usize) -> Mood + Send + Sync + 'static,
    ) -> Receiver {
        let arrived: Arc<Mutex<Vec<Arrived>>> = Arc::default();
        let (noted, asked) = (Arc::clone(&arrived), Mutex::new(0));
        let server = Server::start(&[address], move |request, stream| {
            let number = {
                let mut asked = asked.lock().unwrap();
                *asked += 1;
                *asked - 1
            };
            answer(mood(number), &noted, request, stream)
        });
        Receiver { server, address, arrived }
    }

    pub fn url(&self) -> String {
        self.server.url(self.address, "/hook")
    }

    pub fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().unwrap().clone()
    }

    /// Returns the titles in the order of their first arrival.
    pub fn titles(&self) -> Vec<String> {
        let mut titles: Vec<String> = Vec::new();
        for title in self.arrived().iter().map(Arrived::title) {
            if !titles.contains(&title) {
                titles.push(title);
            }
        }
        titles
    }
}

fn answer(
    mood: Mood,
    noted: &Mutex<Vec<Arrived>>,
    request: &Request,
    stream: &mut TcpStream,
) -> std::io::Result<Next> {
    if let Mood::Refuses(status) = mood {
        return Response::new(status).send(stream);
    }
    noted.lock().unwrap().push(Arrived {
        id: request.text("webhook-id"),
        timestamp: request.text("webhook-timestamp"),
        signature: request.text("webhook-signature"),
        body: request.body.clone(),
    });
    match mood {
        Mood::Silent => return Ok(Next::Close),
        Mood::Hangs => {
            // Longer than the sender waits. The sender closes the connection before.
            std::thread::sleep(Duration::from_secs(25));
            return Ok(Next::Close);
        }
        Mood::Slow(ms) => std::thread::sleep(Duration::from_millis(ms)),
        _ => {}
    }
    Response::new(204).send(stream)
}

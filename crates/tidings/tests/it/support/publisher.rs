//! A well-behaved publisher: documents by path that a test may change, with validators, and a log
//! of all requests.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::wire::{Next, Request, Response, Server, addresses};

/// The answer for a path.
#[derive(Clone)]
pub enum Page {
    Document(String),
    Answer(Response),
}

/// One request as the publisher saw it.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub conditional: bool,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, Page>,
    asked: Vec<Asked>,
    delay: Duration,
}

pub struct Publisher {
    pub server: Server,
    pub addresses: Vec<Ipv4Addr>,
    state: Arc<Mutex<State>>,
}

impl Publisher {
    /// Every address serves every path.
    pub fn start(n_addresses: u32) -> Publisher {
        Publisher::start_on(addresses(n_addresses), 0)
    }

    pub fn start_on(addresses: Vec<Ipv4Addr>, port: u16) -> Publisher {
        let state: Arc<Mutex<State>> = Arc::default();
        let shared = Arc::clone(&state);
        let server = Server::start_on(&addresses, port, move |request, stream| {
            answer(&shared, request, stream)
        });
        Publisher { server, addresses, state }
    }

    pub fn set(&self, path: &str, document: impl Into<String>) {
        self.page(path, Page::Document(document.into()));
    }

    pub fn set_answer(&self, path: &str, response: Response) {
        self.page(path, Page::Answer(response));
    }

    fn page(&self, path: &str, page: Page) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// Waits so long before every answer, so that a load of many feeds lasts on any machine.
    pub fn set_delay(&self, delay: Duration) {
        self.state.lock().unwrap().delay = delay;
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(self.addresses[0], path)
    }

    /// Returns the number of requests since the last [`Publisher::take_asked`].
    pub fn n_asked(&self) -> usize {
        self.state.lock().unwrap().asked.len()
    }

    /// Returns the requests since the last call.
    pub fn take_asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }
}

fn answer(state: &Mutex<State>, request: &Request, stream: &mut TcpStream) -> io::Result<Next> {
    let (page, delay) = {
        let mut state = state.lock().unwrap();
        let conditional = request.header("if-none-match").is_some();
        state.asked.push(Asked { path: request.target.clone(), conditional });
        (state.pages.get(&request.target).cloned(), state.delay)
    };
    std::thread::sleep(delay);
    let document = match page {
        None => return Response::new(404).send(stream),
        Some(Page::Answer(response)) => return response.send(stream),
        Some(Page::Document(document)) => document,
    };
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    let etag = format!("\"{:x}\"", hasher.finish());
    let unchanged = request.header("if-none-match") == Some(etag.as_bytes());
    let response = if unchanged { Response::new(304) } else { Response::rss(document) };
    response.with("ETag", etag).send(stream)
}

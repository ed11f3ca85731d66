//! A publisher with its own hub, for a subscriber: documents and answers by path, and a record of
//! the requests to the hub. The tests verify and push themselves.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use url::{Url, form_urlencoded};

use crate::documents::rss_of;
use crate::program::{Daemon, Instance, eventually, free_address};
use crate::wire::{self, Response, Server, addresses};

pub const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// One request to the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The path of the request.
    pub path: String,
    pub mode: String,
    pub topic: String,
    pub callback: Url,
    pub secret: String,
    pub lease: String,
}

#[derive(Default)]
struct State {
    pages: HashMap<String, Response>,
    wishes: Vec<Wish>,
}

pub struct Hub {
    server: Server,
    address: Ipv4Addr,
    state: Arc<Mutex<State>>,
}

impl Hub {
    pub fn start() -> Hub {
        let state: Arc<Mutex<State>> = Arc::default();
        let (shared, addresses) = (Arc::clone(&state), addresses(1));
        let server = Server::start(&addresses, move |request, stream| {
            let mut state = shared.lock().unwrap();
            if !request.body.is_empty() {
                state.wishes.push(wish(&request.target, &request.body));
            }
            let page = state.pages.get(&request.target).cloned();
            drop(state);
            page.unwrap_or_else(|| Response::new(404)).send(stream)
        });
        let hub = Hub { server, address: addresses[0], state };
        hub.set("/hub", Response::new(202));
        hub
    }

    pub fn set(&self, path: &str, response: Response) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), response);
    }

    pub fn url(&self, path: &str) -> String {
        self.server.url(self.address, path)
    }

    /// Returns a feed that names the hub at `hub` and itself as `own`, with the items of a range.
    pub fn rss(&self, hub: &str, own: &str, range: std::ops::Range<usize>) -> String {
        let links = format!(
            "<a:link xmlns:a=\"http://www.w3.org/2005/Atom\" rel=\"hub\" href=\"{}\"/>\
             <a:link xmlns:a=\"http://www.w3.org/2005/Atom\" rel=\"self\" href=\"{}\"/>",
            self.url(hub),
            self.url(own)
        );
        rss_of("news", range).replacen("<channel>", &format!("<channel>{links}"), 1)
    }

    pub fn wishes(&self) -> Vec<Wish> {
        self.state.lock().unwrap().wishes.clone()
    }

    /// Waits for the next request to the hub, after this many.
    #[track_caller]
    pub fn wish(&self, after: usize) -> Wish {
        eventually("the hub is asked", || self.wishes().get(after).cloned())
    }
}

fn wish(path: &str, body: &[u8]) -> Wish {
    let form: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
    let field = |name: &str| form.get(name).cloned().unwrap_or_default();
    Wish {
        path: path.to_owned(),
        mode: field("hub.mode"),
        topic: field("hub.topic"),
        callback: Url::parse(&field("hub.callback")).unwrap(),
        secret: field("hub.secret"),
        lease: field("hub.lease_seconds"),
    }
}

impl Wish {
    fn at(&self) -> SocketAddr {
        self.callback.socket_addrs(|| None).unwrap()[0]
    }

    /// Verifies a subscription at its callback, as a hub does. Returns the answer.
    pub fn verify(&self, mode: &str, topic: &str, lease: &str) -> (u16, String) {
        let mut pairs = form_urlencoded::Serializer::new(String::new());
        pairs.append_pair("hub.mode", mode).append_pair("hub.topic", topic);
        pairs.append_pair("hub.challenge", "ch4llenge").append_pair("hub.lease_seconds", lease);
        pairs.append_pair("hub.reason", "none of your business");
        let path = format!("{}?{}", self.callback.path(), pairs.finish());
        wire::get(self.at(), &path).unwrap()
    }

    /// Verifies the subscription of a recorded request.
    #[track_caller]
    pub fn confirm(&self) {
        let answer = self.verify(&self.mode, &self.topic, &self.lease);
        assert_eq!(answer, (200, "ch4llenge".to_owned()));
    }

    /// Sends a document with this signature, or without one. Returns the status.
    pub fn push_signed(&self, body: &str, signature: Option<&str>) -> u16 {
        let signature = signature.map(|s| format!("X-Hub-Signature: {s}\r\n"));
        let headers =
            format!("Content-Type: application/rss+xml\r\n{}", signature.unwrap_or_default());
        wire::post_as(self.at(), self.callback.path(), &headers, body).unwrap()
    }

    /// Sends a signed document, as a hub does.
    #[track_caller]
    pub fn push(&self, body: &str) {
        let signature = signature(&self.secret, body);
        assert_eq!(self.push_signed(body, Some(&signature)), 202);
    }
}

/// Returns the signature that a hub sends with a body.
pub fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    let hex: String = mac.finalize().into_bytes().iter().map(|b| format!("{b:02x}")).collect();
    format!("sha256={hex}")
}

/// A program that hubs can reach.
pub struct Reachable {
    pub instance: Instance,
    pub daemon: Daemon,
    pub listen: SocketAddr,
}

impl Reachable {
    /// Starts the program; `more` is added to the configuration.
    pub fn start(more: &str) -> Reachable {
        let listen = free_address();
        let config = format!("public_url = \"http://{listen}/\"\n{more}");
        let instance = Instance::with_config(&config);
        let daemon = instance.daemon_at(listen, &FREELY).ready();
        Reachable { instance, daemon, listen }
    }

    /// Subscribes to a feed and polls it once.
    #[track_caller]
    pub fn add(&self, url: &str) {
        self.instance.run(&["feed", "add", url, "--json"]).ok();
    }

    pub fn titles(&self) -> Vec<String> {
        let title = |entry: &serde_json::Value| entry["title"].as_str().unwrap().to_owned();
        self.instance.entries().iter().map(title).collect()
    }

    /// Returns the output of `feed why` for the first feed.
    pub fn why(&self) -> String {
        self.instance.run(&["feed", "why", "1"]).ok().stdout
    }
}

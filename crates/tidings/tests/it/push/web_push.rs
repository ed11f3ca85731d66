//! Notifications by Web Push: a push service takes the requests of RFC 8030. PyPI's `http_ece`
//! decrypts the messages and `cryptography` checks VAPID.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::{Value, json};
use url::form_urlencoded;

use crate::documents::rss_of;
use crate::needed;
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::{self, Request, Response, Server, addresses};

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];
const TOOLS: [&str; 2] = ["http_ece==1.2.1", "cryptography==45.0.7"];

/// Returns the interpreter with the libraries, which pip installs once.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("web-push-tools");
        let python = home.join("bin/python");
        let runs = |program: &Path, args: &[&str]| {
            let mut command = Command::new(program);
            let done = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
            done.is_ok_and(|status| status.success())
        };
        let is_there = || runs(&python, &["-c", "import http_ece"]);
        let install = || {
            runs(Path::new("python3"), &["-m", "venv", home.to_str().unwrap_or_default()])
                && runs(&home.join("bin/pip"), &["install", "-q", TOOLS[0], TOOLS[1]])
        };
        (is_there() || install()).then_some(python)
    });
    if found.is_none() {
        needed::missing("Python with http_ece");
    }
    found.as_deref()
}

fn ask(python: &Path, what: &str, input: &Value) -> Value {
    let mut child = Command::new(python)
        .args(["-c", include_str!("web_push.py"), what])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "the judge refused {what}");
    serde_json::from_slice(&done.stdout).unwrap()
}

/// A push service. It answers as the test requires.
struct PushService {
    url: String,
    status: Arc<AtomicU16>,
    got: Arc<Mutex<Vec<Request>>>,
    _server: Server,
}

impl PushService {
    fn start() -> PushService {
        let (status, got) = (Arc::new(AtomicU16::new(201)), Arc::new(Mutex::new(Vec::new())));
        let (answers, noted) = (Arc::clone(&status), Arc::clone(&got));
        let addresses = addresses(1);
        let server = Server::start(&addresses, move |request, stream| {
            noted.lock().unwrap().push(request.clone());
            Response::new(answers.load(Ordering::Relaxed)).send(stream)
        });
        let url = server.url(addresses[0], "/send/abc");
        PushService { url, status, got, _server: server }
    }

    fn n(&self) -> usize {
        self.got.lock().unwrap().len()
    }
}

fn between(text: &str, start: &str, end: &str) -> String {
    let at = text.find(start).unwrap_or_else(|| panic!("`{start}` is not in {text}"));
    let rest = &text[at + start.len()..];
    rest[..rest.find(end).unwrap()].to_owned()
}

fn post(daemon: &Daemon, path: &str, fields: &[(&str, &str)]) -> u16 {
    let page = wire::get(daemon.listen, "/account").unwrap().1;
    let key = between(&page, "name=\"form_key\" value=\"", "\"");
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("form_key", &key).extend_pairs(fields);
    wire::post(daemon.listen, path, &form.finish()).unwrap()
}

fn account_page(listen: SocketAddr) -> String {
    wire::get(listen, "/account").unwrap().1
}

/// An instance with a feed, a rule and a device.
fn subscribed(instance: &Instance, publisher: &Publisher, endpoint: &str, keys: &Value) -> Daemon {
    let daemon = instance.daemon(&FREELY).ready();
    publisher.set("/news", rss_of("news", 0..2));
    instance.run(&["feed", "add", &publisher.url("/news")]).ok();
    let text = "CREATE RULE ring ON ALL FEEDS WHERE TITLE CONTAINS \"item\" DO NOTIFY";
    assert_eq!(post(&daemon, "/rules", &[("text", text), ("state", "on")]), 303);
    let word = |name: &str| keys[name].as_str().unwrap();
    let fields = [("endpoint", endpoint), ("p256dh", word("p256dh")), ("auth", word("auth"))];
    assert_eq!(post(&daemon, "/account/devices", &fields), 200);
    daemon
}

#[test]
fn a_rule_notifies_a_browser_with_an_encrypted_and_signed_message() {
    let Some(python) = python() else { return };
    let keys = ask(python, "keys", &json!({}));
    let (service, publisher) = (PushService::start(), Publisher::start(1));
    let config = "contact = \"mailto:ann@example.org\"\n[notifications]\nallow_private = true\n";
    let instance = Instance::with_config(config);
    let daemon = subscribed(&instance, &publisher, &service.url, &keys);
    let public = between(&account_page(daemon.listen), "data-push=\"", "\"");

    publisher.set("/news", rss_of("news", 0..3));
    instance.run(&["feed", "poll", "1"]).ok();
    eventually("a message arrives", || (service.n() == 1).then_some(()));
    let got = service.got.lock().unwrap()[0].clone();
    assert_eq!(got.text("content-encoding"), "aes128gcm");
    assert_eq!(got.text("ttl"), "86400");
    let body: String = got.body.iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!String::from_utf8_lossy(&got.body).contains("Item"));
    let origin = service.url.trim_end_matches("/send/abc");
    let read = ask(
        python,
        "read",
        &json!({
            "authorization": got.text("authorization"), "origin": origin, "key": public,
            "body": body, "private": keys["private"], "auth": keys["auth"],
        }),
    );
    assert_eq!(read["title"], "Item 2 of news");
    assert_eq!(read["url"], "/entry/3?show=all");

    // The browser has left: the service answers 410, and the device is removed.
    service.status.store(410, Ordering::Relaxed);
    let text = account_page(daemon.listen);
    assert!(text.contains("action=\"/account/devices/remove\""), "{text}");
    publisher.set("/news", rss_of("news", 0..4));
    instance.run(&["feed", "poll", "1"]).ok();
    eventually("the device is removed", || {
        (!account_page(daemon.listen).contains("/account/devices/remove")).then_some(())
    });
    assert_eq!(service.n(), 2, "one request for each attempt");
}

#[test]
fn a_device_is_not_a_way_to_private_addresses() {
    let Some(python) = python() else { return };
    let keys = ask(python, "keys", &json!({}));
    let (service, publisher) = (PushService::start(), Publisher::start(1));
    // Feeds may be private here, but browsers name push services.
    let instance = Instance::new();
    let daemon = subscribed(&instance, &publisher, &service.url, &keys);
    publisher.set("/news", rss_of("news", 0..3));
    instance.run(&["feed", "poll", "1"]).ok();
    eventually("the page says why", || {
        account_page(daemon.listen).contains("not at a public address").then_some(())
    });
    assert_eq!(service.n(), 0);
    // Addresses that cannot be those of a push service are refused at once.
    let fields = [
        ("endpoint", "ftp://push.example/"),
        ("p256dh", keys["p256dh"].as_str().unwrap()),
        ("auth", keys["auth"].as_str().unwrap()),
    ];
    assert_eq!(post(&daemon, "/account/devices", &fields), 422);
    assert_eq!(wire::post(daemon.listen, "/account/devices", "endpoint=x").unwrap(), 403);
}

//! Settings for the requests of one feed: they reach its own origin only, and are stored encrypted.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::wire::{Request, Response, Server, addresses, get, raw};

const SECRETS: [&str; 3] = ["hunter2", "c00k1e", "k3yk3y"];

/// A site that needs a login, and passes `/moved` on to another one.
struct Site {
    server: Server,
    url: String,
    seen: Arc<Mutex<Vec<(String, String)>>>,
}

fn site(redirect_to: Option<String>) -> Site {
    let address = addresses(1)[0];
    let seen: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let server = Server::start(&[address], move |request: &Request, stream| {
        let sent = ["authorization", "cookie", "x-api-key", "user-agent"]
            .map(|name| request.text(name))
            .join("|");
        let is_known = request.header("authorization").is_some();
        noted.lock().unwrap().push((request.target.clone(), sent));
        match (&redirect_to, request.target.as_str()) {
            (Some(to), "/moved") => Response::new(302).with("Location", to.clone()).send(stream),
            (_, "/open") => Response::rss(rss("open", 1)).send(stream),
            _ if is_known => Response::rss(rss("f", 2)).send(stream),
            _ => Response::new(401).send(stream),
        }
    });
    let url = server.url(address, "");
    Site { server, url, seen }
}

impl Site {
    fn seen(&self) -> Vec<(String, String)> {
        let _ = &self.server;
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn set_all(instance: &Instance, url: &str) {
    let login = instance.write("login", "anna:hunter2\n");
    let login = format!("@{}", path_text(&login));
    let args = ["feed", "set", url, "--login", &login, "--cookie", "a=c00k1e", "--header"];
    let more = ["X-Api-Key: k3yk3y", "--user-agent", "Other/3"];
    instance.run(&[args.as_slice(), &more].concat()).ok();
}

#[test]
fn settings_reach_the_own_origin_only_and_no_output_shows_a_secret() {
    let other = site(None);
    let own = site(Some(format!("{}/open", other.url)));
    let instance = Instance::new();
    let feed = format!("{}/f", own.url);
    instance.run(&["feed", "add", &feed, "--no-poll"]).ok();
    assert_eq!(instance.poll(&feed)["outcome"], "refused", "it needs a login");
    own.seen();
    set_all(&instance, &feed);
    assert_eq!(instance.poll(&feed)["new"], 2);
    let seen = own.seen();
    let expected = "Basic YW5uYTpodW50ZXIy|a=c00k1e|k3yk3y|Other/3";
    assert_eq!(seen, [("/f".to_owned(), expected.to_owned())]);

    let moved = format!("{}/moved", own.url);
    instance.run(&["feed", "add", &moved, "--no-poll"]).ok();
    set_all(&instance, &moved);
    assert_eq!(instance.poll(&moved)["new"], 1);
    assert!(own.seen()[0].1.contains("c00k1e"));
    let there = other.seen();
    assert_eq!(there[0].0, "/open");
    assert!(there[0].1.starts_with("|||Tidings/"), "nothing of it goes elsewhere: {there:?}");

    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    let mut said = daemon.log();
    for args in [
        vec!["feed", "show", "1"],
        vec!["feed", "show", "1", "--json"],
        vec!["export", "--with-secrets"],
        vec!["export", "--format", "json"],
        vec!["feed", "list", "--json"],
    ] {
        said.push_str(&instance.run(&args).ok().stdout);
    }
    for path in ["/feed/1", "/api/v1/feeds/1/requests", "/api/v1/feeds/1", "/export.opml"] {
        let (status, text) = get(daemon.listen, path).unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        said.push_str(&text);
    }
    assert!(said.contains("login: set") && said.contains("header x-api-key"), "{said}");
    for secret in SECRETS {
        assert!(!said.contains(secret), "{secret} is shown");
    }
    // Through the daemon and its API the secrets are encrypted on the way.
    let kind = "Content-Type: application/json\r\n";
    let path = "/api/v1/feeds/1/requests";
    let head = format!("PATCH {path} HTTP/1.1\r\nHost: {}\r\n{kind}", daemon.listen);
    let body = r#"{"login":"anna:hunter2","cookie":null}"#;
    assert_eq!(raw(daemon.listen, &head, body).unwrap(), 200);
    let wrong = r#"{"headers":["Host: x"]}"#;
    assert_eq!(raw(daemon.listen, &head, wrong).unwrap(), 400);
    own.seen();
    instance.run(&["feed", "poll", &feed]).ok();
    // Searches for an icon of the site may come later.
    let (_, last) = own.seen().into_iter().rfind(|(target, _)| target == "/f").unwrap();
    assert!(last.starts_with("Basic YW5uYTpodW50ZXIy||k3yk3y|"), "the cookie is gone: {last}");
}

#[test]
fn the_store_alone_reveals_nothing_and_a_lost_key_is_named() {
    let own = site(None);
    let instance = Instance::in_folder();
    let feed = format!("{}/f", own.url);
    instance.run(&["feed", "add", &feed, "--no-poll"]).ok();
    set_all(&instance, &feed);
    let key = instance.data.join("secrets.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    for file in std::fs::read_dir(&instance.data).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        for secret in SECRETS {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{} has {secret}", path.display());
        }
    }
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let polled = instance.poll(&feed);
    let detail = polled["detail"].as_str().unwrap();
    assert!(detail.contains("secrets.key is missing") && detail.contains("backup"), "{detail}");
    assert!(own.seen().is_empty(), "no request without the settings");
    let doctor = instance.run(&["doctor"]);
    assert!(doctor.stdout.contains("secrets.key is missing"), "{doctor:?}");
    let refused = instance.run(&["feed", "set", &feed, "--cookie", "x=1"]);
    refused.says(1, &["secrets.key is missing"]);

    std::fs::write(&key, format!("tidings-key-1 {}\n", "ab".repeat(32))).unwrap();
    let polled = instance.poll(&feed);
    assert!(polled["detail"].as_str().unwrap().contains("another key"), "{polled}");

    std::fs::write(&key, kept).unwrap();
    assert_eq!(instance.poll(&feed)["new"], 2, "the key is found again");
    instance.run(&["feed", "set", &feed, "--plain-requests"]).ok();
    own.seen();
    instance.poll(&feed);
    assert!(own.seen()[0].1.starts_with("|||Tidings/"));
}

#[test]
fn wrong_settings_are_refused_before_anything_is_stored() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    for (args, words) in [
        (["--header", "Host: x"], "every request decides"),
        (["--header", "X: a\r\nY: b"], "line break"),
        (["--header", "X"], "NAME: VALUE"),
        (["--login", "anna"], "user:password"),
        (["--proxy", "ftp://x"], "not a proxy"),
        (["--tls", "maybe"], "check"),
    ] {
        let ended = instance.run(&["feed", "set", "1", args[0], args[1]]);
        ended.says(2, &[words]);
    }
    let tagged = instance.run(&["feed", "set", "--tag", "news", "--cookie", "a=b"]);
    tagged.says(2, &["one feed"]);
}

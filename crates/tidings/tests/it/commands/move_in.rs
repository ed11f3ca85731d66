//! Moving in from another reader: a second Tidings over both APIs, and recorded answers of others.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::documents::{rss, rss_of};
use crate::program::{Daemon, Instance, eventually, finish, path_text};
use crate::publisher::Publisher;
use crate::wire::{Request, Response, Server, addresses, get_with, raw};

const PRIVATE: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// The old reader: an account with two feeds in one folder, two read entries and a star.
fn old_reader(publisher: &Publisher) -> (Instance, Daemon, String) {
    let old = Instance::new();
    for path in ["/a", "/b"] {
        let url = publisher.url(path);
        let args = ["feed", "add", &url, "--tag", "News"];
        old.run(&[args.as_slice(), &PRIVATE].concat()).ok();
    }
    let file = old.write("password", "correct horse\n");
    let mut add = old.command(&["user", "add", "anna", "--password-stdin"]);
    add.stdin(Stdio::from(std::fs::File::open(file).unwrap()));
    finish(add, "user add").ok();
    let token = old.run(&["user", "token", "anna", "--label", "move"]).ok().stdout;
    let daemon = old.daemon(&PRIVATE).ready();
    let bearer =
        format!("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", token.trim());
    for (entry, body) in [
        (1, r#"{"read":true}"#),
        (2, r#"{"read":true,"starred":true}"#),
        (4, r#"{"starred":true}"#),
    ] {
        let head = format!(
            "PATCH /api/v1/entries/{entry} HTTP/1.1\r\nHost: {}\r\n{bearer}",
            daemon.listen
        );
        assert_eq!(raw(daemon.listen, &head, body).unwrap(), 200);
    }
    (old, daemon, token.trim().to_owned())
}

fn entries(daemon: &Daemon, headers: &str, filter: &str) -> Vec<String> {
    let path = format!("/api/v1/reading?{filter}");
    let (status, text) = get_with(daemon.listen, &path, headers).unwrap();
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let rows = answer["entries"].as_array().unwrap();
    let mut titles: Vec<String> =
        rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect();
    titles.sort();
    titles
}

#[test]
fn a_second_tidings_gives_feeds_folders_marks_and_stars_over_both_apis() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("a", 3));
    publisher.set("/b", rss("b", 2));
    let (old, there, token) = old_reader(&publisher);
    let url = format!("http://{}/", there.listen);
    let secret = old.write("secret", format!("{token}\n"));
    let auth = format!("Authorization: Bearer {token}\r\n");
    let (read, starred) =
        (entries(&there, &auth, "unread=false"), entries(&there, &auth, "starred=true"));
    assert_eq!((read.len(), starred.len()), (2, 2));
    for (kind, user) in [("miniflux", None), ("google-reader", Some("anna"))] {
        let new = Instance::new();
        let mut args = vec!["move-in", kind, &url, "--secret", path_text(&secret), "--json"];
        args.extend(user.iter().flat_map(|name| ["--user", name]));
        args.extend(PRIVATE);
        let said = new.run(&args).ok().json();
        assert_eq!(said["feeds_added"], 2, "{kind}: {said}");
        assert_eq!((&said["read"], &said["starred"]), (&2.into(), &2.into()), "{kind}: {said}");
        assert_eq!(said["not_found_yet"], 0, "{kind}: {said}");
        let tags: Vec<Value> = new.feeds().iter().map(|feed| feed["tags"].clone()).collect();
        assert!(tags.iter().all(|tags| tags[0] == "News"), "{kind}: {tags:?}");
        let here = new.daemon(&PRIVATE).ready();
        assert_eq!(entries(&here, "", "unread=false"), read, "{kind}");
        assert_eq!(entries(&here, "", "starred=true"), starred, "{kind}");
    }
}

#[test]
fn a_mark_waits_for_its_entry_and_survives_a_restart() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss_of("a", 0..3));
    let (old, there, token) = {
        publisher.set("/b", rss("b", 2));
        old_reader(&publisher)
    };
    // The feed no longer shows the marked entries when the person moves.
    publisher.set("/a", rss_of("a", 50..52));
    let secret = old.write("secret", &token);
    let new = Instance::new();
    let url = format!("http://{}/", there.listen);
    let args = ["move-in", "miniflux", &url, "--secret", path_text(&secret), "--json"];
    let said = new.run(&[args.as_slice(), &PRIVATE].concat()).ok().json();
    assert!(said["not_found_yet"].as_u64().unwrap() >= 2, "{said}");
    assert!(!said["stars_not_found_yet"].as_array().unwrap().is_empty(), "{said}");
    let here = new.daemon(&PRIVATE).ready();
    assert_eq!(entries(&here, "", "unread=false"), Vec::<String>::new());
    publisher.set("/a", rss_of("a", 0..3));
    new.run(&["feed", "poll", &publisher.url("/a")]).ok();
    let read = eventually("the marks are set", || {
        let read = entries(&here, "", "unread=false");
        (read.len() == 2).then_some(read)
    });
    assert_eq!(read.len(), 2);
}

#[test]
fn recorded_answers_of_freshrss_are_taken_page_by_page() {
    let list = include_str!("../../data/move_in/freshrss_subscriptions.json");
    let stream = include_str!("../../data/move_in/freshrss_stream.json");
    let (address, asked) = (addresses(1)[0], Arc::new(Mutex::new(Vec::<String>::new())));
    let noted = Arc::clone(&asked);
    let server = Server::start(&[address], move |request: &Request, stream_out| {
        let target = request.target.clone();
        noted.lock().unwrap().push(target.clone());
        let is_known = request.text("authorization") == "GoogleLogin auth=anna/abc";
        let json =
            |body: &str| Response::new(200).with("Content-Type", "application/json").body(body);
        let answer = match target.as_str() {
            "/api/greader.php/accounts/ClientLogin" => {
                let body = String::from_utf8_lossy(&request.body).into_owned();
                match body.contains("Email=anna") && body.contains("Passwd=api+pass") {
                    true => Response::new(200).body("SID=anna/abc\nLSID=null\nAuth=anna/abc\n"),
                    false => Response::new(401),
                }
            }
            _ if !is_known => Response::new(401),
            path if path.contains("subscription/list") => json(list),
            // The second page is empty.
            path if path.contains("c=1700000000000000") => json(r#"{"items":[]}"#),
            path if path.contains("stream/contents") => json(stream),
            _ => Response::new(404),
        };
        answer.send(stream_out)
    });
    let url = server.url(address, "/");
    let new = Instance::new();
    let secret = new.write("secret", "api pass\n");
    let args = ["move-in", "freshrss", &url, "--user", "anna", "--secret", path_text(&secret)];
    let more = ["--json", "--no-poll"];
    let said = new.run(&[args.as_slice(), &more, &PRIVATE].concat()).ok().json();
    assert_eq!(said["feeds_added"], 2, "{said}");
    assert_eq!((&said["read"], &said["starred"]), (&1.into(), &1.into()), "{said}");
    assert_eq!(said["not_found_yet"], 2, "they wait for the first poll: {said}");
    let asked = std::mem::take(&mut *asked.lock().unwrap());
    assert_eq!(asked.iter().filter(|path| path.contains("com.google/starred")).count(), 2);
    assert_eq!(asked.iter().filter(|path| path.contains("reading-list")).count(), 2);

    let wrong = new.write("wrong", "nonsense");
    let args = ["move-in", "freshrss", &url, "--user", "anna", "--secret", path_text(&wrong)];
    new.run(&[args.as_slice(), &PRIVATE].concat()).says(2, &["refused the login", "--secret"]);
}

/// Pages of each list of [`paged_reader`]; every page has two entries.
const PAGES: usize = 4;

/// A FreshRSS with two feeds and long lists. The answer to request number `stalls_at` never comes.
fn paged_reader(asked: &Arc<AtomicUsize>, stalls_at: &Arc<AtomicUsize>) -> (Server, String) {
    let address = addresses(1)[0];
    let (asked, stalls_at) = (Arc::clone(asked), Arc::clone(stalls_at));
    let server = Server::start(&[address], move |request: &Request, stream_out| {
        let number = asked.fetch_add(1, Ordering::SeqCst) + 1;
        while stalls_at.load(Ordering::SeqCst) == number {
            std::thread::sleep(Duration::from_millis(20));
        }
        let target = request.target.as_str();
        let answer = if target.ends_with("ClientLogin") {
            "Auth=anna/abc\n".to_owned()
        } else if target.contains("subscription/list") {
            include_str!("../../data/move_in/freshrss_subscriptions.json").to_owned()
        } else {
            let after = target.split("c=").nth(1).and_then(|rest| rest.split('&').next());
            let page: usize = after.and_then(|text| text.parse().ok()).unwrap_or(0);
            stream_page(page, target.contains("com.google/starred")).to_string()
        };
        Response::new(200).with("Content-Type", "application/json").body(answer).send(stream_out)
    });
    let url = server.url(address, "/");
    (server, url)
}

fn stream_page(page: usize, starred: bool) -> Value {
    let mark = if starred { "starred" } else { "read" };
    let item = |n: usize| {
        json!({
            "title": format!("{mark} {n}"),
            "canonical": [{"href": format!("https://blog.example.org/{mark}/{n}")}],
            "categories": [format!("user/-/state/com.google/{mark}")],
            "origin": {"streamId": "feed/52"},
        })
    };
    let next = (page + 1 < PAGES).then(|| (page + 1).to_string());
    json!({"items": [item(2 * page), item(2 * page + 1)], "continuation": next})
}

#[test]
fn a_move_that_is_killed_anywhere_and_run_again_ends_the_same() {
    let (asked, stalls_at) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (_server, url) = paged_reader(&asked, &stalls_at);
    let moved = |stall: Option<usize>| {
        let new = Instance::new();
        let password = new.write("password", "correct horse\n");
        for name in ["first", "anna"] {
            let mut add = new.command(&["user", "add", name, "--password-stdin"]);
            add.stdin(Stdio::from(std::fs::File::open(&password).unwrap()));
            finish(add, "user add").ok();
        }
        let secret = new.write("secret", "api pass\n");
        let mut args = vec!["move-in", "freshrss", &url, "--user", "other", "--json", "--no-poll"];
        args.extend(["--secret", path_text(&secret), "--account", "anna"]);
        args.extend(PRIVATE);
        if let Some(stall) = stall {
            asked.store(0, Ordering::SeqCst);
            stalls_at.store(stall, Ordering::SeqCst);
            let mut command = new.command(&args);
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            eventually("the program waits for this answer", || {
                (asked.load(Ordering::SeqCst) >= stall).then_some(())
            });
            child.kill().unwrap();
            child.wait().unwrap();
            stalls_at.store(0, Ordering::SeqCst);
        }
        let said = new.run(&args).ok().json();
        let feeds = new.run(&["feed", "list", "--json", "--user", "anna"]).ok().json();
        let others = new.run(&["feed", "list", "--json", "--user", "first"]).ok().json();
        assert_eq!(others, json!([]), "the other account gets nothing");
        let feeds: Vec<Value> = feeds
            .as_array()
            .unwrap()
            .iter()
            .map(|feed| json!([feed["url"], feed["title"], feed["tags"]]))
            .collect();
        assert_eq!(feeds.len(), 2);
        let marks = ["read", "starred", "of_other_feeds", "not_found_yet", "stars_not_found_yet"];
        (feeds, marks.map(|name| said[name].clone()))
    };
    let whole = moved(None);
    let n = 2 * PAGES;
    assert_eq!(whole.1[..2], [json!(n), json!(n)], "{whole:?}");
    // The login, the list, the first and a later page of each list, and the last page.
    for stall in [1, 2, 3, 5, 7, 8, 10] {
        assert_eq!(moved(Some(stall)), whole, "killed at request {stall}");
    }
    let nobody = Instance::new();
    let secret = nobody.write("secret", "x");
    let args = ["move-in", "freshrss", &url, "--user", "other", "--secret", path_text(&secret)];
    let more = ["--account", "nobody", "--no-poll"];
    let refused = nobody.run(&[args.as_slice(), &more, &PRIVATE].concat());
    refused.says(2, &["there is no account nobody"]);
}

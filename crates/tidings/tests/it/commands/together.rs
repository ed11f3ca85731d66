//! The daemon and commands on one data folder at once. The daemon carries out the requests of a
//! second process, and a follower sees entries as they are recorded.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::documents::{opml, rss, rss_of};
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::Response;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

#[test]
fn commands_of_a_second_process_are_carried_out_by_the_daemon() {
    let publisher = Publisher::start(2);
    publisher.set("/a", rss("a", 3));
    publisher.set("/b", rss("b", 4));
    let instance = Instance::new();
    let daemon = instance.daemon(&FREELY).ready();

    let a = publisher.url("/a");
    instance.run(&["feed", "add", &a, "--tag", "news", "--json"]).ok();
    eventually("the new feed was polled", || (instance.entries().len() == 3).then_some(()));
    assert_eq!(instance.feed()["tags"][0], "news");

    publisher.set("/a", rss("a", 5));
    let polled = instance.run(&["feed", "poll", &a, "--json"]).ok().json();
    assert_eq!((&polled["outcome"], polled["new"].as_u64()), (&"seen".into(), Some(2)), "{polled}");
    assert_eq!(instance.entries().len(), 5, "what the command answered is recorded");

    instance.run(&["feed", "set", &a, "--pause"]).ok();
    assert_eq!(instance.feed()["state"], "paused");
    instance.run(&["feed", "set", &a, "--resume"]).ok();
    assert_eq!(instance.feed()["state"], "active");
    instance.run(&["feed", "set", "--tag", "news", "--policy", "fix:3h"]).ok();
    let why = instance.run(&["feed", "why", &a]).ok();
    assert!(why.stdout.contains("3h") || why.stdout.contains("3 h"), "{}", why.stdout);

    let own = || {
        let shown = instance.run(&["feed", "show", &a, "--json"]).ok().json();
        [shown["policy"].clone(), shown["alpha_seconds"].clone(), shown["beta_seconds"].clone()]
    };
    instance.run(&["feed", "set", &a, "--policy", "fix:2h", "--alpha", "10m"]).ok();
    assert_eq!(own(), [json!("fix:2h"), json!(600), json!(null)]);
    instance.run(&["feed", "set", &a, "--policy", "default", "--beta", "1d"]).ok();
    assert_eq!(own(), [json!(null), json!(600), json!(86_400)], "taken back, left alone, set");

    let b = publisher.server.url(publisher.addresses[1], "/b");
    instance.import(&opml([&b])).ok();
    eventually("the imported feed was polled", || (instance.entries().len() == 9).then_some(()));

    instance.run(&["feed", "remove", &b]).ok();
    assert_eq!(instance.feeds().len(), 1);
    drop(daemon);
    assert_eq!(instance.feeds().len(), 1, "it holds without the daemon too");
}

#[test]
fn who_gives_a_flag_that_the_daemon_does_not_hear_is_told_so() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("a", 1));
    let instance = Instance::new();
    instance.run(&["feed", "add", &publisher.url("/a"), "--no-poll"]).ok();
    let _daemon = instance.daemon(&[]).ready();
    let polled = instance.run(&["feed", "poll", "1", "--allow-private", "--json"]);
    polled.says(1, &["daemon", "its own settings", "--allow-private"]);
    assert_eq!(polled.json()["outcome"], "refused");
    assert_eq!(instance.run(&["feed", "poll", "1", "--json"]).stderr, "");
}

#[test]
fn a_second_daemon_is_turned_away_and_told_who_holds_the_folder() {
    let instance = Instance::in_folder();
    let mut daemon = instance.daemon(&[]).ready();
    let pid = daemon.pid().to_string();
    instance.run(&["run", "--listen", "127.0.0.1:0"]).says(1, &[&pid]);
    instance.run(&["run", "--once"]).says(1, &[&pid]);
    assert!(!daemon.has_ended());
    assert_eq!(daemon.signal("TERM").code(), Some(0));
    instance.run(&["run", "--once"]).ok();
}

#[test]
fn the_lock_of_a_killed_daemon_holds_nobody_up() {
    let instance = Instance::new();
    let mut daemon = instance.daemon(&[]).ready();
    daemon.kill();
    instance.run(&["run", "--once"]).ok();
}

#[test]
fn an_address_that_is_taken_is_named() {
    let instance = Instance::new();
    let holder = std::net::TcpListener::bind((crate::program::silent_address(), 0)).unwrap();
    let taken = holder.local_addr().unwrap().to_string();
    instance.run(&["run", "--listen", &taken]).says(1, &[&taken]);
}

#[test]
fn who_follows_sees_each_entry_as_it_is_recorded() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss_of("f", 0..2));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    assert_eq!(instance.poll(&url)["new"], 2);
    let daemon = instance.daemon(&FREELY).ready();

    let mut follower =
        instance.command(&["entries", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let (send, receive) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|l| send.send(l)));
    let next =
        || receive.recv_timeout(std::time::Duration::from_secs(60)).map_err(|e| e.to_string());
    let first = [next(), next()];
    publisher.set("/f", rss_of("f", 0..3));
    let polled = instance.run(&["feed", "poll", &url, "--json"]).ok();
    let third = next();
    follower.kill().unwrap();
    follower.wait().unwrap();
    drop(daemon);
    assert!(first.iter().all(Result::is_ok), "{first:?}");
    let third = third.unwrap_or_else(|e| panic!("no new line: {e}; {polled:?}"));
    let third: serde_json::Value = serde_json::from_str(&third).unwrap();
    assert_eq!(third["title"], "Item 2 of f");
    assert_eq!(third["feed"], url.as_str());
}

#[test]
fn a_cursor_continues_where_it_was_taken() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 6));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    instance.poll(&url);
    let all = instance.entries();
    let cursor = all[3]["cursor"].as_str().expect("a cursor is a string").to_owned();
    let rest = instance.run(&["entries", "--after", &cursor]).ok().lines();
    assert_eq!(rest, all[4..]);
    let last = all[5]["cursor"].as_str().unwrap();
    assert!(instance.run(&["entries", "--after", last]).ok().stdout.is_empty());
    instance.run(&["entries", "--after", "nonsense"]).says(2, &["cursor"]);
    let of_feed = instance.run(&["entries", "--feed", &url]).ok().lines();
    assert_eq!(of_feed.len(), 6);
}

#[test]
fn a_poll_that_the_daemon_refuses_is_answered_too() {
    let publisher = Publisher::start(1);
    publisher.set_answer("/f", Response::new(403));
    let instance = Instance::new();
    let daemon = instance.daemon(&FREELY).ready();
    let url = publisher.url("/f");
    instance.run(&["feed", "add", &url, "--force", "--json"]);
    let ended = instance.run(&["feed", "poll", &url, "--json"]);
    assert_eq!((ended.code, &ended.json()["outcome"]), (Some(1), &"refused".into()), "{ended:?}");
    instance.run(&["feed", "poll", "4711"]).says(2, &["4711"]);
    drop(daemon);
}

#[test]
fn a_command_of_an_older_program_is_refused_and_changes_nothing() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    instance.run(&["feed", "set", "1", "--policy", "fix:3h"]).ok();
    let daemon = instance.daemon(&FREELY).ready();
    // The format of an older version, in which null left a setting unchanged.
    let body = json!({"kind": "set", "target": {"feed": "1"}, "change": {
        "policy": null, "alpha": 600, "beta": null, "max_delay": null, "weight": null,
        "paused": null}});
    let place = store::testing::location(&instance.data);
    let store = store::Store::open(&place, store::OpenMode::Shared).unwrap();
    let id = store.leave_request("command", &body.to_string(), feed::Time::from_secs(0)).unwrap();
    let answer = eventually("it is answered", || store.request_answer(id).unwrap());
    assert!(!answer.ok && answer.body.contains("another version"), "{}", answer.body);
    let shown = instance.run(&["feed", "show", "1", "--json"]).ok().json();
    assert_eq!((&shown["policy"], &shown["alpha_seconds"]), (&json!("fix:3h"), &json!(null)));
    drop(daemon);
}

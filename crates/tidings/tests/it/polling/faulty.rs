//! Servers with every kind of fault. Each feed fails with a message that a person understands,
//! healthy feeds continue, and the program neither crashes nor grows.

use serde_json::Value;

use crate::documents::opml;
use crate::faults::{self, Expect, FAULTS};
use crate::program::{Instance, eventually};
use crate::turns::turn;
use crate::wire::addresses;

const HEALTHY: usize = 20;
/// 21 bodies of at most 4 MB, the program itself, and a reserve. Without limits it would be
/// gigabytes.
const MEMORY_MAX: u64 = 200 << 20;

/// Parts of error messages that are meant for programmers.
const NOT_PLAIN: [&str; 8] = ["::", "Kind", "Error(", "{ ", "Some(", "None", "unwrap", "hyper"];

#[track_caller]
fn judge(path: &str, expect: Expect, feed: &Value) {
    let (entries, error) = (feed["entries"].as_u64().unwrap(), feed["error"].as_str());
    let salvaged = entries == 3;
    let refused = entries == 0 && error.is_some();
    match expect {
        Expect::Error => assert!(refused, "{path}: {feed}"),
        Expect::Salvaged => assert!(salvaged, "{path}: {feed}"),
        Expect::ErrorOrSalvaged => assert!(refused || salvaged, "{path}: {feed}"),
    }
    for mark in NOT_PLAIN {
        let plain = !error.is_some_and(|e| e.contains(mark));
        assert!(plain, "{path}: `{mark}` is not a plain word: {feed}");
    }
    if refused {
        assert_eq!(feed["state"], "backing-off", "{path}: {feed}");
    }
}

#[test]
fn every_fault_is_told_in_plain_words_and_hurts_nobody_else() {
    let _turn = turn();
    let addresses = addresses((FAULTS.len() + HEALTHY) as u32);
    let server = faults::start(&addresses);
    let faulty = FAULTS.iter().map(|(path, _)| *path);
    let paths: Vec<&str> = faulty.chain(std::iter::repeat_n("/healthy", HEALTHY)).collect();
    let urls: Vec<String> =
        paths.iter().zip(&addresses).map(|(path, a)| server.url(*a, path)).collect();
    let instance = Instance::new();
    instance.import(&opml(&urls)).ok();
    let mut daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    let feeds = eventually("every feed was polled", || {
        let feeds = instance.feeds();
        feeds.iter().all(|f| !f["last_poll"].is_null()).then_some(feeds)
    });
    assert!(daemon.memory_peak() < MEMORY_MAX, "peak of {} bytes", daemon.memory_peak());
    assert!(!daemon.has_ended(), "{}", daemon.log());
    assert_eq!(daemon.signal("TERM").code(), Some(0), "{}", daemon.log());

    let find = |url: &str| feeds.iter().find(|f| f["url"] == url).expect("a feed per URL");
    for ((path, expect), url) in FAULTS.iter().zip(&urls) {
        judge(path, *expect, find(url));
    }
    for url in &urls[FAULTS.len()..] {
        let feed = find(url);
        assert_eq!((feed["entries"].as_u64(), &feed["error"]), (Some(3), &Value::Null), "{feed}");
    }
}

#[test]
fn what_a_fault_left_behind_does_not_hide_the_next_document() {
    let publisher = crate::publisher::Publisher::start(1);
    let addresses = addresses(1);
    let server = faults::start(&addresses);
    let instance = Instance::new();
    // The ETag came with a body that was cut, so it must not be stored.
    let url = server.url(addresses[0], "/cut-in-body");
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    assert_eq!(instance.poll(&url)["outcome"], "failed");
    publisher.set("/f", crate::documents::rss("f", 2));
    publisher.set_answer("/f", crate::wire::Response::new(500).with("ETag", "\"error-page\""));
    let url = publisher.url("/f");
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    assert_eq!(instance.poll(&url)["outcome"], "failed");
    publisher.set("/f", crate::documents::rss("f", 2));
    publisher.take_asked();
    assert_eq!(instance.poll(&url)["new"], 2);
    assert!(publisher.take_asked().iter().all(|a| !a.conditional), "the error's ETag was kept");
}

/// A cut or garbled document is not an empty feed. It is reported, the feed backs off, and neither
/// validators nor the window change.
#[test]
fn a_broken_document_is_called_damaged_and_hides_nothing() {
    let publisher = crate::publisher::Publisher::start(1);
    publisher.set("/f", crate::documents::rss("f", 3));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    assert_eq!(instance.poll(&url)["new"], 3);
    publisher.set("/f", "<rss version=\"2.0\"><chann\u{1}el <<<<");
    let ended = instance.run(&["feed", "poll", &url, "--json", "--allow-private"]);
    assert_eq!((ended.code, &ended.json()["outcome"]), (Some(1), &"damaged".into()), "{ended:?}");
    let feed = instance.feed();
    assert_eq!(feed["state"], "damaged", "{feed}");
    let why = instance.run(&["feed", "why", &url, "--json"]).ok().json();
    assert_eq!(why["polls"][0]["outcome"], "damaged", "{why}");
    assert!(!why["polls"][0]["warnings"].as_array().unwrap().is_empty(), "{why}");
    let doctor = instance.run(&["doctor", "--json"]);
    assert!(doctor.stdout.contains("broken documents without entries"), "{doctor:?}");
    // The same bytes again are not "unchanged", and the repaired document brings no entry twice.
    let again = instance.run(&["feed", "poll", &url, "--json", "--allow-private"]);
    assert_eq!(again.json()["outcome"], "damaged", "{again:?}");
    publisher.set("/f", crate::documents::rss("f", 4));
    let healed = instance.poll(&url);
    assert_eq!((&healed["outcome"], &healed["new"]), (&"seen".into(), &1.into()), "{healed}");
    assert_eq!(instance.feed()["state"], "active");
}

/// Text of a publisher could clear the screen or reverse a line.
#[test]
fn no_json_holds_raw_control_characters() {
    let instance = Instance::new();
    let document = r#"{"version":"https://jsonfeed.org/version/1","title":"a\u009b2J","items":
        [{"id":"1","title":"b\u007f\u202ec\u2028\u001b[2J","content_text":"\u0085"}]}"#;
    let file = instance.write("feed.json", document);
    let ended = instance.run(&["parse", crate::program::path_text(&file), "--json"]).ok();
    let raw = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c);
    assert!(!ended.stdout.contains(raw), "{:?}", ended.stdout);
    for shown in ["\\u009b2J", "\\u007f\\u202ec\\u2028"] {
        assert!(ended.stdout.contains(shown), "{shown}: {}", ended.stdout);
    }
    assert_eq!(ended.json()["items"][0]["title"], "b\u{7f}\u{202e}c\u{2028}\u{1b}[2J");
}

//! `feed add` keeps an address only if it yields a feed, and sends one request to find out.

use crate::documents::rss;
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::Response;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

fn add<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["feed", "add", url], &FREELY[..], more].concat()
}

fn dead_addresses(publisher: &Publisher) -> Vec<(String, &'static str)> {
    publisher.set_answer("/gone", Response::new(410));
    publisher.set_answer("/page", Response::new(200).body("<html><p>no feed here</p></html>"));
    vec![
        (publisher.url("/missing"), "404"),
        (publisher.url("/gone"), "410"),
        (publisher.url("/page"), "not a feed"),
        ("http://no-such-host.invalid/f".to_owned(), "no-such-host.invalid"),
    ]
}

#[test]
fn an_address_that_yields_no_feed_is_not_added_unless_forced() {
    let publisher = Publisher::start(1);
    let instance = Instance::new();
    for (url, _) in dead_addresses(&publisher) {
        publisher.take_asked();
        let ended = instance.run(&add(&url, &[]));
        ended.says(1, &["could not add", &url, "--force"]);
        assert!(publisher.take_asked().len() <= 1, "{url} was asked more than once");
        let json = instance.run(&add(&url, &["--json"]));
        assert_eq!((json.code, &json.json()[0]["id"]), (Some(1), &serde_json::Value::Null));
        assert!(instance.feeds().is_empty(), "{url} was kept");
    }
    let (dead, _) = dead_addresses(&publisher).remove(0);
    instance.run(&add(&dead, &["--force"])).ok();
    assert_eq!(instance.feeds().len(), 1);
    instance.run(&add(&dead, &[])).ok();
}

#[test]
fn a_feed_is_added_with_its_first_poll_and_no_second_request() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let instance = Instance::new();
    let daemon = instance.daemon(&FREELY).ready();
    let (live, dead) = (publisher.url("/f"), publisher.url("/missing"));
    // A working address is kept although another one fails.
    instance.run(&["feed", "add", &live, &dead]).says(1, &["could not add", &dead]);
    let feeds = instance.feeds();
    assert_eq!((feeds.len(), &feeds[0]["url"]), (1, &live.into()));
    assert_eq!(instance.entries().len(), 3);
    eventually("the poll is in the log of the feed", || {
        let why = instance.run(&["feed", "why", "1", "--json"]).ok().json();
        (why["polls"].as_array()?.len() == 1).then_some(())
    });
    let asked: Vec<String> = publisher.take_asked().into_iter().map(|a| a.path).collect();
    assert_eq!(asked.iter().filter(|path| *path == "/f").count(), 1, "{asked:?}");
    assert_eq!(asked.iter().filter(|path| *path == "/missing").count(), 1, "{asked:?}");
    drop(daemon);
}

#[test]
fn doctor_judges_the_settings_of_the_daemon_that_runs() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let address = publisher.addresses[0];
    let instance = Instance::with_config(&format!(
        "contact = \"https://example.org/me\"\nallow_private = true\n\
         [resolve]\n\"news.example\" = \"{address}\"\n"
    ));
    let daemon = instance.daemon(&FREELY).ready();
    let url = publisher.url("/f").replace(&address.to_string(), "news.example");
    instance.run(&["feed", "add", &url]).ok();
    let data = crate::program::path_text(&instance.data);
    let without_config = instance.command_as_written(&["doctor", "--data", data]);
    let says = &without_config.stdout;
    assert!(says.contains(&format!("of the running daemon (process {})", daemon.pid())), "{says}");
    assert!(!says.contains("no contact is configured"), "{says}");
    assert!(says.contains("1 of 1 host names of feeds resolve"), "{says}");
    drop(daemon);
    let says = instance.command_as_written(&["doctor", "--data", data]).stdout;
    assert!(says.contains("no contact is configured"), "now it judges this call: {says}");
}

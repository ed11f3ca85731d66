//! Feeds that move and feeds that end. Redirects are remembered only when permanent and repeated.
//! A 410 stops polling with a reason. A Retry-After is obeyed.

use crate::documents::{http_date, rss};
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::{Response, wall_clock};

fn redirected(status: u16) -> (Publisher, Instance, String) {
    let publisher = Publisher::start(1);
    publisher.set("/new", rss("moved", 3));
    let to = publisher.url("/new");
    publisher.set_answer("/old", Response::new(status).with("Location", to));
    let instance = Instance::new();
    let url = publisher.url("/old");
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    (publisher, instance, url)
}

/// Polls, and returns the requested paths in order.
fn asked(publisher: &Publisher, instance: &Instance, url: &str) -> Vec<String> {
    let answer = instance.poll(url);
    assert!(matches!(answer["outcome"].as_str(), Some("seen" | "unchanged")), "{answer}");
    publisher.take_asked().into_iter().map(|a| a.path).collect()
}

#[test]
fn a_permanent_redirect_is_remembered_only_after_it_repeats() {
    for status in [301, 308] {
        let (publisher, instance, url) = redirected(status);
        assert_eq!(asked(&publisher, &instance, &url), ["/old", "/new"], "{status}");
        assert_eq!(
            asked(&publisher, &instance, &url),
            ["/old", "/new"],
            "{status}: once is chance"
        );
        let direct = (0..6).any(|_| asked(&publisher, &instance, &url) == ["/new"]);
        assert!(direct, "{status}: never remembered");
        assert_eq!(instance.feed()["url"], url.as_str(), "the URL stays as subscribed");
        assert_eq!(instance.entries().len(), 3, "no entry twice");
    }
}

#[test]
fn a_temporary_redirect_is_never_remembered() {
    for status in [302, 303, 307] {
        let (publisher, instance, url) = redirected(status);
        for _ in 0..6 {
            assert_eq!(asked(&publisher, &instance, &url), ["/old", "/new"], "{status}");
        }
    }
}

#[test]
fn a_feed_that_is_gone_is_not_polled_again_and_says_why() {
    let publisher = Publisher::start(1);
    publisher.set_answer("/f", Response::new(410));
    let url = publisher.url("/f");
    let instance = Instance::with_config("[defaults]\npolicy = \"fix:1s\"\nalpha = \"1s\"\n");
    publisher.set("/alive", rss("alive", 1));
    instance.run(&["feed", "add", &url, &publisher.url("/alive"), "--no-poll"]).ok();
    let ended = instance.run(&["feed", "poll", &url, "--json", "--allow-private"]);
    assert_eq!((ended.code, &ended.json()["outcome"]), (Some(1), &"gone".into()), "{ended:?}");
    assert_eq!(instance.feed()["state"], "gone");
    assert!(instance.feed()["next_poll"].is_null(), "{}", instance.feed());
    publisher.take_asked();
    // Both have the same policy. When the other was polled twice, this one would have been due.
    let mut n_alive = 0;
    eventually("the other feed is polled twice", || {
        instance.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]).ok();
        let asked = publisher.take_asked();
        assert!(
            asked.iter().all(|one| one.path == "/alive"),
            "a gone feed was asked for: {asked:?}"
        );
        n_alive += asked.len();
        (n_alive >= 2).then_some(())
    });
    let why = instance.run(&["feed", "why", &url]).ok();
    assert!(why.stdout.contains("410"), "{}", why.stdout);
}

#[test]
fn retry_after_binds_the_whole_domain_and_every_command() {
    let in_an_hour = || {
        let since_epoch = wall_clock().duration_since(std::time::UNIX_EPOCH).unwrap();
        http_date(since_epoch.as_secs() + 3600)
    };
    for (status, value) in [(429, "3600".to_owned()), (503, in_an_hour())] {
        let publisher = Publisher::start(1);
        publisher.set("/other", rss("other", 2));
        publisher.set_answer("/busy", Response::new(status).with("Retry-After", value));
        let instance = Instance::new();
        let (busy, other) = (publisher.url("/busy"), publisher.url("/other"));
        instance.run(&["feed", "add", &busy, &other, "--no-poll"]).ok();
        let first = instance.poll(&busy);
        let expect = if status == 429 { "refused" } else { "failed" };
        assert_eq!(first["outcome"], expect, "{first}");
        publisher.take_asked();
        for feed in [&busy, &other] {
            let held = instance.poll(feed);
            assert_eq!(held["outcome"], "refused", "{held}");
            let detail = held["detail"].as_str().unwrap().to_lowercase();
            assert!(detail.contains("wait") || detail.contains("retry-after"), "{held}");
        }
        let ended = instance.run(&["run", "--once", "--allow-private"]).ok();
        assert!(publisher.take_asked().is_empty(), "asked during Retry-After");
        assert!(ended.stderr.contains("/other"), "what is left is named: {}", ended.stderr);
    }
}

#[test]
fn errors_of_the_server_back_off_and_never_give_up() {
    for (status, outcome) in [
        (401, "refused"),
        (403, "refused"),
        (451, "refused"),
        (404, "failed"),
        (500, "failed"),
        (502, "failed"),
    ] {
        let publisher = Publisher::start(1);
        publisher.set_answer("/f", Response::new(status));
        let url = publisher.url("/f");
        let instance = Instance::new();
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
        let answer = instance.poll(&url);
        assert_eq!(answer["outcome"], outcome, "{status}: {answer}");
        let detail = answer["detail"].as_str().unwrap();
        assert!(detail.contains(&status.to_string()), "{answer}");
        let feed = instance.feed();
        assert_eq!(feed["state"], "backing-off", "{status}: {feed}");
        assert!(!feed["next_poll"].is_null(), "{status}: {feed}");
    }
}

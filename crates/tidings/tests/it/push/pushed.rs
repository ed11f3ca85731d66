//! A feed with a hub: pushes replace polls, polls check pushes, and either side may leave.

use serde_json::Value;

use super::websub::n_subscribers;
use crate::documents::rss_of;
use crate::hub::{FREELY, Hub, Reachable, Wish};
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{self, Response};

/// A confirmed subscription to a feed with two items.
fn subscribed() -> (Hub, Reachable, Wish) {
    let hub = Hub::start();
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    let program = Reachable::start("[defaults]\npolicy = \"fix:1h\"\n");
    program.add(&hub.url("/feed"));
    let wish = hub.wish(0);
    assert_eq!(wish.lease, "864000", "ten days");
    wish.confirm();
    (hub, program, wish)
}

fn next_poll(program: &Reachable) -> String {
    program.instance.feed()["next_poll"].as_str().unwrap().to_owned()
}

fn show(program: &Reachable) -> Value {
    program.instance.run(&["feed", "show", "1", "--json"]).ok().json()
}

#[track_caller]
fn await_pushes(program: &Reachable, n: u64) {
    eventually("the pushes are recorded", || (show(program)["pushes"] == n).then_some(()));
}

#[test]
fn pushes_slow_polls_down_until_a_poll_finds_what_none_of_them_brought() {
    let (hub, program, wish) = subscribed();
    let polled = show(&program);
    assert!(program.why().contains("promised to push it"), "{}", program.why());
    let by_policy = next_poll(&program);

    wish.push(&hub.rss("/hub", "/feed", 2..3));
    await_pushes(&program, 1);
    let why = program.why();
    assert!(why.contains(&format!("{} pushes it", hub.url("/hub"))), "{why}");
    assert!(why.contains("only checks that"), "{why}");
    let net = next_poll(&program);
    assert!(net > by_policy, "{net} is after {by_policy}");
    let pushed = show(&program);
    assert_eq!(pushed["polls"], polled["polls"], "a push is not a poll");
    assert_eq!(pushed["last_success"], polled["last_success"]);
    let page = wire::get(program.listen, "/feed/1").unwrap().1;
    assert!(page.contains("on until") && page.contains("last push"), "{page}");

    // A poll finds the same items: the pushes were complete, so the slow rhythm stays.
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..3)));
    let poll = program.instance.poll("1");
    assert_eq!((&poll["new"], &poll["suspected_miss"]), (&Value::from(0), &Value::from(false)));
    assert!(program.why().contains("only checks that"), "{}", program.why());

    // An item that no push brought: the feed returns to its policy at once.
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..4)));
    assert_eq!(program.instance.poll("1")["new"], 1);
    let why = program.why();
    assert!(why.contains("Polls continue until it has"), "{why}");
    assert!(next_poll(&program) < net);

    // The hub has missed one item, so trust needs two pushes instead of one.
    wish.push(&hub.rss("/hub", "/feed", 4..5));
    await_pushes(&program, 2);
    assert!(program.why().contains("Polls continue"), "{}", program.why());
    wish.push(&hub.rss("/hub", "/feed", 5..6));
    await_pushes(&program, 3);
    assert!(program.why().contains("only checks that"), "{}", program.why());
    assert_eq!(program.titles().len(), 6);
    // Two came with the first poll, one with the last, and three were pushed.
    eventually("they are counted", || {
        let (_, metrics) = wire::get(program.listen, "/metrics").ok()?;
        metrics.contains("\ntidings_entries_total 6\n").then_some(())
    });
}

#[test]
fn a_hub_that_denies_ends_the_slow_rhythm_and_is_shown() {
    let (hub, program, wish) = subscribed();
    wish.push(&hub.rss("/hub", "/feed", 2..3));
    await_pushes(&program, 1);
    let net = next_poll(&program);
    assert_eq!(wish.verify("denied", &hub.url("/other"), "").0, 404);
    assert_eq!(wish.verify("denied", &wish.topic, "").0, 200);
    eventually("polls are made by policy", || (next_poll(&program) < net).then_some(()));
    let why = program.why();
    assert!(why.contains("does not push it") && why.contains("none of your business"), "{why}");
    assert_eq!(hub.wishes().len(), 1, "who said no is not asked again at once");
}

#[test]
fn a_feed_that_pauses_or_goes_is_unsubscribed() {
    let (hub, program, wish) = subscribed();
    program.instance.run(&["feed", "set", "1", "--pause"]).ok();
    let left = hub.wish(1);
    assert_eq!((left.mode.as_str(), &left.topic), ("unsubscribe", &wish.topic));
    assert_eq!(left.callback, wish.callback);
    assert_eq!(left.verify("subscribe", &left.topic, "100").0, 404, "we are leaving");
    left.confirm();
    assert_eq!(left.push_signed("<rss/>", None), 410);

    program.instance.run(&["feed", "set", "1", "--resume"]).ok();
    let again = hub.wish(2);
    assert_eq!(again.mode, "subscribe");
    assert_ne!(again.callback, wish.callback, "each subscription has a callback of its own");
    again.confirm();
    program.instance.run(&["feed", "remove", "1"]).ok();
    let left = hub.wish(3);
    assert_eq!((left.mode.as_str(), left.callback == again.callback), ("unsubscribe", true));
    left.confirm();
}

#[test]
fn a_subscription_and_what_was_pushed_outlive_a_kill() {
    let (hub, mut program, wish) = subscribed();
    for n in 2..8 {
        wish.push(&hub.rss("/hub", "/feed", n..n + 1));
    }
    // A push that was answered with 2xx is stored, whether it is recorded or not.
    program.daemon.kill();
    program.daemon = program.instance.daemon_at(program.listen, &FREELY).ready();
    eventually("all that was pushed is there", || (program.titles().len() == 8).then_some(()));
    assert!(program.why().contains("/hub pushes it"), "{}", program.why());
    wish.push(&hub.rss("/hub", "/feed", 8..9));
    eventually("the callback holds", || (program.titles().len() == 9).then_some(()));
    assert_eq!(hub.wishes().len(), 1, "the lease runs on; nobody is asked again");
}

#[test]
fn a_lease_is_renewed_before_it_ends() {
    let hub = Hub::start();
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    let program = Reachable::start("");
    program.add(&hub.url("/feed"));
    let wish = hub.wish(0);
    // The shortest accepted lease is a minute; nine tenths of it are enough.
    assert_eq!(wish.verify("subscribe", &wish.topic, "1").0, 200);
    let again = hub.wish(1);
    assert_eq!(again, wish, "the same request, to the same hub");
    again.confirm();
}

#[test]
fn without_a_public_address_no_hub_is_asked_and_doctor_says_so() {
    let hub = Hub::start();
    hub.set("/feed", Response::rss(hub.rss("/hub", "/feed", 0..2)));
    let instance = Instance::new();
    instance.poll_added(&hub.url("/feed"));
    let doctor = instance.run(&["doctor"]).ok().stdout;
    assert!(doctor.contains("1 feed names a hub") && doctor.contains("public_url"), "{doctor}");
    let why = instance.run(&["feed", "why", "1"]).ok().stdout;
    assert!(why.contains("set public_url"), "{why}");
    assert!(hub.wishes().is_empty());
}

#[test]
fn our_hub_and_our_subscriber_understand_each_other() {
    let publisher = Publisher::start(1);
    publisher.set("/news", rss_of("news", 0..2));
    let (ours, theirs) = (Reachable::start(""), Reachable::start(""));
    let url = publisher.url("/news");
    let text = format!("CREATE FEED News AS RETURN \"{url}\" PUBLISH");
    let file = ours.instance.write("w.query", text);
    ours.instance.run(&["query", "apply", path_text(&file)]).ok();
    eventually("the feed is polled", || (ours.titles().len() == 2).then_some(()));

    theirs.add(&format!("http://{}/feeds/News.atom", ours.listen));
    assert_eq!(theirs.titles().len(), 2);
    eventually("the hub has confirmed", || {
        theirs.why().contains("promised to push it").then_some(())
    });
    // The hub keeps the subscription after the subscriber has confirmed it.
    eventually("the hub keeps it", || (n_subscribers(ours.listen) == 1).then_some(()));
    for n in 3..6 {
        publisher.set("/news", rss_of("news", 0..n));
        ours.instance.poll("1");
        eventually("it is pushed on", || (theirs.titles().len() == n).then_some(()));
    }
    let (here, there) = (ours.titles(), theirs.titles());
    assert_eq!(here, there, "every entry, once, in order");
    let why = theirs.why();
    assert!(why.contains("pushes it") && why.contains("only checks that"), "{why}");
    let polls = theirs.instance.run(&["feed", "show", "1", "--json"]).ok().json();
    assert_eq!(polls["polls"], 1, "all but the first two came by themselves");

    theirs.instance.run(&["feed", "remove", "1"]).ok();
    // After unsubscribing, the hub forgets the subscription.
    publisher.set("/news", rss_of("news", 0..7));
    ours.instance.poll("1");
}

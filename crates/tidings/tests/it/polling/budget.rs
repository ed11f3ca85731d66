//! A budget for the whole instance: set, spent, changed and removed while the daemon runs.

use std::time::Instant;

use crate::documents::{opml, rss};
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::now;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];
const FEEDS: usize = 30;

fn publisher() -> (Publisher, String) {
    let publisher = Publisher::start(1);
    let paths: Vec<String> = (0..FEEDS).map(|i| format!("/{i}")).collect();
    for path in &paths {
        publisher.set(path, rss(path, 3));
    }
    let urls: Vec<String> = paths.iter().map(|path| publisher.url(path)).collect();
    (publisher, opml(&urls))
}

fn polled(instance: &Instance) -> usize {
    instance.feeds().iter().filter(|feed| !feed["last_poll"].is_null()).count()
}

/// Waits until the daemon has polled `n` feeds, then polls one of them once more. All feeds are on
/// one address, which gets one request at a time. So everything granted before that poll is done
/// when it ends. A cycle takes a minute of the clock, so the other feeds wait for the next one.
fn settle(instance: &Instance, daemon: &Daemon, n: usize, begun: Instant) {
    eventually("the polls of one cycle", || (polled(instance) >= n).then_some(()));
    poll_again(instance);
    let (n_polled, n_cycles) = (polled(instance), cycles_since(begun));
    assert!((n..=n * n_cycles).contains(&n_polled), "{n_polled}: {}", daemon.log());
}

/// Returns how many cycles may have begun since a moment: one, but on a busy machine the steps of
/// the test may take minutes.
fn cycles_since(begun: Instant) -> usize {
    1 + begun.elapsed().as_secs() as usize / 60
}

/// Polls a feed that was polled before, and waits for it.
fn poll_again(instance: &Instance) {
    let known = instance.feeds().into_iter().find(|feed| !feed["last_poll"].is_null()).unwrap();
    instance.run(&["feed", "poll", &known["id"].to_string(), "--json"]).ok();
}

#[test]
fn a_budget_binds_all_feeds_at_once_survives_a_restart_and_is_taken_back() {
    let (publisher, list) = publisher();
    let instance = Instance::new();
    instance.import(&list).ok();
    // `two-steps` spends the same every minute; `tide` may spend three minutes' polls in one.
    let set = instance.run(&["budget", "600/1h", "--strategy", "two-steps", "--json"]).ok().json();
    assert_eq!((&set["budget"], &set["feeds"]), (&"600/1h".into(), &FEEDS.into()), "{set}");
    assert_eq!(publisher.n_asked(), 0, "a budget without a daemon polls nothing");

    let begun = now();
    let mut daemon = instance.daemon(&FREELY).ready();
    settle(&instance, &daemon, 10, begun);
    let waiting = instance.feeds().into_iter().find(|f| f["last_poll"].is_null()).unwrap();
    let waiting = waiting["id"].to_string();
    let why = instance.run(&["feed", "why", "1"]).ok().stdout;
    assert!(
        why.contains("It was never polled, so it comes before"),
        "why the poll was made: {why}"
    );

    daemon.kill();
    let daemon = instance.daemon(&FREELY).ready();
    poll_again(&instance);
    let n_polled = polled(&instance);
    let allowed = 1 + 10 * cycles_since(begun);
    assert!(n_polled <= allowed, "a restart gives no new allowance: {n_polled}");

    // A feed with its own policy is not under the budget. It is due, so it is polled.
    instance.run(&["feed", "set", &waiting, "--policy", "fix:1h"]).ok();
    eventually("the feed with a policy of its own", || {
        let feed = instance.run(&["feed", "show", &waiting, "--json"]).ok().json();
        (!feed["last_poll"].is_null()).then_some(())
    });

    let shown = instance.run(&["budget", "--strategy", "min-delay"]).ok().stdout;
    assert!(shown.contains("min-delay") && shown.contains("29 feeds"), "{shown}");
    instance.run(&["budget", "off"]).ok();
    eventually("without a budget all are polled", || (polled(&instance) == FEEDS).then_some(()));
    // We asked for two feeds again. The kill may have hit one more poll, which was then repeated.
    let n_asked = publisher.n_asked();
    assert!((FEEDS + 2..=FEEDS + 3).contains(&n_asked), "{n_asked} requests");
    drop(daemon);
}

#[test]
fn tide_brings_its_own_model_and_says_what_a_poll_is_worth() {
    let (_publisher, list) = publisher();
    let instance = Instance::new();
    instance.import(&list).ok();
    let set = instance.run(&["budget", "6000/1h", "--strategy", "tide", "--json"]).ok().json();
    assert_eq!((&set["strategy"], &set["estimator"]), (&"tide".into(), &"tide".into()), "{set}");
    let begun = now();
    let daemon = instance.daemon(&FREELY).ready();
    settle(&instance, &daemon, FEEDS, begun);

    // After a change all feeds are planned again, and the store records it.
    let changed = instance.run(&["budget", "60/1h"]).ok().stdout;
    assert!(changed.contains("60/1h. Strategy: tide."), "{changed}");
    eventually("the price in words", || {
        let why = instance.run(&["feed", "why", "1"]).ok().stdout;
        let told = why.contains("budget of 60/1h tide tide") && why.contains("One poll is worth");
        told.then_some(())
    });
    let back = instance.run(&["budget", "--strategy", "two-steps"]).ok().stdout;
    assert!(back.contains("two-steps") && back.contains("periodic"), "{back}");
    drop(daemon);
}

#[test]
fn a_budget_that_means_nothing_is_refused_with_what_would() {
    let instance = Instance::new();
    instance.run(&["budget"]).ok();
    instance.run(&["budget", "fast"]).says(2, &["fast", "1000/1h", "off"]);
    instance.run(&["budget", "10/1h", "--strategy", "twosteps"]).says(2, &["two-steps"]);
    instance.run(&["budget", "10/1h", "--estimator", "daily"]).says(2, &["periodic"]);
    instance.run(&["budget", "--strategy", "uniform"]).says(2, &["1000/1h"]);
    let with = |text: &str| Instance::with_config(text).run(&["budget"]);
    with("[budget]\npolls = \"fast\"\n").says(2, &["config.toml", "fast"]);
    with("[budget]\npolls = \"9/1h\"\nstrategy = \"x\"\n").says(2, &["config.toml", "two-steps"]);
    let shown = with("[budget]\npolls = \"9/1h\"\nstrategy = \"uniform\"\n").ok().stdout;
    assert!(shown.contains("9/1h") && shown.contains("uniform"), "{shown}");
    with("[budget]\npolls = \"9/1h\"\nlearn = \"70%\"\n").says(2, &["config.toml", "50%"]);
    let shown = with("[budget]\npolls = \"9/1h\"\nlearn = \"10%\"\n").ok().stdout;
    assert!(shown.contains("Learning polls: 10 %"), "{shown}");
}

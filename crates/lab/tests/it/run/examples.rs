//! The worked examples of the source, poll by poll.

use std::convert::Infallible;
use std::time::Duration;

use feed::Time;
use lab::{Phases, PolicyRun, PolledFeed, RunProgress, Setting, World, WorldFeed};
use serde_json::Value;

use crate::vectors::{int, read, time, times};

/// Runs one policy over one feed from `start` to `end`. Returns its polls.
fn simulate(
    entries: Vec<Time>,
    window: u32,
    policy: &str,
    start: Time,
    end: Time,
) -> (PolicyRun, Vec<Time>) {
    let feeds = vec![WorldFeed::new("feed", entries)];
    let world = World { feeds, window, domains: vec![vec![0]] };
    let (train, test) = (Duration::ZERO, end.since(start));
    let setting = Setting::new(Phases { start, train, test, warm_up: false });
    let mut polls = Vec::new();
    let mut tell = |_: &WorldFeed, told: &[Time]| -> Result<(), Infallible> {
        polls.extend_from_slice(told);
        Ok(())
    };
    let (spec, progress) = (policy.parse().unwrap(), RunProgress::default());
    let run = lab::run_and_tell(&world, &spec, &setting, &progress, Some(&mut tell)).unwrap();
    (run, polls)
}

fn example(vector: &Value, policy: &str) -> (PolicyRun, Vec<Time>) {
    let window = u32::try_from(int(&vector["window"])).unwrap();
    let (start, end) = (time(&vector["start"]), time(&vector["end"]));
    simulate(times(&vector["entries"]), window, policy, start, end)
}

#[test]
fn figure_4_4_mavsync_polls_to_the_second() {
    let vector = &read("reichert_worked_examples")["fig_4_4_quantum_1s"];
    let (run, polls) = example(vector, "mavsync");
    assert_eq!(polls, times(&vector["polls"]));
    let total = &run.total;
    assert_eq!(total.found, int(&vector["found"]) as u64);
    assert_eq!((total.missed, total.open), (0, 0));
    let delays: i64 = vector["delays"].as_array().unwrap().iter().map(int).sum();
    assert_eq!(total.delay_ms, delays as u64 * 1000);
}

#[test]
fn figure_4_8_entries_are_found_missed_open_and_ignored() {
    let vector = &read("reichert_worked_examples")["fig_4_8"];
    let (run, polls) = example(vector, "fix:3h");
    assert_eq!(polls, times(&vector["polls"]));
    let total = &run.total;
    let counts = [total.found, total.missed, total.open].map(|n| n as i64);
    assert_eq!(counts, ["found", "missed", "open"].map(|name| int(&vector[name])));
    let fraction = |name: &str| int(&vector[name][0]) as f64 / int(&vector[name][1]) as f64;
    assert_eq!(run.by_feed.delay, Some(fraction("delay")));
    assert_eq!(run.by_entry.polls_per_entry, Some(fraction("ape")));
    assert_eq!(run.by_entry.recall, Some(fraction("recall")));
}

/// A window that grows again shows older entries. An entry is new if it was never seen; a
/// comparison with the previous window alone would find one entry twice.
#[test]
fn figure_4_7_a_growing_window_brings_nothing_twice() {
    let vectors = read("reichert_worked_examples");
    let (seen, previous) = (&vectors["fig_4_7_new_vs_seen"], &vectors["fig_4_7_new_vs_previous"]);
    let windows = seen["window_sizes"].as_array().unwrap().iter();
    let windows = windows.map(|w| (time(&w[0]), u32::try_from(int(&w[1])).unwrap())).collect();
    let feed = WorldFeed::new("feed", times(&seen["entries"])).with_windows(windows);
    let world = World { feeds: vec![feed], window: 4, domains: vec![vec![0]] };
    let mut polled = PolledFeed::new(&world, &world.feeds[0]);
    let (mut found, mut unlike_before) = (Vec::new(), 0);
    let mut before: Vec<Time> = Vec::new();
    for at in times(&seen["polls"]) {
        polled.poll(at);
        found.extend(polled.found());
        let window = polled.observation().unwrap().window.to_vec();
        unlike_before += window.iter().filter(|time| !before.contains(time)).count() as i64;
        before = window;
    }
    assert_eq!(found.len() as i64, int(&seen["found"]));
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len() as i64, int(&seen["found"]), "none twice");
    assert_eq!(int(&seen["double_found"]), 0);
    assert_eq!(unlike_before, int(&previous["found"]) + int(&previous["double_found"]));
}

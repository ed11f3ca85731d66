//! The polls and entries of a run that count.

use std::time::Duration;

use feed::Time;
use lab::world::synth::{Population, PopulationSpec};
use lab::{Phases, PolicyRun, RunProgress, Setting, TraceRow, World, WorldBuilder, WorldFeed};
use polling::Policy;
use polling::hints::HintReading;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);
const START: Time = Time::from_secs(1_500_000_000);

fn at(hours: f64) -> Time {
    START + HOUR.mul_f64(hours)
}

/// A world of one feed with entries at these hours after the start.
fn world(hours: &[f64]) -> World {
    let feeds = vec![WorldFeed::new("feed", hours.iter().map(|h| at(*h)).collect())];
    World { feeds, window: 3, domains: vec![vec![0]] }
}

fn run_over(
    world: &World,
    policy: &str,
    train: Duration,
    test: Duration,
    warm_up: bool,
) -> PolicyRun {
    let phases = Phases::over(world, Some(START), train, test, warm_up).unwrap();
    lab::run(world, &policy.parse().unwrap(), &Setting::new(phases), &RunProgress::default())
}

fn counts(run: &PolicyRun) -> [u64; 4] {
    [run.total.polls, run.total.found, run.total.missed, run.total.open]
}

#[test]
fn the_first_poll_counts_for_nothing_and_the_last_may_fall_on_the_end() {
    // The entry of hour 2 is at the start of the test, that of hour 4 at its end.
    let run = run_over(&world(&[1.0, 2.0, 3.0, 4.0, 4.5]), "fix:1h", 2 * HOUR, 2 * HOUR, false);
    assert_eq!(counts(&run), [2, 2, 0, 0]);
    assert_eq!(run.by_entry.delay, Some(0.0));
}

#[test]
fn entries_after_the_last_poll_are_open_and_those_passed_over_missed() {
    let hours = [1.0, 2.5, 3.0, 3.5, 3.9, 3.95, 6.5];
    let run = run_over(&world(&hours), "fix:2h", 2 * HOUR, 5 * HOUR, false);
    // Polls at 2, 4 and 6. Five entries come before 4, and the window shows three.
    assert_eq!(counts(&run), [2, 3, 2, 1]);
}

#[test]
fn a_feed_takes_part_from_its_first_entry() {
    let late = world(&[5.0, 5.5]);
    let run = run_over(&late, "fix:1h", HOUR, 9 * HOUR, false);
    // First poll at 5, then 6 to 10. The first entry belongs to the first window.
    assert_eq!(counts(&run), [5, 1, 0, 0]);
    let after = run_over(&world(&[0.5, 30.0]), "fix:1h", HOUR, 9 * HOUR, false);
    assert_eq!(after.per_feed.iter().flatten().count(), 1);
    let mut never = world(&[0.5]);
    never.feeds.push(WorldFeed::new("later", vec![at(30.0)]));
    never.domains.push(vec![1]);
    let run = run_over(&never, "fix:1h", HOUR, 9 * HOUR, false);
    assert_eq!(run.per_feed[1], None);
}

#[test]
fn a_warm_up_counts_what_happens_after_it() {
    let hours = [0.0, 1.5, 2.5, 3.5];
    let cold = run_over(&world(&hours), "fix:2h", HOUR, 4 * HOUR, false);
    // Polls at 1, 3, 5.
    assert_eq!(counts(&cold), [2, 3, 0, 0]);
    let warm = run_over(&world(&hours), "fix:2h", 2 * HOUR, 4 * HOUR, true);
    // Polls at 0, 2, 4, 6. The poll at hour 2 and the entry of 1.5 belong to training.
    assert_eq!(counts(&warm), [2, 2, 0, 0]);
    assert_eq!(warm.total.delay_ms, 2 * 3_600_000);
    let straddling = run_over(&world(&hours), "fix:2h", HOUR, 4 * HOUR, true);
    // Polls at 0, 2, 4: the entry of 1.5 appeared after the test began.
    assert_eq!(counts(&straddling), [2, 3, 0, 0]);
    let old = run_over(&world(&[0.0, 0.5, 2.5]), "fix:2h", HOUR, 4 * HOUR, true);
    assert_eq!(counts(&old), [2, 1, 0, 0], "published in training, found in the test");
}

#[test]
fn undated_entries_are_found_without_a_delay() {
    let mut builder = WorldBuilder::default();
    let feed = builder.feed("feed");
    for (hour, dated) in [(0.0, true), (1.5, false), (2.0, true)] {
        let claim = dated.then(|| at(hour));
        builder.entry(feed, TraceRow { visible: at(hour), claim, window: None, bytes: None });
    }
    let world = builder.finish(20);
    let run = run_over(&world, "fix:3h", HOUR, 9 * HOUR, false);
    assert_eq!((run.total.found, run.total.n_delays), (2, 1));
    assert_eq!(run.by_entry.delay, Some(7200.0));
}

#[test]
fn a_ttl_is_a_lower_bound_or_the_interval() {
    let mut world = world(&[0.0, 5.0, 6.0]);
    world.feeds[0].ttl = Some(2 * HOUR);
    let phases = Phases::over(&world, Some(START), HOUR, 12 * HOUR, false).unwrap();
    let polls = |policy: &str, hints| {
        let setting = Setting { hints, ..Setting::new(phases) };
        lab::run(&world, &policy.parse().unwrap(), &setting, &RunProgress::default()).total.polls
    };
    let [fast, slow] = ["fix:1h", "fix:4h"];
    assert_eq!([polls(fast, HintReading::Ignore), polls(slow, HintReading::Ignore)], [12, 3]);
    assert_eq!(
        [polls(fast, HintReading::LowerBound), polls(slow, HintReading::LowerBound)],
        [6, 3]
    );
    assert_eq!([polls(fast, HintReading::Exact), polls(slow, HintReading::Exact)], [6, 6]);
}

#[test]
fn a_document_is_sent_when_something_changed_and_headers_otherwise() {
    let mut builder = WorldBuilder::default();
    let feed = builder.feed("feed");
    for (hour, bytes) in [(0.0, 1000), (2.5, 1500)] {
        let (visible, bytes) = (at(hour), Some(bytes));
        builder.entry(feed, TraceRow { visible, claim: Some(visible), window: None, bytes });
    }
    let world = builder.finish(20);
    // Polls at 1 (the first), 2 and 3.
    let run = run_over(&world, "fix:1h", HOUR, 2 * HOUR, false);
    assert_eq!((run.total.bytes, run.has_bytes), (369 + 1500, true));
}

#[test]
fn sites_see_the_polls_of_all_their_feeds() {
    let mut world = world(&[0.0]);
    world.feeds.push(WorldFeed::new("sister", vec![at(0.0)]));
    world.domains = vec![vec![0, 1]];
    let run = run_over(&world, "fix:30m", HOUR, 4 * HOUR, false);
    assert_eq!(run.load.hour_max, 4);
    assert_eq!(run.load.hour_mean(), Some(4.0));
}

/// A population drawn from a seed, as a world.
pub fn synthetic(feeds: usize, days: u16) -> World {
    let spec = PopulationSpec { seed: 7, feeds, start: START, days };
    let mut bytes = Vec::new();
    Population::draw(&spec).write_csv(&mut bytes).unwrap();
    let mut builder = WorldBuilder::default();
    lab::world::trace::read("synthetic", &bytes[..], &mut builder).unwrap();
    builder.finish(20)
}

#[test]
fn every_policy_gives_the_same_bits_on_any_number_of_threads() {
    let world = synthetic(50, 12);
    let phases = Phases::over(&world, Some(START), 7 * DAY, 5 * DAY, false).unwrap();
    for text in Policy::examples() {
        let run = |threads| {
            let setting = Setting { threads, ..Setting::new(phases) };
            let run = lab::run(&world, &text.parse().unwrap(), &setting, &RunProgress::default());
            format!("{run:?}")
        };
        let alone = run(1);
        assert_eq!(alone, run(2), "{text}");
        assert_eq!(alone, run(5), "{text}");
    }
}

#[test]
fn what_is_found_missed_and_open_is_all_that_appeared() {
    let world = synthetic(60, 12);
    for warm_up in [false, true] {
        let phases = Phases::over(&world, Some(START), 4 * DAY, 8 * DAY, warm_up).unwrap();
        for text in Policy::examples() {
            let setting = Setting::new(phases);
            let run = lab::run(&world, &text.parse().unwrap(), &setting, &RunProgress::default());
            for (feed, tally) in world.feeds.iter().zip(&run.per_feed) {
                let Some(tally) = tally else { continue };
                let first = phases.first_poll(feed.visible()).unwrap();
                let counted = first.max(phases.test_start())..=phases.end();
                let after = |t: &&Time| counted.contains(t) && **t > *counted.start();
                let n = feed.visible().iter().filter(after).count() as u64;
                assert_eq!(tally.found + tally.missed + tally.open, n, "{text} {}", feed.name);
                assert!(tally.fresh_ms <= tally.watched_ms, "{text} {}", feed.name);
            }
        }
    }
}

#[test]
fn phases_that_do_not_fit_the_trace_are_refused_with_its_span() {
    let world = world(&[1.0, 2.0]);
    let over = |start, test| Phases::over(&world, start, HOUR, test, false);
    let late = over(Some(at(3.0)), HOUR).unwrap_err().to_string();
    assert!(
        late.contains("after the last entry") && late.contains("2017-07-14T03:40:00Z"),
        "{late}"
    );
    let early = over(Some(START - 50 * HOUR), HOUR).unwrap_err().to_string();
    assert!(early.contains("before the first entry"), "{early}");
    assert!(over(None, Duration::ZERO).is_err());
    assert_eq!(over(None, HOUR).unwrap().start, at(1.0));
    // The last entry comes at the second hour, when the test begins.
    let silence = |start| over(Some(start), HOUR).unwrap().silence(&world);
    assert_eq!(silence(at(0.0)), None);
    assert_eq!(silence(at(0.5)), Some(HOUR / 2));
    assert_eq!(silence(at(1.5)), Some(HOUR), "nothing of the test can be found");
    let empty = Phases::over(&World::default(), None, HOUR, HOUR, false).unwrap_err();
    assert!(empty.to_string().contains("no entries"), "{empty}");
}

/// Dissertation 003, 4.4.1: `lihz` polls every 24 hours in training, and at multiples of a day in
/// the test.
#[test]
fn lihz_makes_its_training_polls_in_a_warm_up() {
    // A change on most days of the first week, at noon.
    let hours: Vec<f64> = [0, 1, 2, 4, 5, 7, 8, 9, 11].map(|d| f64::from(d) * 24.0 + 12.0).into();
    let world = world(&hours);
    let phases = Phases::over(&world, Some(START), 7 * DAY, 5 * DAY, true).unwrap();
    let spec = "lihz:2".parse().unwrap();
    let polls = lab::polls_of(&world, &world.feeds[0], &spec, &Setting::new(phases));
    let first = at(12.0);
    let training: Vec<Time> = (0..7).map(|d| first + DAY * d).collect();
    assert_eq!(polls[..7], training);
    let tested: Vec<u32> =
        polls[7..].iter().map(|poll| (poll.since(first).as_secs() / 86_400) as u32).collect();
    assert_eq!(tested, [7, 10]);
    assert!(polls[7..].iter().all(|poll| poll.since(first).as_secs() % 86_400 == 0));
}

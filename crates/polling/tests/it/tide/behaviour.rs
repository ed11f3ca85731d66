//! The behaviour of `tide`: what it learns about a feed, and when it polls.

use std::time::Duration;

use feed::{Observation, Outcome, Time};
use polling::model::{Model, ModelKind};
use polling::{Bounds, Learned, Policy};

use crate::support::chance::Chance;

const HOUR: i64 = 3600;
pub const DAY: i64 = 24 * HOUR;
/// A Monday, at midnight.
pub const MONDAY: i64 = 1_699_833_600;

/// Runs `days` days with a feed that shows 20 entries. Returns the polls and the learned state.
pub fn live(policy: &Policy, entries: &[Time], days: i64) -> (Vec<Time>, Learned) {
    let (mut learned, mut polls) = (policy.start(), Vec::new());
    let (mut at, mut n_known) = (Time::from_secs(MONDAY), 0);
    let mut before = 0_usize..0;
    while at < Time::from_secs(MONDAY + days * DAY) {
        let end = entries.partition_point(|t| *t <= at);
        let window = end.saturating_sub(20)..end;
        let o = Observation {
            overlap: before.end.saturating_sub(window.start),
            outcome: if polls.is_empty() || end > n_known {
                Outcome::Seen
            } else {
                Outcome::Unchanged
            },
            suspected_miss: !before.is_empty() && window.start >= before.end,
            ..Observation::seen(
                at,
                &entries[window.clone()],
                &entries[n_known.max(window.start)..end],
            )
        };
        policy.learn(&mut learned, &o);
        polls.push(at);
        at = policy.wish(&learned, &o, &Bounds::EVALUATION).at;
        (n_known, before) = (end, window);
    }
    (polls, learned)
}

/// Returns the mean wait of the entries after the first `days` days, in seconds.
fn delay(entries: &[Time], polls: &[Time], days: i64) -> f64 {
    let from = Time::from_secs(MONDAY + days * DAY);
    let waits = entries
        .iter()
        .filter(|t| **t > from)
        .filter_map(|t| Some(polls.get(polls.partition_point(|p| p < t))?.since(*t).as_secs_f64()));
    let (n, sum) = waits.fold((0.0, 0.0), |(n, sum), wait| (n + 1.0, sum + wait));
    sum / n
}

/// Random entries, `rate(hour of the week)` an hour, for four weeks before and eight after Monday.
fn world(seed: u64, rate: impl Fn(i64) -> f64) -> Vec<Time> {
    let mut chance = Chance::new(seed);
    let minutes = (MONDAY - 28 * DAY) / 60..(MONDAY + 56 * DAY) / 60;
    let hour = |minute: i64| (minute * 60 - MONDAY).div_euclid(HOUR).rem_euclid(168);
    let posts = minutes.filter(|m| chance.unit() < rate(hour(*m)) / 60.0);
    posts.map(|m| Time::from_secs(m * 60 + 17)).collect()
}

/// Weekdays from eight to eighteen, Monday first.
fn office(hour: i64) -> f64 {
    if hour < 120 && (8..18).contains(&(hour % 24)) { 0.5 } else { 0.001 }
}

fn tide(price: &str) -> Policy {
    format!("tide:{price}").parse().expect("a policy")
}

#[test]
fn a_constant_rate_is_polled_when_the_waiting_reaches_the_price() {
    let entries = world(1, |_| 0.5);
    let (polls, _) = live(&tide("1h"), &entries, 28);
    // T = √(2·price/λ), two hours here.
    let mean = 21.0 * 86_400.0
        / polls.iter().filter(|p| **p > Time::from_secs(MONDAY + 7 * DAY)).count() as f64;
    assert!((6200.0..8200.0).contains(&mean), "{mean}");
}

#[test]
fn an_office_is_not_polled_at_night_and_waits_less_than_under_any_even_spacing() {
    let entries = world(2, office);
    let (polls, learned) = live(&tide("1h"), &entries, 56);
    let later = |p: &&Time| p.secs() > MONDAY + 14 * DAY;
    let hour = |p: &Time| (p.secs() - MONDAY).rem_euclid(7 * DAY) / HOUR;
    let n = polls.iter().filter(later).count();
    let night = polls.iter().filter(later).filter(|p| !(7..20).contains(&(hour(p) % 24)));
    assert!(night.count() * 10 < n, "of {n}");
    let even = 42.0 * 86_400.0 / n as f64 / 2.0;
    assert!(delay(&entries, &polls, 14) < 0.5 * even, "{} {even}", delay(&entries, &polls, 14));
    let at = *polls.last().unwrap();
    let window = &entries[..entries.partition_point(|t| *t <= at)];
    let o = crate::support::vectors::seen(at, &window[window.len() - 20..]);
    let words = tide("1h").wish(&learned, &o, &Bounds::EVALUATION).why.words();
    assert!(
        words.contains("posts mostly on weekdays") && words.contains("worth 1 h of"),
        "{words}"
    );
}

#[test]
fn a_higher_price_means_fewer_polls() {
    let entries = world(3, office);
    let polls = ["5m", "20m", "1h", "5h", "1d"].map(|p| live(&tide(p), &entries, 28).0.len());
    assert!(polls.is_sorted_by(|a, b| a > b), "{polls:?}");
}

#[test]
fn a_timer_is_met_a_minute_later() {
    // Six past every hour, for a year.
    let entries: Vec<Time> =
        (-5000..3000).map(|h| Time::from_secs(MONDAY + h * HOUR + 6 * 60 + 4)).collect();
    let (polls, _) = live(&tide("30m"), &entries, 28);
    assert!(delay(&entries, &polls, 7) < 120.0, "{}", delay(&entries, &polls, 7));
}

#[test]
fn poll_times_are_not_learned_as_a_rhythm_without_dates() {
    // Live, an entry without a date gets the time of the poll that found it.
    let entries = world(4, |_| 1.0);
    let mut model = ModelKind::Tide.start();
    for hour in (0..24 * 60).step_by(8) {
        let at = Time::from_secs(MONDAY - 28 * DAY + hour * HOUR);
        let n = entries.iter().filter(|t| **t <= at && **t > at - Duration::from_secs(8 * 3600));
        let new = vec![at; n.count()];
        let overlap = 1;
        model.learn(&Observation { overlap, ..crate::support::vectors::seen(at, &new) });
    }
    let at = Time::from_secs(MONDAY + 40 * DAY);
    let hours: Vec<f64> = (0..24)
        .map(|h| model.expect(at.shifted(h * 3_600_000), at.shifted((h + 1) * 3_600_000)))
        .collect();
    let (least, most) = hours.iter().fold((9.0_f64, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!(least > 0.5 && most < 2.0, "{hours:?}");
}

#[test]
fn a_feed_that_stops_is_polled_ever_more_rarely_and_one_that_resumes_is_noticed() {
    let mut entries = world(5, |_| 1.0);
    let (dead, awake) = (Time::from_secs(MONDAY + 7 * DAY), Time::from_secs(MONDAY + 42 * DAY));
    entries.retain(|t| *t < dead || *t > awake);
    let (polls, _) = live(&tide("1h"), &entries, 56);
    let within = |from: i64, to: i64| {
        let day = |p: &&Time| (p.secs() - MONDAY) / DAY;
        polls.iter().filter(|p| (from..to).contains(&day(p))).count()
    };
    let (busy, silent, back) = (within(0, 7), within(35, 42), within(49, 56));
    assert!(silent * 3 < busy && back * 2 > busy, "{busy} {silent} {back}");
}

#[test]
fn what_was_not_watched_says_nothing() {
    let at = Time::from_secs(MONDAY);
    let hourly: Vec<Time> = (1..=20).rev().map(|h| at.shifted(-h * 3_600_000)).collect();
    let mut model = ModelKind::Tide.start();
    model.learn(&crate::support::vectors::seen(at, &hourly));
    let before = model.mean_rate();
    // Ten days later the window was overrun: the feed is as busy as ever, and the rest is unknown.
    let later = at + Duration::from_secs(10 * 86_400);
    let window: Vec<Time> = hourly.iter().map(|t| t.shifted(10 * DAY * 1000)).collect();
    let o = Observation { suspected_miss: true, ..crate::support::vectors::seen(later, &window) };
    model.learn(&o);
    assert!(model.mean_rate() > 0.8 * before, "{} {before}", model.mean_rate());
    // A failed poll is not a silence.
    let known = model.clone();
    let failed =
        Observation { outcome: Outcome::Failed, at: later + Duration::from_secs(9000), ..o };
    model.learn(&failed);
    assert_eq!(model, known);
}

#[test]
fn the_first_window_places_the_day_on_the_globe() {
    let busiest = |shift: i64| {
        let entries = world(6, |hour| office((hour - shift).rem_euclid(168)));
        let first = crate::support::vectors::seen(Time::from_secs(MONDAY), &[]);
        let end = entries.partition_point(|t| *t <= first.at);
        let mut model = ModelKind::Tide.start();
        model.learn(&crate::support::vectors::seen(first.at, &entries[end - 20..end]));
        let Model::Tide(tide) = &model else { panic!("another model") };
        tide.posting_times().hours
    };
    for shift in [0, 5, 9, 16] {
        let (from, _) = busiest(shift).expect("an office");
        let off = (i64::from(from) - 8 - shift).rem_euclid(24);
        assert!(off <= 3 || off >= 21, "{from} for a shift of {shift}");
    }
}

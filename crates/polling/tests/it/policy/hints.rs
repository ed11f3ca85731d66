//! Publisher hints applied to wishes.

use std::time::Duration;

use feed::{Hints, Time};
use polling::hints::{
    AsideReason, CacheHints, FRESHNESS_MAX, HintReading, HintUsed, Hinted, apply,
};

const MINUTE: Duration = Duration::from_secs(60);

fn time(text: &str) -> Time {
    text.parse().expect("a time")
}

fn lower(wish: Time, at: Time, hints: &Hints, cache: CacheHints, window: &[Time]) -> Hinted {
    apply(wish, at, hints, cache, window, HintReading::LowerBound)
}

/// The example of the source: a Saturday, 23:30.
#[test]
fn the_latest_allowed_time_wins() {
    let at = time("2011-07-16T23:30:00Z");
    let hints = Hints {
        ttl: Some(60 * MINUTE),
        skip_hours: vec![0, 1],
        skip_days: vec![6],
        update_every: None,
    };
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
    assert_eq!(hinted.at, time("2011-07-18T02:00:00Z"));
    assert_eq!(hinted.set_aside, None);
}

#[test]
fn a_wish_later_than_every_hint_stays() {
    let at = time("2011-07-16T10:30:00Z");
    let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
    let wish = at + 90 * MINUTE;
    let hinted = lower(wish, at, &hints, CacheHints::default(), &[]);
    assert_eq!((hinted.at, hinted.followed, hinted.words()), (wish, None, None));
}

#[test]
fn a_hint_that_excludes_every_hour_or_day_is_ignored_with_a_warning() {
    let at = time("2011-07-16T10:30:00Z");
    let hints = Hints { skip_hours: (0..24).collect(), ..Hints::default() };
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
    assert_eq!(hinted.at, at + MINUTE);
    assert_eq!(hinted.set_aside, Some((HintUsed::SkipHours, AsideReason::Never)));
    let hints = Hints { skip_days: (0..7).collect(), skip_hours: vec![10], ..Hints::default() };
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
    assert_eq!(hinted.at, time("2011-07-16T11:00:00Z"));
    assert!(hinted.words().unwrap().contains("excludes every time"));
}

#[test]
fn years_of_max_age_are_a_day() {
    let at = time("2011-07-16T10:30:00Z");
    let years = Duration::from_secs(16 * 365 * 86_400);
    for cache in [
        CacheHints { max_age: Some(years), expires: None },
        CacheHints { max_age: None, expires: Some(at + years) },
        CacheHints { max_age: None, expires: Some(Time::MAX) },
    ] {
        let hinted = lower(at + MINUTE, at, &Hints::default(), cache, &[]);
        assert_eq!(hinted.at, at + FRESHNESS_MAX);
        assert!(hinted.words().unwrap().contains("read as 1 d"));
    }
    let past = CacheHints { max_age: None, expires: Some(Time::MIN) };
    assert_eq!(lower(at + MINUTE, at, &Hints::default(), past, &[]).at, at + MINUTE);
}

#[test]
fn a_hint_that_would_make_us_miss_entries_is_set_aside() {
    let at = time("2011-07-16T10:00:00Z");
    let window: Vec<Time> = (1..=10).rev().map(|m| at - MINUTE * m).collect();
    let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &window);
    assert_eq!(hinted.at, at + MINUTE);
    assert!(hinted.words().unwrap().contains("600 % of the window"));
    let slow: Vec<Time> = (1..=10).rev().map(|d| at - MINUTE * 1440 * d).collect();
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &slow);
    assert_eq!(hinted.at, at + 60 * MINUTE);
    assert_eq!(hinted.words().unwrap(), "the feed's ttl of 1 h was followed");
}

#[test]
fn the_next_smaller_hint_holds_where_the_largest_is_set_aside() {
    let at = time("2011-07-16T10:00:00Z");
    let window: Vec<Time> = (1..=10).rev().map(|m| at - MINUTE * m).collect();
    let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
    let cache = CacheHints { max_age: Some(5 * MINUTE), expires: None };
    let hinted = lower(at + MINUTE, at, &hints, cache, &window);
    assert_eq!((hinted.at, hinted.followed), (at + 5 * MINUTE, Some(HintUsed::MaxAge(5 * MINUTE))));
}

#[test]
fn read_exactly_a_ttl_is_the_interval() {
    let at = time("2011-07-16T10:00:00Z");
    let hints = Hints { ttl: Some(60 * MINUTE), ..Hints::default() };
    let exact = |wish| apply(wish, at, &hints, CacheHints::default(), &[], HintReading::Exact).at;
    assert_eq!([exact(at + MINUTE), exact(at + 600 * MINUTE)], [at + 60 * MINUTE; 2]);
    let ignored = apply(at + MINUTE, at, &hints, CacheHints::default(), &[], HintReading::Ignore);
    assert_eq!(ignored.at, at + MINUTE);
}

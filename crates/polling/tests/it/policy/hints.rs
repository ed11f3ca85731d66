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
        ..Hints::default()
    };
    let hinted = lower(at + MINUTE, at, &hints, CacheHints::default(), &[]);
    assert_eq!(hinted.at, time("2011-07-18T02:00:00Z"));
    assert_eq!(hinted.set_aside, None);
}

/// `sy:updateBase`: the publisher updates every six hours from 04:30.
#[test]
fn whole_periods_count_from_the_update_base() {
    let every = Duration::from_secs(6 * 3600);
    for (base, at, expect) in [
        ("2011-01-01T04:30:00Z", "2011-07-16T10:29:00Z", "2011-07-16T10:30:00Z"),
        ("2011-01-01T04:30:00Z", "2011-07-16T10:30:00Z", "2011-07-16T16:30:00Z"),
        ("2030-01-01T04:30:00Z", "2011-07-16T12:00:00Z", "2011-07-16T16:30:00Z"),
    ] {
        let hints =
            Hints { update_every: Some(every), update_base: Some(time(base)), ..Hints::default() };
        let at = time(at);
        let hinted = lower(at, at, &hints, CacheHints::default(), &[]);
        assert_eq!(hinted.at, time(expect), "{base} {at}");
        assert!(hinted.words().unwrap().contains(" from 20"), "{:?}", hinted.words());
        let exact = apply(at, at, &hints, CacheHints::default(), &[], HintReading::Exact);
        assert_eq!(exact.at, time(expect));
    }
    let without = Hints { update_every: Some(every), ..Hints::default() };
    let at = time("2011-07-16T10:29:00Z");
    assert_eq!(lower(at, at, &without, CacheHints::default(), &[]).at, at + every);
    let alone = Hints { update_base: Some(at), ..Hints::default() };
    assert_eq!(lower(at, at, &alone, CacheHints::default(), &[]).followed, None);
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

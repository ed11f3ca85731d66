//! Feeds that follow a local clock with daylight saving time.

use feed::{Observation, Time};
use polling::model::{Model, ModelKind};

const DAY_SECS: i64 = 86_400;
/// New Year of 2021.
const START: i64 = 1_609_459_200;

/// Europe's summers of 2021 and 2022 in days from the start: the first day and the one after the
/// last.
const SUMMERS: [(i64, i64); 2] = [(86, 303), (450, 667)];

fn is_summer(day: i64) -> bool {
    SUMMERS.iter().any(|(from, to)| (*from..*to).contains(&day))
}

/// Noon of a day in Berlin, or in a zone without daylight saving.
fn noon(day: i64, is_set: bool) -> Time {
    let hour = if is_set && is_summer(day) { 10 } else { 11 };
    Time::from_secs(START + day * DAY_SECS + hour * 3600)
}

/// Polls at every midnight from one day to another.
fn learn(model: &mut Model, days: std::ops::Range<i64>, is_set: bool) {
    for day in days {
        let new = [noon(day, is_set)];
        model.learn(&Observation::first(Time::from_secs(START + (day + 1) * DAY_SECS), &new));
    }
}

/// Returns how many times more is expected at the UTC hour of ten than at that of eleven.
fn ten_relative_to_eleven(model: &Model, day: i64) -> f64 {
    let hour = |h: i64| Time::from_secs(START + day * DAY_SECS + h * 3600);
    model.expect(hour(10), hour(11)) / model.expect(hour(11), hour(12))
}

#[test]
fn a_change_of_the_clock_is_followed_within_days_and_the_next_one_at_once() {
    let mut model = ModelKind::Tide.start();
    learn(&mut model, 0..86, true);
    assert!(ten_relative_to_eleven(&model, 86) < 0.8);
    learn(&mut model, 86..91, true);
    assert!(ten_relative_to_eleven(&model, 91) > 1.25, "{}", ten_relative_to_eleven(&model, 91));

    // Stored and read in between: the rule is kept.
    let mut model = Model::decode(&model.encode()).expect("just written");
    learn(&mut model, 91..304, true);
    assert!(ten_relative_to_eleven(&model, 304) < 0.8, "one poll after the autumn's change");
    learn(&mut model, 304..451, true);
    assert!(ten_relative_to_eleven(&model, 451) > 1.25, "one poll after the next spring's");
}

#[test]
fn a_feed_first_seen_in_summer_is_followed_into_winter() {
    let mut model = ModelKind::Tide.start();
    learn(&mut model, 200..310, true);
    assert!(ten_relative_to_eleven(&model, 310) < 0.8);
    learn(&mut model, 310..452, true);
    assert!(ten_relative_to_eleven(&model, 452) > 1.25);
}

#[test]
fn a_timer_that_goes_by_utc_stays_where_it_is() {
    let mut model = ModelKind::Tide.start();
    learn(&mut model, 0..500, false);
    for day in [90, 100, 305, 455] {
        assert!(ten_relative_to_eleven(&model, day) < 0.8, "{day}");
    }
}

//! The findings of source 000 about online estimation.

use std::time::Duration;

use lab::shapes::{
    DayShape, OnlineEstimator, Robustness, ShapeReading, WEEKS_EACH, adaptation, robustness,
};

const MINUTE: Duration = Duration::from_secs(60);

fn error(all: &[Robustness], shape: DayShape, online: OnlineEstimator, minutes: u32) -> f64 {
    let is = |r: &&Robustness| (r.shape, r.online, r.average) == (shape, online, MINUTE * minutes);
    all.iter().find(is).unwrap().error
}

#[test]
fn periodic_wins_on_waves_always_on_peaks_when_looking_often_and_ties_on_uniform_days() {
    let all = robustness(ShapeReading::Counted, &[MINUTE * 60, MINUTE * 360, MINUTE * 1440], 3, 2);
    let ratio = |shape, minutes| {
        error(&all, shape, OnlineEstimator::Periodic, minutes)
            / error(&all, shape, OnlineEstimator::SingleVariable, minutes)
    };
    for minutes in [60, 360, 1440] {
        assert!(ratio(DayShape::Waves, minutes) < 0.97, "{}", ratio(DayShape::Waves, minutes));
        let uniform = ratio(DayShape::Uniform, minutes);
        // From a start at zero, daily polls leave the periodic model somewhat behind.
        assert!((0.9..1.25).contains(&uniform), "{minutes}: {uniform}");
    }
    assert!(ratio(DayShape::Peaks, 60) < 0.8, "{}", ratio(DayShape::Peaks, 60));
    assert!(ratio(DayShape::Peaks, 1440) > ratio(DayShape::Peaks, 60) + 0.1);
}

#[test]
fn an_hourly_look_follows_a_change_of_behaviour_and_a_daily_one_does_not() {
    let weeks = WEEKS_EACH as usize;
    let hourly = adaptation(ShapeReading::Counted, MINUTE * 60, 0.1, 5, 2);
    let daily = adaptation(ShapeReading::Counted, MINUTE * 1440, 0.1, 5, 2);
    assert_eq!(hourly.len(), 3 * weeks);
    assert!(hourly[weeks] > 3.0 * hourly[2 * weeks - 1], "{hourly:?}");
    assert!(hourly[2 * weeks - 1] < 0.1, "{hourly:?}");
    assert!(daily[2 * weeks - 1] > 0.6 * daily[weeks], "{daily:?}");
}

/// Source 000, figures 9 and 10 as printed: peaks every four hours. Each day's entries are divided
/// by their number. The real day is the mean of the last seven days. "As the sources are refreshed
/// less frequently, the single variable estimation becomes as good as the periodic one."
#[test]
fn with_peaks_every_four_hours_the_single_variable_catches_up_when_polls_are_rare() {
    let reading = ShapeReading::Normalised;
    let all = robustness(reading, &[MINUTE * 30, MINUTE * 60, MINUTE * 720, MINUTE * 1440], 3, 2);
    let ratio = |shape, minutes| {
        error(&all, shape, OnlineEstimator::Periodic, minutes)
            / error(&all, shape, OnlineEstimator::SingleVariable, minutes)
    };
    for minutes in [30, 60, 720, 1440] {
        println!(
            "{minutes}: waves {:.3}, peaks {:.3}, uniform {:.3}",
            ratio(DayShape::Waves, minutes),
            ratio(DayShape::Peaks, minutes),
            ratio(DayShape::Uniform, minutes)
        );
        assert!(ratio(DayShape::Waves, minutes) < 0.97, "{}", ratio(DayShape::Waves, minutes));
    }
    assert!(ratio(DayShape::Peaks, 60) < 0.8, "{}", ratio(DayShape::Peaks, 60));
    assert!(ratio(DayShape::Peaks, 1440) > 0.95, "{}", ratio(DayShape::Peaks, 1440));
    let weeks = WEEKS_EACH as usize;
    let hourly = adaptation(reading, MINUTE * 60, 0.1, 5, 2);
    let daily = adaptation(reading, MINUTE * 1440, 0.1, 5, 2);
    println!("{hourly:?} {daily:?}");
    assert!(hourly[2 * weeks - 1] < 0.5 * hourly[weeks], "{hourly:?}");
    assert!(daily[2 * weeks - 1] > 0.6 * daily[weeks], "{daily:?}");
}

//! Histograms and weekdays compared with the simplest possible references on thousands of random
//! cases: hour by hour, day by day, in plain integers.

use std::time::Duration;

use feed::Time;
use polling::model::histogram::{Histogram, Period};
use polling::policy::Training;
use polling::policy::indhist_ttl::is_burst;
use polling::policy::lihz::WeekdayCounts;
use polling::{Decimal, Fraction};

use crate::support::chance::Chance;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;
const ZONES: [i32; 7] = [0, 3600, -18_000, 19_800, 50_400, -43_200, 20_700];

/// A time between 1960 and 2050, mostly at odd milliseconds, sometimes on an edge.
pub fn moment(chance: &mut Chance) -> Time {
    let ms = chance.below(90 * 365 * 86_400_000) as i64 - 10 * 365 * DAY_MS;
    Time::from_millis(match chance.below(4) {
        0 => ms / HOUR_MS * HOUR_MS,
        1 => ms / DAY_MS * DAY_MS + chance.below(2) as i64,
        2 => ms / 1000 * 1000,
        _ => ms,
    })
}

fn thresholds(chance: &mut Chance) -> Decimal {
    let known = ["0.1", "0.5", "0.7", "0.5625", "1", "3", "10", "100", "0.000000001"];
    let number = chance.below(2 * known.len() as u64) as usize;
    let some = |chance: &mut Chance| Decimal::new(1 + chance.below(30_000) as i64, 3);
    known.get(number).map_or_else(|| some(chance), |text| text.parse().expect("a decimal"))
}

fn model(chance: &mut Chance) -> Histogram {
    let period = if chance.below(2) == 0 { Period::Day } else { Period::Week };
    let busy = 1 + chance.below(4);
    let counts = (0..period.hours()).map(|_| chance.below(6).saturating_sub(busy)).collect();
    let zone_secs = ZONES[chance.below(7) as usize];
    Histogram { period, counts, days: 1 + chance.below(40), zone_secs }
}

/// Returns the count of the hour of a time, by the calendar of the zone.
fn count_at(model: &Histogram, ms: i64) -> i128 {
    let hours = (ms + i64::from(model.zone_secs) * 1000).div_euclid(HOUR_MS);
    i128::from(model.counts[hours.rem_euclid(model.counts.len() as i64) as usize])
}

fn end_of_hour(model: &Histogram, ms: i64) -> i64 {
    let zone_ms = i64::from(model.zone_secs) * 1000;
    ((ms + zone_ms).div_euclid(HOUR_MS) + 1) * HOUR_MS - zone_ms
}

/// One rate holds for this many milliseconds of each day (or of each seventh).
fn divisor(model: &Histogram) -> (i128, i128) {
    let weekly = if model.period == Period::Week { 7 } else { 1 };
    (i128::from(model.days) * i128::from(HOUR_MS), weekly)
}

#[test]
fn a_histogram_expects_what_hour_after_hour_adds_up_to() {
    let mut chance = Chance::new(1);
    for _ in 0..3000 {
        let (model, a) = (model(&mut chance), moment(&mut chance));
        let b = a + Duration::from_millis(chance.below(20 * DAY_MS.unsigned_abs()));
        let (per, weekly) = divisor(&model);
        let (mut ms, mut sum) = (a.millis(), 0);
        while ms < b.millis() {
            let end = end_of_hour(&model, ms).min(b.millis());
            sum += count_at(&model, ms) * weekly * i128::from(end - ms);
            ms = end;
        }
        let expected = Fraction::new(sum, per);
        assert_eq!(model.expect(a, b), expected, "{model:?} {a} {b}");
        // A burst is detected exactly, even on the edge.
        let (span, t_burst) = (b.since(a), thresholds(&mut chance));
        let edge = expected.times(t_burst.fraction());
        let floor = u64::try_from(edge.floor()).expect("not negative");
        let burst = |n| is_burst(&model, b, n, span, t_burst);
        assert!(!burst(floor) && burst(floor + 1), "{model:?}");
    }
}

#[test]
fn a_histogram_reaches_theta_where_hour_after_hour_does() {
    let mut chance = Chance::new(2);
    for _ in 0..3000 {
        let (model, at) = (model(&mut chance), moment(&mut chance));
        let theta = thresholds(&mut chance);
        let (num, den) = theta.fraction().parts();
        let (per, weekly) = divisor(&model);
        if model.is_zero() {
            assert_eq!(model.reach(at, theta), None);
            continue;
        }
        // The missing amount, in 1/den of count-milliseconds.
        let (mut ms, mut missing) = (at.millis(), num * per);
        let expected = loop {
            let (end, count) = (end_of_hour(&model, ms), count_at(&model, ms) * weekly * den);
            let here = count * i128::from(end - ms);
            if here >= missing && here > 0 {
                break Fraction::new(missing, count).plus(ms.into());
            }
            missing -= here;
            ms = end;
        };
        assert_eq!(model.reach(at, theta), Some(expected), "{model:?} {at} {theta}");
    }
}

#[test]
fn training_counts_by_the_calendar_of_the_zone_and_rounds_days_up() {
    let mut chance = Chance::new(3);
    for _ in 0..1000 {
        let (end, zone_secs) = (moment(&mut chance), ZONES[chance.below(7) as usize]);
        let period = if chance.below(2) == 0 { Period::Day } else { Period::Week };
        let age = |chance: &mut Chance| match chance.below(5) {
            0 => (chance.below(5) * 86_400_000) as i64,
            1 => -(chance.below(1000) as i64),
            _ => chance.below(30 * 86_400_000) as i64,
        };
        let n = chance.below(40);
        let mut history: Vec<Time> = (0..n).map(|_| end.shifted(-age(&mut chance))).collect();
        history.sort_unstable();
        let model = Histogram::train(&history, end, period, zone_secs);
        let before = || history.iter().filter(|t| **t < end);
        let mut counts = vec![0; period.hours()];
        for time in before() {
            let local_secs = time.millis() / 1000 + i64::from(zone_secs);
            let local_secs = if time.millis() % 1000 < 0 { local_secs - 1 } else { local_secs };
            let hour = local_secs.div_euclid(3600).rem_euclid(period.hours() as i64);
            counts[hour as usize] += 1;
        }
        let oldest = before().min().map_or(0, |oldest| end.millis() - oldest.millis());
        let mut days = 1;
        while days * DAY_MS < oldest {
            days += 1;
        }
        assert_eq!((model.counts, model.days), (counts, days.unsigned_abs()));
    }
}

#[test]
fn lihz_counts_daily_polls_and_sums_day_after_day() {
    let mut chance = Chance::new(4);
    for _ in 0..1500 {
        let (start, zone_secs) = (moment(&mut chance), ZONES[chance.below(7) as usize]);
        let days_max = if chance.below(20) == 0 { 900 } else { 30 };
        let n_days = chance.below(days_max) as i64;
        let end = start.shifted(n_days * DAY_MS + chance.below(2) as i64 * 1000);
        let n = chance.below(3 * n_days.unsigned_abs() + 2);
        let span = (end.millis() - start.millis()).unsigned_abs() + 2 * DAY_MS.unsigned_abs();
        let mut history: Vec<Time> =
            (0..n).map(|_| start.shifted(chance.below(span) as i64 - DAY_MS)).collect();
        history.sort_unstable();
        let weekday = |t: Time| {
            let local_ms = t.millis() + i64::from(zone_secs) * 1000;
            (local_ms.div_euclid(DAY_MS) + 3).rem_euclid(7) as usize
        };
        let (mut seen_days, mut changed_days) = ([0_i128; 7], [0_i128; 7]);
        for k in 1..=n_days {
            let (before, poll) = (start.shifted((k - 1) * DAY_MS), start.shifted(k * DAY_MS));
            seen_days[weekday(poll)] += 1;
            let changed = history.iter().any(|t| *t > before && *t <= poll);
            changed_days[weekday(poll)] += i128::from(changed);
        }
        let training = Training { history: &history, start, end, zone_secs };
        let (week, sigma) = (WeekdayCounts::train(&training), thresholds(&mut chance));
        let (days, changes): (i128, i128) = (seen_days.iter().sum(), changed_days.iter().sum());
        let p = |w: usize| {
            let own = Fraction::new(9 * changed_days[w], 10 * seen_days[w].max(1));
            own.add(Fraction::new(changes, 10 * days.max(1)))
        };
        assert!((0..7).all(|w| week.probability(w) == p(w)), "{week:?}");
        let today = chance.below(7) as usize;
        if changes == 0 || sigma.to_f64() < 0.01 {
            continue;
        }
        // Day by day in f64 is exact enough if the sum is not on the edge itself.
        let (mut sum, mut day) = (0.0, 0);
        while sum < sigma.to_f64() - 1e-9 {
            day += 1;
            sum += p((today + day as usize) % 7).to_f64();
        }
        assert_eq!(week.days_until(today, sigma), Some(day), "{week:?} {sigma}");
    }
}

//! The daily total as a component of its own, apart from the shape of the day (source 000). The
//! paper proposes it in section 7 (Horincar, Amann and Artières 2012).
//!
//! The paper's periodic model mixes both: each hour learns its own rate, from the few entries of
//! that hour. Here λ_j = N·s_j: the shares s_j of 24 hours learn slowly, and the total N, on which
//! every entry bears, learns at its own pace.
//! After a poll that found x entries where the share S of a day has passed:
//! - N ← (1 − w)·N + w·x/S with w = 1 − (1 − a)^S, so that a is the weight of a whole day;
//! - s_j of the hours touched ← s_j·(1 − b + b·x/(N·S)), then all shares are divided by their sum.
//!
//! The weight a adapts to the errors ([`Smoothing`]); b is fixed.
//!
//! ```
//! use feed::Time;
//! use polling::model::daily_total::DailyTotal;
//!
//! let mut model = DailyTotal::default();
//! let at = |hour: i64| Time::from_secs(hour * 3600);
//! model.update(at(0), 0.0, Some(0.0));
//! (1..400).for_each(|i| model.update(at(6 * i), 6.0, None));
//! assert!((model.total() - 24.0).abs() < 1e-4);
//! ```

use feed::{Observation, Time};

use super::homogeneous::rate_of_window;
use super::slots::Slots;
use super::smoothing::Smoothing;
use super::{HOUR_MS, periodic};

/// b: the weight of a poll in the shares. From 0.05 to 0.2 the error differs by 2 % (simulated
/// waves, polls every 1 to 12 hours).
const SHAPE_WEIGHT: f64 = 0.1;
/// The range of a, the weight of a day in the total. The total rests on all entries, so it may
/// follow a change faster than the rate of one hour: 0.5 instead of the paper's 0.2.
const TOTAL_WEIGHTS: (f64, f64) = (0.01, 0.5);
/// The most by which one poll may raise a share; a burst is not a habit.
const RATIO_MAX: f64 = 4.0;
const HOUR_SECS: f64 = 3600.0;

/// The total of a day and the shares of its hours, as rates.
#[derive(Clone, Debug, PartialEq)]
pub struct DailyTotal {
    pub smoothing: Smoothing,
    /// N·s_j in entries per second.
    pub rates: Vec<f64>,
    pub last: Option<Time>,
}

impl Default for DailyTotal {
    fn default() -> DailyTotal {
        DailyTotal { smoothing: Smoothing::adjusting(), rates: vec![0.0; 24], last: None }
    }
}

impl DailyTotal {
    pub fn slots(&self) -> Slots<'_> {
        Slots { rates: &self.rates, slot_ms: HOUR_MS }
    }

    /// Returns N.
    pub fn total(&self) -> f64 {
        self.rates.iter().sum::<f64>() * HOUR_SECS
    }

    pub fn learn(&mut self, o: &Observation<'_>) {
        if o.outcome.is_success() {
            self.update(o.at, o.new.len() as f64, rate_of_window(o.at, o.window));
        }
    }

    /// Learns that `x` entries were new at `at`; `first` is the initial rate of all hours.
    pub fn update(&mut self, at: Time, x: f64, first: Option<f64>) {
        match self.last {
            None => self.rates.fill(first.unwrap_or(0.0)),
            // The clock was set back: nothing was watched, and the next interval begins here.
            Some(last) if at <= last => {}
            Some(last) => self.learn_between(last, at, x),
        }
        self.last = Some(at);
    }

    fn learn_between(&mut self, last: Time, at: Time, x: f64) {
        let shares = self.shares();
        let passed = Slots { rates: &shares, slot_ms: HOUR_MS }.expect(last, at);
        let total = self.total();
        self.smoothing.note(x - total * passed);
        if passed <= 0.0 {
            return;
        }
        let weight = 1.0 - (1.0 - self.smoothing.value_within(TOTAL_WEIGHTS)).powf(passed);
        let learned = (1.0 - weight) * total + weight * x / passed;
        let ratio = (x / (learned * passed).max(f64::MIN_POSITIVE)).min(RATIO_MAX);
        // A longer interval than a day says nothing about its hours.
        let day_ms = 24 * HOUR_MS;
        let mut raised = shares;
        if at.millis_since(last) < day_ms {
            let (first, end) =
                (last.millis().div_euclid(HOUR_MS), (at.millis() - 1).div_euclid(HOUR_MS));
            for slot in first..=end.min(first + 23) {
                let j = slot.rem_euclid(24) as usize;
                raised[j] *= 1.0 - SHAPE_WEIGHT + SHAPE_WEIGHT * ratio;
            }
        }
        let sum: f64 = raised.iter().sum::<f64>() * HOUR_SECS;
        for (rate, share) in self.rates.iter_mut().zip(raised) {
            *rate = learned * share / sum;
        }
    }

    /// Returns the shares per second of a day. Without a total all hours are alike, and no hour is
    /// impossible.
    fn shares(&self) -> [f64; 24] {
        let floor = periodic::FLOOR;
        let sum: f64 = self.rates.iter().map(|rate| rate.max(floor)).sum::<f64>() * HOUR_SECS;
        std::array::from_fn(|j| self.rates.get(j).map_or(floor, |rate| rate.max(floor)) / sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    /// Uniform numbers in (0, 1], by SplitMix64.
    struct Draws(u64);

    impl Draws {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + f64::EPSILON
        }
    }

    /// 54 days of a feed with waves: 32 entries a day, three times as many from day 40 on.
    fn published(seed: u64) -> Vec<Time> {
        let weights = [0.1, 0.3, 1.0, 1.8, 1.6, 0.7];
        let (mut draws, mut times) = (Draws(seed), Vec::new());
        for hour in 0..54 * 24_i64 {
            let total = if hour < 40 * 24 { 32.0 } else { 96.0 };
            let mean = total * weights[(hour % 24 / 4) as usize] / 22.0;
            let mut passed = -draws.unit().ln() / mean;
            while passed < 1.0 {
                times.push(Time::from_millis(hour * HOUR_MS + (passed * HOUR_MS as f64) as i64));
                passed -= draws.unit().ln() / mean;
            }
        }
        times
    }

    /// The root of the mean squared error of a model from day 30 on.
    fn error(mut model: Model, published: &[Time], hours_between: i64) -> f64 {
        let (mut sum, mut n, mut last) = (0.0, 0.0, Time::from_secs(0));
        for poll in 1..54 * 24 / hours_between {
            let at = Time::from_secs(poll * hours_between * 3600);
            let n_by = |t: Time| published.partition_point(|p| *p <= t);
            let new = &published[n_by(last)..n_by(at)];
            if poll * hours_between >= 30 * 24 {
                sum += (new.len() as f64 - model.expect(last, at)).powi(2);
                n += 1.0;
            }
            model.learn(&Observation::seen(
                at,
                &published[n_by(at).saturating_sub(20)..n_by(at)],
                new,
            ));
            last = at;
        }
        f64::sqrt(sum / n)
    }

    /// The same days once in total, three times as many entries: the periodic model must learn
    /// every hour again, this one only the total.
    #[test]
    fn a_change_of_the_total_is_followed_faster_than_hour_by_hour() {
        for hours in [1, 3, 6, 12] {
            let mean = |start: fn() -> Model| {
                (0..6).map(|seed| error(start(), &published(seed), hours)).sum::<f64>() / 6.0
            };
            let total = mean(|| Model::DailyTotal(DailyTotal::default()));
            let periodic = mean(|| Model::daily(Smoothing::adjusting()));
            println!("every {hours} h: {total:.2} instead of {periodic:.2}");
            assert!(total < 0.93 * periodic, "every {hours} h: {total} {periodic}");
        }
    }

    #[test]
    fn a_total_of_zero_can_rise_again() {
        let mut model = DailyTotal::default();
        model.update(Time::from_secs(0), 0.0, Some(0.0));
        (1..10).for_each(|i| model.update(Time::from_secs(i * 86_400), 12.0, None));
        assert!(model.total() > 6.0, "{}", model.total());
    }
}

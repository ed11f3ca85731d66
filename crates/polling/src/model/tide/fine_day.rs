//! Quarter hours of the day: how busy they are compared with the two hours around them. It exists
//! for experiments only.
//!
//! Minutes that are busy in every hour do not count: [`Minutes`] has them already.

use feed::Time;

use super::TideModel;
use super::minutes::Minutes;

const QUARTERS: usize = 96;
const QUARTER_SECS: f64 = 900.0;
const DAY_SECS: f64 = 86_400.0;
/// The quarters on each side that a quarter is compared with.
const AROUND: usize = 4;
/// The share of a quarter's entries that counts for each of its neighbours.
const BLUR: f64 = 0.25;

/// Entries seen in each quarter hour of the feed's clock. They decay like the hours.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FineDay {
    seen: [f32; QUARTERS],
}

impl Default for FineDay {
    fn default() -> FineDay {
        FineDay { seen: [0.0; QUARTERS] }
    }
}

impl FineDay {
    pub(super) fn count_entry(&mut self, at: Time) {
        let secs = at.secs().rem_euclid(DAY_SECS as i64);
        self.seen[(secs / QUARTER_SECS as i64) as usize] += 1.0;
    }

    /// Decays the counts; `kept` is the part that stays.
    pub(super) fn decay(&mut self, kept: f64) {
        self.seen.iter_mut().for_each(|n| *n *= kept as f32);
    }

    /// Returns the running integral of the relative activity, in seconds, at the end of each
    /// quarter. `prior` is the weight of an even activity, in entries.
    fn sums(&self, minutes: &Minutes, prior: f64) -> [f64; QUARTERS + 1] {
        let by_minutes: [f64; 4] = std::array::from_fn(|q| minutes.quarter(q));
        let seen = |k: usize| f64::from(self.seen[k % QUARTERS]);
        let even = |k: usize| by_minutes[k % 4];
        let mut sums = [0.0; QUARTERS + 1];
        for k in 0..QUARTERS {
            let around = k + QUARTERS - AROUND..=k + QUARTERS + AROUND;
            let (seen_around, even_around): (f64, f64) =
                (around.clone().map(seen).sum(), around.map(even).sum());
            let blurred = |of: &dyn Fn(usize) -> f64| {
                (1.0 - 2.0 * BLUR) * of(k) + BLUR * (of(k + 1) + of(k + QUARTERS - 1))
            };
            let expected = seen_around / even_around * blurred(&even);
            sums[k + 1] = sums[k] + QUARTER_SECS * (blurred(&seen) + prior) / (expected + prior);
        }
        sums
    }
}

/// The quarter hours ahead of a poll.
pub(super) struct QuartersAhead {
    /// The second of the day of the poll on the feed's clock.
    secs_of_day: f64,
    sums: [f64; QUARTERS + 1],
}

impl QuartersAhead {
    pub(super) fn new(tide: &TideModel, at: Time, prior: f64) -> QuartersAhead {
        let secs_of_day = tide.local_time(at).millis().rem_euclid(86_400_000) as f64 / 1000.0;
        QuartersAhead { secs_of_day, sums: tide.rhythm.fine.sums(&tide.minutes, prior) }
    }

    /// Returns the relative activity of a step of `secs` seconds that begins `from_secs` ahead.
    pub(super) fn of_step(&self, from_secs: f64, secs: f64) -> f64 {
        let from = self.secs_of_day + from_secs;
        (self.up_to(from + secs) - self.up_to(from)) / secs
    }

    /// Returns the integral up to `secs` of the day, which may be beyond its end.
    fn up_to(&self, secs: f64) -> f64 {
        let days = (secs / DAY_SECS).floor();
        let in_quarters = (secs - days * DAY_SECS) / QUARTER_SECS;
        let k = (in_quarters as usize).min(QUARTERS - 1);
        let within = (in_quarters - k as f64) * (self.sums[k + 1] - self.sums[k]);
        days * self.sums[QUARTERS] + self.sums[k] + within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_quarter_stands_out_and_a_busy_minute_of_every_hour_does_not() {
        let mut tide = TideModel::default();
        let daily = |d: i64| Time::from_secs(d * 86_400 + 10 * 3600 + 20 * 60);
        (0..50).for_each(|d| tide.rhythm.fine.count_entry(daily(d)));
        let ahead = QuartersAhead::new(&tide, Time::from_secs(0), 1.0);
        let quarter = |k: f64| ahead.of_step(k * 900.0, 900.0);
        assert!(quarter(41.0) > 2.0 && quarter(44.0) < 0.5, "{} {}", quarter(41.0), quarter(44.0));
        assert!((quarter(41.0) - quarter(41.0 + 96.0)).abs() < 1e-9, "the next day");
        assert_eq!(quarter(4.0), 1.0, "nothing is known");

        let mut tide = TideModel::default();
        for hour in 0..2400 {
            let at = Time::from_secs(hour * 3600 + 1200);
            tide.rhythm.fine.count_entry(at);
            tide.minutes.count_entry(at);
        }
        tide.recompute();
        let ahead = QuartersAhead::new(&tide, Time::from_secs(0), 1.0);
        let busy = ahead.of_step(900.0, 900.0);
        assert!((0.9..1.1).contains(&busy), "{busy}");
    }
}

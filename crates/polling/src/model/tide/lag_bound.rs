//! The bounds that two polls put on the visibility lag of one entry, and the rules that they allow.
//! It does not choose a rule.

use feed::Time;

use super::visibility::Visibility;

/// Bounds are stored in units of ten seconds.
const UNIT_MS: i64 = 10_000;
const UNITS_IN_MINUTE: u16 = 6;
pub(super) const UNITS_IN_DAY: u16 = DAY * UNITS_IN_MINUTE;
const DAY_MS: i64 = 86_400_000;
/// The clock periods that are tested, in minutes.
pub(super) const CLOCKS: [u16; 6] = [DAY, 60, 30, 20, 15, 10];
pub(super) const DAY: u16 = 1440;
/// Weights are logarithms in units of 1/256: sums of whole numbers are exact, so ties are real
/// ties.
const WEIGHT_UNIT: f64 = 256.0;
/// The smallest probability of a bound without a rule.
const SHARE_MIN: f64 = 0.02;
const DAY_MINUTES: f64 = 1440.0;

/// The lag of one entry: more than `after`, at most `by`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LagBound {
    /// The claimed publication time, since the start of the day.
    pub(super) born: u16,
    /// Zero if the entry may have been visible at once.
    pub(super) after: u16,
    pub(super) by: u16,
}

/// Returns a probability as a weight.
pub(super) fn log_weight(probability: f64) -> i32 {
    (probability.ln() * WEIGHT_UNIT) as i32
}

fn units(ms: i64) -> u16 {
    u16::try_from((ms / UNIT_MS).max(0)).unwrap_or(u16::MAX)
}

impl LagBound {
    /// Returns the bounds of an entry of this date that was found at `at` but not at `last`.
    pub(super) fn of(date: Time, last: Time, at: Time) -> LagBound {
        let unseen_ms = last.millis_since(date);
        let after = if unseen_ms > 0 { units(unseen_ms).max(1) } else { 0 };
        let by = units(at.millis_since(date)).max(after);
        LagBound { born: units(date.millis().rem_euclid(DAY_MS)), after, by }
    }

    /// Returns minus the log probability of the bounds without a rule: every lag up to a day is as
    /// likely as one twice as long.
    pub(super) fn weight(&self) -> i32 {
        let share = |units: u16| {
            (f64::from(units) / f64::from(UNITS_IN_MINUTE)).ln_1p() / DAY_MINUTES.ln_1p()
        };
        -log_weight((share(self.by) - share(self.after)).clamp(SHARE_MIN, 1.0))
    }

    /// Returns the first and the last whole minute of the possible lag, widened by half a minute.
    pub(super) fn minutes(&self) -> (usize, usize) {
        let half = UNITS_IN_MINUTE / 2;
        let first = self.after.saturating_sub(half).div_ceil(UNITS_IN_MINUTE);
        let last = self.by.saturating_add(half) / UNITS_IN_MINUTE;
        (usize::from(first), usize::from(last))
    }

    /// Returns whether a rule could have shown the entry within the bounds.
    pub(super) fn allows(&self, rule: Visibility) -> bool {
        match rule {
            Visibility::AtOnce => self.after == 0,
            Visibility::Irregular => true,
            Visibility::After { minutes } => {
                let (first, last) = self.minutes();
                (first..=last).contains(&usize::from(minutes))
            }
            Visibility::OnClock { period, minute } => {
                let (n, tick) = (usize::from(period), usize::from(minute));
                self.ticks(period).is_some_and(|(first, last)| {
                    // The first tick of the clock from the first minute on.
                    first + (tick + n - first % n) % n <= last
                })
            }
        }
    }

    /// Returns the first and the last minute of the day at which the next tick may lie. `None` if
    /// the lag exceeds one period.
    pub(super) fn ticks(&self, period: u16) -> Option<(usize, usize)> {
        let by = self.by.min(period * UNITS_IN_MINUTE);
        let minute = |late: u16| usize::from((self.born + late) / UNITS_IN_MINUTE);
        (self.after <= by).then(|| (minute(self.after), minute(by)))
    }
}

//! A rate that repeats with a period and is constant within each of its slots, and its integrals.
//!
//! With λ(x) the rate at x (Horincar, Amann and Artières 2012, section 3; source 000):
//! - expected entries: Div(a, b) = ∫_a^b λ(x) dx
//! - utility (2010, eq. 1; source 001): U(a, b) = (b − a)·Div(a, b) − ∫_a^b Div(a, x) dx = ∫_a^b (x
//!   − a)·λ(x) dx, in entry-seconds: the waiting that a poll at b would end.
//!
//! Both are closed forms: whole periods by multiplication, slots by their polynomial. If T_r and T
//! lie in one slot, Div is (T − T_r)·λ_i.
//!
//! ```
//! use feed::Time;
//! use polling::model::slots::Slots;
//!
//! // Two entries per second in the first of two slots of ten seconds, none in the second.
//! let rates = [2.0, 0.0];
//! let slots = Slots { rates: &rates, slot_ms: 10_000 };
//! let at = Time::from_secs;
//! assert_eq!(slots.expect(at(5), at(25)), 20.0);
//! assert_eq!(slots.utility(at(0), at(10)), 100.0);
//! assert_eq!(slots.until_expected(at(5), 12.0), Some(16.0));
//! assert_eq!(slots.until_utility(at(0), 25.0), Some(5.0));
//! ```

use feed::Time;

/// Rates in entries per second, one per slot; slot 0 begins at the epoch.
#[derive(Clone, Copy, Debug)]
pub struct Slots<'a> {
    pub rates: &'a [f64],
    pub slot_ms: i64,
}

/// An interval of constant rate, in seconds after the start.
struct SlotSpan {
    from: f64,
    to: f64,
    rate: f64,
}

impl Slots<'_> {
    pub(in crate::model) fn period_ms(&self) -> i64 {
        self.slot_ms * self.rates.len() as i64
    }

    fn period_secs(&self) -> f64 {
        self.slot_ms as f64 / 1000.0 * self.rates.len() as f64
    }

    /// Returns the slots of the period that begins at `start`. The first slot comes twice: its end
    /// first, its beginning last.
    fn stretches(&self, start: Time) -> impl Iterator<Item = SlotSpan> {
        let n = self.rates.len();
        let into_period = start.millis().rem_euclid(self.slot_ms * n as i64);
        let first = (into_period / self.slot_ms) as usize;
        let into_slot = (into_period % self.slot_ms) as f64 / 1000.0;
        let (slot, period) = (self.slot_ms as f64 / 1000.0, self.period_secs());
        (0..=n).map(move |i| SlotSpan {
            from: (i as f64 * slot - into_slot).max(0.0),
            to: ((i + 1) as f64 * slot - into_slot).min(period),
            rate: self.rates[if first + i >= n { (first + i - n) % n } else { first + i }],
        })
    }

    /// Returns expected entries and utility of the first `secs` seconds (at most a period) after
    /// `start`.
    fn part(&self, start: Time, secs: f64) -> (f64, f64) {
        let (mut expected, mut utility) = (0.0, 0.0);
        for s in self.stretches(start).take_while(|s| s.from < secs) {
            let to = s.to.min(secs);
            expected += s.rate * (to - s.from);
            utility += s.rate * (to * to - s.from * s.from) / 2.0;
        }
        (expected, utility)
    }

    fn whole_periods(&self, a: Time, b: Time) -> (f64, f64) {
        let secs = b.millis_since(a).max(0) as f64 / 1000.0;
        let periods = (secs / self.period_secs()).floor();
        (periods, secs - periods * self.period_secs())
    }

    /// Returns the entries expected in (a, b].
    pub fn expect(&self, a: Time, b: Time) -> f64 {
        let (periods, rest) = self.whole_periods(a, b);
        let slot = self.slot_ms as f64 / 1000.0;
        let whole =
            if periods > 0.0 { periods * self.rates.iter().sum::<f64>() * slot } else { 0.0 };
        whole + self.part(a, rest).0
    }

    /// Returns the utility of a poll at b after one at a.
    pub fn utility(&self, a: Time, b: Time) -> f64 {
        let (periods, rest) = self.whole_periods(a, b);
        let (expected, utility) = self.part(a, rest);
        if periods == 0.0 {
            return utility;
        }
        self.utility_of_periods(a, periods) + periods * self.period_secs() * expected + utility
    }

    fn utility_of_periods(&self, a: Time, periods: f64) -> f64 {
        let (expected, utility) = self.part(a, self.period_secs());
        expected * self.period_secs() * periods * (periods - 1.0) / 2.0 + periods * utility
    }

    /// Returns the seconds after `a` until `amount` entries are expected; `None` if never.
    pub fn until_expected(&self, a: Time, amount: f64) -> Option<f64> {
        let (expected, _) = self.part(a, self.period_secs());
        if expected.is_nan() || expected <= 0.0 || !amount.is_finite() {
            return None;
        }
        let periods = ((amount / expected).ceil() - 1.0).max(0.0);
        let mut rest = amount - periods * expected;
        let skipped = periods * self.period_secs();
        let mut last = 0.0;
        for s in self.stretches(a).filter(|s| s.rate > 0.0 && s.to > s.from) {
            let here = s.rate * (s.to - s.from);
            if here >= rest {
                return Some(skipped + s.from + (rest / s.rate).max(0.0));
            }
            rest -= here;
            last = s.to;
        }
        // A rounding error is left beyond the last active slot.
        Some(skipped + last)
    }

    /// Returns the seconds after `a` until the utility of a poll reaches `amount`; `None` if never.
    pub fn until_utility(&self, a: Time, amount: f64) -> Option<f64> {
        let period = self.period_secs();
        let (expected, utility) = self.part(a, period);
        if expected.is_nan() || expected <= 0.0 || !amount.is_finite() {
            return None;
        }
        // Whole periods k: the largest with E·P·k(k−1)/2 + k·U below the amount.
        let (half, linear) = (expected * period / 2.0, utility - expected * period / 2.0);
        let root =
            ((linear * linear + 4.0 * half * amount.max(0.0)).sqrt() - linear) / (2.0 * half);
        if root == f64::INFINITY {
            return None;
        }
        let mut periods = root.floor().max(0.0);
        while periods > 0.0 && self.utility_of_periods(a, periods) >= amount {
            // For very large numbers subtracting one has no effect, so take the next smaller one.
            periods = (periods - 1.0).min(periods.next_down());
        }
        let mut rest =
            amount - if periods > 0.0 { self.utility_of_periods(a, periods) } else { 0.0 };
        let skipped = periods * period;
        let mut last = 0.0;
        for s in self.stretches(a).filter(|s| s.rate > 0.0 && s.to > s.from) {
            let (from, to) = (skipped + s.from, skipped + s.to);
            let here = s.rate * (to - from) * (to + from) / 2.0;
            if here >= rest {
                return Some((from * from + 2.0 * rest.max(0.0) / s.rate).sqrt());
            }
            rest -= here;
            last = to;
        }
        Some(last)
    }
}

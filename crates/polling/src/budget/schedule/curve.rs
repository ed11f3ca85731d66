//! A rate over a period with its first and second integrals, for schedules within the period.
//!
//! It has either hourly slots, as models learn them, or a smooth function with its integrals.
//!
//! ```
//! use polling::budget::curve::Curve;
//!
//! // One entry per hour from 8 to 10: polled at 10, they have waited one hour each.
//! let mut hours = [0.0; 24];
//! (hours[8], hours[9]) = (1.0, 1.0);
//! let day = Curve::slots(&hours, 24.0);
//! assert_eq!((day.sum(24.0), day.waiting(0.0, 10.0)), (2.0, 2.0));
//! ```

/// λ(t) over [0, period), repeating.
#[derive(Clone, Debug)]
pub enum Curve {
    Slots {
        /// λ in each slot.
        rates: Vec<f64>,
        period: f64,
        /// Λ and ∫Λ at the start of each slot, and at the end of the period.
        sums: Vec<(f64, f64)>,
    },
    Smooth {
        rate: fn(f64) -> f64,
        /// Λ(t) = ∫_0^t λ, for all t.
        sum: fn(f64) -> f64,
        /// ∫_0^t Λ, for all t.
        sum_of_sums: fn(f64) -> f64,
        period: f64,
    },
}

impl Curve {
    pub fn slots(rates: &[f64], period: f64) -> Curve {
        let width = period / rates.len().max(1) as f64;
        let (mut first, mut second) = (0.0, 0.0);
        let mut sums = vec![(first, second)];
        for rate in rates {
            second += first * width + rate * width * width / 2.0;
            first += rate * width;
            sums.push((first, second));
        }
        Curve::Slots { rates: rates.to_vec(), period, sums }
    }

    pub fn period(&self) -> f64 {
        match self {
            Curve::Slots { period, .. } | Curve::Smooth { period, .. } => *period,
        }
    }

    pub fn rate(&self, t: f64) -> f64 {
        match self {
            Curve::Smooth { rate, .. } => rate(t),
            Curve::Slots { rates, period, .. } => {
                let width = period / rates.len() as f64;
                rates[((t.rem_euclid(*period) / width) as usize).min(rates.len() - 1)]
            }
        }
    }

    /// Λ(t), for all t.
    pub fn sum(&self, t: f64) -> f64 {
        match self {
            Curve::Smooth { sum, .. } => sum(t),
            Curve::Slots { rates, period, sums } => {
                let (periods, slot, into) = place(t, *period, rates.len());
                periods * sums[rates.len()].0 + sums[slot].0 + rates[slot] * into
            }
        }
    }

    fn sum_of_sums(&self, t: f64) -> f64 {
        match self {
            Curve::Smooth { sum_of_sums, .. } => sum_of_sums(t),
            Curve::Slots { rates, period, sums } => {
                let (periods, slot, into) = place(t, *period, rates.len());
                let (whole, whole_second) = sums[rates.len()];
                let inside = slot as f64 * period / rates.len() as f64 + into;
                let before = periods * (periods - 1.0) / 2.0 * whole * period;
                before
                    + periods * (whole_second + whole * inside)
                    + sums[slot].1
                    + sums[slot].0 * into
                    + rates[slot] * into * into / 2.0
            }
        }
    }

    /// ∫_a^b λ(t)·(b − t) dt: the waiting of the entries in (a, b] until a poll at b.
    pub fn waiting(&self, a: f64, b: f64) -> f64 {
        self.sum_of_sums(b) - self.sum_of_sums(a) - (b - a) * self.sum(a)
    }
}

/// Returns the whole periods before t, its slot, and the position within the slot.
fn place(t: f64, period: f64, n: usize) -> (f64, usize, f64) {
    let periods = (t / period).floor();
    let rest = t - periods * period;
    let width = period / n as f64;
    let slot = ((rest / width) as usize).min(n - 1);
    (periods, slot, rest - slot as f64 * width)
}

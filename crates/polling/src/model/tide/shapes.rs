//! What the days of feeds look like: a handful of shapes, each at any hour of the world.
//!
//! They were fitted by expectation maximisation on at most 60 entries each of 834 feeds, weighted
//! by kind: posts 80, releases 60, news pages 45, commits 40, uploads 25, blogs 13. A feed's prior
//! is the mixture of the shapes that explain what was seen of it: twenty entries tell an office in
//! Europe from one in America. It learns nothing of its own.
//!
//! ```
//! use feed::Time;
//! use polling::model::ModelKind;
//!
//! // Of a feed nobody knows less is expected on a Sunday than on a Wednesday.
//! let model = ModelKind::Tide.start();
//! let day = |d: i64| model.expect(Time::from_secs(d * 86_400), Time::from_secs((d + 1) * 86_400));
//! assert!(day(3) < day(6));
//! ```

use std::sync::LazyLock;

use super::habits::Share;
use crate::tuning::{Constant, tuned};

/// The first of the two weekend days, in weeks that begin with the epoch's Thursday.
pub(super) const SATURDAY: usize = 2;
/// How much an entry says about the shape. Entries come in company, and yet less belief is worse.
const WITNESS: f64 = 1.0;

/// Busy for most of the day; office hours; one moment of the day.
const SHAPES: [Shape; 3] = [
    Shape {
        weight: 0.42,
        hours: [
            0.10, 0.08, 0.11, 0.20, 0.62, 1.00, 1.63, 1.33, 1.39, 1.55, 1.53, 1.61, 1.35, 1.34,
            1.40, 1.41, 1.26, 1.58, 1.41, 1.80, 0.71, 0.31, 0.16, 0.11,
        ],
        shifts: [
            2.7, 4.0, 10.0, 6.6, 3.3, 2.7, 4.9, 16.8, 3.7, 14.9, 10.0, 5.8, 1.5, 1.0, 0.8, 0.5,
            2.6, 0.3, 0.4, 1.2, 0.3, 2.6, 2.8, 0.6,
        ],
    },
    Shape {
        weight: 0.37,
        hours: [
            0.03, 0.03, 0.03, 0.04, 0.09, 0.17, 0.73, 1.26, 2.55, 2.65, 2.66, 2.28, 2.11, 2.05,
            2.25, 1.61, 1.44, 0.75, 0.60, 0.40, 0.17, 0.12, 0.05, 0.03,
        ],
        shifts: [
            4.4, 1.3, 3.1, 2.6, 1.4, 8.5, 23.8, 24.5, 12.1, 7.7, 3.1, 1.4, 0.5, 0.5, 0.3, 0.3, 0.3,
            0.3, 1.1, 0.3, 0.5, 1.4, 0.3, 0.6,
        ],
    },
    Shape {
        weight: 0.07,
        hours: [
            0.15, 0.13, 0.08, 0.06, 0.14, 0.10, 0.20, 0.20, 0.56, 1.03, 1.82, 1.80, 9.89, 3.80,
            2.52, 0.99, 0.30, 0.07, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05,
        ],
        shifts: [4.2; 24],
    },
];
/// Every hour like every other.
const FLAT_WEIGHT: f64 = 0.14;

/// Weekdays and weekend days beside the mean, and how usual that is.
const WEEKS: [(f64, f64, f64); 3] = [(0.435, 1.0, 1.0), (0.33, 1.25, 0.38), (0.235, 1.36, 0.1)];

struct Shape {
    weight: f64,
    hours: [f64; 24],
    /// How usual it is that the shape begins so many hours after midnight, UTC.
    shifts: [f64; 24],
}

/// A shape twice in a row, so that every shift of it is a slice; its logarithms too.
struct Rolled {
    factors: [f64; 48],
    logs: [f64; 48],
    /// The logarithm of how usual each shift is.
    usual: [f64; 24],
}

static ROLLED: LazyLock<[Rolled; 3]> = LazyLock::new(|| SHAPES.each_ref().map(Shape::rolled));

impl Shape {
    fn rolled(&self) -> Rolled {
        let mean = self.hours.iter().sum::<f64>() / 24.0;
        let factors: [f64; 48] = std::array::from_fn(|i| self.hours[i % 24] / mean);
        let all: f64 = self.shifts.iter().sum();
        let near = |shift: usize| self.shifts[shift % 24] / all;
        let usual = std::array::from_fn(|shift| {
            let blurred = 0.5 * near(shift) + 0.25 * (near(shift + 1) + near(shift + 23));
            (self.weight * blurred).ln()
        });
        Rolled { factors, logs: factors.map(f64::ln), usual }
    }
}

/// The expected factors of the hours, of a feed with these entries.
pub(super) fn hours(shares: &[Share; 24]) -> [f64; 24] {
    let mut mixture = Mixture::default();
    let witness = tuned(Constant::ShapesWitness, WITNESS);
    let (seen, expected) = (shares.map(|share| share.seen), shares.map(|share| share.expected));
    mixture.add(FLAT_WEIGHT.ln() - witness * expected.iter().sum::<f64>(), |_| 1.0);
    for shape in ROLLED.iter() {
        for shift in 0..24 {
            let factors = &shape.factors[24 - shift..48 - shift];
            let logs = &shape.logs[24 - shift..48 - shift];
            let likely = dot(&seen, logs) - dot(&expected, factors);
            mixture.add(shape.usual[shift] + witness * likely, |hour| factors[hour]);
        }
    }
    mixture.mean()
}

/// In four sums, that a processor can reckon side by side.
fn dot(a: &[f64; 24], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    for (a, b) in a.chunks_exact(4).zip(b.chunks_exact(4)) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The expected factors of the weekdays, of a feed with these entries.
pub(super) fn days(shares: &[Share; 7]) -> [f64; 7] {
    let mut mixture = Mixture::default();
    let witness = tuned(Constant::ShapesWitness, WITNESS);
    let is_weekend = |day: usize| (SATURDAY..SATURDAY + 2).contains(&day);
    for (weight, weekday, weekend) in WEEKS {
        let factor = |day: usize| if is_weekend(day) { weekend } else { weekday };
        let likely = shares
            .iter()
            .enumerate()
            .map(|(day, share)| share.seen * f64::ln(factor(day)) - share.expected * factor(day));
        mixture.add(f64::ln(weight) + witness * likely.sum::<f64>(), factor);
    }
    mixture.mean()
}

/// A sum of shapes, each weighted by e to its logarithm; the largest so far weighs one.
struct Mixture<const N: usize> {
    largest: f64,
    weight: f64,
    sum: [f64; N],
}

impl<const N: usize> Default for Mixture<N> {
    fn default() -> Mixture<N> {
        Mixture { largest: f64::NEG_INFINITY, weight: 0.0, sum: [0.0; N] }
    }
}

/// What weighs less than e^−12 beside another is not worth adding.
const NEGLIGIBLE: f64 = -12.0;

impl<const N: usize> Mixture<N> {
    fn add(&mut self, log: f64, factor: impl Fn(usize) -> f64) {
        if log > self.largest {
            let shrink = (self.largest - log).exp();
            self.weight *= shrink;
            self.sum.iter_mut().for_each(|x| *x *= shrink);
            self.largest = log;
        }
        if log - self.largest < NEGLIGIBLE {
            return;
        }
        let weight = (log - self.largest).exp();
        self.weight += weight;
        self.sum.iter_mut().enumerate().for_each(|(i, x)| *x += weight * factor(i));
    }

    fn mean(self) -> [f64; N] {
        if self.weight > 0.0 { self.sum.map(|x| x / self.weight) } else { [1.0; N] }
    }
}

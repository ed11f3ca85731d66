//! Priors for the shape of a feed's day: three templates, each at any hour of UTC.
//!
//! The templates were fitted by expectation maximisation on at most 60 entries each of 834 feeds.
//! The feeds were weighted by kind: posts 80, releases 60, news pages 45, commits 40, uploads 25,
//! blogs 13. A feed's prior is the mixture of the templates that explain its entries: twenty
//! entries distinguish an office in Europe from one in America. Nothing is learned here.
//!
//! ```
//! use feed::Time;
//! use polling::model::ModelKind;
//!
//! // An unknown feed is expected to post less on a Sunday than on a Wednesday.
//! let model = ModelKind::Tide.start();
//! let day = |d: i64| model.expect(Time::from_secs(d * 86_400), Time::from_secs((d + 1) * 86_400));
//! assert!(day(3) < day(6));
//! ```

use std::sync::LazyLock;

use super::half_days::HalfDays;
use super::mixture::Mixture;
use super::rhythm::ActivityCount;
use crate::tuning::{Constant, tuned};

/// The index of Saturday in weeks that begin on Thursday, like the epoch.
pub(super) const SATURDAY: usize = 2;
/// The weight of one entry as evidence for a template. Entries come in bursts, and yet a smaller
/// weight measured worse.
const EVIDENCE_WEIGHT: f64 = 1.0;

/// The templates: busy for most of the day; office hours; one time of the day.
const SHAPES: [DayTemplate; 3] = [
    DayTemplate {
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
    DayTemplate {
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
    DayTemplate {
        weight: 0.07,
        hours: [
            0.15, 0.13, 0.08, 0.06, 0.14, 0.10, 0.20, 0.20, 0.56, 1.03, 1.82, 1.80, 9.89, 3.80,
            2.52, 0.99, 0.30, 0.07, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05,
        ],
        shifts: [4.2; 24],
    },
];
/// The prior weight of a day without a shape.
const FLAT_WEIGHT: f64 = 0.14;

/// Weeks: their prior weight, and the activity of weekdays and of weekend days relative to the
/// mean.
const WEEKS: [(f64, f64, f64); 3] = [(0.435, 1.0, 1.0), (0.33, 1.25, 0.38), (0.235, 1.36, 0.1)];

struct DayTemplate {
    weight: f64,
    hours: [f64; 24],
    /// The prior weight of each shift: the hours from midnight UTC to the template's start.
    shifts: [f64; 24],
}

/// A template at each shift.
struct ShiftedTemplate {
    /// The factors twice in a row, so that every shift is a slice.
    factors: [f64; 48],
    /// The log prior of each shift.
    usual: [f64; 24],
    /// The log-likelihood terms of the first twelve shifts: of an entry, and of an entry that was
    /// expected but did not come.
    evidence: [HalfDays; 12],
}

static SHIFTED: LazyLock<[ShiftedTemplate; 3]> =
    LazyLock::new(|| SHAPES.each_ref().map(DayTemplate::shifted));

impl DayTemplate {
    fn shifted(&self) -> ShiftedTemplate {
        let mean = self.hours.iter().sum::<f64>() / 24.0;
        let factors: [f64; 48] = std::array::from_fn(|i| self.hours[i % 24] / mean);
        let all: f64 = self.shifts.iter().sum();
        let near = |shift: usize| self.shifts[shift % 24] / all;
        let usual = std::array::from_fn(|shift| {
            let blurred = 0.5 * near(shift) + 0.25 * (near(shift + 1) + near(shift + 23));
            (self.weight * blurred).ln()
        });
        let evidence = std::array::from_fn(|shift| {
            let factor = |hour: usize| factors[24 - shift + hour];
            HalfDays::of(|hour| (factor(hour).ln(), -factor(hour)))
        });
        ShiftedTemplate { factors, usual, evidence }
    }
}

/// Returns the expected factors of the hours for a feed with these counts.
pub(super) fn hours(shares: &[ActivityCount; 24]) -> [f64; 24] {
    let mut mixture = Mixture::default();
    let evidence_weight = tuned(Constant::ShapesWitness, EVIDENCE_WEIGHT);
    let expected = shares.iter().map(|share| share.expected).sum::<f64>();
    mixture.add(FLAT_WEIGHT.ln() - evidence_weight * expected, |_| 1.0);
    let day = HalfDays::of(|hour| (shares[hour].seen, shares[hour].expected));
    for shape in SHIFTED.iter() {
        let mut likely = [0.0; 24];
        for (shift, evidence) in shape.evidence.iter().enumerate() {
            [likely[shift], likely[shift + 12]] = day.products(evidence);
        }
        for (shift, likely) in likely.into_iter().enumerate() {
            let factors = &shape.factors[24 - shift..48 - shift];
            mixture.add(shape.usual[shift] + evidence_weight * likely, |hour| factors[hour]);
        }
    }
    mixture.mean()
}

/// Returns the expected factors of the weekdays for a feed with these counts.
pub(super) fn days(shares: &[ActivityCount; 7]) -> [f64; 7] {
    let mut mixture = Mixture::default();
    let evidence_weight = tuned(Constant::ShapesWitness, EVIDENCE_WEIGHT);
    let is_weekend = |day: usize| (SATURDAY..SATURDAY + 2).contains(&day);
    for (weight, weekday, weekend) in WEEKS {
        let factor = |day: usize| if is_weekend(day) { weekend } else { weekday };
        let likely = shares
            .iter()
            .enumerate()
            .map(|(day, share)| share.seen * f64::ln(factor(day)) - share.expected * factor(day));
        mixture.add(f64::ln(weight) + evidence_weight * likely.sum::<f64>(), factor);
    }
    mixture.mean()
}

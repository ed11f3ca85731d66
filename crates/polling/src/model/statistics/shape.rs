//! The shape of a feed's day, and whether one day resembles the next (Horincar, Amann and Artières
//! 2012, section 5; source 000).
//!
//! Two thresholds around the mean entries per hour separate insignificant, average and very high
//! activity. The paper gives neither their values nor the rule. Ours: below half of the mean is
//! insignificant, above twice the mean very high. The day has **peaks** if the very high hours hold
//! at least half of the entries and never last longer than three hours. It is **uniform** if at
//! most two hours are not average, and has **waves** otherwise.
//!
//! Periodic: CV = (1/24)·Σ σ_i/μ_i over the hours with μ_i ≠ 0 is ≤ 1. As printed, few active hours
//! make a feed look periodic, so the mean over the active hours is given too.
//!
//! ```
//! use polling::model::shape::{ActivityShape, shape_of};
//!
//! let mut robot = [0.0; 24];
//! for hour in (0..24).step_by(4) { robot[hour] = 5.0; }
//! assert_eq!(shape_of(&robot), Some(ActivityShape::Peaks));
//! assert_eq!(shape_of(&[3.0; 24]), Some(ActivityShape::Uniform));
//! ```

/// The shape of a feed's day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivityShape {
    Peaks,
    Uniform,
    Waves,
}

/// Below this share of the mean an hour is insignificant.
const INSIGNIFICANT: f64 = 0.5;
/// Above this multiple of the mean an hour's activity is very high.
const VERY_HIGH: f64 = 2.0;
/// An automatic batch is over within this many hours; people work longer.
const PEAK_HOURS_MAX: usize = 3;
/// Noise makes an hour or two of a uniform day look unusual.
const UNUSUAL_HOURS_MAX: usize = 2;

/// Returns the shape of a day, from entries per hour; `None` without any.
pub fn shape_of(hours: &[f64; 24]) -> Option<ActivityShape> {
    let total: f64 = hours.iter().sum();
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let mean = total / 24.0;
    let high = hours.map(|x| x > VERY_HIGH * mean);
    let n_high = high.iter().filter(|h| **h).count();
    let n_low = hours.iter().filter(|x| **x < INSIGNIFICANT * mean).count();
    let in_peaks: f64 = hours.iter().zip(high).filter(|(_, high)| *high).map(|(x, _)| x).sum();
    Some(if in_peaks >= total / 2.0 && longest_run(&high) <= PEAK_HOURS_MAX {
        ActivityShape::Peaks
    } else if n_low + n_high <= UNUSUAL_HOURS_MAX {
        ActivityShape::Uniform
    } else {
        ActivityShape::Waves
    })
}

/// Returns the longest run of marked hours, also across midnight.
fn longest_run(marked: &[bool; 24]) -> usize {
    let (mut longest, mut run) = (0, 0);
    for i in 0..48 {
        run = if marked[i % 24] { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest.min(24)
}

/// The variation between days.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Periodicity {
    /// As printed: the sum over the active hours divided by 24.
    pub cv: f64,
    /// The mean over the active hours.
    pub cv_active: f64,
}

impl Periodicity {
    /// Applies the paper's test.
    pub fn is_periodic(self) -> bool {
        self.cv <= 1.0
    }
}

/// Returns the coefficients of variation of `days` with entries per hour; `None` without any entry.
pub fn periodicity(days: &[[u32; 24]]) -> Option<Periodicity> {
    let n = days.len() as f64;
    let (mut sum, mut n_active) = (0.0, 0_u32);
    for hour in 0..24 {
        let counts = || days.iter().map(|day| f64::from(day[hour]));
        let mean = counts().sum::<f64>() / n;
        if mean > 0.0 {
            let variance = counts().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
            sum += variance.sqrt() / mean;
            n_active += 1;
        }
    }
    let cv_active = sum / f64::from(n_active);
    (n_active > 0).then_some(Periodicity { cv: sum / 24.0, cv_active })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn office_hours_are_waves_and_a_nightly_batch_is_a_peak() {
        let mut office = [0.1; 24];
        office[8..17].fill(5.0);
        assert_eq!(shape_of(&office), Some(ActivityShape::Waves));
        let mut batch = [0.1; 24];
        (batch[23], batch[0]) = (9.0, 9.0);
        assert_eq!(shape_of(&batch), Some(ActivityShape::Peaks));
        assert_eq!(shape_of(&[0.0; 24]), None);
    }

    #[test]
    fn equal_days_are_periodic_and_the_printed_formula_flatters_sparse_feeds() {
        let mut day = [0; 24];
        day[9] = 4;
        let equal = periodicity(&[day; 7]).unwrap();
        assert_eq!((equal.cv, equal.cv_active), (0.0, 0.0));
        let mut days = [[0; 24]; 10];
        days[0][3] = 1;
        let sparse = periodicity(&days).unwrap();
        assert!((sparse.cv_active - 3.0).abs() < 1e-12 && sparse.is_periodic());
        assert_eq!(periodicity(&[]), None);
    }
}

//! Mean, median and maximum of many values: exact where all values are kept, within a few per cent
//! where only a histogram is.

use std::collections::BTreeMap;

/// Bins of one doubling. A median is off by at most 1/32 of a doubling, about 2 %.
const BINS_PER_DOUBLING: f64 = 16.0;

/// A histogram over logarithms, for millions of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogSpread {
    bins: BTreeMap<i32, u64>,
    zeros: u64,
    n: u64,
    sum: f64,
    squares: f64,
    max: f64,
}

impl LogSpread {
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        self.sum += value;
        self.squares += value * value;
        self.max = self.max.max(value);
        if value <= 0.0 {
            self.zeros += 1;
        } else {
            let bin = (value.log2() * BINS_PER_DOUBLING).floor() as i32;
            *self.bins.entry(bin).or_default() += 1;
        }
    }

    pub fn n(&self) -> u64 {
        self.n
    }

    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }

    /// Returns the standard deviation.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        Some((self.squares / self.n as f64 - mean * mean).max(0.0).sqrt())
    }

    /// Returns the number of values up to each of the ends, and of those beyond the last one.
    pub fn bars(&self, ends: &[f64]) -> Vec<u64> {
        let mut bars = vec![0; ends.len() + 1];
        let middle = |bin: &i32| ((f64::from(*bin) + 0.5) / BINS_PER_DOUBLING).exp2();
        let values = self.bins.iter().map(|(bin, n)| (middle(bin), *n));
        for (value, n) in values.chain([(0.0, self.zeros)]) {
            bars[ends.iter().position(|end| value <= *end).unwrap_or(ends.len())] += n;
        }
        bars
    }

    pub fn max(&self) -> Option<f64> {
        (self.n > 0).then_some(self.max)
    }

    /// Returns the middle of the bin in which this share of the values is reached.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = (self.n as f64 * share).ceil().max(1.0) as u64;
        if self.n == 0 {
            return None;
        }
        let mut below = self.zeros;
        if rank <= below {
            return Some(0.0);
        }
        for (bin, n) in &self.bins {
            below += n;
            if rank <= below {
                return Some(((f64::from(*bin) + 0.5) / BINS_PER_DOUBLING).exp2());
            }
        }
        Some(self.max)
    }
}

/// Returns mean, lower median and maximum of values.
pub(crate) fn spread(mut values: Vec<u64>) -> Option<(f64, u64, u64)> {
    let max = values.iter().copied().max()?;
    let mean = values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64;
    let middle = (values.len() - 1) / 2;
    Some((mean, *values.select_nth_unstable(middle).1, max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_three_per_cent() {
        let mut spread = LogSpread::default();
        (1..=1000).for_each(|i| spread.add(f64::from(i) * 3.0));
        let near = |share: f64, expect: f64| {
            let found = spread.quantile(share).unwrap();
            assert!((found / expect - 1.0).abs() < 0.03, "{share}: {found}");
        };
        near(0.5, 1500.0);
        near(0.9, 2700.0);
        assert_eq!((spread.mean(), spread.max(), spread.n()), (Some(1501.5), Some(3000.0), 1000));
        assert_eq!(LogSpread::default().quantile(0.5), None);
        // The values 3, 6, …, 3000 have this standard deviation.
        let expect = 3.0 * ((1000.0_f64 * 1000.0 - 1.0) / 12.0).sqrt();
        assert!((spread.deviation().unwrap() / expect - 1.0).abs() < 1e-9);
        let bars = spread.bars(&[100.0, 2000.0]);
        assert!(bars[0].abs_diff(33) <= 1 && bars[1].abs_diff(633) <= 15, "{bars:?}");
        assert_eq!(bars.iter().sum::<u64>(), 1000);
        spread.add(0.0);
        assert_eq!(spread.quantile(0.0), Some(0.0));
    }

    #[test]
    fn the_median_of_an_even_number_is_the_lower_one() {
        assert_eq!(spread(vec![4, 1, 2, 9]), Some((4.0, 2, 9)));
        assert_eq!(spread(Vec::new()), None);
    }
}

//! Delays of single entries in 4 bytes each, and their quantiles.
//!
//! A run over 33 million entries keeps all delays, to give exact quantiles. With 8 bytes each they
//! would take as much memory as the world.

/// A delay: to the millisecond below 24.8 days, to the second above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay(u32);

/// The upper half of the numbers counts seconds. The order holds across both halves, because the
/// upper half has only delays above 24.8 days.
const SECONDS: u32 = 1 << 31;

impl Delay {
    pub fn from_millis(ms: i64) -> Delay {
        let ms = ms.max(0).unsigned_abs();
        match u32::try_from(ms) {
            Ok(ms) if ms < SECONDS => Delay(ms),
            _ => {
                let secs = u32::try_from(ms / 1000).unwrap_or(u32::MAX);
                Delay(SECONDS | secs.min(SECONDS - 1))
            }
        }
    }

    pub fn millis(self) -> u64 {
        match self.0 {
            ms if ms < SECONDS => ms.into(),
            secs => u64::from(secs & !SECONDS) * 1000,
        }
    }

    pub fn seconds(self) -> f64 {
        self.millis() as f64 / 1000.0
    }
}

/// The quantiles 50, 90 and 99 % of delays, and the maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiles {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

/// Returns the percentiles 1 to 100 of the delays in seconds, by nearest rank; empty without
/// delays. Sorts the delays.
pub(crate) fn curve(delays: &mut [Delay]) -> Vec<f64> {
    if delays.is_empty() {
        return Vec::new();
    }
    delays.sort_unstable();
    let rank = |percent: usize| (delays.len() * percent).div_ceil(100).max(1);
    (1..=100).map(|percent| delays[rank(percent) - 1].seconds()).collect()
}

impl Quantiles {
    /// Reads the quantiles from a [`curve`]; `None` for an empty one.
    pub(crate) fn of(curve: &[f64]) -> Option<Quantiles> {
        let at = |percent: usize| curve.get(percent - 1).copied();
        Some(Quantiles { p50: at(50)?, p90: at(90)?, p99: at(99)?, max: at(100)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_keep_their_order_and_their_milliseconds() {
        let steps = [0, 1, 999, 2_147_483_647, 2_147_483_648, 2_147_485_000, 9_000_000_000];
        let delays = steps.map(Delay::from_millis);
        assert!(delays.is_sorted());
        assert_eq!(delays[3].millis(), 2_147_483_647);
        assert_eq!(delays[6].millis(), 9_000_000_000);
        assert_eq!(Delay::from_millis(-5).millis(), 0);
    }

    #[test]
    fn quantiles_are_of_nearest_rank() {
        let mut delays: Vec<Delay> =
            (1..=200).rev().map(|s| Delay::from_millis(s * 1000)).collect();
        let q = Quantiles::of(&curve(&mut delays)).unwrap();
        assert_eq!((q.p50, q.p90, q.p99, q.max), (100.0, 180.0, 198.0, 200.0));
        let one = Quantiles::of(&curve(&mut [Delay::from_millis(7000)])).unwrap();
        assert_eq!((one.p50, one.p99), (7.0, 7.0));
        assert_eq!(Quantiles::of(&curve(&mut [])), None);
    }
}

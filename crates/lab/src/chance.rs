//! A seeded random number generator: xoshiro256** (Blackman and Vigna, 2018), seeded by SplitMix64.
//!
//! The seed never comes from a clock. Each feed has its own stream, so that a larger population
//! begins with the same feeds as a smaller one.

use crate::exact;

/// A stream of numbers that its seed determines.
#[derive(Clone, Debug)]
pub struct Chance {
    state: [u64; 4],
}

impl Chance {
    /// Creates the stream number `stream` of a seed.
    pub fn new(seed: u64, stream: u64) -> Chance {
        let mut mixed = seed ^ split_mix(&mut stream.wrapping_add(1));
        Chance { state: std::array::from_fn(|_| split_mix(&mut mixed)) }
    }

    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        // A double holds 53 bits exactly.
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform number in 0..n; 0 for n = 0. The bias of the multiplication is below n /
    /// 2⁶⁴.
    pub fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.bits()) * n as u128;
        (wide >> 64) as usize
    }

    /// Returns a uniform number in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns true with a probability in percent.
    pub fn percent(&mut self, percent: f64) -> bool {
        self.unit() * 100.0 < percent
    }

    /// Returns one of the choices with a probability proportional to its weight.
    pub fn weighted<T: Copy>(&mut self, choices: &[(T, u32)]) -> Option<T> {
        let total: u32 = choices.iter().map(|c| c.1).sum();
        let mut left = self.below(total as usize);
        for &(choice, weight) in choices {
            match left.checked_sub(weight as usize) {
                None => return Some(choice),
                Some(rest) => left = rest,
            }
        }
        None
    }

    /// Returns a gap of a Poisson process with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * exact::ln(1.0 - self.unit())
    }

    /// Draws from the density x^−`exponent` on [low, high], 0 < low < high, exponent ≠ 1.
    pub fn power_law(&mut self, low: f64, high: f64, exponent: f64) -> f64 {
        let e = 1.0 - exponent;
        let (a, b) = (exact::power(low, e), exact::power(high, e));
        exact::power(a + (b - a) * self.unit(), 1.0 / e)
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_its_published_first_number() {
        assert_eq!(split_mix(&mut 0), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let first = |stream| Chance::new(7, stream).bits();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn draws_have_their_means() {
        let mut chance = Chance::new(1, 0);
        let n = 20_000;
        let mean = |draw: &mut dyn FnMut() -> f64| (0..n).map(|_| draw()).sum::<f64>() / 20_000.0;
        let unit = mean(&mut || chance.unit());
        assert!((unit - 0.5).abs() < 0.01, "{unit}");
        let gap = mean(&mut || chance.exponential(3.0));
        assert!((gap - 3.0).abs() < 0.1, "{gap}");
        let choices = [('a', 1), ('b', 3)];
        let b = (0..n).filter(|_| chance.weighted(&choices) == Some('b')).count();
        assert!((14_600..15_400).contains(&b), "{b}");
    }
}

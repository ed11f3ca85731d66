//! Repeatable random numbers for simulations: the same seed, the same world.

/// SplitMix64.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Returns a Poisson number, by multiplying uniform ones: the means here are small.
    pub fn poisson(&mut self, mean: f64) -> u32 {
        let (limit, mut product, mut n) = ((-mean).exp(), self.unit(), 0);
        while product > limit {
            product *= self.unit();
            n += 1;
        }
        n
    }
}

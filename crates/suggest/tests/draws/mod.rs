//! Numbers that look random and are the same for the same seed, everywhere (SplitMix64).

/// A generator with its seed.
pub struct Draws(pub u64);

impl Draws {
    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((x ^ (x >> 31)) % (n as u64)).unwrap_or(0)
    }
}

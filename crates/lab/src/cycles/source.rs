//! One source: a window of ten entries, some of them relevant, some of them read.

use polling::budget::FeedUrgency;

use crate::{Chance, exact};

const WINDOW: usize = 10;
/// The bits of a window.
const SHOWN: u64 = (1 << WINDOW) - 1;
/// The largest number of entries in a cycle. At the paper's rates, the probability of more is below
/// 10⁻⁸.
const PUBLISHED_MAX: u32 = 31;

/// The entries that one source publishes in one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CyclePublication {
    n: u32,
    /// One bit per entry, the newest lowest; set if the entry is relevant.
    relevant: u32,
}

impl CyclePublication {
    /// Draws a Poisson number of entries, each relevant at random.
    pub(super) fn draw(rate: f64, selectivity: f64, chance: &mut Chance) -> CyclePublication {
        let (end, mut product) = (exact::exp(-rate), chance.unit());
        let mut published = CyclePublication::default();
        while product > end && published.n < PUBLISHED_MAX {
            published.relevant = published.relevant << 1 | u32::from(chance.unit() < selectivity);
            published.n += 1;
            product *= chance.unit();
        }
        published
    }

    pub(super) fn n_relevant(&self) -> u64 {
        self.relevant.count_ones().into()
    }
}

/// A source between two reads. Windows are bits, the newest entry lowest.
#[derive(Clone, Debug, Default)]
pub(super) struct CycleSource {
    relevant: u32,
    /// The entries that were read, and the number of each among all relevant entries read.
    read: u32,
    read_as: [u64; WINDOW],
    n_new: usize,
    /// Cycles since the last read, and the trapezoid sum of the divergence over them.
    cycles: f64,
    divergence: f64,
    integral: f64,
}

impl CycleSource {
    pub(super) fn publish(&mut self, published: CyclePublication) {
        let n = published.n as usize;
        if n > 0 {
            // 31 entries of a cycle and the ten before them fit 64 bits.
            let shifted = |bits: u32| (u64::from(bits) << n & SHOWN) as u32;
            self.relevant = shifted(self.relevant) | published.relevant & SHOWN as u32;
            self.read = shifted(self.read);
            let kept = WINDOW.saturating_sub(n);
            self.read_as.copy_within(..kept, WINDOW - kept);
        }
        self.n_new += n;
        let divergence = f64::from(self.unread().count_ones());
        self.cycles += 1.0;
        self.integral += (self.divergence + divergence) / 2.0;
        self.divergence = divergence;
    }

    /// Returns the relevant entries that are shown and came since the last read.
    fn unread(&self) -> u32 {
        self.relevant & ((1 << self.n_new.min(WINDOW)) - 1)
    }

    pub(super) fn standing(&self) -> FeedUrgency {
        FeedUrgency {
            divergence: self.divergence,
            saturated: self.n_new >= WINDOW,
            utility: self.cycles * self.divergence - self.integral,
        }
    }

    /// Reads new entries. `n_read` counts all relevant entries read so far, from all sources.
    pub(super) fn read(&mut self, mut n_read: u64) -> u64 {
        let unread = self.unread();
        for place in (0..WINDOW).rev().filter(|place| unread >> place & 1 == 1) {
            self.read_as[place] = n_read;
            n_read += 1;
        }
        self.read |= unread;
        (self.n_new, self.cycles, self.divergence, self.integral) = (0, 0.0, 0.0, 0.0);
        n_read
    }

    /// Returns the share of shown relevant entries that the result also shows. The result begins
    /// with the entry read as number `shown_from`.
    pub(super) fn freshness(&self, shown_from: u64) -> f64 {
        if self.relevant == 0 {
            return 1.0;
        }
        let mut n_shown = 0.0;
        let mut known = self.relevant & self.read;
        while known > 0 {
            let place = known.trailing_zeros() as usize;
            n_shown += f64::from(u8::from(self.read_as[place] >= shown_from));
            known &= known - 1;
        }
        n_shown / f64::from(self.relevant.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_loses_what_leaves_its_window_unread() {
        let mut source = CycleSource::default();
        // Three entries, the oldest and the newest relevant.
        source.publish(CyclePublication { n: 3, relevant: 0b101 });
        assert_eq!(source.standing().divergence, 2.0);
        assert_eq!(source.standing().utility, 1.0);
        source.publish(CyclePublication { n: 8, relevant: 0b1000_0000 });
        // Eleven came: the first relevant one is gone.
        assert_eq!((source.standing().divergence, source.standing().saturated), (2.0, true));
        assert_eq!(source.freshness(0), 0.0);
        assert_eq!(source.read(5), 7);
        assert_eq!((source.freshness(0), source.freshness(6)), (1.0, 0.5));
        source.publish(CyclePublication { n: 1, relevant: 1 });
        assert_eq!(source.freshness(0), 2.0 / 3.0);
    }
}

//! `uniform` — every feed in turn, in a fixed order: each is polled at b/m (Horincar, Amann and
//! Artières 2010; source 001). It is not random.
//!
//! ```
//! use polling::budget::uniform::RoundRobin;
//!
//! let mut turn = RoundRobin::default();
//! assert_eq!(turn.take(3, 2), [0, 1]);
//! assert_eq!(turn.take(3, 2), [2, 0]);
//! ```

/// The position in the order of feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundRobin {
    next: usize,
}

impl RoundRobin {
    /// Starts at feed number `next`.
    pub fn at(next: usize) -> RoundRobin {
        RoundRobin { next }
    }

    /// Returns the next feed without taking it.
    pub fn upcoming(self) -> usize {
        self.next
    }

    /// Takes the next of `n` feeds; `n` must not be 0.
    pub fn next(&mut self, n: usize) -> usize {
        let turn = self.next % n.max(1);
        self.next = (turn + 1) % n.max(1);
        turn
    }

    /// Takes the next `budget` of `n` feeds, each at most once.
    pub fn take(&mut self, n: usize, budget: usize) -> Vec<usize> {
        (0..budget.min(n)).map(|_| self.next(n)).collect()
    }
}

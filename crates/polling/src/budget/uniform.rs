//! `uniform` — every feed in turn, in a fixed order: each is polled at b/m (Horincar, Amann and
//! Artières 2010; source 001). It is not random.
//!
//! ```
//! use polling::budget::uniform::Turn;
//!
//! let mut turn = Turn::default();
//! assert_eq!(turn.take(3, 2), [0, 1]);
//! assert_eq!(turn.take(3, 2), [2, 0]);
//! ```

/// Whose turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    next: usize,
}

impl Turn {
    /// The next `budget` of `n` feeds, each at most once.
    pub fn take(&mut self, n: usize, budget: usize) -> Vec<usize> {
        let take = budget.min(n);
        let chosen = (self.next..self.next + take).map(|i| i % n).collect();
        self.next = if n == 0 { 0 } else { (self.next + take) % n };
        chosen
    }
}

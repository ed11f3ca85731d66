//! Which entries of a feed somebody wants. Measures then count the wanted entries only.
//!
//! The lab does not decide it: a trace says it in a column, or the caller asks its queries.

use std::ops::Range;

/// The wanted entries of one feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRelevance {
    wanted: Box<[bool]>,
    /// The number of wanted entries before each entry, and in all.
    n_before: Box<[u32]>,
}

impl EntryRelevance {
    /// `wanted` tells for each entry, in the order of appearance, whether somebody wants it.
    pub fn new(wanted: Vec<bool>) -> EntryRelevance {
        let mut n_before = Vec::with_capacity(wanted.len() + 1);
        let mut n = 0;
        n_before.push(n);
        for one in &wanted {
            n += u32::from(*one);
            n_before.push(n);
        }
        EntryRelevance { wanted: wanted.into(), n_before: n_before.into() }
    }

    #[inline]
    pub fn is_wanted(&self, entry: usize) -> bool {
        self.wanted.get(entry).copied().unwrap_or(false)
    }

    /// Returns how many entries of a range are wanted.
    #[inline]
    pub fn n_wanted(&self, entries: Range<usize>) -> usize {
        let before = |entry: usize| self.n_before[entry.min(self.wanted.len())];
        before(entries.end.max(entries.start)).saturating_sub(before(entries.start)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_entries_of_any_range_are_counted() {
        let relevance = EntryRelevance::new(vec![true, false, true, true]);
        for (range, expect) in [(0..4, 3), (1..2, 0), (1..4, 2), (2..2, 0), (3..9, 1), (7..9, 0)] {
            assert_eq!(relevance.n_wanted(range.clone()), expect, "{range:?}");
        }
        assert!(relevance.is_wanted(0) && !relevance.is_wanted(1) && !relevance.is_wanted(4));
        #[expect(clippy::reversed_empty_ranges, reason = "a range may be empty by its ends")]
        let reversed = relevance.n_wanted(3..1);
        assert_eq!(reversed, 0);
    }
}

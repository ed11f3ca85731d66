//! A hash table of numbers. The values that the numbers stand for are elsewhere. The table stores
//! half of each hash next to the number, so that growing takes one pass over the table and does not
//! touch the values.

use hashbrown::HashTable;

use crate::hash::mix;

#[derive(Default)]
pub(super) struct NumberTable {
    /// Half of a hash, and the number.
    slots: HashTable<(u32, u32)>,
}

impl NumberTable {
    /// Returns the number with this hash for which `is_it` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let half = half(hash);
        let same = |(other, number): &(u32, u32)| *other == half && is_it(*number);
        self.slots.find(spread(half), same).map(|(_, number)| *number)
    }

    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        let half = half(hash);
        self.slots.insert_unique(spread(half), (half, number), |(half, _)| spread(*half));
    }

    pub(super) fn remove(&mut self, hash: u64, number: u32) {
        let half = half(hash);
        if let Ok(slot) = self.slots.find_entry(spread(half), |slot| *slot == (half, number)) {
            slot.remove();
        }
    }
}

#[inline]
fn half(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// Spreads half a hash over all bits, because the table uses both ends.
#[inline]
fn spread(half: u32) -> u64 {
    mix(u64::from(half) | 1 << 32, 0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_and_removed_whatever_their_hash() {
        let mut table = NumberTable::default();
        // Two of three numbers share their hash with others.
        let hash = |number: u32| u64::from(number / 3) << 40;
        (0..3000).for_each(|number| table.insert(hash(number), number));
        (0..3000).step_by(2).for_each(|number| table.remove(hash(number), number));
        for number in 0..3000 {
            let found = table.find(hash(number), |other| other == number);
            assert_eq!(found, (number % 2 == 1).then_some(number));
        }
        assert_eq!(table.find(7 << 40, |_| false), None);
    }
}

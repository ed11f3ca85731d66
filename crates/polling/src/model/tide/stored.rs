//! The model of `tide` as bytes, some 600: all that was counted; what follows from it is drawn
//! anew.

use super::Tide;
use super::habits::Share;
use crate::bytes::{Reader, put_time};

/// Counts beyond this were never learned: an entry per millisecond for a year.
const COUNT_MAX: f64 = 4e10;

impl Tide {
    pub(in crate::model) fn write(&self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.last);
        bytes.extend(self.window_max.to_le_bytes());
        let shares = self.habits.hours.iter().chain(&self.habits.days);
        let counts = shares.flat_map(|share| [share.seen, share.expected]);
        let level = [self.level.entries, self.level.watched];
        bytes.extend(level.into_iter().chain(counts).flat_map(f64::to_le_bytes));
    }

    pub(in crate::model) fn read(reader: &mut Reader<'_>) -> Option<Tide> {
        let mut tide = Tide { last: reader.time()?, window_max: reader.u32()?, ..Tide::default() };
        let mut count = || {
            let count = reader.bytes().map(f64::from_le_bytes)?;
            (0.0..=COUNT_MAX).contains(&count).then_some(count)
        };
        (tide.level.entries, tide.level.watched) = (count()?, count()?);
        for share in tide.habits.hours.iter_mut().chain(&mut tide.habits.days) {
            *share = Share { seen: count()?, expected: count()? };
        }
        tide.habits.settle();
        tide.foresee();
        Some(tide)
    }
}

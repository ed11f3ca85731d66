//! The model of `tide` as bytes, some 800: all that was counted; what follows from it is drawn
//! anew.
//!
//! ```
//! use polling::model::{Model, ModelKind};
//!
//! let bytes = ModelKind::Tide.start().encode();
//! assert!(bytes.len() <= 1024);
//! assert_eq!(Model::decode(&bytes).unwrap().encode(), bytes);
//! ```

use super::Tide;
use super::habits::Share;
use super::level::Span;
use crate::bytes::{Reader, put_time};

/// Counts beyond this were never learned: an entry per millisecond for a year.
const COUNT_MAX: f64 = 4e10;

impl Tide {
    pub(in crate::model) fn write(&self, bytes: &mut Vec<u8>) {
        put_time(bytes, self.last);
        bytes.extend(self.window_max.to_le_bytes());
        let shares = self.habits.hours.iter().chain(&self.habits.days);
        let counts = shares.flat_map(|share| [share.seen, share.expected]);
        let level = self.level.spans.iter().flat_map(|span| [span.entries, span.watched]);
        bytes.extend(level.chain(counts).flat_map(f64::to_le_bytes));
        bytes.extend(self.minutes.seen.iter().flat_map(|n| n.to_le_bytes()));
    }

    pub(in crate::model) fn read(reader: &mut Reader<'_>) -> Option<Tide> {
        let mut tide = Tide { last: reader.time()?, window_max: reader.u32()?, ..Tide::default() };
        let mut count = || {
            let count = reader.bytes().map(f64::from_le_bytes)?;
            (0.0..=COUNT_MAX).contains(&count).then_some(count)
        };
        for span in &mut tide.level.spans {
            *span = Span { entries: count()?, watched: count()? };
        }
        for share in tide.habits.hours.iter_mut().chain(&mut tide.habits.days) {
            *share = Share { seen: count()?, expected: count()? };
        }
        for seen in &mut tide.minutes.seen {
            let count = reader.bytes().map(f32::from_le_bytes)?;
            *seen = Some(count).filter(|n| (0.0..=COUNT_MAX as f32).contains(n))?;
        }
        tide.settle();
        Some(tide)
    }
}

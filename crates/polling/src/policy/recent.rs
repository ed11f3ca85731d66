//! The publication times of recent entries, for counts such as "in the last hour".
//!
//! It keeps the newest times, in whole seconds, as many as fit their room when stored. If some had
//! to be dropped, counts are extrapolated at the rate of the others.
//!
//! ```
//! let policy: polling::Policy = "entry-frequency".parse().unwrap();
//! assert!(policy.start().encode().len() < 64, "nothing seen, next to nothing kept");
//! ```

use std::collections::VecDeque;

use feed::Time;

use crate::bytes::{ByteReader, put_sevens, put_time, sevens_len};

/// Publication times of entries seen, oldest first, as seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recent {
    times: VecDeque<i64>,
    span_secs: i64,
    /// The bytes that the gaps take when stored, and the most that they may take.
    size: usize,
    room: usize,
    /// The newest time that was dropped for lack of room.
    cut: Option<i64>,
}

impl Recent {
    pub(crate) fn new(span_secs: i64, room: usize) -> Recent {
        Recent { times: VecDeque::new(), span_secs, size: 0, room, cut: None }
    }

    /// Adds new entries, oldest first, and drops those older than the span.
    pub(crate) fn learn(&mut self, at: Time, new: &[Time]) {
        let oldest = at.secs().saturating_sub(self.span_secs);
        let fresh = &new[new.partition_point(|t| t.secs() <= oldest)..];
        // Each gap takes at least a byte, so more new entries than that cannot fit.
        let (flood, fresh) = fresh.split_at(fresh.len().saturating_sub(self.room + 1));
        self.cut = self.cut.max(flood.last().map(|t| t.secs()));
        while self.times.front().is_some_and(|t| *t <= oldest) {
            self.forget_oldest();
        }
        for time in fresh {
            self.insert(time.secs());
        }
        while self.size > self.room {
            self.cut = self.cut.max(self.times.front().copied());
            self.forget_oldest();
        }
    }

    fn insert(&mut self, time: i64) {
        match self.times.back() {
            Some(last) if time < *last => {
                // Claims may be out of order; this is rare.
                let place = self.times.partition_point(|t| *t <= time);
                self.times.insert(place, time);
                let gaps = self.times.iter().zip(self.times.iter().skip(1));
                self.size = gaps.map(|(a, b)| gap_bytes(*a, *b)).sum();
            }
            last => {
                self.size += last.map_or(0, |last| gap_bytes(*last, time));
                self.times.push_back(time);
            }
        }
    }

    fn forget_oldest(&mut self) {
        if let (Some(gone), Some(next)) = (self.times.pop_front(), self.times.front()) {
            self.size -= gap_bytes(gone, *next);
        }
    }

    /// Returns the indices of the times in (at − span, at].
    fn range(&self, at: Time) -> (usize, usize) {
        let (from, to) = (at.secs().saturating_sub(self.span_secs), at.secs());
        let first = self.times.partition_point(|t| *t <= from);
        (first, self.times.partition_point(|t| *t <= to).max(first))
    }

    /// Returns the number of entries published in (at − span, at].
    pub(crate) fn count(&self, at: Time) -> u64 {
        let (first, end) = self.range(at);
        let counted = (end - first) as u64;
        let from = at.secs().saturating_sub(self.span_secs);
        match self.times.front() {
            Some(oldest) if self.cut.is_some_and(|cut| cut > from) && counted > 0 => {
                let covered = at.secs().saturating_sub(*oldest).max(1).unsigned_abs();
                counted.saturating_mul(self.span_secs.unsigned_abs()) / covered
            }
            _ => counted,
        }
    }

    pub(crate) fn span_secs(&self) -> i64 {
        self.span_secs
    }

    /// Returns the kept times in (at − span, at], oldest first.
    pub(crate) fn times_within(&self, at: Time) -> impl Iterator<Item = i64> {
        let (first, end) = self.range(at);
        self.times.range(first..end).copied()
    }

    /// Returns the number of those times, with the oldest and the newest of them.
    pub(crate) fn within(&self, at: Time) -> Option<(usize, i64, i64)> {
        let (first, end) = self.range(at);
        (end > first).then(|| (end - first, self.times[first], self.times[end - 1]))
    }

    /// Writes the number, the dropped time, the oldest, then the gaps in groups of seven bits.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.times.len() as u16).to_le_bytes());
        put_time(bytes, self.cut.map(Time::from_secs));
        let Some(&first) = self.times.front() else { return };
        bytes.extend(first.to_le_bytes());
        for (last, time) in self.times.iter().zip(self.times.iter().skip(1)) {
            put_sevens(bytes, time.abs_diff(*last));
        }
    }

    /// Fills an empty value of the same span. Version 1 did not store the dropped time.
    pub(crate) fn read(mut self, reader: &mut ByteReader<'_>, version: u8) -> Option<Recent> {
        let n = usize::from(reader.bytes().map(u16::from_le_bytes)?);
        if version > 1 {
            self.cut = reader.time()?.map(Time::secs);
        }
        if n == 0 {
            return Some(self);
        }
        let mut time = reader.i64()?;
        self.insert(time);
        for _ in 1..n {
            time = time.checked_add(i64::try_from(reader.sevens()?).ok()?)?;
            self.insert(time);
        }
        (self.size <= self.room).then_some(self)
    }
}

/// Returns the bytes that a gap takes when stored.
fn gap_bytes(a: i64, b: i64) -> usize {
    sevens_len(b.abs_diff(a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_up_to_and_with_now_and_survive_being_stored() {
        let mut recent = Recent::new(3600, 200);
        let at = Time::from_secs(10_000);
        recent.learn(at, &[6399, 6400, 6401, 9_000, 10_000, 10_001].map(Time::from_secs));
        assert_eq!(recent.count(at), 3);
        recent.learn(at, &[Time::from_secs(7000)]);
        assert_eq!(recent.within(at), Some((4, 6401, 10_000)));
        let mut bytes = Vec::new();
        recent.write(&mut bytes);
        let read = Recent::new(3600, 200).read(&mut ByteReader(&bytes), 2);
        assert_eq!(read, Some(recent));
        assert_eq!(
            Recent::new(3600, 200).read(&mut ByteReader(&bytes[..bytes.len() - 1]), 2),
            None
        );
    }

    #[test]
    fn dropped_times_are_extrapolated_at_the_rate_of_those_kept() {
        let at = Time::from_secs(1000);
        let every_second: Vec<Time> = (1..=1000).map(Time::from_secs).collect();
        let mut recent = Recent::new(3600, 100);
        recent.learn(at, &every_second);
        assert_eq!(recent.count(at), 3636);
        // If all entries just fit, they are counted exactly.
        let mut recent = Recent::new(3600, 999);
        recent.learn(at, &every_second);
        assert_eq!((recent.count(at), recent.cut), (1000, None));
        assert_eq!(recent.count(Time::from_secs(4000)), 600);
    }

    #[test]
    fn the_stored_size_is_known_and_kept() {
        let mut recent = Recent::new(i64::MAX, 64);
        let mut at = 0;
        for gap in [1, 127, 128, 16_383, 16_384, 5, 1_000_000_000, 0, 90, 300].repeat(9) {
            at += gap;
            recent.learn(Time::from_secs(at), &[Time::from_secs(at - 3 * (gap % 2))]);
            let mut bytes = Vec::new();
            recent.write(&mut bytes);
            assert_eq!(bytes.len(), 18 + recent.size);
            assert!(recent.size <= 64);
        }
        assert!(recent.cut.is_some());
    }
}

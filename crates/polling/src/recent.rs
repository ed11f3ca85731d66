//! The publication times of the entries seen lately: what "in the last hour" is counted from.
//!
//! Whole seconds; the newest so many. Where more came than are kept, counts are reckoned at the
//! rate of those that are. It is part of a policy's memory and decides nothing.

use std::collections::VecDeque;

use feed::Time;

use crate::bytes::Reader;

/// Publication times of entries seen, oldest first, as seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recent {
    times: VecDeque<i64>,
    span_secs: i64,
    kept_max: usize,
}

impl Recent {
    pub(crate) fn new(span_secs: i64, kept_max: usize) -> Recent {
        Recent { times: VecDeque::new(), span_secs, kept_max }
    }

    /// Adds the entries never seen before, oldest first, and forgets what is older than the span.
    pub(crate) fn learn(&mut self, at: Time, new: &[Time]) {
        let oldest = at.secs().saturating_sub(self.span_secs);
        let fresh = &new[new.partition_point(|t| t.secs() <= oldest)..];
        let fresh = &fresh[fresh.len().saturating_sub(self.kept_max)..];
        let in_order = match (self.times.back(), fresh.first()) {
            (Some(last), Some(first)) => *last <= first.secs(),
            _ => true,
        };
        self.times.extend(fresh.iter().map(|t| t.secs()));
        if !in_order {
            self.times.make_contiguous().sort_unstable();
        }
        let stale = self.times.partition_point(|t| *t <= oldest);
        let over = self.times.len().saturating_sub(self.kept_max);
        self.times.drain(..stale.max(over));
    }

    /// Where the times in (at − span, at] begin and end.
    fn range(&self, at: Time) -> (usize, usize) {
        let (from, to) = (at.secs().saturating_sub(self.span_secs), at.secs());
        let first = self.times.partition_point(|t| *t <= from);
        (first, self.times.partition_point(|t| *t <= to).max(first))
    }

    /// Entries published in (at − span, at].
    pub(crate) fn count(&self, at: Time) -> u64 {
        let (first, end) = self.range(at);
        let counted = (end - first) as u64;
        let full = self.times.len() == self.kept_max && first == 0;
        match self.times.front() {
            Some(oldest) if full && end > 0 => {
                let covered = at.secs().saturating_sub(*oldest).max(1).unsigned_abs();
                counted.saturating_mul(self.span_secs.unsigned_abs()) / covered
            }
            _ => counted,
        }
    }

    pub(crate) fn span_secs(&self) -> i64 {
        self.span_secs
    }

    /// The times kept of those in (at − span, at], oldest first.
    pub(crate) fn times_within(&self, at: Time) -> impl Iterator<Item = i64> {
        let (first, end) = self.range(at);
        self.times.range(first..end).copied()
    }

    /// How many those are, the oldest and the newest of them.
    pub(crate) fn within(&self, at: Time) -> Option<(usize, i64, i64)> {
        let (first, end) = self.range(at);
        (end > first).then(|| (end - first, self.times[first], self.times[end - 1]))
    }

    /// The number, the oldest, then the gaps in groups of seven bits.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend((self.times.len() as u16).to_le_bytes());
        let Some(&first) = self.times.front() else { return };
        bytes.extend(first.to_le_bytes());
        let mut last = first;
        for time in self.times.iter().skip(1) {
            let mut gap = time.abs_diff(last);
            last = *time;
            while gap >= 0x80 {
                bytes.push(gap as u8 | 0x80);
                gap >>= 7;
            }
            bytes.push(gap as u8);
        }
    }

    /// Fills an empty memory of the same span.
    pub(crate) fn read(mut self, reader: &mut Reader<'_>) -> Option<Recent> {
        let n = usize::from(reader.bytes().map(u16::from_le_bytes)?);
        if n == 0 {
            return Some(self);
        }
        let mut time = reader.i64()?;
        self.times.push_back(time);
        for _ in 1..n {
            let (mut gap, mut shift) = (0_u64, 0);
            loop {
                let byte = reader.u8()?;
                gap |= u64::from(byte & 0x7f).checked_shl(shift)?;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            time = time.checked_add(i64::try_from(gap).ok()?)?;
            self.times.push_back(time);
        }
        (n <= self.kept_max).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_up_to_and_with_now_and_survive_being_stored() {
        let mut recent = Recent::new(3600, 128);
        let at = Time::from_secs(10_000);
        recent.learn(at, &[6399, 6400, 6401, 9_000, 10_000, 10_001].map(Time::from_secs));
        assert_eq!(recent.count(at), 3);
        recent.learn(at, &[Time::from_secs(7000)]);
        assert_eq!(recent.within(at), Some((4, 6401, 10_000)));
        let mut bytes = Vec::new();
        recent.write(&mut bytes);
        let read = Recent::new(3600, 128).read(&mut Reader(&bytes));
        assert_eq!(read, Some(recent));
        assert_eq!(Recent::new(3600, 128).read(&mut Reader(&bytes[..bytes.len() - 1])), None);
    }

    #[test]
    fn more_than_are_kept_are_reckoned_at_the_rate_of_those_kept() {
        let mut recent = Recent::new(3600, 100);
        let every_second: Vec<Time> = (1..=1000).map(Time::from_secs).collect();
        recent.learn(Time::from_secs(1000), &every_second);
        assert_eq!(recent.count(Time::from_secs(1000)), 3636);
    }
}

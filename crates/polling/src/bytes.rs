//! Reads and writes the bytes of learned state: little endian, front to back.
//!
//! ```
//! use feed::Time;
//! use polling::{Learned, Policy};
//!
//! let policy: Policy = "lru-2".parse().unwrap();
//! let learned = policy.start();
//! assert_eq!(Learned::decode(&policy, &learned.encode()), learned);
//! ```

use feed::Time;

/// The stored form of "no time"; no calendar reaches it.
const NO_TIME: i64 = i64::MIN;

/// The largest plausible rate: a million entries per microsecond.
const RATE_MAX: f64 = 1e12;

pub(crate) fn put_time(bytes: &mut Vec<u8>, time: Option<Time>) {
    bytes.extend(time.map_or(NO_TIME, Time::millis).to_le_bytes());
}

/// Writes a number in groups of seven bits, the lowest first; small numbers take one byte.
pub(crate) fn put_sevens(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// Returns the number of bytes that [`put_sevens`] writes.
pub(crate) fn sevens_len(n: u64) -> usize {
    (64 - n.leading_zeros() as usize).div_ceil(7).max(1)
}

/// A reader of stored bytes, front to back. Its methods return `None` at the end.
pub(crate) struct ByteReader<'a>(pub(crate) &'a [u8]);

impl ByteReader<'_> {
    pub(crate) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.bytes().map(u8::from_le_bytes)
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    pub(crate) fn i64(&mut self) -> Option<i64> {
        self.bytes().map(i64::from_le_bytes)
    }

    /// Reads a finite number; others were never written.
    pub(crate) fn f64(&mut self) -> Option<f64> {
        self.bytes().map(f64::from_le_bytes).filter(|x| x.is_finite())
    }

    /// Reads a rate in entries per second.
    pub(crate) fn rate(&mut self) -> Option<f64> {
        self.f64().filter(|rate| (0.0..=RATE_MAX).contains(rate))
    }

    pub(crate) fn sevens(&mut self) -> Option<u64> {
        let (mut n, mut shift) = (0_u64, 0);
        loop {
            let byte = self.u8()?;
            n |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
    }

    pub(crate) fn time(&mut self) -> Option<Option<Time>> {
        let ms = self.i64()?;
        Some((ms != NO_TIME).then(|| Time::from_millis(ms)))
    }
}

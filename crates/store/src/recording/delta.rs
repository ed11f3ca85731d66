//! Versions of a document as differences: a zstandard frame with the version before as its prefix.
//!
//! A version is stored whole every [`FULL_EVERY`] versions, and whenever the difference is larger
//! than half of the whole frame. So a damaged frame costs at most that many versions, and reading a
//! version needs at most that many steps. It stores nothing: frames go out and come in as bytes.

use std::io::{self, Read, Write};

/// A whole frame comes after this many frames at most.
pub(crate) const FULL_EVERY: u32 = 20;
/// A good ratio at about 0.4 ms for a document of 40 kB; higher levels save little on feeds.
const LEVEL: i32 = 9;
/// The largest window, 128 MB: the one that readers accept by default. Documents are far smaller.
const WINDOW_LOG_MAX: u32 = 27;
const WINDOW_LOG_MIN: u32 = 10;

/// A version of a document, compressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackedVersion {
    pub bytes: Vec<u8>,
    /// The frame needs the version before as its prefix.
    pub base: bool,
}

/// Compresses a version. `before` is the version before, `n_since_full` the number of frames from
/// the last whole one on.
pub(crate) fn pack(
    body: &[u8],
    before: Option<&[u8]>,
    n_since_full: u32,
) -> io::Result<PackedVersion> {
    let whole = compressed(body, &[])?;
    if let Some(before) = before.filter(|_| n_since_full < FULL_EVERY) {
        let bytes = compressed(body, before)?;
        if 2 * bytes.len() <= whole.len() {
            return Ok(PackedVersion { bytes, base: true });
        }
    }
    Ok(PackedVersion { bytes: whole, base: false })
}

fn compressed(body: &[u8], prefix: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::with_ref_prefix(Vec::new(), LEVEL, prefix)?;
    // Without a window over both texts, the encoder forgets the prefix.
    let reach = (body.len() + prefix.len()).max(1).next_power_of_two();
    encoder.window_log(reach.ilog2().clamp(WINDOW_LOG_MIN, WINDOW_LOG_MAX))?;
    encoder.include_checksum(true)?;
    encoder.write_all(body)?;
    encoder.finish()
}

/// Restores a version from its frame. `before` is the version before where the frame needs it. A
/// version longer than `bytes_max` is refused.
pub(crate) fn unpack(frame: &[u8], before: Option<&[u8]>, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut decoder = zstd::Decoder::with_ref_prefix(frame, before.unwrap_or_default())?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    let mut body = Vec::new();
    decoder.take(bytes_max as u64 + 1).read_to_end(&mut body)?;
    if body.len() > bytes_max {
        return Err(io::Error::other("the version is longer than its record says"));
    }
    Ok(body)
}

/// Restores the last version of a chain of frames. The first frame must be whole.
pub(crate) fn unpack_chain<'a>(
    frames: impl Iterator<Item = &'a [u8]>,
    bytes_max: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut last: Option<Vec<u8>> = None;
    for frame in frames {
        last = Some(unpack(frame, last.as_deref(), bytes_max)?);
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A feed of 25 entries; each version drops the oldest entry and adds a new one.
    fn version(n: usize) -> Vec<u8> {
        let entry = |i: usize| {
            let noise: String =
                (0..40).map(|k| format!("{:x}", (i * 7919 + k * 104_729) % 65_521)).collect();
            format!(
                "<item><guid>http://example.org/{i}</guid><description>{noise}</description></item>"
            )
        };
        (n..n + 25).rev().map(entry).collect::<String>().into_bytes()
    }

    #[test]
    fn a_chain_restores_every_version_and_is_small() {
        let mut frames: Vec<PackedVersion> = Vec::new();
        let mut since_full = 0;
        let mut n_bytes = 0;
        for n in 0..50 {
            let before = (n > 0).then(|| version(n - 1));
            let packed = pack(&version(n), before.as_deref(), since_full).unwrap();
            since_full = if packed.base { since_full + 1 } else { 1 };
            n_bytes += packed.bytes.len();
            frames.push(packed);
        }
        let whole: Vec<usize> = (0..50).filter(|n| !frames[*n].base).collect();
        assert_eq!(whole, [0, 20, 40]);
        for n in 0..50 {
            let start = whole.iter().rev().find(|w| **w <= n).copied().unwrap();
            let chain = frames[start..=n].iter().map(|f| f.bytes.as_slice());
            assert_eq!(unpack_chain(chain, 100_000).unwrap().unwrap(), version(n), "version {n}");
        }
        let alone: usize = (0..50).map(|n| pack(&version(n), None, 0).unwrap().bytes.len()).sum();
        assert!(n_bytes * 4 < alone, "{n_bytes} bytes in a chain, {alone} alone");
    }

    #[test]
    fn a_version_with_little_in_common_is_stored_whole() {
        let packed = pack(&version(1000), Some(b"something else"), 1).unwrap();
        assert!(!packed.base);
    }

    #[test]
    fn damage_and_bombs_are_refused() {
        let packed = pack(&version(1), Some(&version(0)), 1).unwrap();
        let mut broken = packed.bytes.clone();
        let last = broken.len() - 1;
        broken[last] ^= 1;
        assert!(unpack(&broken, Some(&version(0)), 100_000).is_err());
        assert!(unpack(&packed.bytes, Some(&version(7)), 100_000).is_err());
        assert!(unpack(&packed.bytes, Some(&version(0)), 10).is_err());
    }
}

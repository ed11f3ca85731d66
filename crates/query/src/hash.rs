//! One fast hash for words and nodes, the same on every machine and in every version, because
//! stored signatures depend on it. It does not protect secrets and does not resist deliberate
//! collisions.

const A: u64 = 0x9e37_79b9_7f4a_7c15;
const B: u64 = 0xc2b2_ae3d_27d4_eb4f;

/// Returns the hash of some bytes under a seed.
#[inline]
pub(crate) fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mut state = mix(seed ^ A, bytes.len() as u64 ^ B);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        state = mix(state ^ u64::from_le_bytes(*chunk), A);
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(state ^ u64::from_le_bytes(last), B)
}

/// Multiplies and folds both halves, so that every input bit reaches every bit of the result.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    wide as u64 ^ (wide >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_that_is_stored() {
        // Computed once by another program.
        assert_eq!(hash(0, b""), 12_934_535_623_523_733_194);
        assert_eq!(hash(0, b"volcano"), 16_630_840_521_211_815_512);
        assert_eq!(hash(1, b"volcanologist"), 5_917_842_437_361_732_428);
    }

    #[test]
    fn beginnings_and_zeros_differ() {
        let all = [&b"a"[..], b"a\0", b"aa", b"", b"\0", b"aaaaaaaa", b"aaaaaaaa\0"];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| hash(0, a) != hash(0, b)));
        }
        assert_ne!(hash(0, b"a"), hash(1, b"a"));
    }
}

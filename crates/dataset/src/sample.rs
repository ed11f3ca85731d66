//! Draws a sample of addresses: uniform, without replacement, and the same for the same seed.
//!
//! The addresses are sorted by SHA-256 of seed and address, and the first ones are taken. So a
//! larger sample contains the smaller one, and the order of the list does not matter.
//!
//! ```
//! let urls = ["http://a/", "http://b/", "http://c/"];
//! let one = dataset::sample::sample(&urls, 1, "7");
//! let two = dataset::sample::sample(&urls, 2, "7");
//! assert!(two.contains(&one[0]));
//! ```

use sha2::{Digest, Sha256};

/// Returns the places of the sampled addresses, in the order of the list.
pub fn sample(urls: &[&str], n: usize, seed: &str) -> Vec<usize> {
    if n >= urls.len() {
        return (0..urls.len()).collect();
    }
    let mut ranked: Vec<([u8; 32], usize)> =
        urls.iter().enumerate().map(|(i, url)| (rank(url, seed), i)).collect();
    ranked.select_nth_unstable(n);
    let mut chosen: Vec<usize> = ranked[..n].iter().map(|(_, place)| *place).collect();
    chosen.sort_unstable();
    chosen
}

fn rank(url: &str, seed: &str) -> [u8; 32] {
    let mut sha = Sha256::new();
    sha.update(seed.as_bytes());
    // The separator distinguishes seed `1` and address `2x` from seed `12` and address `x`.
    sha.update([0]);
    sha.update(url.as_bytes());
    sha.finalize().into()
}

/// Returns the digest of a population of addresses, in any order.
pub fn population_digest(urls: &[&str]) -> String {
    let mut sorted = urls.to_vec();
    sorted.sort_unstable();
    let mut sha = Sha256::new();
    for url in sorted {
        sha.update(url.as_bytes());
        sha.update(b"\n");
    }
    hex(&sha.finalize())
}

/// Writes bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_is_as_likely_as_any_other() {
        let urls: Vec<String> = (0..100).map(|i| format!("http://example.org/{i}")).collect();
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let mut drawn = [0_u32; 100];
        for seed in 0..400 {
            for i in sample(&urls, 25, &seed.to_string()) {
                drawn[i] += 1;
            }
        }
        // 400 draws with probability 1/4: the mean is 100 and the standard deviation 8.7.
        assert!(drawn.iter().all(|n| (60..140).contains(n)), "{drawn:?}");
        assert_eq!(drawn.iter().sum::<u32>(), 400 * 25);
    }

    #[test]
    fn the_order_of_the_list_changes_nothing() {
        let (a, b) = (["x", "y", "z"], ["z", "x", "y"]);
        let of = |urls: &[&'static str]| -> Vec<&'static str> {
            let mut chosen: Vec<_> = sample(urls, 2, "s").into_iter().map(|i| urls[i]).collect();
            chosen.sort_unstable();
            chosen
        };
        assert_eq!(of(&a), of(&b));
        assert_eq!(population_digest(&a), population_digest(&b));
        assert_eq!(sample(&a, 9, "s"), [0, 1, 2]);
    }
}

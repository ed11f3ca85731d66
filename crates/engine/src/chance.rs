//! Chance as a function: the same seed, feed and poll give the same number, so that a run can be
//! repeated. It is used for the jitter of backoff and of a restart only.

use feed::FeedId;

/// Returns a number in [0, 1) for the poll `generation` of `feed`.
pub fn unit(seed: u64, feed: FeedId, generation: u32) -> f64 {
    // splitmix64's finaliser over the three values.
    let mut x = seed ^ (u64::from(feed.0) << 32 | u64::from(generation));
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (x >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_repeatable_and_spread_over_the_unit_interval() {
        let all: Vec<f64> = (0..1000).map(|n| unit(7, FeedId(n), 3)).collect();
        assert_eq!(all[5], unit(7, FeedId(5), 3));
        assert!(all.iter().all(|u| (0.0..1.0).contains(u)));
        let mean = all.iter().sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "mean {mean}");
    }
}

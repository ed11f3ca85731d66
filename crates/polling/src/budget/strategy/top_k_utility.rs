//! `top-k-utility` — the b feeds with the largest utility (Horincar, Amann and Artières 2010;
//! source 001).
//!
//! ```
//! use polling::budget::{FeedUrgency, top_k_utility::top_k_utility};
//!
//! let feed = |utility| FeedUrgency { divergence: 1.0, saturated: false, utility };
//! assert_eq!(top_k_utility(&[feed(1.0), feed(3.0), feed(0.0), feed(2.0)], 2), [1, 3]);
//! assert_eq!(top_k_utility(&[feed(0.0), feed(f64::NEG_INFINITY), feed(2.0)], 9), [2, 0]);
//! ```

use crate::budget::FeedUrgency;

/// Returns at most `budget` feeds, the largest utility first. As published, the whole budget is
/// spent even for small gains. A feed that must not be chosen has a utility below zero.
pub fn top_k_utility(feeds: &[FeedUrgency], budget: usize) -> Vec<usize> {
    let eligible = (0..feeds.len()).filter(|i| feeds[*i].utility >= 0.0);
    crate::budget::largest(eligible.collect(), budget, |i| feeds[i].utility)
}

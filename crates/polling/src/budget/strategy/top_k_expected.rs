//! `top-k-expected` — the k feeds with the most expected entries; among equals, those with the most
//! readers (dissertation 003, section 2.7.5; Adam, Bouras and Poulopoulos 2010, the hybrid system).
//!
//! The source gives no k: here it is the budget of the cycle. It ranks by a model of the last 24
//! hours; any model of a feed serves. A feed that was never polled comes first, and a model that
//! expects nothing counts as half an entry in fourteen days, so that no feed is forgotten.
//!
//! ```
//! use polling::budget::top_k_expected::{Expected, top_k_expected};
//!
//! let feed = |entries, readers| Expected { entries, readers };
//! let feeds = [feed(2.0, 1.0), feed(5.0, 1.0), feed(2.0, 9.0), feed(0.5, 99.0)];
//! assert_eq!(top_k_expected(&feeds, 3), [1, 2, 0]);
//! ```

/// The values on which the rank of a feed depends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// New entries expected now. A feed that must not be chosen has fewer than zero.
    pub entries: f64,
    /// The weight of the feed.
    pub readers: f64,
}

/// Returns at most `k` feeds, the highest rank first.
pub fn top_k_expected(feeds: &[Expected], k: usize) -> Vec<usize> {
    let mut eligible: Vec<usize> = (0..feeds.len()).filter(|i| feeds[*i].entries >= 0.0).collect();
    let order = |a: &usize, b: &usize| {
        let (a_feed, b_feed) = (&feeds[*a], &feeds[*b]);
        let by_entries = b_feed.entries.total_cmp(&a_feed.entries);
        by_entries.then(b_feed.readers.total_cmp(&a_feed.readers)).then(a.cmp(b))
    };
    if k == 0 {
        return Vec::new();
    }
    if k < eligible.len() {
        eligible.select_nth_unstable_by(k - 1, order);
        eligible.truncate(k);
    }
    eligible.sort_unstable_by(order);
    eligible
}

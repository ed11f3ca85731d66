//! Judges suggestions by hidden subscriptions: some feeds of each list are hidden, the rest is
//! learned, and a hit is a hidden feed among the first suggestions for its list. The same feeds are
//! also looked for among the most popular ones.

use std::collections::{BTreeMap, BTreeSet};

use feed::FeedId;

use crate::{also_read, neighbours};

/// The share of each list that is hidden: one of five.
pub const HIDDEN_ONE_OF: usize = 5;
/// The suggestions that a person would look at.
pub const SHOWN: usize = 20;

/// The result for all lists together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HiddenResult {
    /// Lists with hidden feeds: those with at least five feeds.
    pub lists: usize,
    pub hidden: usize,
    /// The hidden feeds that at least three other lists still show. No others can be suggested.
    pub reachable: usize,
    /// The hits of suggestions by common subscribers.
    pub suggested: usize,
    /// The hits of the most popular feeds that are not in the list.
    pub popular: usize,
}

/// Hides one of five feeds of each list that has at least five. `draw` returns a number below its
/// argument; the caller brings the chance.
pub fn judge(lists: &[BTreeSet<FeedId>], mut draw: impl FnMut(usize) -> usize) -> HiddenResult {
    let mut shown: Vec<Vec<FeedId>> = Vec::new();
    let mut hidden: Vec<BTreeSet<FeedId>> = Vec::new();
    for list in lists {
        let mut rest: Vec<FeedId> = list.iter().copied().collect();
        let n = rest.len() / HIDDEN_ONE_OF;
        hidden.push((0..n).map(|_| rest.swap_remove(draw(rest.len()))).collect());
        shown.push(rest);
    }
    let known = neighbours(&shown);
    let by_number = popularity(&shown);
    let mut result = HiddenResult::default();
    for (rest, hidden) in shown.iter().zip(&hidden) {
        if hidden.is_empty() {
            continue;
        }
        let own: BTreeSet<FeedId> = rest.iter().copied().collect();
        let suggested = also_read(&own, &known, |_| true, SHOWN);
        let popular = by_number.iter().filter(|(_, feed)| !own.contains(feed)).take(SHOWN);
        let is_reachable = |feed: &&FeedId| {
            by_number.iter().any(|(n, one)| one == *feed && *n >= crate::PEOPLE_MIN as usize)
        };
        result.lists += 1;
        result.hidden += hidden.len();
        result.reachable += hidden.iter().filter(is_reachable).count();
        result.suggested += suggested.iter().filter(|one| hidden.contains(&one.feed)).count();
        result.popular += popular.filter(|(_, feed)| hidden.contains(feed)).count();
    }
    result
}

/// Returns all feeds with the number of lists that have them, the most popular first.
fn popularity(lists: &[Vec<FeedId>]) -> Vec<(usize, FeedId)> {
    let mut counts: BTreeMap<FeedId, usize> = BTreeMap::new();
    for feed in lists.iter().flatten() {
        *counts.entry(*feed).or_default() += 1;
    }
    let mut sorted: Vec<(usize, FeedId)> = counts.into_iter().map(|(feed, n)| (n, feed)).collect();
    sorted.sort_by(|(a, one), (b, other)| b.cmp(a).then(one.cmp(other)));
    sorted
}

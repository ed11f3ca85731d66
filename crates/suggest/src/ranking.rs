//! The best feeds for one person: neighbours of the feeds that they have, with the feeds that speak
//! most for each. Also mixes suggestions of several kinds.

use std::collections::{BTreeMap, BTreeSet};

use feed::FeedId;

use crate::Neighbour;

/// Feeds that a reason names.
const REASONS_MAX: usize = 2;

/// A feed that people with similar subscriptions read.
#[derive(Clone, Debug, PartialEq)]
pub struct AlsoRead {
    pub feed: FeedId,
    /// The sum of its similarities to the feeds of the person.
    pub score: f64,
    /// The feeds of the person that speak most for it, at most two, and at least one.
    pub because: Vec<SharedReaders>,
}

/// A feed of the person, and how many people read it together with the suggested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedReaders {
    pub feed: FeedId,
    pub people: u32,
}

/// Ranks the neighbours of a person's feeds, the best first. Feeds for which `is_wanted` is false
/// are left out, as are those that the person has.
pub fn also_read(
    own: &BTreeSet<FeedId>,
    neighbours: &BTreeMap<FeedId, Vec<Neighbour>>,
    is_wanted: impl Fn(FeedId) -> bool,
    n_max: usize,
) -> Vec<AlsoRead> {
    let mut found: BTreeMap<FeedId, Vec<(f64, SharedReaders)>> = BTreeMap::new();
    for feed in own {
        for other in neighbours.get(feed).into_iter().flatten() {
            let shared = SharedReaders { feed: *feed, people: other.people };
            found.entry(other.feed).or_default().push((other.similarity, shared));
        }
    }
    found.retain(|feed, _| !own.contains(feed) && is_wanted(*feed));
    let mut ranked: Vec<AlsoRead> = found
        .into_iter()
        .map(|(feed, mut reasons)| {
            let score = reasons.iter().map(|(similarity, _)| similarity).sum();
            reasons.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.feed.cmp(&other.feed)));
            reasons.truncate(REASONS_MAX);
            let because = reasons.into_iter().map(|(_, shared)| shared).collect();
            AlsoRead { feed, score, because }
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.feed.cmp(&b.feed)));
    ranked.truncate(n_max);
    ranked
}

/// Takes one of each list in turn, until `n_max` are taken or all lists are empty. A later one with
/// the same key is left out.
pub fn in_turn<T, K: Ord>(lists: Vec<Vec<T>>, key: impl Fn(&T) -> K, n_max: usize) -> Vec<T> {
    let mut taken = Vec::new();
    let mut keys = BTreeSet::new();
    let mut lists: Vec<_> = lists.into_iter().map(Vec::into_iter).collect();
    while taken.len() < n_max {
        let mut is_done = true;
        for list in &mut lists {
            if let Some(one) = list.find(|one| keys.insert(key(one))) {
                taken.push(one);
                is_done = false;
            }
        }
        if is_done {
            break;
        }
    }
    taken.truncate(n_max);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours;

    /// Five people with 1, 2 and 3; four with 1 and 4; three with 8 and 9.
    fn known() -> BTreeMap<FeedId, Vec<Neighbour>> {
        let list = |feeds: &[u32]| feeds.iter().copied().map(FeedId).collect::<Vec<_>>();
        let mut lists = vec![list(&[1, 2, 3]); 5];
        lists.extend(vec![list(&[1, 4]); 4]);
        lists.extend(vec![list(&[8, 9]); 3]);
        neighbours(&lists)
    }

    fn own(feeds: &[u32]) -> BTreeSet<FeedId> {
        feeds.iter().copied().map(FeedId).collect()
    }

    #[test]
    fn a_suggestion_names_the_feeds_that_speak_for_it() {
        let found = also_read(&own(&[1, 2]), &known(), |_| true, 20);
        let feeds: Vec<u32> = found.iter().map(|one| one.feed.0).collect();
        assert_eq!(feeds, [3, 4]);
        let because = |feed, people| SharedReaders { feed: FeedId(feed), people };
        assert_eq!(found[0].because, [because(2, 5), because(1, 5)], "2 is the more similar one");
        assert_eq!(found[1].because, [because(1, 4)]);
    }

    #[test]
    fn unwanted_feeds_and_own_feeds_are_left_out() {
        let found = also_read(&own(&[1, 8]), &known(), |feed| feed != FeedId(3), 20);
        let feeds: Vec<u32> = found.iter().map(|one| one.feed.0).collect();
        assert_eq!(feeds, [9, 2, 4]);
        assert_eq!(also_read(&own(&[1, 8]), &known(), |_| true, 1).len(), 1);
        assert!(also_read(&own(&[77]), &known(), |_| true, 20).is_empty());
    }

    #[test]
    fn kinds_take_turns_and_nothing_comes_twice() {
        let lists = vec![vec!["a", "b", "c"], vec![], vec!["a", "x"]];
        assert_eq!(in_turn(lists.clone(), |one| *one, 10), ["a", "x", "b", "c"]);
        assert_eq!(in_turn(lists, |one| *one, 2), ["a", "x"]);
    }
}

//! The neighbours of each feed: feeds that the same people subscribe to. The similarity of two
//! feeds is the cosine of their lists of subscribers, shrunk while few people stand behind it.

use std::collections::{BTreeMap, BTreeSet};

use feed::FeedId;

/// Fewer people behind a suggestion could be guessed by name, and would be chance.
pub const PEOPLE_MIN: u32 = 3;
/// Neighbours that are kept of one feed. A person with 200 feeds gets up to 6,000 candidates.
pub const NEIGHBOURS_MAX: usize = 30;
/// A longer list of subscriptions is a directory and not a taste. Its pairs would also cost the
/// square of its length.
pub const SUBSCRIPTIONS_MAX: usize = 1000;
/// A similarity counts half if this many people stand behind it.
const SHRINKAGE: f64 = 5.0;

/// A feed that has subscribers in common with another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    pub feed: FeedId,
    /// The people who subscribe to both.
    pub people: u32,
    /// More than 0 and less than 1.
    pub similarity: f64,
}

/// Returns the neighbours of each feed, the most similar first. Each list is the subscriptions of
/// one person, in any order.
pub fn neighbours(lists: &[Vec<FeedId>]) -> BTreeMap<FeedId, Vec<Neighbour>> {
    let (feeds, lists) = numbered(lists);
    let mut subscribers: Vec<Vec<usize>> = vec![Vec::new(); feeds.len()];
    for (person, list) in lists.iter().enumerate() {
        list.iter().for_each(|feed| subscribers[*feed].push(person));
    }
    let mut common = vec![0_u32; feeds.len()];
    let mut all = BTreeMap::new();
    for (one, people) in subscribers.iter().enumerate() {
        if people.len() < PEOPLE_MIN as usize {
            continue;
        }
        let mut others = Vec::new();
        for other in people.iter().flat_map(|person| &lists[*person]) {
            if common[*other] == 0 {
                others.push(*other);
            }
            common[*other] += 1;
        }
        let mut found = Vec::new();
        for other in others {
            let n = std::mem::take(&mut common[other]);
            if other != one && n >= PEOPLE_MIN {
                let similarity = similarity(n, people.len(), subscribers[other].len());
                found.push(Neighbour { feed: feeds[other], people: n, similarity });
            }
        }
        if !found.is_empty() {
            found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.feed.cmp(&b.feed)));
            found.truncate(NEIGHBOURS_MAX);
            all.insert(feeds[one], found);
        }
    }
    all
}

/// Numbers the feeds from 0 in their order, and replaces them in the lists. Leaves out lists that
/// are too long.
fn numbered(lists: &[Vec<FeedId>]) -> (Vec<FeedId>, Vec<Vec<usize>>) {
    let lists: Vec<BTreeSet<FeedId>> =
        lists.iter().map(|list| list.iter().copied().collect()).collect();
    let lists: Vec<_> = lists.into_iter().filter(|list| list.len() <= SUBSCRIPTIONS_MAX).collect();
    let feeds: BTreeSet<FeedId> = lists.iter().flatten().copied().collect();
    let feeds: Vec<FeedId> = feeds.into_iter().collect();
    // Every feed of a list is in `feeds`, so that nothing is left out here.
    let place = |feed: &FeedId| feeds.binary_search(feed).ok();
    let lists = lists.iter().map(|list| list.iter().filter_map(place).collect()).collect();
    (feeds, lists)
}

fn similarity(common: u32, n_one: usize, n_other: usize) -> f64 {
    let common = f64::from(common);
    let cosine = common / (n_one as f64 * n_other as f64).sqrt();
    cosine * common / (common + SHRINKAGE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lists(text: &str) -> Vec<Vec<FeedId>> {
        let feed = |word: &str| FeedId(word.parse().unwrap());
        text.lines().map(|line| line.split_whitespace().map(feed).collect()).collect()
    }

    #[test]
    fn two_people_are_not_a_reason_and_three_are() {
        assert!(neighbours(&lists("1 2\n1 2\n1\n2")).is_empty());
        let found = neighbours(&lists("1 2\n2 1\n1 2 3\n3"));
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [FeedId(1), FeedId(2)]);
        let of_one = &found[&FeedId(1)];
        assert_eq!((of_one[0].feed, of_one[0].people), (FeedId(2), 3));
        assert!((of_one[0].similarity - 3.0 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn more_people_behind_the_same_share_are_more_similar() {
        let mut text = "1 2\n".repeat(3);
        text.push_str(&"3 4\n".repeat(20));
        let found = neighbours(&lists(text.trim_end()));
        assert!(found[&FeedId(3)][0].similarity > found[&FeedId(1)][0].similarity);
    }

    #[test]
    fn a_feed_that_everybody_reads_is_less_similar_than_one_of_the_same_taste() {
        // Feed 9 is in every list; 1 and 2 are in the same five.
        let mut text = "1 2 9\n".repeat(5);
        text.push_str(&"9\n".repeat(50));
        let found = neighbours(&lists(text.trim_end()));
        let order: Vec<FeedId> = found[&FeedId(1)].iter().map(|one| one.feed).collect();
        assert_eq!(order, [FeedId(2), FeedId(9)]);
    }

    #[test]
    fn a_directory_is_not_a_taste() {
        let long: Vec<FeedId> =
            (0..=u32::try_from(SUBSCRIPTIONS_MAX).unwrap()).map(FeedId).collect();
        assert!(neighbours(&vec![long; 5]).is_empty());
    }

    fn any_lists() -> impl Strategy<Value = Vec<Vec<FeedId>>> {
        let feed = (0_u32..12).prop_map(FeedId);
        proptest::collection::vec(proptest::collection::vec(feed, 0..8), 0..20)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn neighbours_are_mutual_and_counted_one_by_one(lists in any_lists()) {
            let found = neighbours(&lists);
            for (one, others) in &found {
                for other in others {
                    let has = |list: &&Vec<FeedId>| {
                        list.contains(one) && list.contains(&other.feed)
                    };
                    prop_assert_eq!(lists.iter().filter(has).count(), other.people as usize);
                    prop_assert!(other.people >= PEOPLE_MIN && *one != other.feed);
                    prop_assert!(other.similarity > 0.0 && other.similarity < 1.0);
                    let back = found[&other.feed].iter().find(|back| back.feed == *one);
                    prop_assert_eq!(back.map(|back| back.similarity), Some(other.similarity));
                }
            }
        }

        #[test]
        fn the_order_of_people_and_of_feeds_does_not_matter(lists in any_lists()) {
            let mut turned: Vec<Vec<FeedId>> = lists.clone();
            turned.reverse();
            turned.iter_mut().for_each(|list| list.reverse());
            prop_assert_eq!(neighbours(&lists), neighbours(&turned));
        }
    }
}

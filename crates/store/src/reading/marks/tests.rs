//! Visiting unread numbers skips gaps.

use super::*;

#[test]
fn numbers_that_were_leapt_over_are_not_visited_one_by_one() {
    let gaps = BTreeMap::from([(10, 10_000_009)]);
    let marks =
        ReadMarks { blocks: BTreeMap::new(), numbers: EntryNumbers { last: 10_000_020, gaps } };
    let mut visited = Vec::new();
    marks.for_each_unread(|entry| visited.push(entry));
    assert!(visited.len() < 3 * BLOCK, "{}", visited.len());
    assert!((1..10).chain(10_000_010..=10_000_020).all(|entry| visited.contains(&entry)));
}

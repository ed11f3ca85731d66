//! Chooses the receivers that are served next. Each domain is one lane, and a lane serves one
//! receiver at a time, so a slow receiver delays only those of its domain. Pure: it starts nothing.

use std::collections::HashMap;
use std::hash::Hash;

/// The lanes of one kind of work.
#[derive(Debug)]
pub struct Lanes<I> {
    /// Lanes that are served at once.
    places: usize,
    under_way: HashMap<I, String>,
    /// The last one that each lane served, so that those who share it take turns.
    last: HashMap<String, I>,
}

impl<I: Copy + Eq + Hash + Ord> Lanes<I> {
    pub fn new(places: usize) -> Lanes<I> {
        Lanes { places, under_way: HashMap::new(), last: HashMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Returns the receivers that start now: the next in turn of each free lane, while there are
    /// places. Lanes come in the order of their first receiver.
    pub fn admit(&mut self, due: impl IntoIterator<Item = (I, String)>) -> Vec<I> {
        let mut order: Vec<String> = Vec::new();
        let mut chosen: HashMap<String, I> = HashMap::new();
        for (id, lane) in due {
            let last = self.last.get(&lane).copied();
            // The next higher number after the last one comes first, then the lowest.
            let turn = |id: I| (last.is_some_and(|last| id <= last), id);
            match chosen.get_mut(&lane) {
                Some(best) if turn(id) < turn(*best) => *best = id,
                Some(_) => {}
                None => {
                    order.push(lane.clone());
                    chosen.insert(lane, id);
                }
            }
        }
        // Empty lanes need no memory.
        self.last.retain(|lane, _| chosen.contains_key(lane));
        let mut admitted = Vec::new();
        for lane in order {
            let is_busy = self.under_way.values().any(|busy| *busy == lane);
            if is_busy || self.under_way.len() >= self.places {
                continue;
            }
            let id = chosen[&lane];
            self.under_way.insert(id, lane.clone());
            self.last.insert(lane, id);
            admitted.push(id);
        }
        admitted
    }

    /// Frees the lane of a receiver.
    pub fn ended(&mut self, id: I) {
        self.under_way.remove(&id);
    }

    /// Frees all lanes, when it is unknown which task ended.
    pub fn clear(&mut self) {
        self.under_way.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(pairs: &[(i64, &str)]) -> Vec<(i64, String)> {
        pairs.iter().map(|(id, lane)| (*id, (*lane).to_owned())).collect()
    }

    #[test]
    fn a_lane_serves_one_at_a_time_and_those_who_share_it_take_turns() {
        let mut lanes = Lanes::new(10);
        let waiting = due(&[(1, "a"), (2, "a"), (3, "b"), (4, "a")]);
        assert_eq!(lanes.admit(waiting.clone()), [1, 3]);
        assert!(lanes.admit(waiting.clone()).is_empty(), "both lanes are busy");
        for next in [2, 4, 1, 2] {
            lanes.ended(if next == 2 {
                1
            } else if next == 4 {
                2
            } else {
                4
            });
            assert_eq!(lanes.admit(waiting.clone()), [next]);
        }
        lanes.ended(3);
        assert_eq!(lanes.admit(waiting), [3]);
    }

    #[test]
    fn lanes_are_bounded_and_the_first_named_go_first() {
        let mut lanes = Lanes::new(2);
        let waiting = due(&[(9, "c"), (1, "a"), (2, "b")]);
        assert_eq!(lanes.admit(waiting.clone()), [9, 1]);
        lanes.ended(9);
        assert_eq!(lanes.admit(due(&[(2, "b"), (9, "c")])), [2]);
        lanes.clear();
        assert!(lanes.is_empty());
        assert_eq!(lanes.admit(waiting).len(), 2);
    }
}

//! The turns of pictures. A person waits for them and a page has many, so they have a queue of
//! their own: no gap, but few at once. They neither wait for polls nor delay them.

use std::collections::{HashMap, VecDeque};

use dispatch::GrantId;

use super::{GrantedTurn, Plan, TurnSender};

/// Pictures under way at once. With the largest ones they take 40 MB.
const AT_ONCE_MAX: usize = 8;
/// Most pictures of a page come from one domain. A browser would open six connections to it.
const AT_DOMAIN_MAX: usize = 2;

/// The pictures that wait and those under way.
#[derive(Debug, Default)]
pub(super) struct PictureTurns {
    waiting: VecDeque<(u32, TurnSender)>,
    /// By domain.
    under_way: HashMap<u32, usize>,
}

impl<H> Plan<H> {
    pub(super) fn picture(&mut self, domain: u32, turn: TurnSender) {
        self.pictures.waiting.push_back((domain, turn));
        self.grant_pictures();
    }

    fn grant_pictures(&mut self) {
        let grants = &mut self.grants;
        self.pictures.grant(|| grants.next_id());
    }

    /// The request for a picture ended, or was not sent.
    pub fn picture_ended(&mut self, domain: u32) {
        if let Some(n) = self.pictures.under_way.get_mut(&domain) {
            *n -= 1;
            if *n == 0 {
                self.pictures.under_way.remove(&domain);
            }
        }
        self.grant_pictures();
    }
}

impl PictureTurns {
    /// Grants turns in the order of waiting, except at domains that have enough.
    fn grant(&mut self, mut number: impl FnMut() -> GrantId) {
        let mut n_under_way: usize = self.under_way.values().sum();
        let mut still = VecDeque::new();
        for (domain, turn) in self.waiting.drain(..) {
            let at_domain = self.under_way.get(&domain).copied().unwrap_or(0);
            if turn.is_closed() {
                continue;
            }
            if n_under_way >= AT_ONCE_MAX || at_domain >= AT_DOMAIN_MAX {
                still.push_back((domain, turn));
            } else if turn.send(GrantedTurn { domain, grant: number() }).is_ok() {
                self.under_way.insert(domain, at_domain + 1);
                n_under_way += 1;
            }
        }
        self.waiting = still;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::{self, Receiver};

    use super::*;

    fn wait(turns: &mut PictureTurns, domain: u32) -> Receiver<GrantedTurn> {
        let (turn, granted) = oneshot::channel();
        turns.waiting.push_back((domain, turn));
        turns.grant(|| GrantId(0));
        granted
    }

    #[test]
    fn a_domain_has_two_places_and_all_together_eight() {
        let mut turns = PictureTurns::default();
        let mut slow: Vec<_> = (0..50).map(|_| wait(&mut turns, 7)).collect();
        let n_granted = slow.iter_mut().filter_map(|turn| turn.try_recv().ok()).count();
        assert_eq!(n_granted, AT_DOMAIN_MAX);
        let mut others: Vec<_> = (10..20).map(|domain| wait(&mut turns, domain)).collect();
        let n_granted = others.iter_mut().filter_map(|turn| turn.try_recv().ok()).count();
        assert_eq!(n_granted, AT_ONCE_MAX - AT_DOMAIN_MAX);
        drop(slow);
        turns.under_way.remove(&10);
        turns.grant(|| GrantId(0));
        assert!(others[6].try_recv().is_ok(), "the one that waited longest");
        assert_eq!(turns.waiting.len(), 3, "nobody waits for the turns at domain 7 any more");
    }
}

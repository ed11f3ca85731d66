//! Which terminal got which request. Only that terminal may answer it, for the feed and the domain
//! that were granted. A result may come again after its request has ended, because its terminal
//! keeps it until it is confirmed.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dispatch::GrantId;
use feed::{Domain, FeedId};

use super::Terminals;

/// Ended requests that are remembered. The result of an older one is stale.
const ENDED_MAX: usize = 50_000;

/// A request that a terminal got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedRequest {
    pub terminal: Arc<str>,
    pub domain: Domain,
    /// `None` for a request that is not a poll, or that an earlier process granted.
    pub feed: Option<FeedId>,
}

/// Whether a terminal may answer a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerRight {
    Own,
    /// Another terminal or another feed was granted.
    Others,
    /// Nobody got this request, or it was long ago.
    Unknown,
}

/// The requests that terminals got.
#[derive(Default)]
pub(super) struct GrantedRequests {
    /// Open ones, with the place of their terminal.
    open: HashMap<GrantId, (usize, GrantedRequest)>,
    /// Numbers ascend, so the first one is the oldest.
    ended: BTreeMap<GrantId, GrantedRequest>,
    /// The requests of earlier processes, from their rows.
    earlier: HashMap<GrantId, GrantedRequest>,
}

impl GrantedRequests {
    pub fn begin(&mut self, grant: GrantId, place: usize, request: GrantedRequest) {
        self.open.insert(grant, (place, request));
    }

    /// Ends an open request. Returns the place of its terminal.
    pub fn end(&mut self, grant: GrantId) -> Option<usize> {
        let (place, request) = self.open.remove(&grant)?;
        self.ended.insert(grant, request);
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_first();
        }
        Some(place)
    }

    fn get(&self, grant: GrantId) -> Option<&GrantedRequest> {
        let open = self.open.get(&grant).map(|(_, request)| request);
        open.or_else(|| self.ended.get(&grant)).or_else(|| self.earlier.get(&grant))
    }
}

impl Terminals {
    /// Notes the requests of earlier processes.
    pub fn note_earlier(&self, requests: impl Iterator<Item = (GrantId, GrantedRequest)>) {
        self.lock().granted.earlier.extend(requests);
    }

    /// Returns whether the result of a grant may come from the terminal at a place. `feed` is the
    /// one that the result names; an errand names none.
    pub fn right_to_answer(
        &self,
        grant: GrantId,
        feed: Option<FeedId>,
        place: usize,
    ) -> AnswerRight {
        let registry = self.lock();
        let Some(request) = registry.granted.get(grant) else { return AnswerRight::Unknown };
        let is_of = registry.list.get(place).is_some_and(|slot| slot.name == request.terminal);
        let is_for = request.feed.is_none() || request.feed == feed;
        if is_of && is_for { AnswerRight::Own } else { AnswerRight::Others }
    }

    /// Returns the request of a grant, unless it was long ago.
    pub fn granted(&self, grant: GrantId) -> Option<GrantedRequest> {
        self.lock().granted.get(grant).cloned()
    }
}

//! The duty to confirm the results of terminals on other machines, after they are recorded.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use dispatch::GrantId;
use dispatch::machine::Verdict;
use tokio::sync::mpsc;

use crate::tally::RoadTally;

/// The results that are being recorded, and the way back to their terminals.
#[derive(Clone)]
pub struct Confirmations {
    pending: Arc<Mutex<HashSet<GrantId>>>,
    answers: mpsc::UnboundedSender<(String, GrantId, Verdict)>,
    tally: Arc<RoadTally>,
}

/// The duty to confirm one result. A result without a word is sent again.
pub struct Confirmation {
    grant: GrantId,
    reply: String,
    of: Confirmations,
}

impl Confirmations {
    pub fn new(
        answers: mpsc::UnboundedSender<(String, GrantId, Verdict)>,
        tally: Arc<RoadTally>,
    ) -> Confirmations {
        Confirmations { pending: Arc::default(), answers, tally }
    }

    /// Takes a result. `None` if it is being recorded already.
    pub fn take(&self, grant: GrantId, reply: &str) -> Option<Confirmation> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let of = self.clone();
        pending.insert(grant).then(|| Confirmation { grant, reply: reply.to_owned(), of })
    }
}

impl Confirmation {
    /// Tells the terminal what became of its result.
    pub fn answer(self, verdict: Verdict) {
        self.of.tally.answered(&verdict);
        self.send(verdict);
    }

    /// Tells the terminal that it may forget a request that it did not send.
    pub fn answer_not_sent(self) {
        self.of.tally.not_sent();
        self.send(Verdict::Stale);
    }

    /// Tells the terminal that the result of an errand is here.
    pub fn answer_errand(self) {
        self.send(Verdict::Recorded);
    }

    fn send(self, verdict: Verdict) {
        // The road ends only with the engine; then the next controller answers.
        let _ = self.of.answers.send((self.reply.clone(), self.grant, verdict));
    }
}

impl Drop for Confirmation {
    fn drop(&mut self) {
        self.of.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.grant);
    }
}

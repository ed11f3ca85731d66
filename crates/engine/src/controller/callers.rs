//! The callers that wait for polls, and the answers to them.

use std::collections::HashMap;

use feed::{FeedId, Outcome, Time};
use tokio::sync::mpsc;

use crate::event::PollAnswer;

pub type AnswerSender = mpsc::UnboundedSender<PollAnswer>;

/// Callers waiting for a poll of a feed.
#[derive(Default)]
pub struct Callers(HashMap<FeedId, Vec<AnswerSender>>);

impl Callers {
    pub fn wait_for(&self, feed: FeedId) -> bool {
        self.0.contains_key(&feed)
    }

    pub fn add(&mut self, feed: FeedId, caller: AnswerSender) {
        self.0.entry(feed).or_default().push(caller);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the feeds that callers wait for.
    pub fn feeds(&self) -> Vec<FeedId> {
        self.0.keys().copied().collect()
    }

    /// Answers all callers that wait for a feed.
    pub fn answer(&mut self, feed: FeedId, answer: &PollAnswer) {
        for caller in self.0.remove(&feed).unwrap_or_default() {
            // The caller may have gone.
            let _ = caller.send(answer.clone());
        }
    }
}

/// The answer to a caller whose poll is not made.
pub fn refused(feed: FeedId, detail: String, next_poll: Option<Time>) -> PollAnswer {
    PollAnswer { next_poll, ..PollAnswer::without_record(feed, Outcome::Refused, detail) }
}

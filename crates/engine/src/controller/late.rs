//! Results that come after their grant has ended, or whose grant an earlier process gave. They free
//! their own domain only. A late document counts if nothing newer is known of its feed.

use std::sync::Arc;
use std::time::Duration;

use dispatch::machine::Verdict;
use dispatch::{GrantId, PollReading, PollResult};
use feed::{Domain, FeedId, RetryAfter, Time};

use super::Controller;
use super::record;
use super::results::relative;
use crate::confirmation::Confirmation;
use crate::event::WaitWish;
use crate::terminals::GrantedRequest;

impl Controller {
    /// Handles the result of a grant that expired or that an earlier process gave. A document is
    /// recorded if no other poll of the feed came before it.
    pub(super) fn late_result(&mut self, result: PollResult, confirmation: Option<Confirmation>) {
        let at = self.context.clock.now();
        let held = self.plan.release(result.grant, at);
        let granted = self.terminals.granted(result.grant);
        if let Some(429 | 503) = result.facts.status {
            let facts = &result.facts;
            let retry_after = facts.retry_after.map(|wish| relative(wish, facts.date));
            let retry_after = retry_after.map(|wish| less(wish, result.held));
            let of_grant = granted.as_ref().and_then(|one| self.plan.known_domain(&one.domain));
            if let Some(domain) = held.or(of_grant) {
                self.asked_to_wait_late(domain, at, retry_after);
            }
        }
        let Some(confirmation) = confirmation else {
            tracing::debug!(grant = result.grant.0, "the result of an expired grant was dropped");
            return;
        };
        self.context.tally.late();
        let is_seen = matches!(
            result.reading,
            PollReading::NotModified { .. }
                | PollReading::Same { .. }
                | PollReading::Document(_)
                | PollReading::Gone
        );
        let is_of_grant = granted.is_none_or(|granted| self.is_of_grant(&result, &granted));
        if !is_seen || !is_of_grant || !self.plan.adopt(result.feed, result.generation) {
            return confirmation.answer(Verdict::Stale);
        }
        let context = Arc::clone(&self.context);
        tokio::spawn(async move {
            record::record_late(&context, result, confirmation, at).await;
        });
    }

    /// Returns whether a result may come from a request to the granted domain. The row of an
    /// earlier process does not name the feed.
    fn is_of_grant(&self, result: &PollResult, granted: &GrantedRequest) -> bool {
        let home = || self.plan.domain_of(result.feed).map(|home| self.plan.domain_name(home));
        match (granted.feed, &result.so_far.redirected_to) {
            (Some(feed), _) => feed == result.feed,
            (None, Some(url)) => Domain::of(url) == granted.domain,
            (None, None) => home().is_some_and(|home| *home == granted.domain),
        }
    }

    /// Ends the wait for a late result that is not recorded. The feed keeps its time, and a caller
    /// who waits for it gets a poll.
    pub(super) fn not_adopted(&mut self, feed: FeedId) {
        let now = self.context.clock.now();
        self.plan.postpone(feed, now, self.callers.wait_for(feed));
        if let Some(spending) = &mut self.spending {
            spending.release(feed, now);
        }
    }

    /// Handles the result of an errand that an earlier process granted.
    pub(super) fn late_errand(&mut self, grant: GrantId, wish: Option<WaitWish>) {
        let at = self.context.clock.now();
        let held = self.plan.release(grant, at);
        if let (Some(domain), Some(WaitWish { retry_after })) = (held, wish) {
            self.asked_to_wait_late(domain, at, retry_after);
        }
    }

    /// Blocks a domain whose wish for fewer requests came late. It may come more than once, so
    /// without a time it does not count again while the domain is blocked.
    fn asked_to_wait_late(&mut self, domain: u32, at: Time, retry_after: Option<RetryAfter>) {
        let is_blocked = self.plan.pace(domain).not_before.is_some_and(|until| until > at);
        if retry_after.is_some() || !is_blocked {
            self.asked_to_wait(domain, at, retry_after, None);
        }
    }
}

/// Returns the rest of a wait, so long after the answer that asked for it.
fn less(wish: RetryAfter, since: Duration) -> RetryAfter {
    match wish {
        RetryAfter::After(wait) => RetryAfter::After(wait.saturating_sub(since)),
        RetryAfter::At(_) => wish,
    }
}

//! The budget's part of the controller: queues the polls that the strategy plans, and reports polls
//! and feeds to the strategy. Without a budget every feed has its own time.

use std::sync::Arc;

use feed::{Cause, FeedId, Time};
use polling::budget::PollCost;

use super::Controller;
use crate::event::{Finished, ScheduledFeed};
use crate::plan::UNTIL_PLANNED;

impl Controller {
    /// Queues what the strategy plans for now. Nothing is spent while our network is down.
    pub(super) fn spend(&mut self, now: Time) {
        let Some(spending) = self.spending.as_mut().filter(|s| s.plan_at() <= now) else { return };
        if self.terminals.are_all_down() {
            return;
        }
        for (feed, cause) in spending.plan(now) {
            // A feed that is queued or under way for a caller comes back by itself.
            if self.plan.queue_planned(feed, now) {
                self.causes.insert(feed, cause);
            }
        }
        let (expected, context) = (spending.expected_polls(now), Arc::clone(&self.context));
        tokio::spawn(async move {
            if let Err(error) = context.store.store_expected_polls(expected).await {
                tracing::warn!(%error, "cannot store when feeds under the budget come next");
            }
        });
    }

    /// The cause of a feed's poll, if the store does not know it.
    pub(super) fn cause(&mut self, feed: FeedId) -> Option<String> {
        let planned = self.causes.remove(&feed);
        let under_budget = self.spending.as_ref().is_some_and(|s| s.holds(feed));
        let promised = under_budget && !self.callers.wait_for(feed);
        planned.or_else(|| promised.then(|| Cause::PromisedDelay.code()))
    }

    /// Schedules a feed for its time, or until the strategy plans it.
    pub(super) fn schedule(&mut self, scheduled: ScheduledFeed) {
        let ScheduledFeed { feed, domain, next_at, generation, budgeted } = scheduled;
        let domain = self.plan.domain(&domain);
        let next_at = match (&mut self.spending, budgeted) {
            (Some(spending), Some(budgeted)) => {
                let latest = budgeted.latest;
                spending.take(feed, generation, *budgeted);
                spending.paced(feed, domain, self.plan.gap(domain));
                latest.unwrap_or(UNTIL_PLANNED)
            }
            (Some(spending), None) => {
                spending.forget(feed);
                next_at
            }
            (None, _) => next_at,
        };
        self.plan.schedule(feed, domain, next_at, generation);
    }

    /// Reports a poll that ended to the strategy. Returns the time for which the feed is scheduled.
    pub(super) fn spent(
        &mut self,
        finished: &mut Finished,
        domain: u32,
        cost: PollCost,
    ) -> Option<Time> {
        let Finished { feed, next_at, generation, .. } = *finished;
        let Some(spending) = &mut self.spending else { return next_at };
        spending.polled(feed, cost);
        match (finished.budgeted.take(), next_at) {
            (Some(budgeted), _) => {
                let latest = budgeted.latest;
                spending.take(feed, generation, *budgeted);
                spending.paced(feed, domain, self.plan.gap(domain));
                Some(latest.unwrap_or(UNTIL_PLANNED))
            }
            // The poll began before the budget did, or could not be recorded.
            (None, Some(from)) if spending.holds(feed) => {
                spending.release(feed, from);
                Some(UNTIL_PLANNED)
            }
            (None, Some(_)) => next_at,
            (None, None) => {
                spending.forget(feed);
                None
            }
        }
    }
}

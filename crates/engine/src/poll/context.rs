//! What every poll needs, and what is read and said on its behalf. It makes no poll.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use feed::{FeedId, Time};
use fetch::Fetcher;
use store::{Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};

use super::send;
use crate::budget::BudgetRule;
use crate::event::{Asked, Event};
use crate::spending::Spending;
use crate::{Clock, Settings, conclude};

/// A clock that is set back by less than this delays nobody by more.
pub const SET_BACK_MIN: Duration = Duration::from_secs(60);

/// What every poll needs.
pub struct Context {
    pub store: Store,
    pub fetcher: Fetcher,
    pub clock: Clock,
    pub settings: Settings,
    pub events: mpsc::UnboundedSender<Event>,
    pub cut: watch::Receiver<bool>,
    /// The budget in force. It may change at any time; each poll takes it as it is when it ends.
    pub budget: RwLock<Option<BudgetRule>>,
    /// The minute in which trouble with the store was last logged.
    pub trouble_logged: AtomicI64,
    /// Wakes whoever hands over what queries kept.
    pub deliveries: Notify,
}

impl Context {
    /// The same trouble hundreds of times a second is one line a minute.
    pub fn log_trouble(&self, feed: FeedId, error: &StoreError) {
        let minute = self.clock.now().secs() / 60;
        if self.trouble_logged.swap(minute, Ordering::Relaxed) != minute {
            tracing::error!(feed = feed.0, %error, "cannot record what came; it is tried again");
        }
    }

    pub fn budget(&self) -> Option<BudgetRule> {
        *self.budget.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// A feed as the loop needs it, to be polled at `next_at` where it is not under the budget;
    /// `None` for one that is not polled.
    pub fn asked(&self, feed: FeedId, next_at: Time) -> Result<Option<Asked>, StoreError> {
        let Some((domain, due)) = self.store.due(feed)? else { return Ok(None) };
        let budgeted = match self.budget() {
            Some(rule) => conclude::budgeted(&rule, &self.store.poll_input(feed)?, &self.settings),
            None => None,
        };
        Ok(Some(Asked { feed, domain, next_at, generation: due.generation, budgeted }))
    }

    /// Lets nobody wait for a moment by a clock that was set back.
    pub fn end_waits_set_back(&self) {
        if let Err(error) = self.store.end_waits_set_back(SET_BACK_MIN, self.clock.now()) {
            tracing::error!(%error, "deliveries wait by the clock as it was");
        }
    }

    /// Takes every feed under the budget anew, after the clock was set back. What was spent stays
    /// spent.
    pub fn respend(&self) {
        let Some(rule) = self.budget() else { return };
        let (now, mut feeds) = (self.clock.now(), Vec::new());
        let read = self.store.poll_inputs(|input| {
            let Some(mut budgeted) = conclude::budgeted(&rule, &input, &self.settings) else {
                return;
            };
            budgeted.set_back(conclude::set_back(input.last_poll_at, now));
            let (feed, domain) = (input.id, conclude::domain(&input));
            let generation = input.generation;
            feeds.push(Asked { feed, domain, next_at: now, generation, budgeted: Some(budgeted) });
        });
        match read.and_then(|()| self.store.strategy_progress()) {
            Ok(progress) => {
                let spending = Box::new(Spending::new(rule, &progress, now));
                send(self, Event::Spend(Some(spending), feeds));
            }
            Err(error) => tracing::error!(%error, "the budget is spent by the clock as it was"),
        }
    }

    /// Takes the blame for an outage back from these feeds and lets them be polled at `next_at`.
    pub async fn forgive(&self, feeds: &[FeedId], next_at: Time) {
        let why = "our own network was down; the feed is not to blame";
        match self.store.forgive(feeds, next_at, why).await {
            Ok(forgiven) => {
                for feed in forgiven {
                    if let Ok(Some(asked)) = self.asked(feed, next_at) {
                        send(self, Event::Rest(asked));
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot take back the blame of an outage"),
        }
    }
}

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

/// A feed is polled again within this many rounds only if its polls are seconds apart; then the
/// last of them was decided by the new settings anyway.
const REPLAN_ROUNDS_MAX: usize = 3;

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

    /// Lets no receiver wait for a moment by a clock that was set back.
    pub fn end_waits_after_clock_jump(&self, now: Time) {
        if let Err(error) = self.store.end_waits_after_clock_jump(SET_BACK_MIN, now) {
            tracing::error!(%error, "deliveries wait by the clock as it was");
        }
    }

    /// Puts everything stored that waits for a moment by the old clock to the new one. `by` is how
    /// far the clock was set back, where that is known.
    pub fn follow_clock(&self, by: Option<Duration>, now: Time) {
        self.end_waits_after_clock_jump(now);
        if let Err(error) = self.store.set_back(by, now) {
            tracing::error!(%error, "the next polls are shown by the clock as it was");
        }
    }

    /// Decides the next polls of feeds again, after settings changed or pushes ended. Where a poll
    /// is recorded meanwhile, the feed is decided again from it. Answers when each is polled;
    /// feeds that are not polled by themselves are left out.
    pub fn replan(&self, feeds: &[FeedId]) -> Result<Vec<(FeedId, Time)>, StoreError> {
        let mut left = feeds.to_vec();
        let mut planned = Vec::with_capacity(feeds.len());
        for _ in 0..REPLAN_ROUNDS_MAX {
            let mut replans = Vec::with_capacity(left.len());
            for &feed in &left {
                let input = self.store.poll_input(feed)?;
                if !input.settings.paused && input.location.gone.is_none() {
                    let now = self.clock.now();
                    replans.push((feed, conclude::replanned(&input, &self.settings, now)));
                }
            }
            let times: Vec<_> = replans.iter().map(|(feed, plan)| (*feed, plan.next_at)).collect();
            left = self.store.replan(replans)?;
            planned.extend(times.into_iter().filter(|(feed, _)| !left.contains(feed)));
            if left.is_empty() {
                break;
            }
        }
        Ok(planned)
    }

    /// Takes every feed under the budget anew, after the clock was set back. What was spent stays
    /// spent.
    pub fn respend(&self, now: Time) {
        let Some(rule) = self.budget() else { return };
        let mut feeds = Vec::new();
        let read = self.store.poll_inputs(|input| {
            let Some(mut budgeted) = conclude::budgeted(&rule, &input, &self.settings) else {
                return;
            };
            budgeted.set_back(conclude::set_back(input.history.last_poll_at, now), now);
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

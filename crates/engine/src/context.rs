//! The parts that all tasks of the engine share: store, fetcher, clock, settings, events. It makes
//! no poll.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use feed::{Domain, FeedId, Time};
use fetch::Fetcher;
use store::{Store, StoreError};
use tokio::sync::{Notify, mpsc};

use crate::budget::BudgetRule;
use crate::clusters::Clusters;
use crate::errand_road::ErrandRoad;
use crate::event::{Event, ScheduledFeed};
use crate::fetch_book::FetchBook;
use crate::grants::GrantBook;
use crate::page_work::ArticleWork;
use crate::record_trouble::RecordTrouble;
use crate::spending::Spending;
use crate::tally::RoadTally;
use crate::{Clock, Settings, conclude};

/// A clock that is set back by less than this is ignored: no poll is delayed by more.
pub const SET_BACK_MIN: Duration = Duration::from_secs(60);

/// Feeds that are read with one question: windows and learned states of more need much memory.
pub const READ_AT_ONCE: usize = 500;
/// A feed is polled again within this many rounds only if its polls are seconds apart. Then its
/// last poll was decided by the new settings anyway.
const REPLAN_ROUNDS_MAX: usize = 3;

/// The parts that all tasks of the engine share.
pub struct Context {
    pub store: Store,
    pub fetcher: Arc<Fetcher>,
    pub clock: Clock,
    pub settings: Settings,
    pub events: mpsc::UnboundedSender<Event>,
    /// The budget in force. It may change at any time; a poll uses the one in force when it ends.
    pub budget: RwLock<Option<BudgetRule>>,
    /// Records that the store did not take.
    pub trouble: RecordTrouble,
    /// Wakes the deliveries.
    pub deliveries: Notify,
    /// Wakes the notifications of devices.
    pub notifications: Notify,
    /// The daily profiles that feeds share.
    pub clusters: Clusters,
    /// The pages behind entries that are being loaded.
    pub articles: ArticleWork,
    /// The rows of grants, if the store outlives this process.
    pub grants: Option<Arc<GrantBook>>,
    /// The way of errands to the terminals of their regions.
    pub errands: Option<Arc<ErrandRoad>>,
    /// The name of this process among the machines.
    pub machine: String,
    /// The regions that feeds ask for.
    pub regions: RwLock<HashMap<FeedId, String>>,
    /// The settings for requests of feeds.
    pub fetch_book: FetchBook,
    /// Counts of the work with other machines.
    pub tally: Arc<RoadTally>,
}

impl Context {
    /// Sends an event to the controller. It ends only with the engine; then nobody needs the event.
    pub fn send(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Logs an error of the store, at most once a minute.
    pub fn log_trouble(&self, feed: FeedId, error: &StoreError) {
        let minute = self.clock.now().secs() / 60;
        if self.trouble.may_log(minute) {
            tracing::error!(feed = feed.0, %error, "cannot record a poll or push; retrying");
        }
    }

    /// Returns the region in which a feed is polled: its own, that of a tag, or that of its domain.
    pub fn region(&self, feed: FeedId, domain: &Domain) -> Option<String> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        let of_feed = regions.get(&feed).cloned();
        of_feed.or_else(|| self.settings.regions.get(domain.as_str()).cloned())
    }

    /// Reads the regions again, after a feed or a tag changed.
    pub fn read_regions(&self) -> Result<(), StoreError> {
        let regions = self.store.regions()?;
        *self.regions.write().unwrap_or_else(PoisonError::into_inner) = regions;
        Ok(())
    }

    pub fn budget(&self) -> Option<BudgetRule> {
        *self.budget.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a feed that is to be polled at `next_at`, or by the budget's strategy. `None` if the
    /// feed is not polled.
    pub fn scheduled(
        &self,
        feed: FeedId,
        next_at: Time,
    ) -> Result<Option<ScheduledFeed>, StoreError> {
        self.scheduled_by(feed, |_| next_at)
    }

    /// The same for the stored time of the next poll, or for now if there is none. One question
    /// asks for the time and the generation: a poll may be recorded at any moment. With its
    /// generation, an older time would bring another poll at once.
    pub fn scheduled_as_stored(&self, feed: FeedId) -> Result<Option<ScheduledFeed>, StoreError> {
        self.scheduled_by(feed, |stored| stored.unwrap_or_else(|| self.clock.now()))
    }

    fn scheduled_by(
        &self,
        feed: FeedId,
        next_at: impl FnOnce(Option<Time>) -> Time,
    ) -> Result<Option<ScheduledFeed>, StoreError> {
        let Some((domain, due)) = self.store.due(feed)? else { return Ok(None) };
        let next_at = next_at(due.next_at);
        let budgeted = match self.budget() {
            Some(rule) => conclude::budgeted(&rule, &self.store.poll_input(feed)?, &self.settings),
            None => None,
        };
        Ok(Some(ScheduledFeed { feed, domain, next_at, generation: due.generation, budgeted }))
    }

    /// Ends the waits of receivers for moments by a clock that was set back.
    pub fn end_waits_after_clock_jump(&self, now: Time) {
        if let Err(error) = self.store.end_waits_after_clock_jump(SET_BACK_MIN, now) {
            tracing::error!(%error, "cannot move waiting deliveries with the clock");
        }
    }

    /// Moves everything stored that waits for a moment by the old clock to the new one. `by` is how
    /// far the clock was set back, if that is known.
    pub fn follow_clock(&self, by: Option<Duration>, now: Time) {
        self.end_waits_after_clock_jump(now);
        if let Err(error) = self.store.set_back(by, now) {
            tracing::error!(%error, "cannot move the stored next polls with the clock");
        }
    }

    /// Decides the next polls of feeds again, after settings changed or pushes ended. If a poll is
    /// recorded meanwhile, decides once more from it. Returns when each feed is polled; feeds that
    /// are not polled by themselves are left out.
    pub fn replan(&self, feeds: &[FeedId]) -> Result<Vec<(FeedId, Time)>, StoreError> {
        let mut left = feeds.to_vec();
        let mut planned = Vec::with_capacity(feeds.len());
        for _ in 0..REPLAN_ROUNDS_MAX {
            let mut replans = Vec::with_capacity(left.len());
            for some in left.chunks(READ_AT_ONCE) {
                for input in self.store.poll_inputs_of(some)? {
                    if !input.settings.paused && input.location.gone.is_none() {
                        let now = self.clock.now();
                        let plan = conclude::replanned(&input, &self.settings, now);
                        replans.push((input.id, plan));
                    }
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

    /// Puts every feed under the budget again, after the clock was set back. Polls that were spent
    /// stay spent.
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
            feeds.push(ScheduledFeed {
                feed,
                domain,
                next_at: now,
                generation,
                budgeted: Some(budgeted),
            });
        });
        match read.and_then(|()| Spending::restored(rule, &self.store, now)) {
            Ok(spending) => {
                self.send(Event::Spend(Some(Box::new(spending)), feeds));
            }
            Err(error) => {
                tracing::error!(%error, "cannot restart the budget after the clock was set back");
            }
        }
    }

    /// Takes back the failures of these feeds after an outage of ours, and schedules them for
    /// `next_at`.
    pub async fn forgive(&self, feeds: &[FeedId], next_at: Time) {
        let why = "our own network was down; the feed is not to blame";
        match self.store.forgive(feeds, next_at, why).await {
            Ok(forgiven) => {
                for feed in forgiven {
                    if let Ok(Some(scheduled)) = self.scheduled(feed, next_at) {
                        self.send(Event::Schedule(scheduled));
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "cannot take back the blame of an outage"),
        }
    }
}

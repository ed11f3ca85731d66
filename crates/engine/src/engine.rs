//! The engine as its users see it: starts and stops all tasks, and takes requests for polls and
//! changes.

use std::sync::atomic::AtomicI64;
use std::sync::{Arc, PoisonError, RwLock};

use dispatch::Stopwatch;
use feed::{FeedId, Time};
use fetch::Fetcher;
use store::{Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::context::Context;
use crate::controller::{Channels, Controller};
use crate::errand::{Errands, PlanHandle};
use crate::event::{Event, PollAnswer, ScheduledFeed};
use crate::figures::{Counters, Figures};
use crate::matching::Matching;
use crate::spending::Spending;
use crate::worker::Worker;
use crate::{
    BudgetRule, Clock, Settings, Topics, Watch, budget, conclude, deliver, hub, indexing,
    subscriber, upkeep, worker,
};

/// A running engine. Dropping it cancels the polls under way; [`Engine::stop`] lets them end.
pub struct Engine {
    pub store: Store,
    pub clock: Clock,
    pub settings: Settings,
    context: Arc<Context>,
    counters: Arc<Counters>,
    stop: watch::Sender<bool>,
    cut: watch::Sender<bool>,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
    deliverer: tokio::sync::Mutex<JoinSet<()>>,
    /// Locked during a change of the queries, from the check to the change. The store's writer
    /// never locks it.
    pub(crate) queries_change: tokio::sync::Mutex<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot read the feeds")]
    Store(#[from] StoreError),
}

impl Engine {
    /// Starts the controller, the workers and the other tasks.
    pub fn start(
        store: Store,
        fetcher: Fetcher,
        clock: Clock,
        settings: Settings,
        watch: Watch,
    ) -> Result<Engine, EngineError> {
        store.install(Box::new(Matching::default()))?;
        let (events, receiver) = mpsc::unbounded_channel();
        let (stop, stop_receiver) = watch::channel(false);
        let (cut, cut_receiver) = watch::channel(false);
        let counters = Arc::new(Counters::default());
        let n_workers = settings.polls_in_flight_max.min(fetcher.connections_max());
        let context = Arc::new(Context {
            store: store.clone(),
            fetcher: Arc::new(fetcher),
            clock: clock.clone(),
            settings: Settings { polls_in_flight_max: n_workers, ..settings.clone() },
            events,
            budget: RwLock::new(budget::in_force(&store, settings.budget)?),
            trouble_logged: AtomicI64::new(0),
            deliveries: Notify::new(),
        });
        let stopwatch = Stopwatch::start();
        let (jobs, results, worker_end) = dispatch::local(n_workers, settings.local_form);
        let channels = Channels { jobs, results, events: receiver };
        let controller = Controller::new(
            Arc::clone(&context),
            channels,
            stopwatch,
            Arc::clone(&counters),
            watch,
        )?;
        let mut tasks = JoinSet::new();
        let fetcher = Arc::clone(&context.fetcher);
        let worker = Arc::new(Worker { fetcher, limits: settings.parse, stopwatch });
        for _ in 0..n_workers {
            let (worker, end) = (Arc::clone(&worker), worker_end.clone());
            tasks.spawn(worker::run(worker, end, cut_receiver.clone()));
        }
        let mut deliverer = JoinSet::new();
        if watch == Watch::All {
            deliverer.spawn(deliver::run(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(indexing::run(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(upkeep::retain(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(upkeep::recover(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(subscriber::receive(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(subscriber::subscribe(Arc::clone(&context), stop_receiver.clone()));
        }
        tasks.spawn(controller.run(stop_receiver));
        Ok(Engine {
            store,
            clock,
            settings,
            context,
            counters,
            stop,
            cut,
            tasks: tokio::sync::Mutex::new(tasks),
            deliverer: tokio::sync::Mutex::new(deliverer),
            queries_change: tokio::sync::Mutex::new(()),
        })
    }

    /// Polls feeds now; the channel receives an answer as each poll ends. Pace and Retry-After bind
    /// these polls too.
    pub fn poll(
        &self,
        feeds: &[FeedId],
    ) -> Result<mpsc::UnboundedReceiver<PollAnswer>, StoreError> {
        let (answers, receiver) = mpsc::unbounded_channel();
        self.ask(feeds, answers)?;
        Ok(receiver)
    }

    /// Polls feeds now and answers on a channel that other polls may share.
    pub fn ask(
        &self,
        feeds: &[FeedId],
        answers: mpsc::UnboundedSender<PollAnswer>,
    ) -> Result<(), StoreError> {
        let mut asked = Vec::with_capacity(feeds.len());
        for &feed in feeds {
            let input = self.store.poll_input(feed)?;
            asked.push(ScheduledFeed {
                feed,
                domain: conclude::domain(&input),
                next_at: Time::MAX,
                generation: input.generation,
                budgeted: None,
            });
        }
        self.send(Event::Ask { feeds: asked, answers });
        Ok(())
    }

    /// Schedules a feed that is new or whose settings changed: for `next_at`, or for when the
    /// budget's strategy plans it.
    pub fn schedule(&self, feed: FeedId, next_at: Time) -> Result<(), StoreError> {
        if let Some(scheduled) = self.context.scheduled(feed, next_at)? {
            self.send(Event::Schedule(scheduled));
        }
        Ok(())
    }

    pub fn budget(&self) -> Option<BudgetRule> {
        self.context.budget()
    }

    /// Sets the budget and schedules every feed again: under the budget, or by its own policy.
    /// Returns the number of feeds under the budget.
    pub fn set_budget(&self, rule: Option<BudgetRule>) -> Result<usize, StoreError> {
        budget::set(&self.store, rule.as_ref())?;
        *self.context.budget.write().unwrap_or_else(PoisonError::into_inner) = rule;
        let now = self.clock.now();
        let (mut feeds, mut replans, mut n_under) = (Vec::new(), Vec::new(), 0);
        self.store.poll_inputs(|input| {
            let (feed, generation) = (input.id, input.generation);
            let under = |rule| conclude::budgeted(rule, &input, &self.settings);
            let budgeted = rule.as_ref().and_then(under);
            let mut next_at = input.schedule.next_at.unwrap_or(now);
            if budgeted.is_some() {
                n_under += 1;
            } else {
                let replan = conclude::replanned(&input, &self.settings, now);
                next_at = replan.next_at;
                replans.push((feed, replan));
            }
            let domain = conclude::domain(&input);
            feeds.push(ScheduledFeed { feed, domain, next_at, generation, budgeted });
        })?;
        let polled_since = self.store.replan(replans)?;
        feeds.retain(|asked| !polled_since.contains(&asked.feed));
        let progress = self.store.strategy_progress()?;
        let spending = rule.map(|rule| Box::new(Spending::new(rule, &progress, now)));
        self.send(Event::Spend(spending, feeds));
        self.replan(&polled_since)?;
        Ok(n_under)
    }

    /// Decides the next polls of feeds again and schedules them.
    pub fn replan(&self, feeds: &[FeedId]) -> Result<(), StoreError> {
        let planned = self.context.replan(feeds)?;
        planned.into_iter().try_for_each(|(feed, next_at)| self.schedule(feed, next_at))
    }

    /// Stops polling a feed by itself.
    pub fn forget(&self, feed: FeedId) {
        self.send(Event::Forget(feed));
    }

    /// Returns a sender of errands with a fetcher of its own. It does not keep the engine alive.
    pub fn errands(&self, fetcher: Fetcher) -> Errands {
        Errands::new(PlanHandle::of(&self.context), fetcher)
    }

    /// Serves the subscribers of published feeds.
    pub async fn serve_hub(&self, topics: Topics) {
        let (context, stop) = (Arc::clone(&self.context), self.stop.subscribe());
        self.deliverer.lock().await.spawn(hub::run(context, topics, stop));
    }

    /// Wakes the deliveries: there may be something to deliver.
    pub fn wake_deliveries(&self) {
        self.context.deliveries.notify_one();
    }

    /// Delivers what can be delivered now; for an engine that polls on request only.
    pub async fn deliver(&self) {
        deliver::run_once(&self.context).await;
    }

    pub fn figures(&self) -> Figures {
        self.counters.read(self.clock.now())
    }

    /// Returns a function that reads the figures later, without holding the engine.
    pub fn figures_reader(&self) -> impl Fn() -> Figures + Send + Sync + 'static {
        let (counters, clock) = (Arc::clone(&self.counters), self.clock.clone());
        move || counters.read(clock.now())
    }

    fn send(&self, event: Event) {
        // The controller ends only when the engine stops; then the feed is due at the next start.
        let _ = self.context.events.send(event);
    }

    /// Stops granting, waits a moment for the polls under way, and cancels the rest. Recorded polls
    /// are kept; the others are repeated at the next start.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        // Deliveries under way are cancelled and repeated at the next start.
        while self.deliverer.lock().await.join_next().await.is_some() {}
        let mut tasks = self.tasks.lock().await;
        // The controller ends first; the workers end when it drops the jobs.
        let _ = tasks.join_next().await;
        self.cut.send_replace(true);
        while tasks.join_next().await.is_some() {}
    }
}

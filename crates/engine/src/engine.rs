//! The engine as its users see it: starts and stops all tasks, and takes requests for polls and
//! changes.

mod start;

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use dispatch::{RoadFigures, Stopwatch};
use feed::{EntryId, FeedId, Time};
use fetch::Fetcher;
use store::{ArticleRequest, EntryRow, FeedPlace, Location, Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::articles::{self, LoadedArticle, TrialText};
use crate::clusters::Clusters;
use crate::context::Context;
use crate::controller::Controller;
use crate::deliver::SentEntry;
use crate::errand::{Errands, PlanHandle};
use crate::event::{Event, PollAnswer, ScheduledFeed};
use crate::fetch_book::FetchBook;
use crate::figures::{Counters, Figures};
use crate::grants::EarlierEpochs;
use crate::matching::Matching;
use crate::page_work::ArticleWork;
use crate::road::BusRoad;
use crate::spending::Spending;
use crate::terminals::{TerminalView, Terminals};
use crate::web_push::PushSender;
use crate::{
    BudgetRule, Clock, Settings, Topics, Watch, budget, conclude, controller, deliver, hub, plan,
    road, tasks, web_push,
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
    road: Option<BusRoad>,
    road_tasks: tokio::sync::Mutex<JoinSet<()>>,
    terminals: Arc<Terminals>,
    stopwatch: Stopwatch,
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

/// The place of an engine among several machines. The default is one process alone.
#[derive(Clone, Default)]
pub struct EngineMachine {
    /// The name of the process.
    pub name: String,
    pub region: Option<String>,
    pub version: String,
    /// Only terminals on other machines poll.
    pub without_terminal: bool,
    /// The way to terminals on other machines.
    pub bus: Option<BusRoad>,
    /// The epochs of earlier engines in this process.
    pub earlier: EarlierEpochs,
}

impl Engine {
    /// Starts the controller, the workers and the other tasks, in one process alone.
    pub fn start(
        store: Store,
        fetcher: Fetcher,
        clock: Clock,
        settings: Settings,
        watch: Watch,
    ) -> Result<Engine, EngineError> {
        Engine::start_among(store, fetcher, clock, settings, watch, EngineMachine::default())
    }

    /// Starts the same among several machines.
    pub fn start_among(
        store: Store,
        fetcher: Fetcher,
        clock: Clock,
        settings: Settings,
        watch: Watch,
        machine: EngineMachine,
    ) -> Result<Engine, EngineError> {
        store.install(Box::new(Matching::default()))?;
        let (events, receiver) = mpsc::unbounded_channel();
        let (stop, stop_receiver) = watch::channel(false);
        let (cut, cut_receiver) = watch::channel(false);
        let counters = Arc::new(Counters::default());
        let n_workers = settings.polls_in_flight_max.min(fetcher.connections_max());
        // A row for each request is needed only where requests outlive this process.
        let has_rows = machine.bus.is_some() || matches!(store.location(), Location::Postgres(_));
        let grant_life = plan::grant_life(fetcher.exchange_time_max());
        let (grants, left) = start::begin_grants(&store, has_rows, grant_life, &machine)?;
        let stopwatch = Stopwatch::start();
        let terminals = start::terminals(&machine, n_workers, &left, clock.now());
        let road = machine.bus.clone().filter(|_| watch == Watch::All);
        let (bus, book, regions) = (road.as_ref(), grants.as_deref(), &settings.regions);
        let errands = tasks::errand_road(bus, book, &terminals, stopwatch, regions);
        let context = Arc::new(Context {
            store: store.clone(),
            fetcher: Arc::new(fetcher),
            clock: clock.clone(),
            settings: Settings { polls_in_flight_max: n_workers, ..settings.clone() },
            events,
            budget: RwLock::new(budget::in_force(&store, settings.budget)?),
            trouble: Default::default(),
            deliveries: Notify::new(),
            notifications: Notify::new(),
            clusters: Clusters::default(),
            articles: ArticleWork::default(),
            grants,
            errands: Some(errands),
            machine: machine.name,
            regions: RwLock::new(store.regions()?),
            fetch_book: FetchBook::load(&store, &settings.key_file)?,
            tally: Arc::default(),
        });
        let (channels, worker_end) =
            start::channels(machine.bus.as_ref(), &context, stopwatch, receiver);
        let plan = controller::load(&context, &left, stopwatch.elapsed(), clock.now(), watch)?;
        let (shared, counted) = (Arc::clone(&context), Arc::clone(&counters));
        let controller =
            Controller::new(shared, channels, Arc::clone(&terminals), counted, plan, watch);
        let windows = Box::new(controller.windows());
        let road_tasks = tasks::serve_road(road.as_ref(), &context, &terminals, stopwatch, windows);
        let mut tasks = tasks::workers(&context, stopwatch, &worker_end, &cut_receiver);
        let deliverer = start::side_tasks(watch, &context, &stop_receiver);
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
            road,
            road_tasks: tokio::sync::Mutex::new(road_tasks),
            terminals,
            stopwatch,
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
        let mut places = self.store.places_of(feeds)?.into_iter();
        let mut asked = Vec::with_capacity(feeds.len());
        for &feed in feeds {
            let place = places.next().filter(|place| place.feed == feed);
            let FeedPlace { domain, generation, .. } = place.ok_or(StoreError::NoFeed(feed))?;
            let next_at = Time::MAX;
            asked.push(ScheduledFeed { feed, domain, next_at, generation, budgeted: None });
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

    /// Schedules a feed for the time that the store has for it, or for now if there is none.
    pub fn schedule_as_stored(&self, feed: FeedId) -> Result<(), StoreError> {
        let scheduled = self.context.scheduled_as_stored(feed)?;
        scheduled.into_iter().for_each(|scheduled| self.send(Event::Schedule(scheduled)));
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
        let restored = rule.map(|rule| Spending::restored(rule, &self.store, now)).transpose()?;
        let spending = restored.map(Box::new);
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

    /// Loads the page behind an entry now, because a person asked for it. `None`: the entry does
    /// not exist.
    pub async fn load_article(&self, entry: EntryId) -> Result<Option<LoadedArticle>, StoreError> {
        let asked_at = self.clock.now();
        // The loop finds the request as soon as it is stored, and must leave the page to this call.
        let under_way = self.context.articles.begin(entry);
        if !self.store.request_article(entry, asked_at)? {
            return Ok(None);
        }
        let row = self.store.entry(entry)?;
        let Some(row) = row else { return Ok(None) };
        let request = ArticleRequest {
            entry,
            feed: row.feed,
            link: row.link,
            by_person: true,
            asked_at,
            tries: 0,
        };
        let Some(under_way) = &under_way else {
            let reason = "the page is being loaded".to_owned();
            return Ok(Some(LoadedArticle::Later { reason }));
        };
        articles::load(&self.context, &request, under_way).await.map(Some)
    }

    /// Tries a selector on the page behind an entry, and stores nothing. Returns the text or why
    /// there is none; `None`: there is no such entry.
    pub async fn try_article(
        &self,
        entry: EntryId,
        selector: Option<String>,
    ) -> Result<Option<Result<TrialText, String>>, StoreError> {
        let Some(row) = self.store.entry(entry)? else { return Ok(None) };
        articles::preview(&self.context, &row, selector).await.map(Some)
    }

    /// Posts an entry to a webhook of a person, once. Returns why it was not taken.
    pub async fn send_entry(
        &self,
        sent: &SentEntry<'_>,
        entry: &EntryRow,
    ) -> Result<Option<String>, StoreError> {
        deliver::send_entry(&self.context, sent, entry).await
    }

    /// Serves the subscribers of published feeds.
    pub async fn serve_hub(&self, topics: Topics) {
        let (context, stop) = (Arc::clone(&self.context), self.stop.subscribe());
        self.deliverer.lock().await.spawn(hub::run(context, topics, stop));
    }

    /// Sends notifications to the devices of people.
    pub async fn serve_notifications(&self, sender: PushSender) {
        let (context, stop) = (Arc::clone(&self.context), self.stop.subscribe());
        self.deliverer.lock().await.spawn(web_push::run(context, sender, stop));
    }

    /// Wakes the deliveries: there may be something to deliver.
    pub fn wake_deliveries(&self) {
        self.context.deliveries.notify_one();
    }

    /// Delivers what can be delivered now; for an engine that polls on request only.
    pub async fn deliver(&self) {
        deliver::run_once(&self.context).await;
    }

    /// Returns the terminals that this controller knows.
    pub fn terminals(&self) -> Vec<TerminalView> {
        self.terminals.views(self.stopwatch.elapsed())
    }

    /// Returns the regions for which requests wait and no terminal is connected.
    pub fn lacking_regions(&self) -> Vec<String> {
        self.terminals.lacking(self.stopwatch.elapsed())
    }

    /// Asks the terminals with these lives, and no others, to finish their work and to end.
    pub fn drain_terminals(&self, lives: HashSet<String>) {
        self.terminals.set_drained(lives);
    }

    /// Reads the regions of feeds again.
    pub fn read_regions(&self) -> Result<(), StoreError> {
        self.context.read_regions()
    }

    /// Reads the settings for requests of feeds again.
    pub fn read_fetch_settings(&self) -> Result<(), StoreError> {
        self.context.fetch_book.read(&self.store, &self.settings.key_file)
    }

    /// Returns the counts of the work with other machines.
    pub fn road_figures(&self) -> RoadFigures {
        let counts = self.road.as_ref().map(|road| road.bus.counts());
        let figures = self.context.tally.read(counts.unwrap_or_default());
        let book = self.context.grants.as_ref().map(|book| book.commits());
        let (grant_commits, grant_commit_micros) = book.unwrap_or_default();
        RoadFigures { grant_commits, grant_commit_micros, ..figures }
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
        if let Some(book) = &self.context.grants
            && let Err(error) = book.close(&self.context.machine).await
        {
            // The rows end by themselves.
            tracing::debug!(%error, "cannot end the rows of requests");
        }
        if let (Some(road), Some(book)) = (&self.road, &self.context.grants) {
            self.road_tasks.lock().await.shutdown().await;
            road::leave(road, book.epoch()).await;
        }
    }
}

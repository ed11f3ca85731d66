//! Starting and stopping the live loop, and asking it for things.

use std::collections::HashMap;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, PoisonError, RwLock};

use feed::{FeedId, Time};
use fetch::Fetcher;
use store::{Store, StoreError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::event::{Asked, Event, PollAnswer};
use crate::figures::{Counters, Figures};
use crate::matching::Matching;
use crate::network::Network;
use crate::plan::{Plan, UNTIL_PLANNED};
use crate::poll::{self, Context, Poll};
use crate::run_loop::Loop;
use crate::spending::Spending;
use crate::{
    BudgetRule, Clock, Settings, Topics, budget, chance, conclude, deliver, hub, indexing,
    subscriber,
};

/// Which feeds are polled by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// All that are neither paused nor gone.
    All,
    /// None: only what is asked for.
    Asked,
}

/// A running engine. Dropping it cuts the polls under way; [`Engine::stop`] lets them end.
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
    /// Held by whoever changes the queries, from the check to the change. The store's writer never
    /// asks for it.
    pub(crate) queries_change: tokio::sync::Mutex<()>,
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot read the feeds")]
    Store(#[from] StoreError),
}

impl Engine {
    /// Starts the loop and its workers.
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
            fetcher,
            clock: clock.clone(),
            settings: Settings { polls_in_flight_max: n_workers, ..settings.clone() },
            events,
            cut: cut_receiver,
            budget: RwLock::new(budget::in_force(&store, settings.budget)?),
            trouble_logged: AtomicI64::new(0),
            deliveries: Notify::new(),
        });
        let (plan, spending) = load(&context, clock.now(), watch)?;
        let (jobs, receiver_of_jobs) = dispatch::local(n_workers);
        let mut tasks = JoinSet::new();
        for _ in 0..n_workers {
            let (context, jobs) = (Arc::clone(&context), receiver_of_jobs.clone());
            tasks.spawn(async move {
                while let Some(grant) = jobs.next().await {
                    poll::guarded_step(&context, grant).await;
                }
            });
        }
        let run_loop = Loop {
            plan,
            spending,
            causes: Default::default(),
            turned_at: Time::MIN,
            context: Arc::clone(&context),
            jobs,
            events: receiver,
            counters: Arc::clone(&counters),
            network: Network::default(),
            asked: Default::default(),
            to_forgive: Default::default(),
            watch,
        };
        let mut deliverer = JoinSet::new();
        if watch == Watch::All {
            deliverer.spawn(deliver::run(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(indexing::run(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(subscriber::receive(Arc::clone(&context), stop_receiver.clone()));
            deliverer.spawn(subscriber::subscribe(Arc::clone(&context), stop_receiver.clone()));
        }
        tasks.spawn(run_loop.run(stop_receiver));
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

    /// Polls feeds now and answers as each ends. Pace and Retry-After bind these polls too.
    pub fn poll(
        &self,
        feeds: &[FeedId],
    ) -> Result<mpsc::UnboundedReceiver<PollAnswer>, StoreError> {
        let (answers, receiver) = mpsc::unbounded_channel();
        self.ask(feeds, answers)?;
        Ok(receiver)
    }

    /// The same with a channel for the answers that other feeds are answered by too.
    pub fn ask(
        &self,
        feeds: &[FeedId],
        answers: mpsc::UnboundedSender<PollAnswer>,
    ) -> Result<(), StoreError> {
        let mut asked = Vec::with_capacity(feeds.len());
        for &feed in feeds {
            let input = self.store.poll_input(feed)?;
            asked.push(Asked {
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

    /// A feed is new, or its settings changed: it is polled at `next_at`, or when the strategy
    /// that spends the budget plans it.
    pub fn rest(&self, feed: FeedId, next_at: Time) -> Result<(), StoreError> {
        if let Some(asked) = self.context.asked(feed, next_at)? {
            self.send(Event::Rest(asked));
        }
        Ok(())
    }

    pub fn budget(&self) -> Option<BudgetRule> {
        self.context.budget()
    }

    /// Sets the budget and lays every feed down anew: under it, or by its own policy. Returns how
    /// many are under it.
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
            feeds.push(Asked { feed, domain, next_at, generation, budgeted });
        })?;
        let polled_since = self.store.replan(replans)?;
        feeds.retain(|asked| !polled_since.contains(&asked.feed));
        let progress = self.store.strategy_progress()?;
        let spending = rule.map(|rule| Box::new(Spending::new(rule, &progress, now)));
        self.send(Event::Spend(spending, feeds));
        self.replan(&polled_since)?;
        Ok(n_under)
    }

    /// Decides the next polls of feeds again and tells the loop.
    pub fn replan(&self, feeds: &[FeedId]) -> Result<(), StoreError> {
        let planned = self.context.replan(feeds)?;
        planned.into_iter().try_for_each(|(feed, next_at)| self.rest(feed, next_at))
    }

    /// A feed is not to be polled by itself any more.
    pub fn forget(&self, feed: FeedId) {
        self.send(Event::Forget(feed));
    }

    /// Serves the subscribers of published feeds.
    pub async fn serve_hub(&self, topics: Topics) {
        let (context, stop) = (Arc::clone(&self.context), self.stop.subscribe());
        self.deliverer.lock().await.spawn(hub::run(context, topics, stop));
    }

    /// There may be something to hand over.
    pub fn wake_deliveries(&self) {
        self.context.deliveries.notify_one();
    }

    /// Hands over what can be handed over now; for an engine that is only asked.
    pub async fn deliver(&self) {
        deliver::run_once(&self.context).await;
    }

    pub fn figures(&self) -> Figures {
        self.counters.read(self.clock.now())
    }

    /// Reads the figures later, without holding the engine.
    pub fn figures_reader(&self) -> impl Fn() -> Figures + Send + Sync + 'static {
        let (counters, clock) = (Arc::clone(&self.counters), self.clock.clone());
        move || counters.read(clock.now())
    }

    fn send(&self, event: Event) {
        // The loop ends only when the engine stops; what is asked then is due at the next start.
        let _ = self.context.events.send(event);
    }

    /// Grants nothing more, lets the polls under way end for a moment, cuts the rest. What was
    /// recorded is kept; what was not is polled again at the next start.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        // What is being handed over is cut and comes again.
        while self.deliverer.lock().await.join_next().await.is_some() {}
        let mut tasks = self.tasks.lock().await;
        // The loop ends first; the workers end when it drops the jobs.
        let _ = tasks.join_next().await;
        self.cut.send_replace(true);
        while tasks.join_next().await.is_some() {}
    }
}

/// Lays every watched feed to rest until its time, or until the strategy plans it. What became
/// due while we were away is spread over a while; a feed that was never polled is due at once.
fn load(
    context: &Context,
    now: Time,
    watch: Watch,
) -> Result<(Plan<Poll>, Option<Box<Spending>>), StoreError> {
    let Context { store, settings, .. } = context;
    if watch == Watch::All {
        context.follow_clock(None, now);
    } else {
        context.end_waits_after_clock_jump(now);
    }
    let mut plan = Plan::new(settings.gaps.clone(), watch == Watch::All);
    let mut spending = None;
    if watch == Watch::All {
        let index = store.due_index()?;
        plan.reserve(index.due.len(), index.domains.len());
        let domains: Vec<u32> = index.domains.iter().map(|d| plan.domain(d)).collect();
        let overdue = |next_at: Option<Time>| next_at.is_some_and(|t| t <= now);
        let n_overdue = index.due.iter().filter(|f| overdue(f.next_at)).count();
        let mut budgeted = HashMap::new();
        if let Some(rule) = context.budget() {
            spending = Some(Box::new(Spending::new(rule, &store.strategy_progress()?, now)));
            store.poll_inputs(|input| {
                let under = conclude::budgeted(&rule, &input, settings);
                budgeted.extend(under.map(|under| (input.id, under)));
            })?;
        }
        for due in &index.due {
            let domain = domains[due.domain as usize];
            let back = conclude::set_back(due.last_poll_at, now);
            let mut next_at = match due.next_at.map(|at| at - back) {
                None => now,
                Some(t) if t > now => t,
                Some(_) => {
                    let unit = chance::unit(settings.seed, due.feed, due.generation);
                    now + polling::restart::spread(n_overdue, unit)
                }
            };
            if let Some(spending) = &mut spending
                && let Some(mut budgeted) = budgeted.remove(&due.feed)
            {
                budgeted.set_back(back, now);
                next_at = budgeted.latest.unwrap_or(UNTIL_PLANNED);
                spending.take(due.feed, due.generation, *budgeted);
                spending.paced(due.feed, domain, plan.gap(domain));
            }
            plan.rest(due.feed, domain, next_at, due.generation);
        }
    }
    for state in store.domain_states()? {
        let domain = plan.domain(&state.domain);
        plan.set_pace(domain, conclude::stored_pace(&state, now));
    }
    Ok((plan, spending))
}

//! Starting and stopping the live loop, and asking it for things.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use feed::{FeedId, Outcome, Time};
use fetch::Fetcher;
use store::{Store, StoreError};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::event::{Asked, Event, PollAnswer};
use crate::network::Network;
use crate::plan::{Plan, UNTIL_PLANNED};
use crate::poll::{self, Context, Poll};
use crate::run_loop::Loop;
use crate::spending::Spending;
use crate::{BudgetRule, Clock, Settings, budget, chance, conclude};

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
}

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("cannot read the feeds")]
    Store(#[from] StoreError),
}

/// What the engine has done and is doing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    pub in_flight: usize,
    pub waiting: usize,
    pub polls: u64,
    pub unchanged: u64,
    pub failed: u64,
    pub new_entries: u64,
    pub suspected_misses: u64,
    pub bytes: u64,
    /// Polls that ended within the last 60 minutes.
    pub polls_last_hour: u64,
    pub network_down: bool,
}

/// The figures, as the loop writes them and others read them.
#[derive(Debug, Default)]
pub struct Counters {
    in_flight: AtomicUsize,
    waiting: AtomicUsize,
    polls: AtomicU64,
    unchanged: AtomicU64,
    failed: AtomicU64,
    new_entries: AtomicU64,
    suspected_misses: AtomicU64,
    bytes: AtomicU64,
    /// Polls by minute, of the last 60 in which there were any.
    minutes: Mutex<VecDeque<(i64, u64)>>,
    network_down: AtomicBool,
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
            events: events.clone(),
            cut: cut_receiver,
            budget: RwLock::new(budget::in_force(&store, settings.budget)?),
            trouble_logged: AtomicI64::new(0),
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
            context: Arc::clone(&context),
            jobs,
            events: receiver,
            counters: Arc::clone(&counters),
            network: Network::default(),
            asked: Default::default(),
            to_forgive: Default::default(),
            watch,
        };
        tasks.spawn(run_loop.run(stop_receiver));
        let tasks = tokio::sync::Mutex::new(tasks);
        Ok(Engine { store, clock, settings, context, counters, stop, cut, tasks })
    }

    /// Polls feeds now and answers as each ends. Pace and Retry-After bind these polls too.
    pub fn poll(
        &self,
        feeds: &[FeedId],
    ) -> Result<mpsc::UnboundedReceiver<PollAnswer>, StoreError> {
        let (answers, receiver) = mpsc::unbounded_channel();
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
        Ok(receiver)
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
        for due in self.store.due_index()?.due {
            let input = self.store.poll_input(due.feed)?;
            let is_under = rule.as_ref().is_some_and(|rule| rule.binds(&input));
            let mut next_at = input.next_at.unwrap_or(now);
            if is_under {
                n_under += 1;
            } else {
                let replan = conclude::replanned(&input, &self.settings, now);
                next_at = replan.next_at;
                replans.push((due.feed, replan));
            }
            feeds.extend(self.context.asked(due.feed, next_at)?);
        }
        self.store.replan(replans)?;
        let progress = self.store.strategy_progress()?;
        let spending = rule.map(|rule| Box::new(Spending::new(rule, &progress, now)));
        self.send(Event::Spend(spending, feeds));
        Ok(n_under)
    }

    /// A feed is not to be polled by itself any more.
    pub fn forget(&self, feed: FeedId) {
        self.send(Event::Forget(feed));
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
    let mut plan = Plan::new(settings.gaps.clone(), watch == Watch::All);
    let mut spending = None;
    if watch == Watch::All {
        let index = store.due_index()?;
        plan.reserve(index.due.len(), index.domains.len());
        let domains: Vec<u32> = index.domains.iter().map(|d| plan.domain(d)).collect();
        let overdue = |next_at: Option<Time>| next_at.is_some_and(|t| t <= now);
        let n_overdue = index.due.iter().filter(|f| overdue(f.next_at)).count();
        spending = match context.budget() {
            Some(rule) => Some(Box::new(Spending::new(rule, &store.strategy_progress()?, now))),
            None => None,
        };
        for due in &index.due {
            let mut next_at = match due.next_at {
                None => now,
                Some(t) if t > now => t,
                Some(_) => {
                    let unit = chance::unit(settings.seed, due.feed, due.generation);
                    now + polling::restart::spread(n_overdue, unit)
                }
            };
            if let Some(spending) = &mut spending
                && let Some(budgeted) = context.asked(due.feed, now)?.and_then(|a| a.budgeted)
            {
                next_at = budgeted.latest.unwrap_or(UNTIL_PLANNED);
                spending.take(due.feed, due.generation, *budgeted);
            }
            plan.rest(due.feed, domains[due.domain as usize], next_at, due.generation);
        }
    }
    for state in store.domain_states()? {
        let domain = plan.domain(&state.domain);
        plan.set_pace(domain, conclude::stored_pace(&state, now));
    }
    Ok((plan, spending))
}

impl Counters {
    pub fn report(&self, plan: &Plan<Poll>, network_down: bool) {
        self.in_flight.store(plan.in_flight(), Ordering::Relaxed);
        self.waiting.store(plan.n_waiting(), Ordering::Relaxed);
        self.network_down.store(network_down, Ordering::Relaxed);
    }

    pub fn poll_ended(&self, answer: &PollAnswer, now: Time) {
        let minute = now.secs() / 60;
        let mut minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        match minutes.back_mut() {
            Some((last, polls)) if *last == minute => *polls += 1,
            _ => minutes.push_back((minute, 1)),
        }
        while minutes.len() > 60 {
            minutes.pop_front();
        }
        drop(minutes);
        self.bytes.fetch_add(answer.bytes, Ordering::Relaxed);
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.new_entries.fetch_add(answer.n_new as u64, Ordering::Relaxed);
        self.suspected_misses.fetch_add(u64::from(answer.suspected_miss), Ordering::Relaxed);
        match answer.outcome {
            Outcome::Unchanged => self.unchanged.fetch_add(1, Ordering::Relaxed),
            Outcome::Failed | Outcome::Refused => self.failed.fetch_add(1, Ordering::Relaxed),
            Outcome::Seen | Outcome::Gone => 0,
        };
    }

    fn read(&self, now: Time) -> Figures {
        let minute = now.secs() / 60;
        let minutes = self.minutes.lock().unwrap_or_else(PoisonError::into_inner);
        let last_hour = minutes.iter().filter(|(m, _)| minute - m < 60).map(|(_, n)| n).sum();
        drop(minutes);
        Figures {
            polls_last_hour: last_hour,
            bytes: self.bytes.load(Ordering::Relaxed),
            in_flight: self.in_flight.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            polls: self.polls.load(Ordering::Relaxed),
            unchanged: self.unchanged.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            new_entries: self.new_entries.load(Ordering::Relaxed),
            suspected_misses: self.suspected_misses.load(Ordering::Relaxed),
            network_down: self.network_down.load(Ordering::Relaxed),
        }
    }
}

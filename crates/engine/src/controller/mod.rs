//! The controller: one task that owns the plan. It handles events and results, grants requests, and
//! sleeps until there is more to do. It never waits for the network or the store: reading inputs
//! and recording polls are tasks of their own.
//!
//! A poll has three steps. `prepare` reads what the store knows and makes a job. A worker looks and
//! returns a result. `results` settles pace and blame at once; `record` concludes and records.

mod budgeting;
mod callers;
mod depart;
mod late;
mod load;
mod postpone;
mod record;
mod results;
mod under_way;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use dispatch::{GrantId, PollResult, ResultReceiver, Stopwatch};
use feed::{FeedId, Outcome, Time, Window};
use tokio::sync::{mpsc, watch};

use crate::Watch;
use crate::context::{Context, SET_BACK_MIN};
use crate::event::{Event, Finished, PollAnswer, ScheduledFeed};
use crate::figures::{Counters, LoopEndGuard};
use crate::network::Network;
use crate::plan::{Grant, Plan, Work};
use crate::spending::Spending;
use crate::terminals::Terminals;
use callers::{AnswerSender, Callers, refused};
pub use depart::Roads;
use depart::{Departure, depart};
pub use load::{LoadedPlan, load};
use postpone::ParkedHops;
pub use under_way::HOPS_MAX;
use under_way::{PollUnderWay, PollsAtWorkers};

/// Events handled in one turn before new grants, so that a burst of results cannot starve the
/// workers.
const EVENTS_PER_TURN: usize = 256;
/// While our network is down, or no terminal is connected, the loop looks this often again.
const PROBE: Duration = Duration::from_secs(1);
/// The longest sleep while nothing is planned.
const SLEEP_MAX: Duration = Duration::from_secs(3600);

/// The task that owns the plan.
pub struct Controller {
    context: Arc<Context>,
    plan: Plan<PollUnderWay>,
    polls: Arc<PollsAtWorkers>,
    channels: Channels,
    stopwatch: Stopwatch,
    counters: Arc<Counters>,
    /// Whether polls can be recorded.
    network: Network,
    terminals: Arc<Terminals>,
    callers: Callers,
    /// Feeds that were blamed for an outage of our network, until the blame is taken back.
    to_forgive: HashSet<FeedId>,
    watch: Watch,
    /// The feeds under the budget, if there is one.
    spending: Option<Box<Spending>>,
    /// The causes of polls that a strategy planned, until they are granted.
    causes: HashMap<FeedId, String>,
    /// The time of the last turn, by the clock as it was then.
    turned_at: Time,
    parked: ParkedHops,
    /// When the log last said that polls wait for a terminal.
    lack_logged: Time,
    /// Since when no terminal has been connected, by the stopwatch.
    no_terminal_since: Option<Duration>,
}

/// The controller's ends of its channels.
pub struct Channels {
    pub roads: Roads,
    pub results: ResultReceiver,
    pub events: mpsc::UnboundedReceiver<Event>,
}

impl Controller {
    /// Makes a controller with a plan.
    pub fn new(
        context: Arc<Context>,
        channels: Channels,
        terminals: Arc<Terminals>,
        counters: Arc<Counters>,
        (plan, spending): LoadedPlan,
        watch: Watch,
    ) -> Controller {
        let stopwatch = channels.roads.stopwatch;
        Controller {
            context,
            plan,
            polls: Arc::default(),
            channels,
            stopwatch,
            counters,
            network: Network::default(),
            terminals,
            callers: Callers::default(),
            to_forgive: HashSet::new(),
            watch,
            spending,
            causes: HashMap::new(),
            turned_at: Time::MIN,
            parked: ParkedHops::default(),
            lack_logged: Time::MIN,
            no_terminal_since: None,
        }
    }

    /// Returns a function that finds the window of a poll under way.
    pub fn windows(&self) -> impl Fn(GrantId) -> Option<Arc<Window>> + Send + Sync + 'static {
        let polls = Arc::clone(&self.polls);
        move |grant| polls.window(grant)
    }

    /// Runs until `stop` turns true, then lets the polls under way end.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let _ended = LoopEndGuard(Arc::clone(&self.counters));
        while !*stop.borrow() {
            let wake = self.turn();
            let deadline = self.until_deadline();
            tokio::select! {
                message = self.channels.next() => match message {
                    Some(message) => self.handle_all(message),
                    None => break,
                },
                () = self.context.clock.sleep_until(wake) => {}
                () = tokio::time::sleep(deadline.unwrap_or_default()), if deadline.is_some() => {}
                _ = stop.changed() => {}
            }
        }
        let grace = self.context.settings.stop_grace;
        let ending = tokio::time::timeout(grace, async {
            while self.plan.in_flight() > 0
                && let Some(message) = self.channels.next().await
            {
                self.handle(message);
            }
        });
        if ending.await.is_err() {
            tracing::info!(
                polls = self.plan.in_flight(),
                "polls that did not end in time are repeated at the next start"
            );
        }
    }

    /// The real time until a grant may expire.
    fn until_deadline(&self) -> Option<Duration> {
        let deadline = self.plan.next_deadline()?;
        Some(deadline.saturating_sub(self.stopwatch.elapsed()))
    }

    /// Grants what may be sent now. Returns when to turn again if nothing happens before.
    fn turn(&mut self) -> Time {
        let now = self.context.clock.now();
        let back = self.turned_at.since(now);
        if back >= SET_BACK_MIN {
            self.set_back(back, now);
        }
        self.turned_at = now;
        self.end_expired(now);
        self.spend(now);
        self.unpark(now);
        let usual = self.terminals.room(now, self.stopwatch.elapsed());
        let look_at = self.answer_without_terminal(usual, now);
        let in_flight_max = self.network.in_flight_max(now, usual);
        let grants = self.plan.grant(now, in_flight_max);
        if !grants.is_empty() {
            self.network.granted(now);
            self.start(grants);
        }
        let plan_at = self.spending.as_ref().map(|spending| spending.plan_at().max(now + PROBE));
        let unpark_at = self.parked.front().map(|(at, _)| *at);
        let wakes = [self.plan.next_wake(in_flight_max), plan_at, unpark_at, look_at];
        let wake = wakes.into_iter().flatten().min();
        let wake = wake.unwrap_or(now + SLEEP_MAX);
        let is_down = self.terminals.are_all_down();
        self.counters.report(&self.plan, is_down, self.network.cannot_record(), wake);
        wake
    }

    /// Hands granted hops to workers, and first requests to a task that prepares them.
    fn start(&mut self, grants: Vec<Grant<PollUnderWay>>) {
        let (now, clock) = (self.context.clock.now(), self.stopwatch.elapsed());
        let mut departures = Vec::with_capacity(grants.len());
        for Grant { id: grant, domain, work, generation, send_by } in grants {
            let (feed, hop) = match work {
                Work::Start(feed) => (feed, None),
                Work::Hop(feed, poll) => (feed, Some(poll)),
            };
            let domain = self.plan.domain_name(domain).clone();
            let region = self.context.region(feed, &domain);
            let picked = self.terminals.pick(grant, feed, &domain, region.as_deref(), now, clock);
            let Some(terminal) = picked else {
                let lack = self.terminals.lack(region.as_deref(), clock);
                self.postpone(grant, feed, hop, &lack);
                continue;
            };
            let cause = if hop.is_none() { self.cause(feed) } else { None };
            let departure =
                Departure { grant, feed, domain, generation, send_by, cause, terminal, hop };
            departures.push(departure);
        }
        if departures.is_empty() {
            return;
        }
        let (context, polls) = (Arc::clone(&self.context), Arc::clone(&self.polls));
        tokio::spawn(depart(context, departures, polls, self.channels.roads.clone()));
    }

    /// Follows a clock that was set back. Without this, polls that were planned by the wrong time
    /// would wait until the right time has come as far.
    fn set_back(&mut self, by: Duration, now: Time) {
        tracing::warn!(
            seconds = by.as_secs(),
            "the clock was set back; planned polls move with it"
        );
        self.plan.set_back(by);
        self.parked.iter_mut().for_each(|(at, _)| *at = *at - by);
        let (context, spends) = (Arc::clone(&self.context), self.spending.is_some());
        tokio::task::spawn_blocking(move || {
            // The strategy first: it cannot plan before it has its feeds again.
            if spends {
                context.respend(now);
            }
            context.follow_clock(Some(by), now);
        });
    }

    fn handle_all(&mut self, first: Message) {
        self.handle(first);
        for _ in 0..EVENTS_PER_TURN {
            match self.channels.try_next() {
                Some(message) => self.handle(message),
                None => break,
            }
        }
    }

    fn handle(&mut self, message: Message) {
        let event = match message {
            Message::Result(result) => return self.result(*result, None),
            Message::Event(event) => event,
        };
        match event {
            // The next turn uses its room.
            Event::TerminalHeard => {}
            Event::Result { result, confirmation } => self.result(*result, Some(confirmation)),
            Event::NotAdopted { feed } => self.not_adopted(feed),
            Event::NotPrepared { grant, feed, why } => {
                self.not_prepared(grant, feed, why);
            }
            Event::ErrandEnded { domain, at, answer, is_away } => {
                self.errand_ended(domain, at, answer, is_away);
            }
            Event::LateErrand { grant, wish } => self.late_errand(grant, wish),
            Event::Errand { domain, turn, class } => {
                let domain = self.plan.domain(&domain);
                self.plan.errand(domain, turn, class, self.context.clock.now());
            }
            Event::PictureEnded { domain } => self.plan.picture_ended(domain),
            Event::Finished { finished, answer } => self.finished(finished, &answer),
            Event::Ask { feeds, answers } => self.ask(feeds, &answers),
            Event::Schedule(feed) => self.schedule(feed),
            // Without a daemon no feed is polled by itself.
            Event::Spend(..) if self.watch == Watch::OnRequest => {}
            Event::Spend(spending, feeds) => {
                self.spending = spending;
                self.causes.clear();
                feeds.into_iter().for_each(|feed| self.schedule(feed));
            }
            Event::Pushed { n_new } => self.counters.pushed(n_new),
            Event::Forget(feed) => self.forget(feed),
        }
    }

    /// Stops polling a feed by itself.
    fn forget(&mut self, feed: FeedId) {
        self.plan.forget(feed);
        if let Some(spending) = &mut self.spending {
            spending.forget(feed);
        }
        let detail = "the feed was removed or paused".to_owned();
        self.callers.answer(feed, &refused(feed, detail, None));
    }

    /// Queues the polls that a caller asks for.
    fn ask(&mut self, feeds: Vec<ScheduledFeed>, answers: &AnswerSender) {
        let now = self.context.clock.now();
        for ScheduledFeed { feed, domain, generation, .. } in feeds {
            if self.callers.wait_for(feed) {
                self.callers.add(feed, answers.clone());
                continue;
            }
            let index = self.plan.domain(&domain);
            match self.plan.ask(feed, index, generation, now) {
                Ok(()) => self.callers.add(feed, answers.clone()),
                Err(until) => {
                    let detail = format!("{domain} asked us to wait until {until}");
                    // The caller may have gone.
                    let _ = answers.send(refused(feed, detail, Some(until)));
                }
            }
        }
    }

    /// Schedules a feed whose poll has ended, and answers its callers.
    fn finished(&mut self, mut finished: Finished, answer: &PollAnswer) {
        let domain = match &finished.domain {
            Some(name) => self.plan.domain(name),
            None => {
                let (domain, generation) = self.plan.planned(finished.feed);
                finished.generation = generation;
                domain
            }
        };
        let next_at = self.spent(&mut finished, domain, answer.cost);
        self.plan.finished(finished.feed, domain, next_at, finished.generation);
        let now = self.context.clock.now();
        self.counters.poll_ended(answer, now);
        self.network.recorded(answer.not_recorded.is_none());
        if let Some(why) = answer.not_recorded.as_ref().filter(|_| self.watch == Watch::OnRequest) {
            self.call_off(why);
        }
        self.callers.answer(finished.feed, answer);
        if self.to_forgive.contains(&finished.feed) {
            self.forgive(now);
        }
    }

    /// Ends everything that waits, because nothing can be recorded. A daemon does not need this: it
    /// tries again by itself.
    fn call_off(&mut self, why: &str) {
        let now = self.context.clock.now();
        for work in self.plan.drain() {
            match work {
                Work::Start(feed) => {
                    let detail = format!("not polled, because polls cannot be recorded: {why}");
                    let mut answer = refused(feed, detail, None);
                    answer.outcome = Outcome::Failed;
                    answer.not_recorded = Some(why.to_owned());
                    self.callers.answer(feed, &answer);
                }
                Work::Hop(_, poll) => self.give_up(*poll, now),
            }
        }
    }
}

/// One message to the controller.
enum Message {
    Event(Event),
    Result(Box<PollResult>),
}

impl Channels {
    /// Waits for a message; `None` after the engine has gone.
    async fn next(&mut self) -> Option<Message> {
        tokio::select! {
            event = self.events.recv() => event.map(Message::Event),
            Some(result) = self.results.recv() => Some(Message::Result(Box::new(result))),
        }
    }

    /// Returns a message that has arrived already.
    fn try_next(&mut self) -> Option<Message> {
        if let Some(result) = self.results.try_recv() {
            return Some(Message::Result(Box::new(result)));
        }
        self.events.try_recv().ok().map(Message::Event)
    }
}

#[cfg(test)]
mod tests;

//! The one task that owns the plan: it takes what happened, grants what may be sent, and sleeps
//! until there is more. It never waits for the network or the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use dispatch::JobSender;
use feed::{Cause, FeedId, Outcome, Time};
use polling::outage::Reach;
use tokio::sync::{mpsc, watch};

use crate::Watch;
use crate::event::{Answered, Asked, Event, Finished, PollAnswer};
use crate::figures::{Counters, Ended};
use crate::network::Network;
use crate::plan::{Grant, Plan, UNTIL_PLANNED, Work};
use crate::poll::{self, Context, Poll, SET_BACK_MIN};
use crate::spending::Spending;

/// How long polls under way may take to end by themselves when the engine stops.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// How long after an outage was recognised its victims are tried again.
const FORGIVEN_WAIT: Duration = Duration::from_secs(60);
/// Events taken before the next grant, so that a flood of results does not starve the workers.
const EVENTS_PER_TURN: usize = 256;

/// While our network is down the strategy is asked this often whether it is back.
const PROBE: Duration = Duration::from_secs(1);

type Answers = mpsc::UnboundedSender<PollAnswer>;

pub struct Loop {
    pub plan: Plan<Poll>,
    pub context: Arc<Context>,
    pub jobs: JobSender<Grant<Poll>>,
    pub events: mpsc::UnboundedReceiver<Event>,
    pub counters: Arc<Counters>,
    pub network: Network,
    /// Who waits for which feed's poll.
    pub asked: HashMap<FeedId, Vec<Answers>>,
    /// Feeds that were blamed for what was our network's fault, until that is put right.
    pub to_forgive: HashSet<FeedId>,
    pub watch: Watch,
    /// The feeds under the budget, where there is one.
    pub spending: Option<Box<Spending>>,
    /// Why polls that a strategy planned are made, until they are granted.
    pub causes: HashMap<FeedId, String>,
    /// When it turned last, by the clock as it was then.
    pub turned_at: Time,
}

impl Loop {
    /// Runs until told to stop, then lets the polls under way end.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let _told = Ended(Arc::clone(&self.counters));
        while !*stop.borrow() {
            let wake = self.turn();
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(event) => self.take_all(event),
                    None => break,
                },
                () = self.context.clock.sleep_until(wake) => {}
                _ = stop.changed() => {}
            }
        }
        let ending = tokio::time::timeout(STOP_GRACE, async {
            while self.plan.in_flight() > 0
                && let Some(event) = self.events.recv().await
            {
                self.take(event);
            }
        });
        if ending.await.is_err() {
            tracing::info!(
                polls = self.plan.in_flight(),
                "polls that did not end in time are repeated at the next start"
            );
        }
    }

    fn turn(&mut self) -> Time {
        let now = self.context.clock.now();
        let back = self.turned_at.since(now);
        if back >= SET_BACK_MIN {
            self.set_back(back, now);
        }
        self.turned_at = now;
        self.spend(now);
        let usual = self.context.settings.polls_in_flight_max;
        let in_flight_max = self.network.in_flight_max(now, usual);
        for mut grant in self.plan.grant(now, in_flight_max) {
            self.network.granted(now);
            if let Work::Start(feed) = grant.work {
                grant.cause = self.cause(feed);
            }
            if let Err(grant) = self.jobs.send(grant) {
                // Workers end only with the engine; what they did not take is due at the next
                // start.
                tracing::debug!(domain = grant.domain, "no worker took the job");
            }
        }
        let plan_at = self.spending.as_ref().map(|spending| spending.plan_at().max(now + PROBE));
        let wake = [self.plan.next_wake(in_flight_max), plan_at].into_iter().flatten().min();
        let wake = wake.unwrap_or(now + Duration::from_secs(3600));
        self.counters.report(&self.plan, &self.network, wake);
        wake
    }

    /// The clock was set back. Without this, what was planned by the wrong one would be polled when
    /// the right one has come as far.
    fn set_back(&mut self, by: Duration, now: Time) {
        tracing::warn!(seconds = by.as_secs(), "the clock was set back; what is planned follows");
        self.plan.set_back(by);
        let (context, spends) = (Arc::clone(&self.context), self.spending.is_some());
        tokio::task::spawn_blocking(move || {
            // The strategy first: it cannot plan before it has its feeds again.
            if spends {
                context.respend(now);
            }
            context.follow_clock(Some(by), now);
        });
    }

    /// Lines up what the strategy plans for now. While our network is down nothing is spent.
    fn spend(&mut self, now: Time) {
        let Some(spending) = self.spending.as_mut().filter(|s| s.plan_at() <= now) else { return };
        if self.network.is_down() {
            return;
        }
        for (feed, cause) in spending.plan(now) {
            // One that somebody asked for meanwhile comes back by itself.
            if self.plan.line_up(feed, now) {
                self.causes.insert(feed, cause);
            }
        }
        let (outlook, context) = (spending.outlook(now), Arc::clone(&self.context));
        tokio::spawn(async move {
            if let Err(error) = context.store.store_expected_polls(outlook).await {
                tracing::warn!(%error, "cannot store when feeds under the budget come next");
            }
        });
    }

    /// Why a feed's poll is made now, where the store does not know.
    fn cause(&mut self, feed: FeedId) -> Option<String> {
        let planned = self.causes.remove(&feed);
        let under_budget = self.spending.as_ref().is_some_and(|s| s.holds(feed));
        let promised = under_budget && !self.asked.contains_key(&feed);
        planned.or_else(|| promised.then(|| Cause::PromisedDelay.code()))
    }

    fn take_all(&mut self, first: Event) {
        self.take(first);
        for _ in 0..EVENTS_PER_TURN {
            match self.events.try_recv() {
                Ok(event) => self.take(event),
                Err(_) => break,
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Exchanged { domain, at, answer } => self.exchanged(domain, at, answer),
            Event::Hop(poll) => self.hop(*poll),
            Event::Errand { domain, turn, rank } => {
                let domain = self.plan.domain(&domain);
                self.plan.errand(domain, turn, rank, self.context.clock.now());
            }
            Event::Finished { finished, answer } => self.finished(finished, &answer),
            Event::Ask { feeds, answers } => self.ask(feeds, &answers),
            Event::Rest(asked) => self.rest(asked),
            // Without a daemon nothing is polled by itself.
            Event::Spend(..) if self.watch == Watch::Asked => {}
            Event::Spend(spending, feeds) => {
                self.spending = spending;
                self.causes.clear();
                feeds.into_iter().for_each(|asked| self.rest(asked));
            }
            Event::Pushed { n_new } => self.counters.pushed(n_new),
            Event::Forget(feed) => {
                self.plan.forget(feed);
                if let Some(spending) = &mut self.spending {
                    spending.forget(feed);
                }
                self.answer(
                    feed,
                    &refused(feed, "the feed was removed or paused".to_owned(), None),
                );
            }
        }
    }

    /// Lays a feed to rest: until its time, or until the strategy plans it.
    fn rest(&mut self, asked: Asked) {
        let Asked { feed, domain, next_at, generation, budgeted } = asked;
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
        self.plan.rest(feed, domain, next_at, generation);
    }

    fn exchanged(&mut self, domain: u32, at: Time, answer: Answered) {
        let mut pace = *self.plan.pace(domain);
        match answer {
            Answered::NotSent => return self.plan.not_sent(domain, at),
            Answered::Lost => {
                pace.answered(at);
                self.plan.set_pace(domain, pace);
            }
            Answered::Heard => {
                pace.answered(at);
                self.plan.set_pace(domain, pace);
                self.heard(domain, at, None);
            }
            Answered::AskedToWait { retry_after, pace: reply } => {
                let until = pace.refused(at, retry_after);
                let asked = &self.asked;
                let out = self.plan.block(domain, pace, |feed| asked.contains_key(&feed));
                self.turn_away(out, domain, until);
                self.heard(domain, at, None);
                // The worker may have been stopped; then nobody wants to know.
                let _ = reply.send(pace);
            }
            Answered::Unreachable { feed, reach, ours } => {
                pace.answered(at);
                self.plan.set_pace(domain, pace);
                self.heard(domain, at, Some((feed, reach)));
                let _ = ours.send(self.network.is_down());
            }
        }
        self.plan.exchanged(domain, at);
    }

    fn heard(&mut self, domain: u32, at: Time, failed: Option<(FeedId, Reach)>) {
        self.to_forgive.extend(self.network.heard(domain, at, failed));
        self.forgive(at);
    }

    /// Takes back the blame of feeds whose poll is recorded by now.
    fn forgive(&mut self, now: Time) {
        let plan = &self.plan;
        let feeds: Vec<FeedId> =
            self.to_forgive.extract_if(|feed| !plan.is_under_way(*feed)).collect();
        if feeds.is_empty() {
            return;
        }
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { context.forgive(&feeds, now + FORGIVEN_WAIT).await });
    }

    /// Answers the work that a Retry-After turned away: it is not kept waiting for hours.
    fn turn_away(&mut self, out: Vec<Work<Poll>>, domain: u32, until: Time) {
        for work in out {
            match work {
                Work::Start(feed) => {
                    let detail = format!(
                        "{} asked us to wait until {until}; the feed is polled after that",
                        self.plan.domain_name(domain)
                    );
                    self.answer(feed, &refused(feed, detail, Some(until)));
                    self.plan.rest_again(feed);
                    if let Some(spending) = &mut self.spending {
                        spending.release(feed, until);
                    }
                }
                Work::Hop(poll) => self.give_up(*poll, until),
            }
        }
    }

    fn hop(&mut self, poll: Poll) {
        let domain = self.plan.domain(&poll.domain());
        if let Err((poll, until)) = self.plan.hop(domain, poll, self.context.clock.now()) {
            self.give_up(poll, until);
        }
    }

    fn give_up(&self, poll: Poll, until: Time) {
        let context = Arc::clone(&self.context);
        tokio::spawn(async move { poll::guarded_give_up(&context, poll, until).await });
    }

    fn ask(&mut self, feeds: Vec<Asked>, answers: &Answers) {
        let now = self.context.clock.now();
        for Asked { feed, domain, generation, .. } in feeds {
            if let Some(waiting) = self.asked.get_mut(&feed) {
                waiting.push(answers.clone());
                continue;
            }
            let index = self.plan.domain(&domain);
            match self.plan.ask(feed, index, generation, now) {
                Ok(()) => self.asked.entry(feed).or_default().push(answers.clone()),
                Err(until) => {
                    let detail = format!("{domain} asked us to wait until {until}");
                    // The one who asked may have gone.
                    let _ = answers.send(refused(feed, detail, Some(until)));
                }
            }
        }
    }

    fn finished(&mut self, mut finished: Finished, answer: &PollAnswer) {
        let domain = self.plan.domain(&finished.domain);
        let next_at = self.spent(&mut finished, domain, answer.bytes);
        self.plan.finished(finished.feed, domain, next_at, finished.generation);
        let now = self.context.clock.now();
        self.counters.poll_ended(answer, now);
        self.network.recorded(answer.not_recorded.is_none());
        if let Some(why) = answer.not_recorded.as_ref().filter(|_| self.watch == Watch::Asked) {
            self.call_off(why);
        }
        self.answer(finished.feed, answer);
        if self.to_forgive.contains(&finished.feed) {
            self.forgive(now);
        }
    }

    /// Tells the strategy of a poll that ended; until when the feed rests.
    fn spent(&mut self, finished: &mut Finished, domain: u32, bytes: u64) -> Option<Time> {
        let Finished { feed, next_at, generation, .. } = *finished;
        let Some(spending) = &mut self.spending else { return next_at };
        spending.polled(feed, bytes);
        match (finished.budgeted.take(), next_at) {
            (Some(budgeted), _) => {
                let latest = budgeted.latest;
                spending.take(feed, generation, *budgeted);
                spending.paced(feed, domain, self.plan.gap(domain));
                Some(latest.unwrap_or(UNTIL_PLANNED))
            }
            // It began before the budget did, or could not be recorded.
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

    /// Nothing can be kept, so nothing more is asked of anybody; the daemon tries again by itself.
    fn call_off(&mut self, why: &str) {
        let now = self.context.clock.now();
        for work in self.plan.drain() {
            match work {
                Work::Start(feed) => {
                    let detail = format!("not polled, since it could not be kept: {why}");
                    let mut answer = refused(feed, detail, None);
                    answer.outcome = Outcome::Failed;
                    answer.not_recorded = Some(why.to_owned());
                    self.answer(feed, &answer);
                }
                Work::Hop(poll) => self.give_up(*poll, now),
            }
        }
    }

    fn answer(&mut self, feed: FeedId, answer: &PollAnswer) {
        for asker in self.asked.remove(&feed).unwrap_or_default() {
            // The one who asked may have gone.
            let _ = asker.send(answer.clone());
        }
    }
}

fn refused(feed: FeedId, detail: String, next_poll: Option<Time>) -> PollAnswer {
    PollAnswer {
        feed,
        outcome: Outcome::Refused,
        n_new: 0,
        suspected_miss: false,
        next_poll,
        detail,
        candidates: Vec::new(),
        bytes: 0,
        not_recorded: None,
    }
}

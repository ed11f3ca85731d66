//! The process of a terminal: says that it is there, takes jobs from the bus, and sends results
//! until the controller confirms them. It rests while no controller answers.

mod ending;
mod errands;
mod permission;
mod presence;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::machine::{Answers, Jobs, Results, SeatCall, WindowAnswer, WindowQuestion};
use dispatch::{
    Bus, EndPoint, GrantId, LookTerms, PollJob, PollReading, PollResult, SoFar, Stopwatch, end_at,
};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use ending::STOP_WITHIN;
pub use ending::TerminalError;

use crate::acceptance::Acceptance;
use crate::errand::ErrandOutbox;
use crate::look::{Worker, exchange, without_panic};
use crate::outbox::{Outbox, SendableResult};
use crate::standstill::{Standstill, without_blame};
use crate::windows::{AskWindow, RemoteWindows};

/// The wait for the window of a feed. Without it every item travels.
const WINDOW_WITHIN: Duration = Duration::from_secs(3);
/// Results that become ready within this time share a message.
const GATHER: Duration = Duration::from_millis(10);
/// How often results without an answer are looked at.
const RESEND_CHECK: Duration = Duration::from_millis(250);
/// The settings of a terminal's process.
#[derive(Clone, Debug)]
pub struct TerminalSettings {
    pub name: String,
    pub region: Option<String>,
    pub version: String,
    /// Another text after each start.
    pub life: String,
    /// Requests under way at once.
    pub room: usize,
    /// Bytes of windows.
    pub cache_bytes: usize,
    /// Proxies with private addresses for which the operator vouches.
    pub outgoing_proxies: Vec<String>,
}

/// A terminal that takes its jobs from the bus.
pub struct Terminal {
    bus: Bus,
    settings: TerminalSettings,
    stopwatch: Stopwatch,
    windows: Arc<RemoteWindows>,
    places: Semaphore,
    state: Mutex<TerminalState>,
    /// There may be results to send.
    ready: Notify,
    /// A controller took the seat: say at once that this terminal is there.
    called: Notify,
    drain: watch::Sender<bool>,
    /// The newest controller that answered.
    known_epoch: watch::Sender<Option<i64>>,
    standstill: Standstill,
}

#[derive(Default)]
struct TerminalState {
    rules: Acceptance,
    outbox: Outbox,
    errands: ErrandOutbox,
    in_flight: HashSet<GrantId>,
    wire: Option<u32>,
    worker: Option<(LookTerms, Arc<Worker>)>,
    round_trip: Option<Duration>,
    refused: Option<String>,
}

impl Terminal {
    pub fn new(bus: Bus, settings: TerminalSettings) -> Arc<Terminal> {
        let asks = bus.clone();
        let ask: AskWindow = Box::new(move |grant, feed, digest| {
            let bus = asks.clone();
            Box::pin(async move {
                let question = WindowQuestion { grant, feed, digest };
                let answer = bus.ask("window", &question, WINDOW_WITHIN).await.ok()?;
                let WindowAnswer { window } = answer.decode_any().ok()?;
                window.map(Arc::unwrap_or_clone)
            })
        });
        let windows = Arc::new(RemoteWindows::new(settings.cache_bytes, ask));
        let stopwatch = Stopwatch::start();
        Arc::new(Terminal {
            bus,
            windows,
            places: Semaphore::new(settings.room),
            settings,
            stopwatch,
            standstill: Standstill::new(stopwatch),
            state: Mutex::default(),
            ready: Notify::new(),
            called: Notify::new(),
            drain: watch::Sender::new(false),
            known_epoch: watch::Sender::new(None),
        })
    }

    /// Works until `stop` is ready or the controller asks for it, then ends what is under way.
    /// Fails if a part of it ends before: without that part it would take jobs and lose them.
    pub async fn run(
        self: Arc<Terminal>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), TerminalError> {
        let TerminalSettings { name, life, .. } = &self.settings;
        let mut jobs = self.bus.listen(&format!("job.{name}.{life}")).await?;
        let mut seats = self.bus.listen("seat").await?;
        let (inbox, mut answers) = self.bus.listen_inbox(&format!("answers.{life}")).await?;
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::clone(&self).say_here());
        tasks.spawn(Arc::clone(&self).send_results(inbox));
        let here = Arc::clone(&self);
        tasks.spawn(async move { here.standstill.watch().await });
        let here = Arc::clone(&self);
        tasks.spawn(async move {
            while let Some(message) = jobs.next().await {
                match message.decode::<Jobs>() {
                    Ok(Jobs { epoch, jobs, errands }) => {
                        jobs.into_iter().for_each(|job| here.take(epoch, job));
                        errands.into_iter().for_each(|errand| here.take_errand(epoch, errand));
                    }
                    Err(error) => tracing::warn!(%error, "jobs dropped"),
                }
            }
        });
        let here = Arc::clone(&self);
        tasks.spawn(async move {
            while let Some(message) = answers.next().await {
                if let Ok(Answers { answers }) = message.decode_any() {
                    here.answered(answers.into_iter().map(|(grant, _)| grant));
                }
            }
        });
        let here = Arc::clone(&self);
        tasks.spawn(async move {
            while let Some(message) = seats.next().await {
                if let Ok(SeatCall { epoch, leaves }) = message.decode_any() {
                    if leaves {
                        here.lock().rules.leaves(epoch);
                    }
                    here.called.notify_one();
                }
            }
        });
        let mut drained = self.drain.subscribe();
        let within = tokio::select! {
            () = stop => STOP_WITHIN,
            _ = drained.wait_for(|drain| *drain) => {
                tracing::info!("asked to finish");
                self.drain_within()
            }
            _ = tasks.join_next() => return Err(TerminalError::PartEnded),
        };
        self.finish(within).await;
        tasks.shutdown().await;
        tracing::info!("this terminal has ended");
        Ok(())
    }

    /// Takes a job. Nothing happens for one that arrived before.
    fn take(self: &Arc<Terminal>, epoch: i64, job: PollJob) {
        if !self.begins(job.grant) {
            return;
        }
        let here = Arc::clone(self);
        tokio::spawn(async move {
            let (grant, feed, generation) = (job.grant, job.feed, job.generation);
            let place = here.place();
            end_at(EndPoint::JobArrived);
            let result = without_panic(here.look(epoch, job, place.is_some())).await;
            end_at(EndPoint::AnswerRead);
            // The controller gives this place away again when it has the result.
            drop(place);
            let result = result.unwrap_or_else(|| {
                tracing::error!(feed = feed.0, "internal error during a poll; please report it");
                let so_far = SoFar::default();
                PollResult::bare(grant, feed, generation, so_far, PollReading::WorkerFailed)
            });
            let result = SendableResult::new(result);
            let mut state = here.lock();
            state.in_flight.remove(&grant);
            state.outbox.keep(result, here.stopwatch.elapsed());
            drop(state);
            here.ready.notify_one();
        });
    }

    /// Makes the request of a job, if it may be sent and there is room for it.
    async fn look(&self, epoch: i64, job: PollJob, has_place: bool) -> PollResult {
        let send_by = job.send_by;
        match self.worker_for(epoch, send_by, has_place).await {
            Some(worker) => {
                tracing::debug!(feed = job.feed.0, grant = job.grant.0, "asking");
                let before = self.standstill.count();
                let result = exchange(&worker, job, || self.may_send(epoch, send_by)).await;
                if self.standstill.count() == before { result } else { without_blame(result) }
            }
            None => PollResult::without_exchange(job, PollReading::NotSent),
        }
    }

    /// Sends results as they become ready, and again until they are answered.
    async fn send_results(self: Arc<Terminal>, inbox: String) {
        loop {
            tokio::select! {
                () = self.ready.notified() => tokio::time::sleep(GATHER).await,
                () = tokio::time::sleep(RESEND_CHECK) => {}
            }
            let (epoch, wire) = {
                let state = self.lock();
                let (Some(epoch), Some(wire)) = (state.rules.epoch(), state.wire) else { continue };
                (epoch, wire)
            };
            if !self.bus.is_connected() {
                // The client would send all of them when it is connected again.
                continue;
            }
            self.send_polls(epoch, wire, &inbox).await;
            self.send_errands(epoch, wire, &inbox).await;
        }
    }

    /// Sends the results of polls that are due, in as many messages as they need.
    async fn send_polls(&self, epoch: i64, wire: u32, inbox: &str) {
        let subject = format!("result.{epoch}");
        loop {
            let results = self.lock().outbox.due(self.stopwatch.elapsed());
            if results.is_empty() {
                return;
            }
            let results = Results {
                terminal: self.settings.name.clone(),
                life: self.settings.life.clone(),
                results,
                errands: Vec::new(),
            };
            let sent = self.bus.publish(&subject, wire, &results, Some(inbox)).await;
            end_at(EndPoint::ResultsSent);
            if let Err(error) = sent {
                // They are due again after a second.
                tracing::warn!(%error, "results could not be sent");
            }
        }
    }

    fn answered(&self, grants: impl Iterator<Item = GrantId>) {
        let mut state = self.lock();
        for grant in grants {
            if !state.outbox.answered(grant) {
                state.errands.answered(grant);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, TerminalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

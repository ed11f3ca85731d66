//! The process of a terminal: says that it is there, takes jobs from the bus, and sends results
//! until the controller confirms them. It rests while no controller answers.

mod errands;
mod permission;
mod presence;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dispatch::machine::{Answers, Jobs, Results, SeatCall, WindowAnswer, WindowQuestion};
use dispatch::{
    Bus, BusError, EndPoint, GrantId, LookTerms, PollJob, PollReading, PollResult, SoFar,
    Stopwatch, end_at,
};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;

use crate::acceptance::Acceptance;
use crate::errand::ErrandOutbox;
use crate::look::{Worker, exchange, without_panic};
use crate::outbox::Outbox;
use crate::standstill::{Standstill, without_blame};
use crate::windows::{AskWindow, RemoteWindows};

/// The wait for the window of a feed. Without it every item travels.
const WINDOW_WITHIN: Duration = Duration::from_secs(3);
/// Results that become ready within this time share a message.
const GATHER: Duration = Duration::from_millis(10);
/// How often results without an answer are looked at.
const RESEND_CHECK: Duration = Duration::from_millis(250);
/// How long an ending terminal waits for its requests and for the answers to its results.
const DRAIN_WITHIN: Duration = Duration::from_secs(30);
/// Results in one message.
const RESULTS_MAX: usize = 64;
/// A terminal keeps at most this many times its room of results that nobody has confirmed yet.
/// After that it sends no requests.
const HELD_MAX: usize = 8;

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
                let wire = dispatch::wire::WIRE_OLDEST;
                let answer = bus.ask("window", wire, &question, WINDOW_WITHIN).await.ok()?;
                let WindowAnswer { window } = answer.decode().ok()?;
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
    pub async fn run(self: Arc<Terminal>, stop: impl Future<Output = ()>) -> Result<(), BusError> {
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
                if let Ok(Answers { answers }) = message.decode() {
                    here.answered(answers.into_iter().map(|(grant, _)| grant));
                }
            }
        });
        let here = Arc::clone(&self);
        tasks.spawn(async move {
            while let Some(message) = seats.next().await {
                if let Ok(SeatCall { leaves, .. }) = message.decode_any() {
                    if leaves {
                        here.lock().rules.no_seat();
                    }
                    here.called.notify_one();
                }
            }
        });
        let mut drained = self.drain.subscribe();
        tokio::select! {
            () = stop => {}
            _ = drained.wait_for(|drain| *drain) => tracing::info!("asked to finish"),
        }
        self.finish().await;
        tasks.shutdown().await;
        Ok(())
    }

    /// Takes no more jobs, and waits for the requests under way and the answers to their results.
    async fn finish(&self) {
        self.drain.send_replace(true);
        self.called.notify_one();
        let all = async {
            loop {
                let (n_under_way, n_kept) = {
                    let state = self.lock();
                    (state.in_flight.len(), state.outbox.len() + state.errands.n_kept())
                };
                if n_under_way + n_kept == 0 {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(DRAIN_WITHIN, all).await.is_err() {
            tracing::warn!(
                results = self.lock().outbox.len(),
                "results that nobody confirmed are lost; their feeds are polled again"
            );
        }
        self.bus.flush().await;
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
            let mut state = here.lock();
            state.in_flight.remove(&grant);
            state.outbox.keep(result, here.stopwatch.elapsed());
            drop(state);
            here.ready.notify_one();
        });
    }

    /// Makes the request of a job, if it may be sent and there is room for it.
    async fn look(&self, epoch: i64, job: PollJob, has_place: bool) -> PollResult {
        match self.worker_for(epoch, job.send_by, has_place).await {
            Some(worker) => {
                tracing::debug!(feed = job.feed.0, grant = job.grant.0, "asking");
                let before = self.standstill.count();
                let result = exchange(&worker, job).await;
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
            let (due, epoch, wire) = {
                let mut state = self.lock();
                let (Some(epoch), Some(wire)) = (state.rules.epoch(), state.wire) else { continue };
                if !self.bus.is_connected() {
                    // The client would send all of them when it is connected again.
                    continue;
                }
                (state.outbox.due(self.stopwatch.elapsed()), epoch, wire)
            };
            let mut due = due.into_iter().peekable();
            while due.peek().is_some() {
                let results = Results {
                    terminal: self.settings.name.clone(),
                    life: self.settings.life.clone(),
                    results: due.by_ref().take(RESULTS_MAX).collect(),
                    errands: Vec::new(),
                };
                let subject = format!("result.{epoch}");
                let sent = self.bus.publish(&subject, wire, &results, Some(&inbox)).await;
                end_at(EndPoint::ResultsSent);
                if let Err(error) = sent {
                    self.not_sent(&results, &error);
                }
            }
            self.send_errands(epoch, wire, &inbox).await;
        }
    }

    /// Drops a result that the bus can never carry. Its feed is polled again.
    fn not_sent(&self, results: &Results, error: &BusError) {
        tracing::warn!(%error, "results could not be sent");
        if let (BusError::Wire(_), [only]) = (error, results.results.as_slice()) {
            self.answered([only.grant].into_iter());
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

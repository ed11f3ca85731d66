//! The part of the daemon that records: the engine, the commands of other processes, and the shared
//! figures. Over PostgreSQL it begins when this process gets the seat, and ends when it loses it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dispatch::Stopwatch;
use engine::{BusRoad, Clock, EarlierEpochs, Engine, EngineMachine, Watch};
use feed::Time;
use fetch::Fetcher;
use store::{Location, MachineWish, SeatWaiter, Store, StoreError};
use tokio::sync::watch;

use super::cut_off::{CutOff, another_waits};
use super::progress::report_progress;
use super::slot::{ActiveEngine, EngineSlot, Started, picture_fetcher};
use super::terminal::MachinePlace;
use super::{figures::SharedFigures, publication};
use crate::args::operate::RunRole;
use crate::checked_settings::CheckedSettings;
use crate::command::{record, requests};
use crate::config::Config;
use crate::error::CliError;

/// How often a waiting process tries to get the seat.
const TRY_EVERY: Duration = Duration::from_millis(200);
/// How often the engine checks that it still has the seat.
const CHECK_EVERY: Duration = Duration::from_millis(100);
/// How often the engine checks that it reaches the bus.
const CHECK_BUS_EVERY: Duration = Duration::from_secs(1);
/// How often the figures are stored for other processes.
const FIGURES_EVERY: Duration = Duration::from_secs(1);
/// How long a process that gave its seat back lets others take it. They try five times a second.
const STEP_DOWN_PAUSE: Duration = Duration::from_secs(5);
/// How long an engine that has lost its seat may take to end.
const END_LIMIT: Duration = Duration::from_secs(5);
/// Commands that waited longer are not carried out by the next process.
const COMMANDS_AGE_MAX: Duration = Duration::from_secs(60);

/// Everything that the recorder needs from the daemon.
pub struct Recorder {
    pub config: Config,
    pub clock: Clock,
    pub slot: EngineSlot,
    pub context: api::ServerContext,
    pub started: Started,
    pub place: MachinePlace,
    /// The road to terminals on other machines.
    pub bus: Option<BusRoad>,
    pub role: RunRole,
    /// The epochs in which this process recorded.
    pub earlier: EarlierEpochs,
    /// The request of an operator to this process.
    pub wish: watch::Receiver<MachineWish>,
    /// The wait for the seat of a shared database.
    pub waiter: Arc<Mutex<SeatWaiter>>,
}

/// The reason why the engine has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Stopped,
    SeatLost,
    /// An operator asked this process to give the seat to another one.
    SteppedDown,
    /// This process cannot reach the bus, and another one can.
    CutOff,
    /// The loop that grants polls has ended by an internal error.
    Halted,
    /// The database failed before the engine began.
    NotBegun,
}

impl Recorder {
    /// Waits for the seat and records, again and again, until `stop` is ready. A process that only
    /// serves pages never tries to get the seat.
    pub async fn run_on_server(
        self,
        mut first: Option<Store>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), CliError> {
        tokio::pin!(stop);
        if self.role == RunRole::Web {
            stop.await;
            return Ok(());
        }
        let mut logged = None;
        loop {
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = self.may_take_seat() => {}
            }
            let opened = match first.take() {
                Some(store) => Ok(store),
                None => take_seat(&self.waiter).await,
            };
            match opened {
                Ok(store) => {
                    logged = None;
                    self.slot.set_trouble(None);
                    tracing::info!(epoch = store.epoch(), "this process records now");
                    match self.record(store, &mut stop).await? {
                        Ended::Stopped => return Ok(()),
                        Ended::SeatLost => {
                            tracing::warn!(
                                "this process no longer records; it waits for its next turn"
                            );
                            continue;
                        }
                        ended @ (Ended::SteppedDown | Ended::CutOff | Ended::Halted) => {
                            let why = match ended {
                                Ended::CutOff => "it cannot reach the bus, and another one can",
                                Ended::Halted => "its polling has ended; please report it",
                                _ => "an operator asked for it",
                            };
                            tracing::info!(
                                why,
                                "this process has given its seat back; it takes the seat again if \
                                 no other process does"
                            );
                            self.slot.set_trouble(None);
                            tokio::select! {
                                () = &mut stop => return Ok(()),
                                () = tokio::time::sleep(STEP_DOWN_PAUSE) => continue,
                            }
                        }
                        Ended::NotBegun => {}
                    }
                }
                // Another program has updated the schema. This one could not even read it.
                Err(error @ StoreError::Newer { .. }) => return Err(error.into()),
                Err(error) => {
                    let is_taken = matches!(error, StoreError::SeatTaken { .. });
                    self.slot.set_trouble((!is_taken).then(|| error.to_string()));
                    log_once(&mut logged, &error);
                }
            }
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = tokio::time::sleep(TRY_EVERY) => {}
            }
        }
    }

    /// Records with one store until `stop` is ready.
    pub async fn run_alone(
        self,
        store: Store,
        stop: impl Future<Output = ()>,
    ) -> Result<(), CliError> {
        tokio::pin!(stop);
        self.record(store, &mut stop).await.map(|_| ())
    }

    /// Runs an engine over a store.
    async fn record(
        &self,
        store: Store,
        stop: &mut (impl Future<Output = ()> + Unpin),
    ) -> Result<Ended, CliError> {
        let on_server = matches!(store.location(), Location::Postgres(_));
        let prepared = self.prepare(&store, on_server);
        let engine = match prepared {
            Ok(engine) => Arc::new(engine),
            // A database that cannot be written will work again; any other error stays.
            Err(error) if on_server && store.try_writing(self.clock.now()).is_err() => {
                tracing::error!(%error, "cannot begin to record");
                return Ok(Ended::NotBegun);
            }
            Err(error) => return Err(error),
        };
        let pictures = engine.errands(picture_fetcher(&self.config)?);
        self.slot.set(Some(ActiveEngine { engine: Arc::clone(&engine), pictures }));
        engine.serve_hub(super::topics(&self.context)).await;
        if let Some(sender) = self.config.push_sender()? {
            engine.serve_notifications(sender).await;
        }
        let mut tasks = vec![
            tokio::spawn(requests::serve(Arc::clone(&engine))),
            tokio::spawn(report_progress(Arc::clone(&engine))),
        ];
        let (context, config) = (self.context.clone(), self.config.clone());
        tasks.push(tokio::spawn(publication::run(
            store.clone(),
            context,
            config,
            self.clock.clone(),
        )));
        if on_server {
            tasks.push(tokio::spawn(share_figures(Arc::clone(&engine), self.started)));
        }
        let ended = tokio::select! {
            () = stop => Ended::Stopped,
            () = lost(&store), if on_server => Ended::SeatLost,
            () = self.asked_to_step_down(&store), if on_server => Ended::SteppedDown,
            () = self.cut_off(&store), if on_server => Ended::CutOff,
            // The beats of the store would keep the seat permanently.
            () = loop_ended(&engine), if on_server => Ended::Halted,
        };
        for task in tasks {
            task.abort();
            // A task that was aborted says so; nothing else can come.
            let _ = task.await;
        }
        self.slot.set(None);
        match ended {
            Ended::Stopped | Ended::SteppedDown | Ended::CutOff => engine.stop().await,
            // The next process polls again where nothing was recorded.
            Ended::SeatLost | Ended::Halted | Ended::NotBegun => {
                drop(tokio::time::timeout(END_LIMIT, engine.stop()).await);
            }
        }
        Ok(ended)
    }

    /// Waits while an operator drains this process.
    async fn may_take_seat(&self) {
        let mut wish = self.wish.clone();
        // Without beats nobody can ask for anything.
        let _ = wish.wait_for(|wish| *wish != MachineWish::Drain).await;
    }

    /// Waits until an operator wants another process to record. A request to step down is done
    /// once, so its mark is removed before.
    async fn asked_to_step_down(&self, store: &Store) {
        let mut wish = self.wish.clone();
        let asked = wish.wait_for(|wish| *wish != MachineWish::Work).await.map(|wish| *wish);
        match asked {
            Ok(MachineWish::StepDown) => {
                let (store, name) = (store.clone(), self.place.name.clone());
                let cleared = tokio::task::spawn_blocking(move || {
                    store.ask_machine(&name, MachineWish::Work)
                });
                // If the mark stays, this process steps down once more.
                let _ = cleared.await;
            }
            Ok(_) => {}
            Err(_) => std::future::pending().await,
        }
    }

    /// Waits until this process has not reached the bus for long, and another one could.
    async fn cut_off(&self, store: &Store) {
        let Some(road) = &self.bus else { return std::future::pending().await };
        let (mut cut, stopwatch) = (CutOff::default(), Stopwatch::start());
        loop {
            tokio::time::sleep(CHECK_BUS_EVERY).await;
            if !cut.is_over(road.bus.is_connected(), stopwatch.elapsed()) {
                continue;
            }
            let store = store.clone();
            let listed = tokio::task::spawn_blocking(move || store.machines()).await;
            if matches!(&listed, Ok(Ok(list)) if another_waits(&list.machines)) {
                return;
            }
        }
    }

    fn prepare(&self, store: &Store, on_server: bool) -> Result<Engine, CliError> {
        CheckedSettings::keep(&self.config, store)?;
        let now = self.clock.now();
        refuse_old_requests(store, if on_server { now - COMMANDS_AGE_MAX } else { now }, now)?;
        let (mut fetch, mut settings) = (self.config.fetch.clone(), self.config.engine.clone());
        if record::continuous(&self.config, store, now)? {
            fetch.keep_heads = true;
            settings.keeps_answers = true;
        }
        let fetcher = Fetcher::new(fetch)?;
        let machine = EngineMachine {
            name: self.place.name.clone(),
            region: self.place.region.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            without_terminal: self.role == RunRole::Controller,
            bus: self.bus.clone(),
            earlier: self.earlier.clone(),
        };
        let (store, clock) = (store.clone(), self.clock.clone());
        Ok(Engine::start_among(store, fetcher, clock, settings, Watch::All, machine)?)
    }
}

/// Returns what waits for the seat of the store.
pub fn waiter(config: &Config) -> Arc<Mutex<SeatWaiter>> {
    Arc::new(Mutex::new(SeatWaiter::new(config.store.clone(), config.seat_silence)))
}

/// Tries to get the seat. Ends the session of a holder that hangs.
pub async fn take_seat(waiter: &Arc<Mutex<SeatWaiter>>) -> Result<Store, StoreError> {
    let waiter = Arc::clone(waiter);
    let opened = tokio::task::spawn_blocking(move || {
        let mut waiter = waiter.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = waiter.open();
        if waiter.has_ended_holder() {
            tracing::warn!("the process that records shows no sign of life; its session is ended");
        }
        opened
    });
    opened.await.unwrap_or(Err(StoreError::Closed))
}

/// Waits until the store has lost its connection.
async fn lost(store: &Store) {
    while !store.is_lost() {
        tokio::time::sleep(CHECK_EVERY).await;
    }
}

/// Waits until the loop that grants polls has ended, for whatever reason.
async fn loop_ended(engine: &Engine) {
    while !engine.figures().ended {
        tokio::time::sleep(CHECK_EVERY).await;
    }
}

/// Stores the figures for the pages of other processes.
async fn share_figures(engine: Arc<Engine>, started: Started) {
    loop {
        let figures = SharedFigures::of(&engine, started);
        if let Ok(text) = serde_json::to_string(&figures) {
            let store = engine.store.clone();
            // A failure shows in the state of the store; the next second tries again.
            let _ = tokio::task::spawn_blocking(move || store.store_figures(text)).await;
        }
        tokio::time::sleep(FIGURES_EVERY).await;
    }
}

/// Answers the commands that an earlier process has left.
fn refuse_old_requests(store: &Store, before: Time, now: Time) -> Result<(), CliError> {
    let taken = "{\"message\":\"the process that took the command has ended; look whether it was \
                 done\",\"input\":false}";
    let old = "{\"message\":\"the daemon was restarted; repeat the command\",\"input\":false}";
    store.refuse_requests(before, (taken, old), now)?;
    Ok(())
}

/// The same state at every try is one line in the log.
fn log_once(last: &mut Option<String>, error: &StoreError) {
    let text = error.to_string();
    if last.as_ref() != Some(&text) {
        match error {
            StoreError::SeatTaken { holder, .. } => {
                tracing::info!("{holder} records; this process serves the page and waits");
            }
            _ => tracing::error!(%error, "cannot record"),
        }
        *last = Some(text);
    }
}

//! The part of the daemon that records: the engine, the commands of other processes, and the shared
//! figures. Over PostgreSQL it begins when this process gets the seat, and ends when it loses it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use engine::{Clock, Engine, Watch};
use feed::Time;
use fetch::Fetcher;
use store::{Location, OpenMode, Store, StoreError};

use super::slot::{ActiveEngine, EngineSlot, Started, picture_fetcher};
use super::{figures::SharedFigures, report_progress};
use crate::checked_settings::CheckedSettings;
use crate::command::requests;
use crate::config::Config;
use crate::error::CliError;

/// How often a waiting process tries to get the seat.
const TRY_EVERY: Duration = Duration::from_millis(400);
/// After so long without a sign of life, the session of the process that records is ended.
const SEAT_SILENCE: Duration = Duration::from_secs(5);
/// How often the engine checks that it still has the seat.
const CHECK_EVERY: Duration = Duration::from_millis(100);
/// How often the figures are stored for other processes.
const FIGURES_EVERY: Duration = Duration::from_secs(1);
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
}

/// The reason why the engine has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Stopped,
    SeatLost,
}

impl Recorder {
    /// Waits for the seat and records, again and again, until `stop` is ready.
    pub async fn run_on_server(
        self,
        mut first: Option<Store>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), CliError> {
        tokio::pin!(stop);
        let mut logged = None;
        loop {
            let opened = match first.take() {
                Some(store) => Ok(store),
                None => open(&self.config.store).await,
            };
            match opened {
                Ok(store) => {
                    logged = None;
                    tracing::info!(epoch = store.epoch(), "this process records now");
                    if self.record(store, &mut stop).await? == Ended::Stopped {
                        return Ok(());
                    }
                    tracing::warn!("this process no longer records; it waits for its next turn");
                    continue;
                }
                Err(error) => log_once(&mut logged, &error),
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
            Err(_) if on_server && store.is_lost() => return Ok(Ended::SeatLost),
            Err(error) => return Err(error),
        };
        let pictures = engine.errands(picture_fetcher(&self.config)?);
        self.slot.set(Some(ActiveEngine { engine: Arc::clone(&engine), pictures }));
        engine.serve_hub(super::topics(&self.context)).await;
        let mut tasks = vec![
            tokio::spawn(requests::serve(Arc::clone(&engine))),
            tokio::spawn(report_progress(Arc::clone(&engine))),
        ];
        if on_server {
            tasks.push(tokio::spawn(share_figures(Arc::clone(&engine), self.started)));
        }
        let ended = tokio::select! {
            () = stop => Ended::Stopped,
            () = lost(&store), if on_server => Ended::SeatLost,
        };
        for task in tasks {
            task.abort();
            // A task that was aborted says so; nothing else can come.
            let _ = task.await;
        }
        self.slot.set(None);
        match ended {
            Ended::Stopped => engine.stop().await,
            // The next process polls again where nothing was recorded.
            Ended::SeatLost => drop(tokio::time::timeout(END_LIMIT, engine.stop()).await),
        }
        Ok(ended)
    }

    fn prepare(&self, store: &Store, on_server: bool) -> Result<Engine, CliError> {
        CheckedSettings::keep(&self.config, store)?;
        let now = self.clock.now();
        refuse_old_requests(store, if on_server { now - COMMANDS_AGE_MAX } else { now }, now)?;
        let fetcher = Fetcher::new(self.config.fetch.clone())?;
        let settings = self.config.engine.clone();
        Ok(Engine::start(store.clone(), fetcher, self.clock.clone(), settings, Watch::All)?)
    }
}

/// Tries to get the seat. Ends the session of a holder that hangs.
async fn open(location: &Location) -> Result<Store, StoreError> {
    let location = location.clone();
    let opened = tokio::task::spawn_blocking(move || {
        let opened = Store::open(&location, OpenMode::ReadWrite);
        if let Err(StoreError::SeatTaken { .. }) = &opened
            && Store::unseat(&location, SEAT_SILENCE)?
        {
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

/// The same state twice a second is one line in the log.
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

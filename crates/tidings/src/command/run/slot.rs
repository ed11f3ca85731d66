//! The engine of this process, if it records at the moment. Over SQLite it is there from start to
//! end. Over PostgreSQL it comes and goes with the seat, while the page goes on.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use dispatch::command::{Command, CommandRefusal, CommandResult};
use engine::command::machines;
use engine::{Engine, Errands, TerminalView};
use fetch::Fetcher;
use store::{Location, Store, StoreError};

use super::figures::SharedFigures;
use crate::access;
use crate::config::Config;
use crate::error::CliError;

/// How often the figures of another process are read.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// A place for the engine.
#[derive(Clone)]
pub struct EngineSlot {
    active: Arc<RwLock<Option<ActiveEngine>>>,
    /// The store of the page. Without an engine, commands are left there.
    store: Store,
    started: Started,
    /// A process that shows no sign of life for so long does not record.
    silence_max: Duration,
    /// The figures of the process that records, if it is another one.
    seen: Arc<RwLock<SharedFigures>>,
    /// Why this process cannot get the seat although it is free.
    trouble: Arc<RwLock<Option<String>>>,
}

/// An engine that records, and its errands for pictures.
#[derive(Clone)]
pub struct ActiveEngine {
    pub engine: Arc<Engine>,
    pub pictures: Errands,
}

/// How this process was started.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    pub at: feed::Time,
    pub is_demo: bool,
}

impl EngineSlot {
    /// An empty place. The page reads `store`.
    pub fn new(store: Store, started: Started, config: &Config) -> EngineSlot {
        let seen = Arc::new(RwLock::new(SharedFigures::of_nobody(started)));
        let silence_max = config.seat_silence * 2;
        let (active, trouble) = (Arc::default(), Arc::default());
        EngineSlot { active, store, started, silence_max, seen, trouble }
    }

    pub fn set(&self, active: Option<ActiveEngine>) {
        *write(&self.seen) = SharedFigures::of_nobody(self.started);
        *write(&self.active) = active;
    }

    /// Notes why this process cannot record, other than that another one does.
    pub fn set_trouble(&self, why: Option<String>) {
        *write(&self.trouble) = why;
    }

    /// Reads the row of the process that records once a second, so that no page waits for it.
    /// Returns the error if another program has changed the schema.
    pub async fn watch_recorder(&self) -> StoreError {
        loop {
            if self.get().is_none() {
                let here = self.clone();
                let read = tokio::task::spawn_blocking(move || {
                    SharedFigures::of_recorder(&here.store, here.started, here.silence_max)
                });
                match read.await {
                    Ok(Ok(figures)) => *write(&self.seen) = figures,
                    Ok(Err(error)) => return error,
                    Err(_) => return StoreError::Closed,
                }
            }
            tokio::time::sleep(WATCH_EVERY).await;
        }
    }

    /// The epoch in which the engine of this process records on a server; 0 without one.
    pub fn epoch(&self) -> i64 {
        self.get().map_or(0, |active| active.engine.store.epoch())
    }

    /// The terminals that the engine of this process knows.
    pub fn terminals(&self) -> Vec<TerminalView> {
        self.get().map_or_else(Vec::new, |active| active.engine.terminals())
    }

    /// Asks the terminals with these lives, and no others, to finish their work.
    pub fn drain_terminals(&self, lives: HashSet<String>) {
        if let Some(active) = self.get() {
            active.engine.drain_terminals(lives);
        }
    }

    fn get(&self) -> Option<ActiveEngine> {
        read(&self.active).clone()
    }

    /// Carries out the commands of the page and the API: in the engine of this process, or in the
    /// process that records.
    pub fn commands(&self) -> api::CommandFn {
        let slot = self.clone();
        Arc::new(move |command| {
            let slot = slot.clone();
            Box::pin(async move {
                // Requests to machines are rows, which every process may write.
                if let Some(done) = machine_command(&slot.store, &command) {
                    return done;
                }
                let Some(ActiveEngine { engine, .. }) = slot.get() else {
                    return access::through_recorder(&slot.store, &command).await;
                };
                let done = engine::command::carry_out(&engine, command, &|_, _| ()).await;
                done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() })
            })
        })
    }

    /// The state of the engine, as the page shows it.
    pub fn state(&self) -> api::EngineState {
        let is_shared = matches!(self.store.location(), Location::Postgres(_));
        let is_waiting = is_shared && self.get().is_none();
        let state = self.figures().state();
        match read(&self.trouble).clone().filter(|_| is_waiting) {
            None => api::EngineState { polls_elsewhere: is_waiting, ..state },
            why => api::EngineState { not_ready: why, ..state },
        }
    }

    /// Returns the figures of the engine, here or as another process has shown them last.
    pub fn figures(&self) -> SharedFigures {
        match self.get() {
            Some(active) => SharedFigures::of(&active.engine, self.started),
            None => read(&self.seen).clone(),
        }
    }

    /// The proxy of pictures. The engine's plan gives it turns; without an engine, a plan of its
    /// own keeps the gaps.
    pub fn images(&self, config: &Config) -> Result<Option<Arc<api::Images>>, CliError> {
        if !config.shows_images {
            return Ok(None);
        }
        let alone = Errands::alone(picture_fetcher(config)?, config.engine.gaps.clone());
        let slot = self.clone();
        let fetch = move |url| {
            let errands = match slot.get() {
                Some(active) => active.pictures,
                None => alone.clone(),
            };
            Box::pin(async move { errands.picture(url).await }) as Pin<Box<_>>
        };
        Ok(Some(Arc::new(api::Images::new(&self.store, Arc::new(fetch))?)))
    }

    /// The proxy of recordings, if the configuration says so. It needs the proxy of pictures.
    pub fn media(
        &self,
        config: &Config,
        images: Option<&Arc<api::Images>>,
    ) -> Result<Option<Arc<api::MediaProxy>>, CliError> {
        let Some(images) = images.filter(|_| config.passes_media_on) else { return Ok(None) };
        let alone = Errands::alone(picture_fetcher(config)?, config.engine.gaps.clone());
        let slot = self.clone();
        let fetch = move |url, wanted| {
            let errands = match slot.get() {
                Some(active) => active.pictures,
                None => alone.clone(),
            };
            Box::pin(async move { errands.part(url, wanted).await }) as Pin<Box<_>>
        };
        Ok(Some(Arc::new(api::MediaProxy::new(Arc::clone(images), Arc::new(fetch)))))
    }
}

/// Carries out a command about machines; `None` for another one.
fn machine_command(
    store: &Store,
    command: &Command,
) -> Option<Result<CommandResult, CommandRefusal>> {
    let done = match command {
        Command::Drain { machine, on } => machines::drain(store, machine, *on),
        Command::StepDown => machines::step_down(store),
        _ => return None,
    };
    Some(done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() }))
}

/// The values are replaced as a whole, so a panic elsewhere cannot damage them.
fn write<T>(place: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    place.write().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(place: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    place.read().unwrap_or_else(PoisonError::into_inner)
}

/// A fetcher with the limits of pictures.
pub fn picture_fetcher(config: &Config) -> Result<Fetcher, CliError> {
    Ok(Fetcher::new(engine::picture_settings(config.fetch.clone()))?)
}

//! The engine of this process, if it records at the moment. Over SQLite it is there from start to
//! end. Over PostgreSQL it comes and goes with the seat, while the page goes on.

use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use dispatch::command::CommandRefusal;
use engine::{Engine, Errands};
use fetch::Fetcher;
use store::Store;

use super::figures::SharedFigures;
use crate::access;
use crate::config::Config;
use crate::error::CliError;

/// A place for the engine.
#[derive(Clone)]
pub struct EngineSlot {
    active: Arc<RwLock<Option<ActiveEngine>>>,
    /// The store of the page. Without an engine, commands are left there.
    store: Store,
    started: Started,
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
    pub fn new(store: Store, started: Started) -> EngineSlot {
        EngineSlot { active: Arc::default(), store, started }
    }

    pub fn set(&self, active: Option<ActiveEngine>) {
        // The value is replaced as a whole, so a panic elsewhere cannot damage it.
        *self.active.write().unwrap_or_else(PoisonError::into_inner) = active;
    }

    fn get(&self) -> Option<ActiveEngine> {
        self.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Carries out the commands of the page and the API: in the engine of this process, or in the
    /// process that records.
    pub fn commands(&self) -> api::CommandFn {
        let slot = self.clone();
        Arc::new(move |command| {
            let slot = slot.clone();
            Box::pin(async move {
                let Some(ActiveEngine { engine, .. }) = slot.get() else {
                    return access::through_recorder(&slot.store, &command).await;
                };
                let done = engine::command::carry_out(&engine, command, &|_, _| ()).await;
                done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() })
            })
        })
    }

    /// Reads the figures of the engine, here or from the row of the process that records.
    pub fn figures(&self) -> SharedFigures {
        match self.get() {
            Some(active) => SharedFigures::of(&active.engine, self.started),
            None => SharedFigures::of_recorder(&self.store),
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
}

/// A fetcher with the limits of pictures.
pub fn picture_fetcher(config: &Config) -> Result<Fetcher, CliError> {
    Ok(Fetcher::new(engine::picture_settings(config.fetch.clone()))?)
}

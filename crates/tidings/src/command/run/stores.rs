//! Opens the stores of a daemon. Over a shared database it waits for tables that another process
//! creates or updates.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dispatch::Stopwatch;
use store::{Location, OpenMode, SeatWaiter, Store, StoreError};

use super::RunRole;
use super::recorder::take_seat;
use crate::config::Config;
use crate::error::{CliError, input_error};

/// How long a new process waits for another one to create the tables.
const TABLES_WITHIN: Duration = Duration::from_secs(30);
/// How often it looks whether they are there.
const TRY_TABLES_EVERY: Duration = Duration::from_millis(200);

/// The stores of a daemon.
pub struct Stores {
    /// For the page and the API.
    pub page: Store,
    /// For the engine, if this process may record from the start.
    pub recorder: Option<Store>,
}

/// Opens the stores. Over PostgreSQL, a process that finds the seat taken serves the page only.
pub async fn open(
    config: &Config,
    role: RunRole,
    waiter: &Arc<Mutex<SeatWaiter>>,
) -> Result<Stores, CliError> {
    if matches!(config.store, Location::Folder(_)) {
        let store = Store::open(&config.store, OpenMode::ReadWrite)?;
        return Ok(Stores { page: store.clone(), recorder: Some(store) });
    }
    let (waits_for, mut has_said) = (Stopwatch::start(), false);
    loop {
        let error = match open_shared(config, role, waiter).await {
            Ok(stores) => return Ok(stores),
            Err(error) => error,
        };
        let is_older = matches!(error, StoreError::Older { .. });
        // The holder of the seat may be creating or changing the tables at the moment.
        let may_come = is_older || matches!(error, StoreError::Missing { .. });
        // A process that may record changes the tables itself, as soon as it gets the seat.
        let may_change = is_older && matches!(role, RunRole::All | RunRole::Controller);
        if !may_come || !(may_change || waits_for.elapsed() < TABLES_WITHIN) {
            return Err(error.into());
        }
        if may_change && !std::mem::replace(&mut has_said, true) {
            tracing::info!(
                "a process of an older version records; this one updates the tables when it gets \
                 the seat (`tidings machines step-down`), and serves no page until then"
            );
        }
        tokio::time::sleep(TRY_TABLES_EVERY).await;
    }
}

/// Tries once to open the stores of a shared database.
async fn open_shared(
    config: &Config,
    role: RunRole,
    waiter: &Arc<Mutex<SeatWaiter>>,
) -> Result<Stores, StoreError> {
    let recorder = match role {
        RunRole::Web | RunRole::Terminal => None,
        RunRole::All | RunRole::Controller => match take_seat(waiter).await {
            Ok(store) => Some(store),
            Err(StoreError::SeatTaken { .. }) => None,
            Err(error) => return Err(error),
        },
    };
    Ok(Stores { page: Store::open(&config.store, OpenMode::Shared)?, recorder })
}

/// Without accounts everybody may do everything, so the page is served to this machine only.
pub fn refuse_open_page(config: &Config, store: &Store) -> Result<(), CliError> {
    if config.listen.ip().is_loopback() || store.has_accounts()? {
        return Ok(());
    }
    Err(input_error(format!(
        "without an account the page is served on loopback only, not on {}; create one first: \
         tidings user add NAME",
        config.listen
    )))
}

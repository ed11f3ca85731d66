//! `tidings run`: the daemon, one round with `--once`, or the demonstration.

mod figures;
mod once;
mod recorder;
mod slot;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use api::what_if::ReplayJob;
use engine::{Clock, Engine};
use store::{Location, Lock, OpenMode, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::recorder::Recorder;
use self::slot::{EngineSlot, Started};
use super::demo;
use crate::access;
use crate::args::RunArgs;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};
use crate::output;

/// The interval of log lines about the first round of polls.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// How long a new process waits for another one to create the tables.
const TABLES_WITHIN: Duration = Duration::from_secs(30);

pub async fn run(args: RunArgs) -> Result<(), CliError> {
    let mut place = args.place.clone();
    if args.demo {
        place.data.get_or_insert_with(|| "tidings-demo".into());
    }
    let mut config = config::read(&place, &args.network)?;
    config.engine.seed = seed();
    if let Some(listen) = args.listen {
        config.listen = listen;
        config.engine.delivery.own = Some(listen);
    }
    // Over PostgreSQL the seat takes the place of the lock.
    let lock = match &config.store {
        Location::Folder(_) => Some(store::lock(&config.data)?),
        Location::Postgres(_) => None,
    };
    if args.once {
        return once::once(&config, lock).await;
    }
    if !config.listen.ip().is_loopback() && !has_accounts(&config, lock.is_some())? {
        return Err(input_error(format!(
            "without an account the page is served on loopback only, not on {}; create one \
             first: tidings user add NAME",
            config.listen
        )));
    }
    daemon(config, lock, args.demo).await
}

fn has_accounts(config: &Config, is_locked: bool) -> Result<bool, CliError> {
    let store = match is_locked {
        true => Store::open(&config.store, OpenMode::ReadWrite)?,
        false => access::write(config)?,
    };
    Ok(store.has_accounts()?)
}

/// Returns a new seed at every start. Otherwise jitter would send the same burst of polls after
/// each restart.
#[expect(clippy::disallowed_methods, reason = "the one source of chance; it is passed down")]
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// The stores of a daemon.
struct Stores {
    /// For the page and the API.
    page: Store,
    /// For the engine, if this process may record from the start.
    recorder: Option<Store>,
}

async fn daemon(config: Config, lock: Option<Lock>, demonstrates: bool) -> Result<(), CliError> {
    let listener = listen(config.listen).await?;
    let (stop, stopped) = watch::channel(false);
    let (config, stores, clock) = if demonstrates {
        let demo = demo::prepare(config, Clock::System.now()).await?;
        let (config, store, clock) = demo.serve(until(stopped.clone()));
        let page = match &config.store {
            Location::Folder(_) => store.clone(),
            Location::Postgres(_) => Store::open(&config.store, OpenMode::Shared)?,
        };
        (config, Stores { page, recorder: Some(store) }, clock)
    } else {
        let stores = open(&config).await?;
        (config, stores, Clock::System)
    };
    if let Some(lock) = &lock {
        lock.name_store(stores.page.path())?;
    }
    if !config.has_contact && !demonstrates {
        tracing::warn!("no `contact` is configured: sites cannot reach you; see `tidings doctor`");
    }
    if !stores.page.has_accounts()? {
        tracing::info!(
            "there is no account yet: everybody at this machine may use the page; create one \
             with `tidings user add NAME`"
        );
    }
    let started = Started { at: clock.now(), is_demo: demonstrates };
    let address = listener.local_addr()?;
    let slot = EngineSlot::new(stores.page.clone(), started);
    let context = context(&config, &stores.page, &slot, &clock, address)?;
    let server =
        tokio::spawn(api::serve(listener, api::router(context.clone()), until(stopped.clone())));
    let store = config.store.shown();
    tracing::info!(%store, "watching; the page is at http://{address}/");
    let on_server = matches!(config.store, Location::Postgres(_));
    let recorder = Recorder { config, clock, slot, context, started };
    let signal = async {
        if let Err(error) = wait_for_signal().await {
            tracing::error!(%error, "cannot wait for signals");
        }
        tracing::info!("stopping");
        // Nobody listens any more if the page's server has ended.
        let _ = stop.send(true);
    };
    let signal = Box::pin(signal);
    match stores.recorder {
        Some(store) if !on_server => recorder.run_alone(store, signal).await?,
        first => recorder.run_on_server(first, signal).await?,
    }
    if let Ok(Err(error)) = server.await {
        tracing::error!(%error, "the page's server ended badly");
    }
    drop(lock);
    Ok(())
}

/// Opens the stores. Over PostgreSQL, a process that finds the seat taken serves the page only.
async fn open(config: &Config) -> Result<Stores, CliError> {
    if matches!(config.store, Location::Folder(_)) {
        let store = Store::open(&config.store, OpenMode::ReadWrite)?;
        return Ok(Stores { page: store.clone(), recorder: Some(store) });
    }
    let recorder = match Store::open(&config.store, OpenMode::ReadWrite) {
        Ok(store) => Some(store),
        Err(StoreError::SeatTaken { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let mut waited = Duration::ZERO;
    loop {
        match Store::open(&config.store, OpenMode::Shared) {
            // The holder of the seat is just creating or changing the tables.
            Err(StoreError::Missing { .. } | StoreError::Older { .. })
                if waited < TABLES_WITHIN =>
            {
                waited += Duration::from_millis(100);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            opened => return Ok(Stores { page: opened?, recorder }),
        }
    }
}

/// Gathers everything that the page and the API need.
fn context(
    config: &Config,
    store: &Store,
    slot: &EngineSlot,
    clock: &Clock,
    address: SocketAddr,
) -> Result<api::ServerContext, CliError> {
    let (state, totals, rule) = (slot.clone(), slot.clone(), slot.clone());
    let page_clock = clock.clone();
    let now = Arc::new(move || page_clock.now());
    let version = env!("CARGO_PKG_VERSION");
    Ok(api::ServerContext {
        public_url: config.public_url.clone(),
        act: slot.commands(),
        loopback: address.ip().is_loopback(),
        proxies: Arc::new(config.proxies.clone()),
        images: slot.images(config)?,
        spent: Arc::new(move || totals.figures().totals()),
        rule: Arc::new(move || rule.figures().rule()),
        what_if: what_if(config, store),
        ..api::ServerContext::new(
            store.clone(),
            now,
            Arc::new(move || state.figures().state()),
            version,
        )?
    })
}

/// Returns the source of published feeds for the hub.
fn topics(context: &api::ServerContext) -> engine::Topics {
    let (asked, shown) = (context.clone(), context.clone());
    engine::Topics {
        is_open: Arc::new(move |topic| api::is_published(&asked, topic)),
        render: Arc::new(move |topic| rendered(&shown, topic)),
    }
}

/// Returns a published feed as the hub pushes it.
fn rendered(
    context: &api::ServerContext,
    topic: &str,
) -> Result<Option<engine::Rendered>, StoreError> {
    let found = api::published_at(context, topic)?;
    Ok(found.map(|topic| engine::Rendered {
        body: topic.body,
        content_type: topic.content_type,
        hub: topic.hub,
    }))
}

async fn listen(address: SocketAddr) -> Result<TcpListener, CliError> {
    TcpListener::bind(address).await.map_err(|e| {
        failed(format!("cannot serve the page on {address}: {e}; choose another with --listen"))
    })
}

async fn until(mut stopped: watch::Receiver<bool>) {
    // If the sender is gone, the program stops as well.
    let _ = stopped.wait_for(|stop| *stop).await;
}

/// Returns the job that replays the own history with other rules, for the page.
fn what_if(config: &Config, store: &Store) -> ReplayJob {
    let (config, store) = (config.clone(), store.clone());
    ReplayJob::new(Arc::new(move |told| super::lab::outlook(&store, &config, told)))
}

/// Shows the progress of the first round: a bar on a terminal, log lines otherwise.
async fn report_progress(engine: Arc<Engine>) {
    let Ok(counts) = engine.store.counts(engine.clock.now()) else { return };
    let n_first = counts.first_polls;
    if n_first == 0 {
        return;
    }
    let bar = output::bar("first polls", n_first);
    let mut told = Duration::ZERO;
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        told += Duration::from_millis(500);
        let Ok(counts) = engine.store.counts(engine.clock.now()) else { continue };
        let done = n_first.saturating_sub(counts.first_polls);
        bar.set_position(done);
        if bar.is_hidden() && told >= PROGRESS_EVERY {
            told = Duration::ZERO;
            tracing::info!("first polls: {done} of {n_first}");
        }
        if counts.first_polls == 0 {
            bar.finish_and_clear();
            tracing::info!(entries = counts.entries, "every feed has been polled once");
            return;
        }
    }
}

async fn wait_for_signal() -> Result<(), CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

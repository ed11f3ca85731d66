//! `tidings run`: the daemon, one round with `--once`, or the demonstration.

mod beats;
mod cut_off;
pub mod figures;
mod once;
mod progress;
mod publication;
mod recorder;
mod slot;
mod stores;
mod terminal;

use std::net::SocketAddr;
use std::sync::Arc;

use api::population::PopulationJob;
use api::what_if::ReplayJob;
use engine::{Clock, EarlierEpochs};
use store::{Location, Lock, MachineWish, OpenMode, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::beats::{MachineBeats, RunningBeats};
use self::recorder::Recorder;
use self::slot::{EngineSlot, Started};
use self::stores::{Stores, open, refuse_open_page};
use self::terminal::MachinePlace;
use super::demo;
use crate::args::RunArgs;
use crate::args::operate::RunRole;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};

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
    config.machine = config.machine.with(&args.bus)?;
    config.bus.with_url(args.bus.bus.as_ref())?;
    if args.role == RunRole::Terminal {
        return terminal::run(&config, &args).await;
    }
    refuse_role(&args, &config)?;
    if args.demo && !config.listen.ip().is_loopback() {
        return Err(input_error(format!(
            "the demonstration has no accounts, so it is served on loopback only, not on {}; leave \
             out --listen",
            config.listen
        )));
    }
    let place = MachinePlace::new(&config.machine, args.role, config.engine.seed);
    // Over PostgreSQL the seat takes the place of the lock.
    let lock = match &config.store {
        Location::Folder(_) => Some(store::lock(&config.data)?),
        Location::Postgres(_) => None,
    };
    if args.once {
        return once::once(&config, lock).await;
    }
    daemon(config, lock, args.role, args.demo, place).await
}

/// A process that only serves pages needs another one that polls, and so a store for both.
fn refuse_role(args: &RunArgs, config: &Config) -> Result<(), CliError> {
    let role = match args.role {
        RunRole::All | RunRole::Terminal => return Ok(()),
        RunRole::Controller => "controller",
        RunRole::Web => "web",
    };
    if args.demo || args.once {
        let text = format!("--role {role} never polls; leave out --demo and --once");
        return Err(input_error(text));
    }
    if let Location::Folder(_) = &config.store {
        return Err(input_error(format!(
            "--role {role} needs a store that several processes share; name a PostgreSQL \
             database: --database postgres://USER@HOST/NAME"
        )));
    }
    if args.role == RunRole::Controller && !config.bus.is_set() {
        return Err(input_error(
            "--role controller polls through terminals; name the bus that leads to them: --bus \
             nats://127.0.0.1:4222"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Returns a new seed at every start. Otherwise jitter would send the same burst of polls after
/// each restart.
#[expect(clippy::disallowed_methods, reason = "the one source of chance; it is passed down")]
pub fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

async fn daemon(
    config: Config,
    lock: Option<Lock>,
    role: RunRole,
    demonstrates: bool,
    place: MachinePlace,
) -> Result<(), CliError> {
    let listener = listen(config.listen).await?;
    let (stop, stopped) = watch::channel(false);
    let waiter = recorder::waiter(&config);
    let (config, stores, clock) = match demonstrates {
        true => open_demo(config, stopped.clone()).await?,
        false => {
            let stores = open(&config, role, &waiter).await?;
            (config, stores, Clock::System)
        }
    };
    begin_with(&config, &stores.page, lock.as_ref())?;
    advise(&config, &stores.page, role, demonstrates)?;
    let started = Started { at: clock.now(), is_demo: demonstrates };
    let address = listener.local_addr()?;
    let slot = EngineSlot::new(stores.page.clone(), started, &config);
    let (wishes, wish) = watch::channel(MachineWish::Work);
    let context = context(&config, &stores.page, &slot, &clock, address)?;
    let context = api::ServerContext { draining: draining(wish.clone()), ..context };
    let server =
        tokio::spawn(api::serve(listener, api::router(context.clone()), until(stopped.clone())));
    say_where(&config, role, address);
    let on_server = matches!(config.store, Location::Postgres(_));
    let bus = terminal::road(&config, role, &place).await?;
    let beats = on_server.then(|| {
        let (store, slot, clock) = (stores.page.clone(), slot.clone(), clock.clone());
        let place = place.clone();
        let bus = bus.as_ref().map(|road| road.bus.clone());
        RunningBeats::start(MachineBeats { place, role, store, slot, clock, bus, wishes })
    });
    let (engine_slot, earlier) = (slot.clone(), EarlierEpochs::default());
    let recorder = Recorder {
        config,
        clock,
        slot: engine_slot,
        context,
        started,
        place,
        bus,
        role,
        earlier,
        wish,
        waiter,
    };
    let mut signal = Box::pin(stopped_by_signal(&stop));
    let ended = match stores.recorder {
        Some(store) if !on_server => recorder.run_alone(store, signal.as_mut()).await,
        first => tokio::select! {
            ended = recorder.run_on_server(first, signal.as_mut()) => ended,
            error = slot.watch_recorder() => Err(error.into()),
        },
    };
    drop(signal);
    if let Some(beats) = beats {
        beats.end().await;
    }
    // Ends the page's server if no signal did.
    drop(stop);
    if let Ok(Err(error)) = server.await {
        tracing::error!(%error, "the page's server ended badly");
    }
    drop(lock);
    ended
}

/// Refuses an open page without accounts, and names the store in the lock of its folder.
fn begin_with(config: &Config, page: &Store, lock: Option<&Lock>) -> Result<(), CliError> {
    refuse_open_page(config, page)?;
    if let Some(lock) = lock {
        lock.name_store(page.path())?;
    }
    Ok(())
}

/// Prepares and serves a demonstration until the daemon stops.
async fn open_demo(
    config: Config,
    stopped: watch::Receiver<bool>,
) -> Result<(Config, Stores, Clock), CliError> {
    let demo = demo::prepare(config, Clock::System.now()).await?;
    let (config, store, clock) = demo.serve(until(stopped));
    let page = match &config.store {
        Location::Folder(_) => store.clone(),
        Location::Postgres(_) => Store::open(&config.store, OpenMode::Shared)?,
    };
    Ok((config, Stores { page, recorder: Some(store) }, clock))
}

/// Waits for a signal, and tells the page's server to end.
async fn stopped_by_signal(stop: &watch::Sender<bool>) {
    if let Err(error) = wait_for_signal().await {
        tracing::error!(%error, "cannot wait for signals");
    }
    tracing::info!("stopping");
    // Nobody listens any more if the page's server has ended.
    let _ = stop.send(true);
}

/// Logs what an operator may have forgotten.
fn advise(
    config: &Config,
    page: &Store,
    role: RunRole,
    demonstrates: bool,
) -> Result<(), CliError> {
    if !config.has_contact && !demonstrates && role == RunRole::All {
        tracing::warn!("no `contact` is configured: sites cannot reach you; see `tidings doctor`");
    }
    if !page.has_accounts()? {
        tracing::info!(
            "there is no account yet: everybody at this machine may use the page; create one \
             with `tidings user add NAME`"
        );
    }
    Ok(())
}

/// Returns whether an operator drains this process.
fn draining(wish: watch::Receiver<MachineWish>) -> Arc<dyn Fn() -> bool + Send + Sync> {
    Arc::new(move || *wish.borrow() == MachineWish::Drain)
}

fn say_where(config: &Config, role: RunRole, address: SocketAddr) {
    let store = config.store.shown();
    match role {
        RunRole::All | RunRole::Controller | RunRole::Terminal => {
            tracing::info!(%store, "watching; the page is at http://{address}/");
        }
        RunRole::Web => {
            tracing::info!(%store, "serving the page at http://{address}/; another process polls");
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
    let logins = api::auth::Logins::new()?.taking_passwords(config.login.takes_passwords());
    let images = slot.images(config)?;
    Ok(api::ServerContext {
        public_url: config.public_url.clone(),
        act: slot.commands(),
        loopback: address.ip().is_loopback(),
        proxies: Arc::new(config.proxies.clone()),
        logins: Arc::new(logins),
        login: Arc::new(config.login.rules(&config.fetch)?),
        media: slot.media(config, images.as_ref())?,
        images,
        article_mode: config.engine.articles.mode,
        suggestions: config.engine.people.suggestions,
        spent: Arc::new(move || totals.figures().totals()),
        rule: Arc::new(move || rule.figures().rule()),
        what_if: what_if(config, store),
        population: population(config, store),
        data: config.data.clone(),
        key_file: config.engine.key_file.clone(),
        push_key: push_key(config, store),
        ..api::ServerContext::new(store.clone(), now, Arc::new(move || state.state()), version)?
    })
}

/// Returns a function that reads the public key for notifications, if they are switched on.
fn push_key(config: &Config, store: &Store) -> api::PushKeyFn {
    let (is_on, store) = (config.notifications.enabled, store.clone());
    Arc::new(move || match is_on {
        true => Ok(engine::VapidKey::of(&store)?.map(|key| key.public())),
        false => Ok(None),
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

/// Returns the job that calculates the figures of all feeds, for the page.
fn population(config: &Config, store: &Store) -> PopulationJob {
    let store = store.clone();
    let figures = move |scope| super::dataset::population::figures(&store, scope);
    PopulationJob::new(Arc::new(figures), config.recording.publish)
}

pub async fn wait_for_signal() -> Result<(), CliError> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminate.recv() => {}
    }
    Ok(())
}

//! `tidings run`: the daemon, one round with `--once`, or the demonstration.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use api::plural;
use api::what_if::ReplayJob;
use dispatch::command::CommandRefusal;
use engine::{Clock, Engine, Watch};
use feed::Outcome;
use fetch::Fetcher;
use store::{Lock, OpenMode, Store};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::{demo, requests};
use crate::access;
use crate::args::RunArgs;
use crate::checked_settings::CheckedSettings;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};
use crate::output;

/// The interval of log lines about the first round of polls.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

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
    let lock = store::lock(&config.data)?;
    if args.once {
        return once(&config, lock).await;
    }
    if !config.listen.ip().is_loopback() && !has_accounts(&config)? {
        return Err(input_error(format!(
            "without an account the page is served on loopback only, not on {}; create one \
             first: tidings user add NAME",
            config.listen
        )));
    }
    daemon(config, lock, args.demo).await
}

fn has_accounts(config: &Config) -> Result<bool, CliError> {
    Ok(Store::open(&config.data, OpenMode::ReadWrite)?.has_accounts()?)
}

/// Returns a new seed at every start. Otherwise jitter would send the same burst of polls after
/// each restart.
#[expect(clippy::disallowed_methods, reason = "the one source of chance; it is passed down")]
fn seed() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

async fn daemon(config: Config, lock: Lock, demonstrates: bool) -> Result<(), CliError> {
    let listener = listen(config.listen).await?;
    let (stop, stopped) = watch::channel(false);
    let (config, store, clock) = if demonstrates {
        let demo = demo::prepare(config, Clock::System.now()).await?;
        demo.serve(until(stopped.clone()))
    } else {
        let store = Store::open(&config.data, OpenMode::ReadWrite)?;
        (config, store, Clock::System)
    };
    lock.name_store(store.path())?;
    CheckedSettings::keep(&config, &store)?;
    if !config.has_contact && !demonstrates {
        tracing::warn!("no `contact` is configured: sites cannot reach you; see `tidings doctor`");
    }
    if !store.has_accounts()? {
        tracing::info!(
            "there is no account yet: everybody at this machine may use the page; create one \
             with `tidings user add NAME`"
        );
    }
    let started_at = clock.now();
    refuse_old_requests(&store, &clock)?;
    let fetcher = Fetcher::new(config.fetch.clone())?;
    let settings = config.engine.clone();
    let engine = Engine::start(store.clone(), fetcher, clock.clone(), settings, Watch::All)?;
    let engine = Arc::new(engine);
    let address = listener.local_addr()?;
    tracing::info!(data = %config.data.display(), "watching; the page is at http://{address}/");

    let live = live(&engine, &store, started_at, demonstrates);
    let page_clock = clock.clone();
    let now = Arc::new(move || page_clock.now());
    let version = env!("CARGO_PKG_VERSION");
    let context = api::ServerContext {
        public_url: config.public_url.clone(),
        act: act(&engine),
        loopback: address.ip().is_loopback(),
        proxies: Arc::new(config.proxies.clone()),
        images: images(&config, &engine)?,
        spent: Arc::new(spent(&engine)),
        rule: Arc::new(rule(&engine)),
        what_if: what_if(&config, &store),
        ..api::ServerContext::new(store.clone(), now, Arc::new(live), version)?
    };
    engine.serve_hub(topics(&context)).await;
    let server = tokio::spawn(api::serve(listener, api::router(context), until(stopped.clone())));
    let tasks = [
        tokio::spawn(requests::serve(Arc::clone(&engine))),
        tokio::spawn(report_progress(Arc::clone(&engine))),
    ];
    wait_for_signal().await?;
    tracing::info!("stopping");
    for task in tasks {
        task.abort();
        // The only possible error is that the task was aborted.
        let _ = task.await;
    }
    let _ = stop.send(true);
    engine.stop().await;
    if let Ok(Err(error)) = server.await {
        tracing::error!(%error, "the server of the page ended with an error");
    }
    drop(lock);
    Ok(())
}

/// Carries out the commands of the page and the API in the engine of this process.
fn act(engine: &Arc<Engine>) -> api::CommandFn {
    let engine = Arc::downgrade(engine);
    Arc::new(move |command| {
        let engine = engine.clone();
        Box::pin(async move {
            let Some(engine) = engine.upgrade() else {
                let message = "the program is stopping; try again when it is back".to_owned();
                return Err(CommandRefusal { message, input: false });
            };
            let done = engine::command::carry_out(&engine, command, &|_, _| ()).await;
            done.map_err(|e| CommandRefusal { message: e.to_string(), input: e.is_input() })
        })
    })
}

/// Creates the proxy for pictures, unless the operator turned it off.
fn images(config: &Config, engine: &Engine) -> Result<Option<Arc<api::Images>>, CliError> {
    if !config.shows_images {
        return Ok(None);
    }
    let fetcher = Fetcher::new(engine::picture_settings(config.fetch.clone()))?;
    let errands = engine.errands(fetcher);
    let fetch = move |url| {
        let errands = errands.clone();
        Box::pin(async move { errands.picture(url).await }) as Pin<Box<_>>
    };
    Ok(Some(Arc::new(api::Images::new(&engine.store, Arc::new(fetch))?)))
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
) -> Result<Option<engine::Rendered>, store::StoreError> {
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

/// Returns the engine's figures for the page.
fn live(
    engine: &Engine,
    store: &Store,
    started_at: feed::Time,
    demo: bool,
) -> impl Fn() -> api::EngineState + Send + Sync + 'static {
    let (figures, store) = (engine.figures_reader(), store.clone());
    move || {
        let now = figures();
        // The store gives a more exact reason why nothing is recorded.
        let not_kept = store.trouble().map(|why| why.to_string());
        api::EngineState {
            not_ready: not_kept.or_else(|| now.trouble().map(str::to_owned)),
            demo,
            started_at,
            in_flight: now.in_flight as u64,
            waiting: now.waiting as u64,
            polls_last_hour: now.polls_last_hour,
            outage: now.network_down.then(|| "Nearly every server is unreachable.".to_owned()),
            polls_total: now.polls,
            polls_failed_total: now.failed + now.refused + now.gone,
            entries_total: now.new_entries,
            bytes_total: now.bytes,
        }
    }
}

/// Returns a reader of the engine's poll counts. It does not keep the engine alive.
fn spent(engine: &Arc<Engine>) -> impl Fn() -> api::PollTotals + Send + Sync + 'static {
    let (figures, engine) = (engine.figures_reader(), Arc::downgrade(engine));
    move || {
        let now = figures();
        let rule = engine.upgrade().and_then(|engine| engine.budget());
        let (limits, units) = (rule.map(|r| r.limits()), rule.filter(|r| r.price.is_some()));
        let bytes = limits.filter(|_| units.is_none()).and_then(|b| b.bytes_per_day());
        api::PollTotals {
            seen: now.seen,
            unchanged: now.unchanged,
            failed: now.failed,
            damaged: now.damaged,
            refused: now.refused,
            gone: now.gone,
            suspected_misses: now.suspected_misses,
            budget_polls_per_hour: limits.map(|b| b.polls_per_day() / 24.0),
            budget_bytes_per_hour: bytes.map(|n| n / 24.0),
            budget_units_per_hour: units.map(|r| r.budget.polls_per_day() / 24.0),
        }
    }
}

/// Returns a reader of the budget in force, as it is written.
fn rule(engine: &Arc<Engine>) -> impl Fn() -> Option<String> + Send + Sync + 'static {
    let engine = Arc::downgrade(engine);
    move || engine.upgrade().and_then(|engine| engine.budget()).map(|rule| rule.to_string())
}

/// Returns the job that replays the own history with other rules, for the page.
fn what_if(config: &Config, store: &Store) -> ReplayJob {
    let (config, store) = (config.clone(), store.clone());
    ReplayJob::new(Arc::new(move |told| super::lab::outlook(&store, &config, told)))
}

/// Refuses commands that were left for a daemon that has ended. They would come too late.
fn refuse_old_requests(store: &Store, clock: &Clock) -> Result<(), CliError> {
    let now = clock.now();
    let body = "{\"message\":\"the daemon was restarted; repeat the command\",\"input\":false}";
    store.refuse_requests(now, body, now)?;
    Ok(())
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

/// Polls each feed that is due now at most once. Waits for gaps, but not for Retry-After.
async fn once(config: &Config, lock: Lock) -> Result<(), CliError> {
    let store = Store::open(&config.data, OpenMode::ReadWrite)?;
    let engine = access::start(config, store, Watch::OnRequest)?;
    let due = engine.store.due_feeds(engine.clock.now())?;
    let bar = output::bar("polling", due.len() as u64);
    let mut answers = engine.poll(&due)?;
    let (mut polls, mut new, mut left, mut lost) = (0, 0, Vec::new(), None);
    let signal = wait_for_signal();
    tokio::pin!(signal);
    loop {
        let answer = tokio::select! {
            answer = answers.recv() => answer,
            _ = &mut signal => None,
        };
        let Some(answer) = answer else { break };
        bar.inc(1);
        polls += 1;
        new += answer.n_new;
        lost = lost.or_else(|| answer.not_recorded.clone());
        if !matches!(answer.outcome, Outcome::Seen | Outcome::Unchanged) {
            left.push(answer);
        }
    }
    bar.finish_and_clear();
    for answer in &left {
        let url =
            engine.store.feed(answer.feed).map(|f| f.location.url.masked()).unwrap_or_default();
        let (feed, outcome, detail) = (answer.feed, answer.outcome, &answer.detail);
        output::complain(&format!("failed: feed {feed} {url}: {outcome}: {detail}"));
    }
    let of = plural(due.len() as u64, "due feed", "due feeds");
    let new = plural(new as u64, "new entry", "new entries");
    eprintln!("{polls} of {of} polled, {new}, {} failed", left.len());
    engine.deliver().await;
    engine.stop().await;
    drop(lock);
    lost.map_or(Ok(()), |why| Err(failed(format!("some polls could not be recorded: {why}"))))
}

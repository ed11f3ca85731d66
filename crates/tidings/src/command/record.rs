//! `tidings record`: polls the feeds of a list for some weeks and keeps every poll and every
//! document. It runs the same engine as the daemon, without a page. A recording continues after a
//! restart; on a full disk it pauses until there is room.

mod estimate;
mod list;

use std::sync::Arc;
use std::time::Duration;

use api::plural;
use engine::{Clock, Engine, Watch};
use feed::Time;
use polling::PolicySpec;
use store::{Location, NewRecording, OpenMode, RecordingRow, Retention, Store};

use super::{requests, run};
use crate::access;
use crate::args::recording::RecordArgs;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};
use crate::output::complain;
use estimate::{Estimate, Growth};

/// How often the end and the limits are checked.
const CHECK_EVERY: Duration = Duration::from_millis(500);
/// How often the progress is logged.
const TELL_EVERY: Duration = Duration::from_secs(60);
/// How often a paused recording tries to write.
const WRITE_AGAIN_EVERY: Duration = Duration::from_secs(5);
/// The rule of the dissertation (003, section 3.5.4) with its bounds.
const POLICY: &str = "recording@1m..6h";

/// The reason why the engine was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stopped {
    /// The time is over.
    Over,
    /// Ctrl-C.
    Interrupted,
    /// The recording has reached its size.
    Full,
    /// The store cannot write.
    Trouble(String),
}

pub async fn run(args: RecordArgs) -> Result<(), CliError> {
    let listed = list::read(&args.list)?;
    let mut config = config::read(&args.place, &args.network)?;
    prepare(&mut config)?;
    let lock = match &config.store {
        Location::Folder(_) => Some(store::lock(&config.data)?),
        Location::Postgres(_) => None,
    };
    let store = Store::open(&config.store, OpenMode::ReadWrite)?;
    if let Some(lock) = &lock {
        lock.name_store(store.path())?;
    }
    let now = Clock::System.now();
    let recording = store.begin_recording(NewRecording {
        started_at: now,
        ends_at: now + args.duration,
        policy: config.engine.policy.to_string(),
        user_agent: config.fetch.user_agent.clone(),
        feed_bytes_max: args.max_feed_size,
        bytes_max: args.max_size,
    })?;
    if recording.settings.ends_at == Time::MAX {
        return Err(input_error(
            "this store records without an end (`continuous` in [recording]); record into a data \
             folder of its own: --data DIR"
                .to_owned(),
        ));
    }
    let n_added = store.add_feeds(&listed.feeds, now)?.iter().filter(|one| !one.existed).count();
    let estimate = announce(&config, &store, &recording, (listed.feeds.len(), n_added))?;
    let stopped = record(&config, &store, &recording, estimate).await?;
    conclude(&store, &recording, &stopped)?;
    drop(lock);
    Ok(())
}

/// Begins or ends the recording without an end, as the configuration says. Returns whether the
/// daemon records.
pub fn continuous(config: &Config, store: &Store, now: Time) -> Result<bool, CliError> {
    let wanted = &config.recording;
    let running = store.recording()?;
    let is_endless = running.is_some_and(|row| row.settings.ends_at == Time::MAX);
    if is_endless && !wanted.continuous {
        store.end_recording(now)?;
    }
    if wanted.continuous {
        store.begin_recording(NewRecording {
            started_at: now,
            ends_at: Time::MAX,
            policy: config.engine.policy.to_string(),
            user_agent: config.fetch.user_agent.clone(),
            feed_bytes_max: wanted.feed_bytes_max,
            bytes_max: wanted.bytes_max,
        })?;
    }
    Ok(wanted.continuous)
}

/// Sets up the engine for a recording: every answer is kept, and pushes do not replace polls.
fn prepare(config: &mut Config) -> Result<(), CliError> {
    if !config.has_policy {
        config.engine.policy =
            POLICY.parse::<PolicySpec>().map_err(|e| input_error(e.to_string()))?;
        // The rule knows no hints of publishers.
        config.engine.follow_hints = false;
    }
    config.fetch.keep_heads = true;
    config.engine.seed = run::seed();
    config.engine.keeps_answers = true;
    config.engine.retention = Retention::off();
    config.engine.push.public_url = None;
    // At the end, every poll under way is recorded.
    config.engine.stop_grace = config.fetch.header_timeout + config.fetch.body_timeout;
    Ok(())
}

/// Says what will be recorded. Returns the estimate of the whole recording.
fn announce(
    config: &Config,
    store: &Store,
    recording: &RecordingRow,
    (n_listed, n_added): (usize, usize),
) -> Result<Estimate, CliError> {
    let n_feeds = store.feed_ids(None)?.len();
    let listed = plural(n_listed as u64, "feed", "feeds");
    let ends = recording.settings.ends_at;
    tracing::info!("{listed} in the list, {n_added} new; recording until {ends}");
    if n_feeds > n_listed {
        let more = n_feeds - n_listed;
        tracing::warn!("{more} other feeds of this data folder are recorded too");
    }
    let length = ends.since(recording.settings.started_at);
    let (policy, bounds) = (&config.engine.policy, config.engine.bounds);
    let estimate = Estimate::before(n_feeds as u64, length, policy, bounds);
    tracing::info!("{}", estimate.words());
    let stored = estimate::on_disk(&config.store, store).unwrap_or(0);
    estimate::warn_of_room(&config.store, store, (estimate.bytes as u64).saturating_sub(stored));
    if recording.n_polls > 0 {
        let (polls, bytes) = (recording.n_polls, estimate::size(recording.stored_bytes));
        tracing::info!("continuing: {polls} polls and {bytes} were recorded before");
    }
    Ok(estimate)
}

/// Runs engines until the recording ends. While the store cannot write, no engine runs.
async fn record(
    config: &Config,
    store: &Store,
    recording: &RecordingRow,
    estimate: Estimate,
) -> Result<Stopped, CliError> {
    let mut growth = Growth::new(estimate);
    loop {
        let engine = Arc::new(access::start(config, store.clone(), Watch::All)?);
        let commands = tokio::spawn(requests::serve(Arc::clone(&engine)));
        let stopped = watch(&engine, config, recording, &mut growth).await;
        commands.abort();
        engine.stop().await;
        let why = match stopped? {
            Stopped::Trouble(why) => why,
            stopped => return Ok(stopped),
        };
        complain(&format!(
            "tidings: the recording pauses: {why}; it continues when the store can be written"
        ));
        if let Some(stopped) = until_writable(store, recording).await? {
            return Ok(stopped);
        }
        complain("tidings: the store can be written again; the recording continues");
    }
}

/// Waits until the store can write; `Some`: the recording ends before.
async fn until_writable(
    store: &Store,
    recording: &RecordingRow,
) -> Result<Option<Stopped>, CliError> {
    let signal = run::wait_for_signal();
    tokio::pin!(signal);
    loop {
        tokio::select! {
            interrupted = &mut signal => {
                interrupted?;
                return Ok(Some(Stopped::Interrupted));
            }
            () = tokio::time::sleep(WRITE_AGAIN_EVERY) => {}
        }
        let now = Clock::System.now();
        if store.try_writing(now).is_ok() && store.trouble().is_none() {
            return Ok(None);
        }
        if now >= recording.settings.ends_at {
            return Ok(Some(Stopped::Over));
        }
    }
}

/// Watches an engine until there is a reason to stop it.
async fn watch(
    engine: &Engine,
    config: &Config,
    recording: &RecordingRow,
    growth: &mut Growth,
) -> Result<Stopped, CliError> {
    let signal = run::wait_for_signal();
    tokio::pin!(signal);
    let mut told = engine.clock.now();
    loop {
        tokio::select! {
            interrupted = &mut signal => {
                interrupted?;
                return Ok(Stopped::Interrupted);
            }
            () = tokio::time::sleep(CHECK_EVERY) => {}
        }
        if let Some(why) = engine.store.trouble() {
            return Ok(Stopped::Trouble(why.to_string()));
        }
        let now = engine.clock.now();
        let Ok(Some(row)) = engine.store.recording() else { continue };
        if now >= recording.settings.ends_at {
            return Ok(Stopped::Over);
        }
        let disk = estimate::on_disk(&config.store, &engine.store);
        let bytes = disk.unwrap_or(row.stored_bytes);
        if row.settings.bytes_max.is_some_and(|max| bytes.max(row.stored_bytes) >= max) {
            return Ok(Stopped::Full);
        }
        if now.since(told) >= TELL_EVERY {
            told = now;
            let at_end = growth.at_end(&row, bytes, now);
            tracing::info!("{}", estimate::so_far(&row, disk, at_end));
            estimate::warn_of_room(&config.store, &engine.store, at_end.saturating_sub(bytes));
        }
    }
}

/// Ends the recording, or says how it continues.
fn conclude(store: &Store, recording: &RecordingRow, stopped: &Stopped) -> Result<(), CliError> {
    let row = store.recordings()?.into_iter().find(|row| row.id == recording.id);
    let (polls, bytes) = row.map_or((0, 0), |row| (row.n_polls, row.stored_bytes));
    let recorded = format!("{} and {}", plural(polls, "poll", "polls"), estimate::size(bytes));
    match stopped {
        Stopped::Over => {
            store.end_recording(Clock::System.now())?;
            eprintln!("The recording is complete: {recorded}.");
            Ok(())
        }
        Stopped::Full => {
            store.end_recording(Clock::System.now())?;
            Err(failed(format!("the recording has reached its size and ended: {recorded}")))
        }
        Stopped::Interrupted => {
            let ends = recording.settings.ends_at;
            eprintln!("Recorded so far: {recorded}. The same command continues until {ends}.");
            Ok(())
        }
        Stopped::Trouble(why) => Err(failed(format!("the recording was stopped: {why}"))),
    }
}

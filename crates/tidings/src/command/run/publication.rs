//! Work of the daemon that no poll waits for. It looks for feeds that are subscribed twice. If the
//! operator publishes the figures, it calculates them daily and exports each recorded month.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use api::ServerContext;
use api::population::{self, PopulationScope};
use engine::Clock;
use feed::Time;
use store::Store;

use crate::args::InstanceArgs;
use crate::args::dataset::{DatasetExportArgs, MonthPeriod, TableFormat};
use crate::command::dataset::{export, population as figures};
use crate::config::Config;
use crate::error::{CliError, failed};

/// The first look after the start: the first polls come before it.
const FIRST_AFTER: Duration = Duration::from_secs(5);
const EVERY: Duration = Duration::from_secs(3600);
/// Figures that are older are calculated again.
const AGE_MAX: Duration = Duration::from_secs(86_400);
/// Comparing more feeds needs too much memory for a daemon. `tidings doctor` compares them too.
const COMPARED_MAX: u64 = 100_000;
/// The folder of the exports in the data folder.
const FOLDER: &str = "published";

/// Works until it is aborted.
pub async fn run(store: Store, context: ServerContext, config: Config, clock: Clock) {
    // Months without a public feed have no export, and are not tried again.
    let mut empty: HashSet<String> = HashSet::new();
    tokio::time::sleep(FIRST_AFTER).await;
    loop {
        let (on, now) = (store.clone(), clock.now());
        report("look for duplicates", off_thread(move || twins(&on, now)).await);
        if config.recording.publish {
            let last = population::last(&store, PopulationScope::Public).ok().flatten();
            let made = last.and_then(|last| last.made_at.parse::<Time>().ok());
            if made.is_none_or(|made| now.since(made) >= AGE_MAX) {
                context.population.start(&store, now);
            }
            let (on, data, known) = (store.clone(), config.data.clone(), empty.clone());
            match off_thread(move || months(&on, &data, now, &known)).await {
                Ok(found) => empty.extend(found),
                error => report("publish a month", error.map(|_| ())),
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CliError> + Send + 'static,
) -> Result<T, CliError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(failed(format!("internal error; please report it: {error}"))))
}

fn report(what: &str, done: Result<(), CliError>) {
    if let Err(error) = done {
        tracing::warn!(%error, "cannot {what}");
    }
}

fn twins(store: &Store, now: Time) -> Result<(), CliError> {
    if store.counts(now)?.feeds > COMPARED_MAX {
        return Ok(());
    }
    Ok(population::save_twins(store, &figures::twins(store)?)?)
}

/// Exports every month of the recordings that is over and was not exported. Returns the months
/// without a public feed.
fn months(
    store: &Store,
    data: &Path,
    now: Time,
    empty: &HashSet<String>,
) -> Result<Vec<String>, CliError> {
    let mut found = Vec::new();
    for recording in store.recordings()? {
        let end = recording.ended_at.unwrap_or(now).min(now);
        let mut month = MonthPeriod::of(recording.settings.started_at);
        while let Some(of) = month.filter(|month| month.from <= end && month.until <= now) {
            let folder = data.join(FOLDER).join(&of.name);
            if !folder.exists() && !empty.contains(&of.name) && !publish(store, &folder, &of)? {
                found.push(of.name.clone());
            }
            month = of.next();
        }
    }
    Ok(found)
}

/// Exports a month; `false`: it has no public feed. A crash leaves no half export under its name.
fn publish(store: &Store, folder: &Path, month: &MonthPeriod) -> Result<bool, CliError> {
    let part = folder.with_file_name(format!(".{}.part", month.name));
    if part.exists() {
        std::fs::remove_dir_all(&part)?;
    }
    std::fs::create_dir_all(&part)?;
    let args = DatasetExportArgs {
        out: part.clone(),
        format: TableFormat::Gzip,
        raw: false,
        streams: false,
        discovery: None,
        pseudonymise: true,
        month: Some(month.clone()),
        title: format!("Polls and entries of web feeds in {}", month.name),
        creator: "Anonymous".to_owned(),
        place: InstanceArgs { data: None, database: None, config: None },
    };
    let facts = export::write(&args, store, Some(&export::salt_of(store)?))?;
    if facts.feeds == 0 {
        std::fs::remove_dir_all(&part)?;
        return Ok(false);
    }
    std::fs::rename(&part, folder)?;
    tracing::info!(month = month.name, feeds = facts.feeds, "published an export");
    Ok(true)
}

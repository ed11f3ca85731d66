//! `tidings query test FILE`: shows which recent entries the queries of a file would have kept. It
//! only reads.

use std::path::Path;
use std::time::Duration;

use api::search::ArticleTexts;
use query::{Statement, Trial, TrialResult};
use serde_json::json;
use store::Store;

use super::show::FeedLookup;
use super::{checked, text};
use crate::args::InstanceArgs;
use crate::args::whose::WhoseArgs;
use crate::command::entries::BATCH;
use crate::error::CliError;
use crate::output::{one_line, print_json, print_line};
use crate::{access, config};

/// Entries that are listed for each query; the rest is counted.
const NAMED_MAX: usize = 20;

pub fn run(
    file: &Path,
    past: Duration,
    as_json: bool,
    whose: &WhoseArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read_offline(place)?;
    let checked = checked(&config, whose, file, &text(file)?)?;
    let store = access::read(&config)?;
    let account = whose.find(&store)?;
    let creates = checked.statements.iter().filter_map(Statement::created);
    let mut trial = Trial::new(&checked.existing, creates);
    let since = engine::Clock::System.now() - past;
    let (mut after, mut feeds) = (store.position_before(since)?, FeedLookup::new(account));
    loop {
        let page = store.stream_of(account, after, BATCH)?;
        let batch = page.entries;
        if batch.is_empty() {
            break;
        }
        after = page.next;
        let texts = ArticleTexts::read(&store, batch.iter().map(|entry| entry.id))?;
        for entry in batch.iter().filter(|entry| entry.seen_at >= since) {
            if let Some(feed) = feeds.of(&store, entry.feed) {
                trial.run(&texts.entry(entry, feed));
            }
        }
    }
    say(&store, &trial, as_json)
}

fn say(store: &Store, trial: &Trial, as_json: bool) -> Result<(), CliError> {
    let mut values = Vec::new();
    for tried in trial.results() {
        let newest = newest(store, tried)?;
        if as_json {
            values.push(json!({"name": tried.name, "kept": tried.n_kept, "newest": newest}));
            continue;
        }
        print_line(&format!(
            "{}: keeps {} of {} entries",
            tried.name,
            tried.n_kept,
            trial.n_entries()
        ))?;
        for entry in &newest {
            let title = entry["title"].as_str().unwrap_or("(without a title)");
            let seen_at = entry["seen_at"].as_str().unwrap_or_default();
            print_line(&format!("  {seen_at}  {}", one_line(title, 100)))?;
        }
    }
    if as_json {
        return print_json(&json!({"entries": trial.n_entries(), "queries": values}));
    }
    Ok(())
}

/// Returns the newest matches as JSON, oldest first.
fn newest(store: &Store, tried: &TrialResult) -> Result<Vec<serde_json::Value>, CliError> {
    let mut messages = engine::MatchMessages::default();
    let first = tried.newest.len().saturating_sub(NAMED_MAX);
    let mut entries = Vec::new();
    for (id, _) in &tried.newest[first..] {
        let entry = store.entry(*id)?.map(|entry| messages.entry(store, &entry));
        entries.extend(entry.transpose()?);
    }
    Ok(entries)
}

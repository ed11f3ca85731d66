//! `tidings feed poll`: polls some feeds, or all of them in parts. Answers are written as they
//! arrive, so a million feeds need no more memory than a few thousand.

use std::sync::Arc;

use api::plural;
use dispatch::command::{Command, CommandResult, PollSummary};
use feed::FeedId;
use store::Store;
use tokio::task::JoinSet;

use super::other_answer;
use crate::access::CommandRunner;
use crate::args::{InstanceArgs, NetworkArgs};
use crate::config::Config;
use crate::error::{CliError, failed, failed_silently};
use crate::output::{self, OutputRows, print_json, print_line};
use crate::{access, config};

/// Feeds of one part. Their answers are in memory at once, and in one row of the store if a daemon
/// polls.
const PART: usize = 2000;
/// Parts that run at once, so that a part that waits for a slow server does not stop the others.
const PARTS_UNDER_WAY: usize = 8;
/// Successful polls are listed up to this number.
const SHOWN_MAX: usize = 50;

pub async fn run(
    feeds: Option<Vec<String>>,
    json: bool,
    network: &NetworkArgs,
    place: &InstanceArgs,
) -> Result<(), CliError> {
    let config = config::read(place, network)?;
    let Some(feeds) = feeds else { return all(&config, json).await };
    let single = feeds.len() == 1;
    let command = Command::Poll { feeds: Some(feeds) };
    let spinner = output::spinner("polling");
    let done = access::carry_out(&config, command, &|_, _| ()).await;
    spinner.finish_and_clear();
    let CommandResult::Polled { polls } = done? else { return Err(other_answer()) };
    let is_success = polls.iter().all(PollSummary::is_success);
    if json && single {
        print_json(&polls.first())?;
    } else if json {
        print_json(&polls)?;
    } else {
        let mut said = PollReport::new(access::read(&config)?);
        polls.into_iter().try_for_each(|polled| said.take(polled))?;
        said.end()?;
    }
    if is_success { Ok(()) } else { Err(failed_silently()) }
}

async fn all(config: &Config, json: bool) -> Result<(), CliError> {
    let runner = Arc::new(CommandRunner::open(config).await?);
    let ids = runner.feed_ids()?;
    let bar = output::bar("polling", ids.len() as u64);
    let n_parts = ids.len().div_ceil(PART);
    let mut parts = (0..n_parts).map(|n| part(&ids, n, n_parts));
    let (mut rows, mut said) = (OutputRows::new(), PollReport::new(access::read(config)?));
    let (mut under_way, mut is_success) = (JoinSet::new(), true);
    loop {
        while under_way.len() < PARTS_UNDER_WAY
            && let Some(feeds) = parts.next()
        {
            let runner = Arc::clone(&runner);
            let command = Command::Poll { feeds: Some(feeds) };
            under_way.spawn(async move { runner.carry_out(command, &|_, _| ()).await });
        }
        let Some(done) = under_way.join_next().await else { break };
        let done = done.map_err(|e| failed(format!("some polls did not finish: {e}")))??;
        let CommandResult::Polled { polls } = done else { return Err(other_answer()) };
        bar.inc(polls.len() as u64);
        for polled in polls {
            is_success &= polled.is_success();
            if json { rows.json(&polled)? } else { said.take(polled)? }
        }
        rows.flush()?;
    }
    bar.finish_and_clear();
    runner.close().await;
    if json {
        rows.end_json()?;
    } else {
        said.end()?;
    }
    if is_success { Ok(()) } else { Err(failed_silently()) }
}

/// Returns one of `n_parts` parts of all feeds. Neighbours go into different parts, because they
/// often belong to one domain, which is polled one feed at a time.
fn part(ids: &[FeedId], n: usize, n_parts: usize) -> Vec<String> {
    ids.iter().skip(n).step_by(n_parts).map(FeedId::to_string).collect()
}

/// The report of a round of polls: every failure, and the successes if there are few.
struct PollReport {
    store: Store,
    good: Vec<PollSummary>,
    n_good: usize,
    n_new: usize,
}

impl PollReport {
    fn new(store: Store) -> PollReport {
        PollReport { store, good: Vec::new(), n_good: 0, n_new: 0 }
    }

    fn take(&mut self, polled: PollSummary) -> Result<(), CliError> {
        if !polled.is_success() {
            return self.line(&polled);
        }
        self.n_good += 1;
        self.n_new += polled.new;
        if self.good.len() < SHOWN_MAX {
            self.good.push(polled);
        }
        Ok(())
    }

    fn line(&self, p: &PollSummary) -> Result<(), CliError> {
        let url =
            self.store.feed(FeedId(p.feed)).map(|f| f.location.url.masked()).unwrap_or_default();
        let next = p.next_poll.as_deref().unwrap_or("never");
        print_line(&format!("{} {url}: {}: {}; next poll {next}", p.feed, p.outcome, p.detail))
    }

    fn end(&self) -> Result<(), CliError> {
        if self.n_good <= SHOWN_MAX {
            return self.good.iter().try_for_each(|polled| self.line(polled));
        }
        let polled = plural(self.n_good as u64, "feed", "feeds");
        let new = plural(self.n_new as u64, "new entry", "new entries");
        print_line(&format!("{polled} polled, {new}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_every_feed_once_and_are_bounded() {
        for n in [0, 1, 1999, 2000, 2001, 10_000, 33_333] {
            let ids: Vec<FeedId> = (1..=n).map(FeedId).collect();
            let n_parts = ids.len().div_ceil(PART);
            let parts: Vec<_> = (0..n_parts).map(|n| part(&ids, n, n_parts)).collect();
            assert!(parts.iter().all(|part| part.len() <= PART), "{n}");
            let mut all: Vec<u32> =
                parts.into_iter().flatten().map(|id| id.parse().unwrap()).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(1..=n), "{n}");
        }
    }
}

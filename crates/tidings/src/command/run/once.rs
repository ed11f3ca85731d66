//! `tidings run --once`: one round of polls, then the end.

use api::plural;
use engine::Watch;
use feed::Outcome;
use store::{Lock, OpenMode, Store};

use crate::access;
use crate::config::Config;
use crate::error::{CliError, failed};
use crate::output;

/// Polls each feed that is due now at most once. Waits for gaps, but not for Retry-After.
pub async fn once(config: &Config, lock: Option<Lock>) -> Result<(), CliError> {
    let store = Store::open(&config.store, OpenMode::ReadWrite)?;
    let engine = access::start(config, store, Watch::OnRequest)?;
    let due = engine.store.due_feeds(engine.clock.now())?;
    let bar = output::bar("polling", due.len() as u64);
    let mut answers = engine.poll(&due)?;
    let (mut polls, mut new, mut left, mut lost) = (0, 0, Vec::new(), None);
    let signal = super::wait_for_signal();
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

//! Polls every feed, part by part: a million feeds need no more memory than a few thousand.

use dispatch::command::CommandResult;
use feed::FeedId;
use tokio::sync::mpsc;

use super::{CommandError, Progress};
use crate::Engine;

/// Polls that are requested and not answered yet: enough for every worker to find a domain that may
/// be polled.
const UNANSWERED_MAX: usize = 20_000;
/// Feeds that are requested at once.
const PART: usize = 500;

pub async fn carry_out(
    engine: &Engine,
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    let ids = engine.store.feed_ids(None)?;
    let n_parts = ids.len().div_ceil(PART).max(1);
    // Neighbours often belong to one domain, which is polled one feed at a time.
    let mut parts = (0..n_parts).map(|n| ids.iter().copied().skip(n).step_by(n_parts));
    let (answers, mut answered) = mpsc::unbounded_channel();
    let (mut n_asked, mut n_answered, mut failed) = (0, 0, 0);
    loop {
        while n_asked - n_answered < UNANSWERED_MAX
            && let Some(part) = parts.next()
        {
            let part: Vec<FeedId> = part.collect();
            n_asked += part.len();
            tokio::task::block_in_place(|| engine.ask(&part, answers.clone()))?;
        }
        if n_answered == n_asked {
            return Ok(CommandResult::PolledAll { feeds: n_answered, failed });
        }
        let Some(answer) = answered.recv().await else { break };
        n_answered += 1;
        failed += usize::from(!answer.outcome.is_success());
        progress(n_answered, ids.len());
    }
    Ok(CommandResult::PolledAll { feeds: n_answered, failed })
}

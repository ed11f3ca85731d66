//! The progress of the first round of polls.

use std::sync::Arc;
use std::time::Duration;

use engine::Engine;

use crate::output;

/// The interval of log lines about the first round of polls.
const PROGRESS_EVERY: Duration = Duration::from_secs(10);

/// Shows the progress of the first round: a bar on a terminal, log lines otherwise.
pub async fn report_progress(engine: Arc<Engine>) {
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

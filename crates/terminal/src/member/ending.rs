//! The end of a terminal: it takes no more jobs, and waits for its requests and for the answers to
//! their results.

use std::time::Duration;

use dispatch::BusError;

use super::Terminal;

/// How long a terminal that is stopped waits for its requests and for the answers to its results.
/// The system would kill it later.
pub(super) const STOP_WITHIN: Duration = Duration::from_secs(30);
/// The wait for a controller that hears of the end. Without one there are no new jobs.
const HEARD_WITHIN: Duration = Duration::from_secs(2);
/// Jobs that were granted before the controller heard of the end are committed first, then they
/// arrive.
const LAST_JOBS_WITHIN: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// The longest wait of a drained terminal if it does not know the life of a grant.
const UNKNOWN_LIFE: Duration = Duration::from_secs(120);

/// Why a terminal ended.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error("a part of the terminal ended; start it again")]
    PartEnded,
}

impl Terminal {
    /// How long a drained terminal waits: after the life of a grant its requests are given up.
    pub(super) fn drain_within(&self) -> Duration {
        self.lock().rules.grant_life().unwrap_or(UNKNOWN_LIFE)
    }

    /// Takes no more jobs, and waits for the requests under way and the answers to their results.
    pub(super) async fn finish(&self, within: Duration) {
        self.drain.send_replace(true);
        // Until a controller has heard of it, more jobs may come.
        if tokio::time::timeout(HEARD_WITHIN, self.say_until_heard()).await.is_ok() {
            tokio::time::sleep(LAST_JOBS_WITHIN).await;
        }
        if tokio::time::timeout(within, self.until_idle()).await.is_err() {
            tracing::warn!(
                results = self.lock().outbox.len(),
                "results that nobody confirmed are lost; their feeds are polled again"
            );
        }
        self.bus.flush().await;
    }

    async fn say_until_heard(&self) {
        while !self.say_here_once().await {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn until_idle(&self) {
        loop {
            let (n_under_way, n_kept) = {
                let state = self.lock();
                (state.in_flight.len(), state.outbox.len() + state.errands.n_kept())
            };
            if n_under_way + n_kept == 0 {
                return;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

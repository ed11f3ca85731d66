//! The pace of jobs that follow the stream of entries behind the polls, in batches so small that no
//! poll waits long for the writer.

use std::time::Duration;

use store::StoreError;
use tokio::sync::watch;

/// Entries in one batch: a few milliseconds of the writer.
pub const BATCH: u32 = 100;
/// The interval at which a job without work looks for new entries. It is real time: a fast clock
/// makes more entries, but nobody reads faster.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The wait after an error of the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(10);

/// Waits for the next batch of a job: shortly after a batch with entries, longer if there was no
/// work, and longest after an error of the store. `done` is the number of entries that the last
/// batch handled.
pub async fn rest(stop: &mut watch::Receiver<bool>, job: &str, done: Result<usize, StoreError>) {
    let wait = match done {
        Ok(0) => LOOK_EVERY,
        // Polls that arrived in the meantime go first.
        Ok(_) => Duration::from_millis(1),
        Err(error) => {
            tracing::error!(%error, "cannot {job}; retrying");
            TROUBLE_WAIT
        }
    };
    tokio::select! {
        () = tokio::time::sleep(wait) => {}
        _ = stop.changed() => {}
    }
}

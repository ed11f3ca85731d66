//! Work that blocks on the store, moved off the threads that serve requests.

use store::StoreError;

/// Runs work on a thread that may block.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    // Joining fails only when the runtime ends, and the store ends with it.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(StoreError::Closed))
}

//! Fills the search index after the polls. It follows the stream by the store's own mark, in
//! batches so small that no poll waits long for the writer. The query language splits and folds the
//! words.

use std::sync::Arc;
use std::time::Duration;

use feed::{FeedId, Time};
use query::Entry;
use store::{EntryRow, SearchWords, Store, StoreError};
use tokio::sync::watch;

use crate::context::Context;

/// Entries in one job of the writer: a few milliseconds.
const BATCH: u32 = 100;
/// The interval at which a complete index looks for new entries. It is real time: a fast clock
/// makes more entries, but nobody searches faster.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The wait after an error of the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(10);

/// Keeps the index up to date until told to stop.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let wait = match run_once(&context.store).await {
            Ok(0) => LOOK_EVERY,
            // Polls that arrived in the meantime go first.
            Ok(_) => Duration::from_millis(1),
            Err(error) => {
                tracing::error!(%error, "cannot index words; retrying");
                TROUBLE_WAIT
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.changed() => {}
        }
    }
}

/// Indexes one batch. Returns its number of entries: 0 if the index is complete.
pub async fn run_once(store: &Store) -> Result<usize, StoreError> {
    let reader = store.clone();
    let cut = tokio::task::spawn_blocking(move || -> Result<Vec<SearchWords>, StoreError> {
        Ok(reader.unindexed(BATCH)?.iter().map(words).collect())
    });
    // Joining fails only if the runtime ends, and the store with it.
    let words = cut.await.unwrap_or(Err(StoreError::Closed))?;
    let n_entries = words.len();
    if n_entries > 0 {
        store.index(words).await?;
    }
    Ok(n_entries)
}

fn words(row: &EntryRow) -> SearchWords {
    let entry = Entry {
        title: row.title.as_deref(),
        summary: row.summary.as_deref(),
        content: row.content.as_deref(),
        author: row.author.as_deref(),
        categories: &row.categories,
        // The index holds the texts that people read. Conditions on the source are tested on the
        // entries that the index finds.
        ..Entry::bare(row.id, FeedId(0), "", Time::MIN)
    };
    let (title, body) = query::index_words(&entry);
    SearchWords { entry: row.id, edited_at: row.edited_at, title, body }
}

//! Fills the search index after the polls. It follows the stream by the store's own mark. The query
//! language splits and folds the words.

use std::sync::Arc;

use feed::{FeedId, Time};
use query::Entry;
use query::limits::FIELD_BYTES_MAX;
use store::{EntryRow, SearchWords, Store, StoreError};
use tokio::sync::watch;

use crate::behind::{BATCH, rest};
use crate::context::Context;

/// Keeps the index up to date until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    while !*stop.borrow() {
        let done = run_once(&context.store).await;
        rest(&mut stop, "index words", done).await;
    }
}

/// Indexes one batch. Returns its number of entries: 0 if the index is complete.
pub async fn run_once(store: &Store) -> Result<usize, StoreError> {
    let reader = store.clone();
    let cut = tokio::task::spawn_blocking(move || -> Result<Vec<SearchWords>, StoreError> {
        let rows = reader.unindexed(BATCH)?;
        let ids: Vec<_> = rows.iter().map(|row| row.id).collect();
        let articles = reader.article_texts(&ids, FIELD_BYTES_MAX)?;
        Ok(rows.iter().map(|row| words(row, articles.get(&row.id))).collect())
    });
    // Joining fails only if the runtime ends, and the store with it.
    let words = cut.await.unwrap_or(Err(StoreError::Closed))?;
    let n_entries = words.len();
    if n_entries > 0 {
        store.index(words).await?;
    }
    Ok(n_entries)
}

fn words(row: &EntryRow, article: Option<&(Time, String)>) -> SearchWords {
    let entry = Entry {
        title: row.title.as_deref(),
        summary: row.summary.as_deref(),
        content: row.content.as_deref(),
        author: row.author.as_deref(),
        categories: &row.categories,
        article: article.map(|(_, text)| text.as_str()),
        // The index holds the texts that people read. Conditions on the source are tested on the
        // entries that the index finds.
        ..Entry::bare(row.id, FeedId(0), "", Time::MIN)
    };
    let (title, body) = query::index_words(&entry);
    SearchWords {
        entry: row.id,
        edited_at: row.edited_at,
        title,
        body,
        article_at: article.map(|(at, _)| *at),
    }
}

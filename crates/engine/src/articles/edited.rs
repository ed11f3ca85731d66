//! Entries that a document edits: their pages may have changed too.

use feed::{ArticleMode, EntryKey};
use store::{EntryChanges, PollInput};

use crate::context::Context;
use crate::facts;

/// Returns the keys of the entries that a document edits.
pub fn edited_keys(entries: Option<&EntryChanges>) -> Vec<EntryKey> {
    entries.map_or_else(Vec::new, |entries| entries.edited.iter().map(|edit| edit.key).collect())
}

/// Asks again for the pages of edited entries, if pages of the feed are fetched without being
/// asked. If that fails, the earlier article stays.
pub async fn ask_again(context: &Context, input: &PollInput, edited: Vec<EntryKey>) {
    let every = facts::mode(&input.settings, &context.settings.articles) == ArticleMode::Every;
    if edited.is_empty() || !every {
        return;
    }
    let now = context.clock.now();
    match context.store.request_edited_articles(input.id, edited, now).await {
        Ok(0) => {}
        Ok(_) => context.articles.asked.notify_one(),
        Err(error) => tracing::error!(feed = input.id.0, %error, "cannot ask for edited pages"),
    }
}

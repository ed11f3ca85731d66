//! The rules of people. They follow the stream of entries by a mark of their own, so a poll writes
//! nothing for any person. All rules are matched at once; one transaction makes the changes of a
//! step and moves the mark.
//!
//! Only the process that records runs this.

mod book;

use std::sync::Arc;

use feed::EntryId;
use store::{EntryFilter, EntryRow, RuleId, RuleStep, StoreError};
use tokio::sync::watch;

use crate::behind::{BATCH, rest};
use crate::context::Context;
use book::RuleBook;

/// Lets rules act until the program stops.
pub async fn run(context: Arc<Context>, mut stop: watch::Receiver<bool>) {
    let mut rules = RulesRunner::default();
    while !*stop.borrow() {
        let done = rules.run_once(&context.store, context.clock.now()).await;
        if done.as_ref().is_ok_and(|n_entries| *n_entries > 0) {
            context.notifications.notify_one();
        }
        rest(&mut stop, "apply the rules of people", done).await;
    }
}

/// The rules in memory, and the place from which they continue.
#[derive(Default)]
pub struct RulesRunner {
    book: Option<RuleBook>,
}

/// Entries to be shown to rules.
struct RuleBatch {
    from: EntryId,
    to: EntryId,
    entries: Vec<EntryRow>,
    /// The one rule that looks at the past.
    only: Option<RuleId>,
    is_end: bool,
}

impl RulesRunner {
    /// Shows one batch of entries to the rules. Returns how many entries it had: 0 if the rules
    /// have seen everything.
    pub async fn run_once(
        &mut self,
        store: &store::Store,
        now: feed::Time,
    ) -> Result<usize, StoreError> {
        let mut book = self.book.take().unwrap_or_default();
        let reader = store.clone();
        let matched = tokio::task::spawn_blocking(move || {
            let step = prepare(&mut book, &reader)?;
            Ok::<_, StoreError>((book, step))
        });
        // Joining fails only if the runtime ends, or after a panic; then the book is built again.
        let (book, step) = matched.await.unwrap_or(Err(StoreError::Closed))?;
        self.book = Some(book);
        let Some((batch, step)) = step else { return Ok(0) };
        let n_entries = batch.entries.len().max(1);
        // If the rules have changed meanwhile, nothing was done and the next turn reads them.
        match batch.only {
            Some(rule) => store.act_on_past(rule, step, batch.is_end, now).await?,
            None => store.act_by_rules(step, now).await?,
        };
        Ok(n_entries)
    }
}

/// Reads the next entries and matches them. Entries that were just recorded come first.
fn prepare(
    book: &mut RuleBook,
    store: &store::Store,
) -> Result<Option<(RuleBatch, RuleStep)>, StoreError> {
    let (done_to, version) = store.rule_progress()?;
    book.update(store, version)?;
    let Some(since) = book.since() else { return Ok(None) };
    let from = done_to.max(since);
    let entries = store.entries(from, &EntryFilter { feed: None, limit: BATCH })?;
    let batch = match entries.last().map(|last| last.id) {
        Some(to) => RuleBatch { from, to, entries, only: None, is_end: false },
        None => match past(store, version)? {
            Some(batch) => batch,
            None => return Ok(None),
        },
    };
    let acts = book.match_entries(store, &batch.entries, batch.only)?;
    let step = RuleStep { version, from: batch.from, to: batch.to, acts };
    Ok(Some((batch, step)))
}

/// Returns the next stored entries for a rule that shall act on the past.
fn past(store: &store::Store, version: i64) -> Result<Option<RuleBatch>, StoreError> {
    let Some((rule, seen)) = store.rule_with_past()? else { return Ok(None) };
    let Some(from) = rule.past_next.filter(|_| seen == version) else { return Ok(None) };
    let mut entries = store.entries(from, &EntryFilter { feed: None, limit: BATCH })?;
    let is_full = store::is_full(&entries, BATCH);
    let n_read = entries.len();
    entries.retain(|entry| entry.id <= rule.since);
    let is_end = !is_full || entries.len() < n_read;
    let to = entries.last().map_or(from, |last| last.id);
    Ok(Some(RuleBatch { from, to, entries, only: Some(rule.id), is_end }))
}

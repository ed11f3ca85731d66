//! Saves rules of a person and tries them on stored entries, for the page, the JSON API and the
//! command line. A trial changes nothing and is bounded.

use std::collections::{HashMap, hash_map};
use std::time::Duration;

use feed::{EntryId, FeedId, Time};
use query::{Entry, Fault, Matcher, QueryId, Rule, Scratch, States};
use store::{AccountId, EntryFilter, NewRule, RuleError, RuleRow, Store, StoreError};

use crate::feed_rows::FeedRows;
use crate::search::query_entry;

/// The trial reads only the newest entries. These take about 10 ms.
const ENTRIES_MAX: i64 = 3000;
const BATCH: u32 = 500;
/// The trial looks so many days back.
pub const RULE_TRIAL_DAYS: u64 = 30;

/// The entries on which a rule would have acted.
pub struct TriedRule {
    pub rule: Rule,
    /// Oldest first.
    pub kept: Vec<EntryId>,
    /// The number of entries that were tried.
    pub n_entries: u64,
}

/// The reason why a rule was not saved.
#[derive(Debug)]
pub enum SaveRuleError {
    /// The text is not a rule.
    Text(Fault),
    Rule(RuleError),
}

/// Tries a rule on the newest entries that a person reads.
pub fn try_rule(
    store: &Store,
    account: AccountId,
    text: &str,
    now: Time,
) -> Result<Result<TriedRule, Fault>, StoreError> {
    let rule = match query::parse_rule(text) {
        Ok(rule) => rule,
        Err(fault) => return Ok(Err(fault)),
    };
    let (kept, n_entries) = kept(store, account, &rule, now)?;
    Ok(Ok(TriedRule { rule, kept, n_entries }))
}

/// Saves a rule, in place of an old one if `replaces` names it or the text says `OR REPLACE`.
pub fn save_rule(
    store: &Store,
    account: AccountId,
    text: &str,
    replaces: Option<String>,
    is_on: bool,
    now: Time,
) -> Result<Result<RuleRow, SaveRuleError>, StoreError> {
    let rule = match query::parse_rule(text) {
        Ok(rule) => rule,
        Err(fault) => return Ok(Err(SaveRuleError::Text(fault))),
    };
    let name = rule.name.text;
    let replaces = match replaces {
        None if rule.replace => store.rule(account, &name)?.map(|row| row.name),
        replaces => replaces,
    };
    let new = NewRule { name, text: rule.text, is_on, replaces };
    Ok(store.put_rule(account, &new, now)?.map_err(SaveRuleError::Rule))
}

/// Says what a stored rule does.
pub fn rule_actions(text: &str) -> Vec<String> {
    match query::parse_rule(text) {
        Ok(rule) => rule.actions.iter().map(ToString::to_string).collect(),
        Err(_) => vec!["unreadable".to_owned()],
    }
}

/// Returns the past entries that a rule keeps, oldest first, and how many were tried.
fn kept(
    store: &Store,
    account: AccountId,
    rule: &Rule,
    now: Time,
) -> Result<(Vec<EntryId>, u64), StoreError> {
    let mut matcher = Matcher::new();
    matcher.insert(QueryId(1), &rule.name.text, &rule.query(str::to_owned));
    let (mut states, mut scratch) = (States::default(), Scratch::new());
    let since = now - Duration::from_secs(RULE_TRIAL_DAYS * 86_400);
    let bound = EntryId(store.last_entry_id()?.0 - ENTRIES_MAX);
    let mut after = store.position_before(since)?.max(bound);
    let mut feeds = FeedRows::new(account);
    // The tags of each feed that the person reads.
    let mut tags: HashMap<FeedId, Option<Vec<String>>> = HashMap::new();
    let (mut kept, mut n_entries) = (Vec::new(), 0);
    loop {
        let batch = store.entries(after, &EntryFilter { feed: None, limit: BATCH })?;
        let Some(last) = batch.last() else { break };
        after = last.id;
        feeds.load(store, batch.iter().map(|entry| entry.feed))?;
        for entry in batch.iter().filter(|entry| entry.seen_at >= since) {
            let tags = match tags.entry(entry.feed) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(place) => {
                    place.insert(store.reader_tags(account, entry.feed)?)
                }
            };
            let (Some(feed), Some(tags)) = (feeds.get(entry.feed), tags) else { continue };
            n_entries += 1;
            let shown = Entry { tags, ..query_entry(entry, feed) };
            if !matcher.matches(&shown, &mut states, &mut scratch).is_empty() {
                kept.push(entry.id);
            }
        }
    }
    Ok((kept, n_entries))
}

//! Commands for the tags of feeds. Tags of queries are not for people.

use dispatch::command::CommandResult;
use feed::FeedId;
use store::AccountId;

use super::{CommandError, find, reschedule};
use crate::Engine;

/// The longest tag.
const TAG_CHARS_MAX: usize = 100;

/// Adds tags to feeds, or to subscriptions of an account, and removes others.
pub fn tag(
    engine: &Engine,
    account: AccountId,
    names: &[String],
    add: &[String],
    remove: &[String],
) -> Result<CommandResult, CommandError> {
    let add: Vec<String> = add.iter().map(|tag| checked(tag)).collect::<Result<_, _>>()?;
    // A tag of a query ends with the query. It marks feeds that only queries read.
    let remove: Vec<String> = remove.iter().filter(|tag| !is_of_query(tag)).cloned().collect();
    let feeds: Vec<FeedId> =
        names.iter().map(|n| find(engine, account, n)).collect::<Result<_, _>>()?;
    if account != AccountId::LOCAL {
        engine.store.tag_subscriptions(account, &feeds, &add, &remove)?;
        return Ok(CommandResult::Tagged { feeds: feeds.len() });
    }
    for feed in &feeds {
        engine.store.tag_feed(*feed, &add, &remove)?;
    }
    // A tag may carry a policy, bounds, a pause.
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Tagged { feeds: feeds.len() })
}

/// Renames a tag, or removes it from all feeds.
pub fn rename(
    engine: &Engine,
    account: AccountId,
    tag: &str,
    to: Option<&str>,
) -> Result<CommandResult, CommandError> {
    let to = checked_names(tag, to)?;
    if account != AccountId::LOCAL {
        let n = engine.store.rename_tag_of(account, tag, to.as_deref())?;
        return Ok(CommandResult::Tagged { feeds: usize::try_from(n).unwrap_or(usize::MAX) });
    }
    let feeds = engine.store.feed_ids(Some(tag))?;
    engine.store.rename_tag(tag, to.as_deref())?;
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Tagged { feeds: feeds.len() })
}

/// Returns the new name of a tag in its stored form. The old one must not belong to a query.
pub fn checked_names(tag: &str, to: Option<&str>) -> Result<Option<String>, CommandError> {
    if is_of_query(tag) {
        return Err(of_query());
    }
    to.map(checked).transpose()
}

/// Returns a tag in its stored form. People cannot use the tags of queries.
pub fn checked(tag: &str) -> Result<String, CommandError> {
    let tag = tag.trim();
    if tag.is_empty() || tag.chars().count() > TAG_CHARS_MAX || tag.chars().any(char::is_control) {
        return Err(CommandError::Change("a tag is 1 to 100 characters in one line".to_owned()));
    }
    if is_of_query(tag) {
        return Err(of_query());
    }
    Ok(tag.to_owned())
}

pub fn is_of_query(tag: &str) -> bool {
    tag.starts_with(store::QUERY_TAG)
}

fn of_query() -> CommandError {
    let text = "tags that begin with `query:` are given by queries; choose another";
    CommandError::Change(text.to_owned())
}

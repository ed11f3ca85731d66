//! Commands that change many feeds at once, rename and order tags, and undo this.

use dispatch::command::{BulkChange, BulkCommand, CommandResult, FeedChoice};
use feed::FeedId;
use polling::PolicySpec;
use store::{BulkDone, BulkScope, FeedSelection, FeedState, FeedsChange, StoreError};

use super::tags::{checked, checked_names, is_of_query};
use super::{CommandError, reschedule, whose};
use crate::Engine;

/// Tags that one change adds and removes.
const TAGS_MAX: usize = 20;
/// Tags that one order names.
const ORDERED_MAX: usize = 2000;

/// Returns the scope of a command by an account, or by the instance.
pub fn scope(account: Option<i64>, everyone: bool) -> BulkScope {
    BulkScope { actor: whose(account), owner: whose(account.filter(|_| !everyone)) }
}

pub fn carry_out(
    engine: &Engine,
    scope: BulkScope,
    wish: BulkCommand,
) -> Result<CommandResult, CommandError> {
    let done = match wish {
        BulkCommand::Change { choice, change } => change_feeds(engine, scope, choice, change),
        BulkCommand::RenameTag { tag, to } => rename(engine, scope, &tag, to.as_deref()),
        BulkCommand::OrderTags { tags } => order(engine, scope, &tags),
        BulkCommand::Undo { number } => undo(engine, scope, number),
    };
    done.map_err(|error| match error {
        // These are mistakes of the caller.
        CommandError::Store(why @ (StoreError::NoFeed(_) | StoreError::TooManyFeeds { .. })) => {
            CommandError::Change(why.to_string())
        }
        other => other,
    })
}

fn change_feeds(
    engine: &Engine,
    scope: BulkScope,
    choice: FeedChoice,
    change: BulkChange,
) -> Result<CommandResult, CommandError> {
    let selection = selection(choice)?;
    let words = words(&change);
    let change = feeds_change(change)?;
    let what = move |n| words.replace("{}", &feeds(n));
    let said = what.clone();
    let now = engine.clock.now();
    let done = engine.store.change_feeds(scope, &selection, &change, what, now)?;
    finish(engine, &done, said(done.n_feeds))
}

fn selection(choice: FeedChoice) -> Result<FeedSelection, CommandError> {
    Ok(match choice {
        FeedChoice::Feeds(numbers) => {
            FeedSelection::Feeds(numbers.into_iter().map(FeedId).collect())
        }
        FeedChoice::Matching { text, tag, state } => {
            let state = state.map(|word| {
                let unknown = || CommandError::Change(format!("`{word}` is not a state of feeds"));
                FeedState::from_filter_word(&word).ok_or_else(unknown)
            });
            FeedSelection::Matching { text, tag, state: state.transpose()? }
        }
    })
}

fn feeds_change(change: BulkChange) -> Result<FeedsChange, CommandError> {
    Ok(match change {
        BulkChange::Tag { add, remove } => {
            let add: Vec<String> = add.iter().map(|tag| checked(tag)).collect::<Result<_, _>>()?;
            let remove: Vec<String> = remove.into_iter().filter(|tag| !is_of_query(tag)).collect();
            if add.is_empty() && remove.is_empty() {
                return Err(CommandError::Change("name a tag to add or to remove".to_owned()));
            }
            if add.len() + remove.len() > TAGS_MAX {
                let text = format!("at most {TAGS_MAX} tags can be added and removed at once");
                return Err(CommandError::Change(text));
            }
            FeedsChange::Tag { add, remove }
        }
        BulkChange::Unsubscribe => FeedsChange::Unsubscribe,
        BulkChange::Pause => FeedsChange::Set { policy: None, paused: Some(true) },
        BulkChange::Resume => FeedsChange::Set { policy: None, paused: Some(false) },
        BulkChange::Policy { policy } => {
            if let Some(spec) = &policy {
                spec.parse::<PolicySpec>().map_err(|e| CommandError::Policy(e.to_string()))?;
            }
            FeedsChange::Set { policy: Some(policy), paused: None }
        }
    })
}

/// Says what a change does; `{}` stands for the feeds.
fn words(change: &BulkChange) -> String {
    let named = |tags: &[String]| {
        let tags: Vec<String> = tags.iter().map(|tag| format!("“{}”", tag.trim())).collect();
        // The tags of a person may contain the sign for the feeds.
        tags.join(", ").replace("{}", "{ }")
    };
    match change {
        BulkChange::Tag { add, remove } => match (&add[..], &remove[..]) {
            (add, []) => format!("tagged {{}} with {}", named(add)),
            ([], remove) => format!("removed {} from {{}}", named(remove)),
            (add, remove) => format!("tagged {{}} with {}, not {}", named(add), named(remove)),
        },
        BulkChange::Unsubscribe => "unsubscribed from {}".to_owned(),
        BulkChange::Pause => "paused {}".to_owned(),
        BulkChange::Resume => "resumed {}".to_owned(),
        BulkChange::Policy { policy: Some(policy) } => format!("set the policy {policy} for {{}}"),
        BulkChange::Policy { policy: None } => "removed the policy of {}".to_owned(),
    }
}

fn rename(
    engine: &Engine,
    scope: BulkScope,
    tag: &str,
    to: Option<&str>,
) -> Result<CommandResult, CommandError> {
    let to = checked_names(tag, to)?;
    let (name, new) = (tag.to_owned(), to.clone());
    let what = move |n| match &new {
        Some(new) => format!("renamed the tag “{name}” of {} to “{new}”", feeds(n)),
        None => format!("removed the tag “{name}” from {}", feeds(n)),
    };
    let (said, now) = (what.clone(), engine.clock.now());
    let done = engine.store.rename_tag_undoably(scope, tag, to.as_deref(), what, now)?;
    if done.number.is_none() {
        let text = format!("the tag “{tag}” does not exist, or it has this name already");
        return Err(CommandError::Change(text));
    }
    finish(engine, &done, said(done.n_feeds))
}

fn order(
    engine: &Engine,
    scope: BulkScope,
    tags: &[String],
) -> Result<CommandResult, CommandError> {
    if tags.len() > ORDERED_MAX {
        let text = format!("at most {ORDERED_MAX} tags can be put into order at once");
        return Err(CommandError::Change(text));
    }
    let (what, now) = ("changed the order of tags", engine.clock.now());
    let done = engine.store.order_tags(scope, tags, what, now)?;
    finish(engine, &done, what.to_owned())
}

fn undo(
    engine: &Engine,
    scope: BulkScope,
    number: Option<i64>,
) -> Result<CommandResult, CommandError> {
    let undone = engine.store.undo_bulk(scope, number, engine.clock.now())?;
    let Some((row, done)) = undone else {
        let text = "there is nothing to undo: a change can be undone for a day, the last one first";
        return Err(CommandError::Change(text.to_owned()));
    };
    finish(engine, &done, row.what)
}

/// Decides the next polls of the changed feeds.
fn finish(engine: &Engine, done: &BulkDone, what: String) -> Result<CommandResult, CommandError> {
    tokio::task::block_in_place(|| reschedule(engine, &done.touched))?;
    Ok(CommandResult::Changed { feeds: done.n_feeds, what, undo: done.number })
}

fn feeds(n: usize) -> String {
    match n {
        1 => "1 feed".to_owned(),
        n => format!("{n} feeds"),
    }
}

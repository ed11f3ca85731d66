//! The command that changes settings of a feed or of a tag.

use std::time::Duration;

use dispatch::command::{CommandResult, FeedSettingsChange, Target};
use polling::PolicySpec;
use store::{AccountId, SettingsChange};

use super::{CommandError, find, reschedule};
use crate::Engine;

/// Changes the settings of a feed or of a tag.
pub fn set(
    engine: &Engine,
    target: &Target,
    change: &FeedSettingsChange,
) -> Result<CommandResult, CommandError> {
    check(change)?;
    let seconds = |d: Option<Option<u64>>| d.map(|d| d.map(Duration::from_secs));
    let settings = SettingsChange {
        policy: change.policy.clone(),
        alpha: seconds(change.alpha),
        beta: seconds(change.beta),
        weight: change.weight.map(Some),
        max_delay: seconds(change.max_delay),
        paused: change.paused.map(Some),
        articles: change.articles,
        article_selector: change.article_selector.clone(),
    };
    let feeds = match target {
        Target::Feed(name) => {
            let id = find(engine, AccountId::LOCAL, name)?;
            engine.store.set_feed(id, &settings)?;
            if let Some(region) = &change.region {
                engine.store.set_feed_region(id, region.as_deref())?;
            }
            vec![id]
        }
        Target::Tag(tag) => {
            engine.store.set_tag(tag, &settings)?;
            if let Some(region) = &change.region {
                engine.store.set_tag_region(tag, region.as_deref())?;
            }
            engine.store.feed_ids(Some(tag))?
        }
    };
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Set { feeds: feeds.len() })
}

/// Refuses settings that contradict each other.
pub fn check(change: &FeedSettingsChange) -> Result<(), CommandError> {
    if let Some(Some(spec)) = &change.policy {
        spec.parse::<PolicySpec>().map_err(|e| CommandError::Policy(e.to_string()))?;
    }
    if let (Some(Some(alpha)), Some(Some(beta))) = (change.alpha, change.beta)
        && alpha > beta
    {
        return Err(CommandError::Change(format!(
            "--alpha {alpha}s is longer than --beta {beta}s; the shortest interval comes first"
        )));
    }
    if [change.alpha, change.beta, change.max_delay].contains(&Some(Some(0))) {
        let text = "--alpha, --beta and --max-delay are at least 1s: no feed is polled more often";
        return Err(CommandError::Change(text.to_owned()));
    }
    if let Some(Some(region)) = &change.region
        && !feed::is_machine_word(region)
    {
        let text = "--region is a word of letters, digits, - and _, at most 64";
        return Err(CommandError::Change(text.to_owned()));
    }
    if change.weight.is_some_and(|w| !w.is_finite() || w < 0.0) {
        return Err(CommandError::Change("--weight is a number from 0 up".to_owned()));
    }
    Ok(())
}

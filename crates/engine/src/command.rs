//! Carries out the commands of people: add, poll, set, remove, import. The same code runs in
//! two places. The daemon runs it for a request that another process left in the store. A command
//! that holds the lock of the data folder runs it itself.

mod adding;
mod every;
mod moving;
pub mod standing;

use std::time::Duration;

use dispatch::command::{Change, Command, CommandResult, ImportedFeed, PollSummary, Target};
use feed::{AddressError, FeedId, FeedUrl, Time};
use polling::PolicySpec;
use store::{AddFeedResult, NewFeed, SettingsChange, StoreError};

use crate::{Engine, PollAnswer};

#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error("there is no feed `{0}`; `tidings feed list` shows all feeds")]
    NoFeed(String),
    #[error("--policy: {0}")]
    Policy(String),
    #[error("{0}")]
    Change(String),
    #[error("{0}")]
    Budget(String),
    #[error("{0}")]
    Query(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CommandError {
    /// Returns whether the input was wrong, not the execution.
    pub fn is_input(&self) -> bool {
        !matches!(self, CommandError::Store(_))
    }
}

/// The longest title and the longest tag.
const TITLE_CHARS_MAX: usize = 500;
const TAG_CHARS_MAX: usize = 100;

/// Receives the number of ended polls and the number of all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Carries a command out.
pub async fn carry_out(
    engine: &Engine,
    command: Command,
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    match command {
        Command::Add { urls, tags, poll, force } => {
            adding::add(engine, &urls, &tags, adding::AddressCheck { poll, force }, progress).await
        }
        Command::Import { feeds } => import(engine, feeds),
        Command::Poll { feeds: None } => every::carry_out(engine, progress).await,
        Command::Poll { feeds: Some(names) } => {
            let ids: Result<Vec<FeedId>, _> = names.iter().map(|n| find(engine, n)).collect();
            poll(engine, &ids?, progress).await
        }
        Command::Set { target, change } => set(engine, &target, &change),
        Command::Remove { feed } => {
            let id = find(engine, &feed)?;
            let url = engine.store.feed(id)?.location.url.masked();
            engine.forget(id);
            engine.store.remove_feed(id)?;
            Ok(CommandResult::Removed { feed: id.0, url })
        }
        Command::Move { feed, url } => moving::carry_out(engine, &feed, &url),
        Command::Title { feed, title } => {
            let id = find(engine, &feed)?;
            let title = title.map(|title| title.trim().chars().take(TITLE_CHARS_MAX).collect());
            let title = title.filter(|title: &String| !title.is_empty());
            engine.store.title_feed(id, title.as_deref())?;
            Ok(CommandResult::Titled { feed: id.0 })
        }
        Command::Tag { feeds, add, remove } => tag(engine, &feeds, &add, &remove),
        Command::RenameTag { tag, to } => rename_tag(engine, &tag, to.as_deref()),
        Command::Budget { rule } => {
            let rule = rule.map(|text| text.parse().map_err(CommandError::Budget)).transpose()?;
            let feeds = tokio::task::block_in_place(|| engine.set_budget(rule))?;
            Ok(CommandResult::Budgeted { feeds })
        }
        Command::Query { wish } => {
            Ok(CommandResult::Query { granted: standing::carry_out(engine, wish).await? })
        }
        Command::Together { commands } => {
            commands.iter().try_for_each(check)?;
            let mut done = CommandResult::Set { feeds: 0 };
            for command in commands {
                done = Box::pin(carry_out(engine, command, progress)).await?;
            }
            Ok(done)
        }
    }
}

/// Refuses a change that is certain to fail, before anything is done.
fn check(command: &Command) -> Result<(), CommandError> {
    match command {
        Command::Set { change, .. } => check_change(change),
        Command::Tag { add, .. } => add.iter().try_for_each(|tag| sound_tag(tag).map(drop)),
        Command::RenameTag { tag, to } => sound_names(tag, to.as_deref()).map(drop),
        Command::Move { url, .. } => Ok(FeedUrl::parse(url).map(drop)?),
        _ => Ok(()),
    }
}

fn find(engine: &Engine, name: &str) -> Result<FeedId, CommandError> {
    engine.store.find_feed(name)?.ok_or_else(|| CommandError::NoFeed(masked(name)))
}

fn tag(
    engine: &Engine,
    names: &[String],
    add: &[String],
    remove: &[String],
) -> Result<CommandResult, CommandError> {
    let add: Vec<String> = add.iter().map(|tag| sound_tag(tag)).collect::<Result<_, _>>()?;
    // A tag of a query ends with the query. It marks feeds that only queries read.
    let remove: Vec<String> = remove.iter().filter(|tag| !is_of_query(tag)).cloned().collect();
    let feeds: Vec<FeedId> = names.iter().map(|n| find(engine, n)).collect::<Result<_, _>>()?;
    for feed in &feeds {
        engine.store.tag_feed(*feed, &add, &remove)?;
    }
    // A tag may carry a policy, bounds, a pause.
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Tagged { feeds: feeds.len() })
}

fn rename_tag(engine: &Engine, tag: &str, to: Option<&str>) -> Result<CommandResult, CommandError> {
    let to = sound_names(tag, to)?;
    let feeds = engine.store.feed_ids(Some(tag))?;
    engine.store.rename_tag(tag, to.as_deref())?;
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Tagged { feeds: feeds.len() })
}

/// Returns the new name of a tag in its stored form. The old one must not belong to a query.
fn sound_names(tag: &str, to: Option<&str>) -> Result<Option<String>, CommandError> {
    if is_of_query(tag) {
        return Err(of_query());
    }
    to.map(sound_tag).transpose()
}

/// Returns a tag in its stored form. People cannot use the tags of queries.
fn sound_tag(tag: &str) -> Result<String, CommandError> {
    let tag = tag.trim();
    if tag.is_empty() || tag.chars().count() > TAG_CHARS_MAX || tag.chars().any(char::is_control) {
        return Err(CommandError::Change("a tag is 1 to 100 characters in one line".to_owned()));
    }
    if is_of_query(tag) {
        return Err(of_query());
    }
    Ok(tag.to_owned())
}

fn is_of_query(tag: &str) -> bool {
    tag.starts_with(store::QUERY_TAG)
}

fn of_query() -> CommandError {
    let text = "tags that begin with `query:` are given by queries; choose another";
    CommandError::Change(text.to_owned())
}

fn import(engine: &Engine, feeds: Vec<ImportedFeed>) -> Result<CommandResult, CommandError> {
    let now = engine.clock.now();
    let mut refused = Vec::new();
    let mut new = Vec::with_capacity(feeds.len());
    for ImportedFeed { url, title, site, tags } in feeds {
        // An invalid tag does not exclude the feed. A query tag of another instance is dropped:
        // here the feed would be paused when a query of that name ends.
        let tags = tags.iter().filter_map(|tag| sound_tag(tag).ok()).collect();
        match FeedUrl::parse(&url) {
            Ok(url) => new.push(NewFeed { url, title, site, tags }),
            Err(e) => refused.push(e.to_string()),
        }
    }
    let added = tokio::task::block_in_place(|| {
        let added = engine.store.add_feeds(&new, now)?;
        lay_down(engine, &added, now).map(|()| added)
    })?;
    let known = added.iter().filter(|a| a.existed).count();
    Ok(CommandResult::Imported { added: added.len() - known, known, refused })
}

/// Schedules feeds that were added. A new one is polled at `due`. One that existed keeps its time,
/// unless it has settings by tag: it may have been paused because no query read it.
fn lay_down(engine: &Engine, added: &[AddFeedResult], due: Time) -> Result<(), CommandError> {
    let mut tagged = Vec::new();
    for &AddFeedResult { id, existed, .. } in added {
        if !existed {
            engine.schedule(id, due)?;
            continue;
        }
        let input = engine.store.poll_input(id)?;
        if input.settings.of_tags.is_empty() {
            engine.schedule(id, input.schedule.next_at.unwrap_or_else(|| engine.clock.now()))?;
        } else {
            tagged.push(id);
        }
    }
    reschedule(engine, &tagged)
}

async fn poll(
    engine: &Engine,
    feeds: &[FeedId],
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    let answers = poll_all(engine, feeds, progress).await?;
    Ok(CommandResult::Polled { polls: answers.iter().map(polled).collect() })
}

/// Polls feeds and waits for all of them. Returns the answers in the order of `feeds`.
async fn poll_all(
    engine: &Engine,
    feeds: &[FeedId],
    progress: Progress<'_>,
) -> Result<Vec<PollAnswer>, CommandError> {
    let mut receiver = engine.poll(feeds)?;
    let mut answers = Vec::with_capacity(feeds.len());
    while let Some(answer) = receiver.recv().await {
        answers.push(answer);
        progress(answers.len(), feeds.len());
    }
    let order: std::collections::HashMap<FeedId, usize> =
        feeds.iter().enumerate().map(|(n, f)| (*f, n)).collect();
    answers.sort_by_key(|a| order.get(&a.feed).copied());
    Ok(answers)
}

fn polled(answer: &PollAnswer) -> PollSummary {
    PollSummary {
        feed: answer.feed.0,
        outcome: answer.outcome.word().to_owned(),
        new: answer.n_new,
        suspected_miss: answer.suspected_miss,
        next_poll: answer.next_poll.map(|t| t.to_string()),
        detail: answer.detail.clone(),
        candidates: answer.candidates.iter().map(feed::mask_secrets).collect(),
    }
}

fn set(engine: &Engine, target: &Target, change: &Change) -> Result<CommandResult, CommandError> {
    check_change(change)?;
    let seconds = |d: Option<Option<u64>>| d.map(|d| d.map(Duration::from_secs));
    let settings = SettingsChange {
        policy: change.policy.clone(),
        alpha: seconds(change.alpha),
        beta: seconds(change.beta),
        weight: change.weight.map(Some),
        max_delay: seconds(change.max_delay),
        paused: change.paused.map(Some),
    };
    let feeds = match target {
        Target::Feed(name) => {
            let id = find(engine, name)?;
            engine.store.set_feed(id, &settings)?;
            vec![id]
        }
        Target::Tag(tag) => {
            engine.store.set_tag(tag, &settings)?;
            engine.store.feed_ids(Some(tag))?
        }
    };
    tokio::task::block_in_place(|| reschedule(engine, &feeds))?;
    Ok(CommandResult::Set { feeds: feeds.len() })
}

fn check_change(change: &Change) -> Result<(), CommandError> {
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
    if change.weight.is_some_and(|w| !w.is_finite() || w < 0.0) {
        return Err(CommandError::Change("--weight is a number from 0 up".to_owned()));
    }
    Ok(())
}

/// Decides the next polls of feeds again, after their settings changed.
fn reschedule(engine: &Engine, feeds: &[FeedId]) -> Result<(), CommandError> {
    for &feed in feeds {
        let input = engine.store.poll_input(feed)?;
        if input.settings.paused || input.location.gone.is_some() {
            engine.forget(feed);
        }
    }
    Ok(engine.replan(feeds)?)
}

fn masked(url: &str) -> String {
    FeedUrl::parse(url).map_or_else(|_| feed::mask_text(url), |url| url.masked())
}

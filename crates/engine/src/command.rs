//! Carries out the commands of people: add, poll, set, remove, import. The same code runs in
//! two places. The daemon runs it for a request that another process left in the store. A command
//! that holds the lock of the data folder runs it itself.

mod adding;
mod moving;
mod poll_every;
pub mod queries;
mod settings;
mod tags;

use dispatch::command::{Command, CommandResult, ImportedFeed, PollSummary};
use feed::{AddressError, FeedId, FeedUrl, Time};
use store::{AddFeedResult, NewFeed, StoreError};

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

/// The longest title of a feed.
const TITLE_CHARS_MAX: usize = 500;

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
        Command::Poll { feeds: None } => poll_every::carry_out(engine, progress).await,
        Command::Poll { feeds: Some(names) } => {
            let ids: Result<Vec<FeedId>, _> = names.iter().map(|n| find(engine, n)).collect();
            poll(engine, &ids?, progress).await
        }
        Command::Set { target, change } => settings::set(engine, &target, &change),
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
        Command::Tag { feeds, add, remove } => tags::tag(engine, &feeds, &add, &remove),
        Command::RenameTag { tag, to } => tags::rename(engine, &tag, to.as_deref()),
        Command::Budget { rule } => {
            let rule = rule.map(|text| text.parse().map_err(CommandError::Budget)).transpose()?;
            let feeds = tokio::task::block_in_place(|| engine.set_budget(rule))?;
            Ok(CommandResult::Budgeted { feeds })
        }
        Command::Query { wish } => {
            Ok(CommandResult::Query { granted: queries::carry_out(engine, wish).await? })
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
        Command::Set { change, .. } => settings::check(change),
        Command::Tag { add, .. } => add.iter().try_for_each(|tag| tags::checked(tag).map(drop)),
        Command::RenameTag { tag, to } => tags::checked_names(tag, to.as_deref()).map(drop),
        Command::Move { url, .. } => Ok(FeedUrl::parse(url).map(drop)?),
        _ => Ok(()),
    }
}

fn find(engine: &Engine, name: &str) -> Result<FeedId, CommandError> {
    engine.store.find_feed(name)?.ok_or_else(|| CommandError::NoFeed(FeedUrl::mask(name)))
}

fn import(engine: &Engine, feeds: Vec<ImportedFeed>) -> Result<CommandResult, CommandError> {
    let now = engine.clock.now();
    let mut refused = Vec::new();
    let mut new = Vec::with_capacity(feeds.len());
    for ImportedFeed { url, title, site, tags } in feeds {
        // An invalid tag does not exclude the feed. A query tag of another instance is dropped:
        // here the feed would be paused when a query of that name ends.
        let tags = tags.iter().filter_map(|tag| tags::checked(tag).ok()).collect();
        match FeedUrl::parse(&url) {
            Ok(url) => new.push(NewFeed { url, title, site, tags }),
            Err(e) => refused.push(e.to_string()),
        }
    }
    let added = tokio::task::block_in_place(|| {
        let added = engine.store.add_feeds(&new, now)?;
        schedule_added(engine, &added, now).map(|()| added)
    })?;
    let known = added.iter().filter(|a| a.existed).count();
    Ok(CommandResult::Imported { added: added.len() - known, known, refused })
}

/// Schedules feeds that were added. A new one is polled at `due`. One that existed keeps its time,
/// unless it has settings by tag: it may have been paused because no query read it.
fn schedule_added(engine: &Engine, added: &[AddFeedResult], due: Time) -> Result<(), CommandError> {
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

//! Carries out the commands of people: add, poll, set, remove, import. The same code runs in
//! two places. The daemon runs it for a request that another process left in the store. A command
//! that holds the lock of the data folder runs it itself.

mod adding;
mod bulk;
mod fetching;
pub mod machines;
mod moving;
mod poll_every;
pub mod queries;
mod settings;
mod sharing;
mod subscriptions;
mod tags;

use dispatch::command::{BulkCommand, Command, CommandResult, ImportedFeed, PollSummary};
use feed::{AddressError, EntryId, FeedId, FeedUrl, Time};
use store::{AccountId, AddFeedResult, NewFeed, StoreError};

use crate::articles::LoadedArticle;
use crate::context::READ_AT_ONCE;
use crate::titles::shortened;
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
        match self {
            CommandError::Store(StoreError::TooMany { .. } | StoreError::NeedsAdmin) => true,
            CommandError::Store(_) => false,
            _ => true,
        }
    }
}

/// The bytes of the longest title of a feed.
const TITLE_BYTES_MAX: usize = 2000;

/// Receives the number of ended polls and the number of all.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Carries a command out.
pub async fn carry_out(
    engine: &Engine,
    command: Command,
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    match command {
        Command::Add { urls, tags, poll, force, account } => {
            let (check, account) = (adding::AddressCheck { poll, force }, whose(account));
            adding::add(engine, account, &urls, &tags, check, progress).await
        }
        Command::Import { feeds, account } => import(engine, whose(account), feeds),
        Command::Subscribe { feeds, account } => {
            subscriptions::subscribe(engine, AccountId(account), &feeds)
        }
        Command::Poll { feeds: None } => poll_every::carry_out(engine, progress).await,
        Command::Poll { feeds: Some(names) } => {
            let ids: Result<Vec<FeedId>, _> =
                names.iter().map(|n| find(engine, AccountId::LOCAL, n)).collect();
            poll(engine, &ids?, progress).await
        }
        Command::Set { target, change } => settings::set(engine, &target, &change),
        Command::Fetch { feed, change, account } => {
            fetching::carry_out(engine, whose(account), &feed, &change)
        }
        Command::Remove { feed, account: Some(account) } => {
            subscriptions::unsubscribe(engine, AccountId(account), &feed)
        }
        Command::Remove { feed, account: None } => subscriptions::remove(engine, &feed),
        Command::Move { feed, url } => moving::carry_out(engine, &feed, &url),
        Command::Title { feed, title, account } => {
            let id = find(engine, whose(account), &feed)?;
            subscriptions::entitle(engine, whose(account), id, own_title(title).as_deref())
        }
        Command::Tag { feeds, add, remove, account } => {
            tags::tag(engine, whose(account), &feeds, &add, &remove)
        }
        Command::RenameTag { tag, to, account } => {
            tags::rename(engine, whose(account), &tag, to.as_deref())
        }
        Command::Bulk { wish, account, everyone } => {
            bulk::carry_out(engine, bulk::scope(account, everyone), wish)
        }
        Command::Budget { rule } => {
            let rule = rule.map(|text| text.parse().map_err(CommandError::Budget)).transpose()?;
            let feeds = tokio::task::block_in_place(|| engine.set_budget(rule))?;
            Ok(CommandResult::Budgeted { feeds })
        }
        Command::Query { wish } => {
            Ok(CommandResult::Query { granted: queries::carry_out(engine, wish).await? })
        }
        Command::Article { entry } => article(engine, EntryId(entry)).await,
        Command::TryArticle { entry, selector } => {
            try_article(engine, EntryId(entry), selector).await
        }
        Command::Share { account, position, entry } => {
            sharing::carry_out(engine, AccountId(account), position, EntryId(entry)).await
        }
        Command::Drain { machine, on } => machines::drain(&engine.store, &machine, on),
        Command::StepDown => machines::step_down(&engine.store),
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

/// Returns a title in its stored form; `None` if it is empty.
fn own_title(title: Option<String>) -> Option<String> {
    title.and_then(|title| shortened(&title, TITLE_BYTES_MAX))
}

async fn article(engine: &Engine, id: EntryId) -> Result<CommandResult, CommandError> {
    let loaded = engine.load_article(id).await?;
    let loaded = loaded.ok_or_else(|| CommandError::Change(format!("there is no entry {id}")))?;
    let (words, reason, later) = match loaded {
        LoadedArticle::There { n_words } => (Some(n_words), None, false),
        LoadedArticle::Nothing { reason } => (None, Some(reason), false),
        LoadedArticle::Later { reason } => (None, Some(reason), true),
    };
    Ok(CommandResult::Article { entry: id.0, words, reason, later })
}

async fn try_article(
    engine: &Engine,
    id: EntryId,
    selector: Option<String>,
) -> Result<CommandResult, CommandError> {
    let tried = engine.try_article(id, selector).await?;
    let tried = tried.ok_or_else(|| CommandError::Change(format!("there is no entry {id}")))?;
    let ((title, words, text), reason) = match tried {
        Ok(seen) => ((seen.title, seen.n_words, seen.text), None),
        Err(reason) => ((None, 0, String::new()), Some(reason)),
    };
    Ok(CommandResult::TriedArticle { entry: id.0, title, words, text, reason })
}

/// Refuses a change that is certain to fail, before anything is done.
fn check(command: &Command) -> Result<(), CommandError> {
    match command {
        Command::Set { change, .. } => settings::check(change),
        Command::Tag { add, .. } => add.iter().try_for_each(|tag| tags::checked(tag).map(drop)),
        Command::RenameTag { tag, to, .. } => tags::checked_names(tag, to.as_deref()).map(drop),
        Command::Bulk { wish: BulkCommand::RenameTag { tag, to }, .. } => {
            tags::checked_names(tag, to.as_deref()).map(drop)
        }
        Command::Move { url, .. } => Ok(FeedUrl::parse(url).map(drop)?),
        _ => Ok(()),
    }
}

/// The account that a command acts for. Account 0 stands for the instance.
fn whose(account: Option<i64>) -> AccountId {
    account.map_or(AccountId::LOCAL, AccountId)
}

/// Finds a feed of an account, or any feed for the instance.
fn find(engine: &Engine, account: AccountId, name: &str) -> Result<FeedId, CommandError> {
    let found = engine.store.find_feed_of(account, name)?;
    found.ok_or_else(|| CommandError::NoFeed(FeedUrl::mask(name)))
}

fn import(
    engine: &Engine,
    account: AccountId,
    feeds: Vec<ImportedFeed>,
) -> Result<CommandResult, CommandError> {
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
        let added = engine.store.subscribe(account, &new, now)?;
        schedule_added(engine, &added, now).map(|()| added)
    })?;
    let known = added.iter().filter(|one| !one.is_new_to_reader).count();
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
            engine.schedule_as_stored(id)?;
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
    for some in feeds.chunks(READ_AT_ONCE) {
        for input in engine.store.poll_inputs_of(some)? {
            if input.settings.paused || input.location.gone.is_some() {
                engine.forget(input.id);
            }
        }
    }
    engine.read_regions()?;
    Ok(engine.replan(feeds)?)
}

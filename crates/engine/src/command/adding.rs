//! Adding feeds by address. The check whether an address yields a feed is the feed's first poll, so
//! its server is asked once.

use std::time::Duration;

use dispatch::command::{AddedFeed, CommandResult, NotAdded};
use feed::{FeedId, FeedUrl, Time};
use store::NewFeed;

use super::{CommandError, Progress, poll_all, polled, schedule_added, tags};
use crate::Engine;

/// A feed that one command adds and polls is due by itself only after this long. Otherwise a fast
/// server could receive two requests: one by schedule and one by the command.
const ASKED_WAIT: Duration = Duration::from_secs(60);

/// The check of an address before it is kept.
#[derive(Clone, Copy)]
pub struct AddressCheck {
    /// Poll it at once: this is the feed's first poll and the only request.
    pub poll: bool,
    /// Keep it whatever that poll brings.
    pub force: bool,
}

/// Adds feeds. If they are polled, an address that is not a feed is removed again.
pub async fn add(
    engine: &Engine,
    urls: &[String],
    tags: &[String],
    check: AddressCheck,
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    let parsed: Result<Vec<FeedUrl>, _> = urls.iter().map(|u| FeedUrl::parse(u)).collect();
    let tags: Vec<String> = tags.iter().map(|tag| tags::checked(tag)).collect::<Result<_, _>>()?;
    let now = engine.clock.now();
    let mut feeds = Vec::new();
    let due = if check.poll { now + ASKED_WAIT } else { now };
    for url in parsed? {
        feeds.push(add_one(engine, url, &tags, due)?);
    }
    let mut not_added = Vec::new();
    if check.poll {
        let new: Vec<FeedId> = feeds.iter().filter(|f| !f.existed).map(|f| FeedId(f.id)).collect();
        let answers = poll_all(engine, &new, progress).await?;
        for feed in &mut feeds {
            feed.poll = answers.iter().find(|a| a.feed.0 == feed.id).map(polled);
        }
        follow_pages(engine, &mut feeds, &tags, due, progress).await?;
        if !check.force {
            not_added = take_away_dead(engine, &mut feeds)?;
        }
    }
    Ok(CommandResult::Added { feeds, not_added })
}

/// Removes new feeds whose first poll failed.
fn take_away_dead(
    engine: &Engine,
    feeds: &mut Vec<AddedFeed>,
) -> Result<Vec<NotAdded>, CommandError> {
    let is_dead = |feed: &mut AddedFeed| {
        !feed.existed && feed.poll.as_ref().is_some_and(|poll| !poll.is_success())
    };
    let mut not_added = Vec::new();
    for AddedFeed { id, url, poll, .. } in feeds.extract_if(.., is_dead) {
        engine.forget(FeedId(id));
        engine.store.remove_feed(FeedId(id))?;
        not_added.extend(poll.map(|poll| NotAdded { url, poll }));
    }
    Ok(not_added)
}

fn add_one(
    engine: &Engine,
    url: FeedUrl,
    tags: &[String],
    due: Time,
) -> Result<AddedFeed, CommandError> {
    let shown = url.masked();
    let new = NewFeed { url, title: None, site: None, tags: tags.to_vec() };
    let added = engine.store.add_feed(&new, engine.clock.now())?;
    schedule_added(engine, std::slice::from_ref(&added), due)?;
    Ok(AddedFeed {
        id: added.id.0,
        url: shown,
        existed: added.existed,
        twin: added.twin.map(|(id, url)| format!("{id} {}", FeedUrl::mask(&url))),
        poll: None,
    })
}

/// A URL that turned out to be a page which names exactly one feed stands for that feed.
async fn follow_pages(
    engine: &Engine,
    feeds: &mut [AddedFeed],
    tags: &[String],
    due: Time,
    progress: Progress<'_>,
) -> Result<(), CommandError> {
    for feed in feeds {
        let Some(poll) = &feed.poll else { continue };
        let [only] = poll.candidates.as_slice() else { continue };
        let Ok(url) = FeedUrl::parse(only) else { continue };
        let page = FeedId(feed.id);
        *feed = add_one(engine, url, tags, due)?;
        engine.forget(page);
        engine.store.remove_feed(page)?;
        if !feed.existed {
            let answers = poll_all(engine, &[FeedId(feed.id)], progress).await?;
            feed.poll = answers.first().map(polled);
        }
    }
    Ok(())
}

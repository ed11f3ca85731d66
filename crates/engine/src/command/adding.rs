//! Adding feeds by address. The check whether an address yields a feed is the feed's first poll, so
//! its server is asked once.

use std::time::Duration;

use dispatch::command::{AddedFeed, CommandResult, NotAdded, PollSummary};
use feed::{FeedId, FeedUrl, Outcome, Time};
use parse::discover::{known_feeds, why_no_feed};
use store::{AccountId, NewFeed};

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
    account: AccountId,
    urls: &[String],
    tags: &[String],
    check: AddressCheck,
    progress: Progress<'_>,
) -> Result<CommandResult, CommandError> {
    let parsed: Result<Vec<FeedUrl>, _> = urls.iter().map(|u| FeedUrl::parse(u)).collect();
    let is_checked = check.poll && !check.force;
    let (mut pasted, mut not_added) = (Vec::new(), Vec::new());
    for url in parsed? {
        match why_no_feed(url.url()).filter(|_| is_checked) {
            Some(why_not) => not_added.push(without_feeds(&url, why_not)),
            None => pasted.push(PastedAddress::new(url, check.force)),
        }
    }
    let tags: Vec<String> = tags.iter().map(|tag| tags::checked(tag)).collect::<Result<_, _>>()?;
    let now = engine.clock.now();
    let mut feeds = Vec::new();
    let due = if check.poll { now + ASKED_WAIT } else { now };
    for address in &pasted {
        feeds.push(add_one(engine, account, address.feed.clone(), &tags, due)?);
    }
    if check.poll {
        let new: Vec<FeedId> = feeds.iter().filter(|f| !f.existed).map(|f| FeedId(f.id)).collect();
        let answers = poll_all(engine, &new, progress).await?;
        for feed in &mut feeds {
            feed.poll = answers.iter().find(|a| a.feed.0 == feed.id).map(polled);
        }
        let again = Adding { engine, account, tags: &tags, due, progress };
        again.follow_pages(&mut feeds).await?;
        again.fall_back(&mut feeds, &pasted).await?;
        if !check.force {
            not_added.extend(take_away_dead(engine, account, &mut feeds)?);
        }
    }
    Ok(CommandResult::Added { feeds, not_added })
}

/// An address as a person gave it, and the feed that it stands for.
struct PastedAddress {
    feed: FeedUrl,
    /// The page of a well-known site, if a rule made the feed's address of it.
    page: Option<FeedUrl>,
}

impl PastedAddress {
    /// Applies the rules for well-known sites, unless the address must be kept as it is.
    fn new(url: FeedUrl, force: bool) -> PastedAddress {
        let known = if force { Vec::new() } else { known_feeds(url.url()) };
        match known.first().and_then(|feed| FeedUrl::parse(feed.as_str()).ok()) {
            Some(feed) => PastedAddress { feed, page: Some(url) },
            None => PastedAddress { feed: url, page: None },
        }
    }
}

/// The answer for a page of a site that has no feeds. The site is not asked.
fn without_feeds(url: &FeedUrl, why_not: &str) -> NotAdded {
    let poll = PollSummary {
        feed: 0,
        outcome: Outcome::Failed.word().to_owned(),
        new: 0,
        suspected_miss: false,
        next_poll: None,
        detail: why_not.to_owned(),
        candidates: Vec::new(),
    };
    NotAdded { url: url.masked(), poll }
}

/// Whether a feed was added and its first poll failed.
fn is_dead(feed: &AddedFeed) -> bool {
    !feed.existed && feed.poll.as_ref().is_some_and(|poll| !poll.is_success())
}

/// Removes new feeds whose first poll failed.
fn take_away_dead(
    engine: &Engine,
    account: AccountId,
    feeds: &mut Vec<AddedFeed>,
) -> Result<Vec<NotAdded>, CommandError> {
    let mut not_added = Vec::new();
    for AddedFeed { id, url, poll, .. } in feeds.extract_if(.., |feed| is_dead(feed)) {
        take_back(engine, account, FeedId(id))?;
        not_added.extend(poll.map(|poll| NotAdded { url, poll }));
    }
    Ok(not_added)
}

/// Removes a feed that this command has added, unless somebody else has added it meanwhile.
fn take_back(engine: &Engine, account: AccountId, feed: FeedId) -> Result<(), CommandError> {
    if engine.store.take_back(account, feed)? {
        engine.forget(feed);
    }
    Ok(())
}

fn add_one(
    engine: &Engine,
    account: AccountId,
    url: FeedUrl,
    tags: &[String],
    due: Time,
) -> Result<AddedFeed, CommandError> {
    let shown = url.masked();
    let new = NewFeed { url, title: None, site: None, tags: tags.to_vec() };
    let added = engine.store.subscribe(account, &[new], engine.clock.now())?;
    schedule_added(engine, &added, due)?;
    // One address was given, so there is one result.
    let added = added.into_iter().next().ok_or_else(|| CommandError::NoFeed(shown.clone()))?;
    Ok(AddedFeed {
        id: added.id.0,
        url: shown,
        existed: added.existed,
        twin: added.twin.map(|(id, url)| format!("{id} {}", FeedUrl::mask(&url))),
        poll: None,
    })
}

/// One command that adds feeds, while it tries further addresses.
struct Adding<'a> {
    engine: &'a Engine,
    account: AccountId,
    tags: &'a [String],
    due: Time,
    progress: Progress<'a>,
}

impl Adding<'_> {
    /// A URL that turned out to be a page which names exactly one feed stands for that feed.
    async fn follow_pages(&self, feeds: &mut [AddedFeed]) -> Result<(), CommandError> {
        for feed in feeds {
            let Some(poll) = &feed.poll else { continue };
            let [only] = poll.candidates.as_slice() else { continue };
            let Ok(url) = FeedUrl::parse(only) else { continue };
            self.replace(feed, url).await?;
        }
        Ok(())
    }

    /// If the address that a rule made is not a feed, the page itself may still name one.
    async fn fall_back(
        &self,
        feeds: &mut [AddedFeed],
        pasted: &[PastedAddress],
    ) -> Result<(), CommandError> {
        for (feed, address) in feeds.iter_mut().zip(pasted) {
            let Some(page) = address.page.clone().filter(|_| is_dead(feed)) else { continue };
            self.replace(feed, page).await?;
            self.follow_pages(std::slice::from_mut(feed)).await?;
        }
        Ok(())
    }

    /// Replaces a feed that was just added by another address, and polls that.
    async fn replace(&self, feed: &mut AddedFeed, url: FeedUrl) -> Result<(), CommandError> {
        let old = FeedId(feed.id);
        *feed = add_one(self.engine, self.account, url, self.tags, self.due)?;
        take_back(self.engine, self.account, old)?;
        if !feed.existed {
            let answers = poll_all(self.engine, &[FeedId(feed.id)], self.progress).await?;
            feed.poll = answers.first().map(polled);
        }
        Ok(())
    }
}

//! Commands about subscriptions of an account. The feed itself stays while anybody needs it.

use dispatch::command::{AddedFeed, CommandResult};
use feed::FeedId;
use store::{AccountId, AddFeedResult};

use super::{CommandError, find, schedule_added};
use crate::Engine;

/// Subscribes an account to feeds that exist.
pub fn subscribe(
    engine: &Engine,
    account: AccountId,
    feeds: &[u32],
) -> Result<CommandResult, CommandError> {
    let now = engine.clock.now();
    let mut added = Vec::new();
    for feed in feeds.iter().copied().map(FeedId) {
        engine.store.subscribe_to(account, feed, &[], now)?;
        let result = AddFeedResult { id: feed, existed: true, is_new_to_reader: true, twin: None };
        schedule_added(engine, &[result], now)?;
        let url = engine.store.feed(feed)?.location.url.masked();
        added.push(AddedFeed { id: feed.0, url, existed: true, twin: None, poll: None });
    }
    Ok(CommandResult::Added { feeds: added, not_added: Vec::new() })
}

/// Ends a subscription. A feed that nobody needs any more is not polled.
pub fn unsubscribe(
    engine: &Engine,
    account: AccountId,
    name: &str,
) -> Result<CommandResult, CommandError> {
    let feed = find(engine, account, name)?;
    let url = engine.store.feed(feed)?.location.url.masked();
    let unwanted = engine.store.unsubscribe(account, &[feed], engine.clock.now())?;
    unwanted.iter().for_each(|feed| engine.forget(*feed));
    Ok(CommandResult::Removed { feed: feed.0, url })
}

/// Removes a feed for everybody.
pub fn remove(engine: &Engine, name: &str) -> Result<CommandResult, CommandError> {
    let feed = find(engine, AccountId::LOCAL, name)?;
    let url = engine.store.feed(feed)?.location.url.masked();
    engine.forget(feed);
    engine.store.remove_feed(feed)?;
    Ok(CommandResult::Removed { feed: feed.0, url })
}

/// Gives a feed, or the subscription of an account, a title.
pub fn entitle(
    engine: &Engine,
    account: AccountId,
    feed: FeedId,
    title: Option<&str>,
) -> Result<CommandResult, CommandError> {
    match account {
        AccountId::LOCAL => engine.store.title_feed(feed, title)?,
        account => engine.store.title_subscription(account, feed, title)?,
    }
    Ok(CommandResult::Titled { feed: feed.0 })
}

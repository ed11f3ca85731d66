//! Moving a feed to another address.

use dispatch::command::CommandResult;
use feed::FeedUrl;
use store::{AccountId, AddressChange};

use super::{CommandError, find};
use crate::Engine;

/// Moves a feed. It is polled at the new address next, at the pace of its domain.
pub fn carry_out(engine: &Engine, name: &str, url: &str) -> Result<CommandResult, CommandError> {
    let (feed, url) = (find(engine, AccountId::LOCAL, name)?, FeedUrl::parse(url)?);
    let from = engine.store.feed(feed)?.location.url;
    let now = engine.clock.now();
    let queries = match engine.store.move_feed(feed, &url, now)? {
        AddressChange::Moved { queries } => queries,
        AddressChange::Taken(other) => {
            return Err(CommandError::Change(format!(
                "feed {other} has the address {} already; remove one of the two instead",
                url.masked()
            )));
        }
        AddressChange::Shared => {
            return Err(CommandError::Change(format!(
                "several people read feed {feed}, so it cannot move to {}, which holds a secret; \
                 add that address as a feed of its own",
                url.masked()
            )));
        }
    };
    if from != url {
        // Removes the feed from the queue of its old domain and adds it to that of the new one.
        engine.forget(feed);
        engine.schedule(feed, now)?;
    }
    Ok(CommandResult::Moved { feed: feed.0, from: from.masked(), url: url.masked(), queries })
}

//! One more feed, asked for by an app: it is polled at once, so that an address that is a page
//! becomes the feed that the page names.

use dispatch::command::{Command, Done};
use feed::FeedId;

use super::act;
use super::trouble::Trouble;
use crate::Context;

/// Adds a feed and answers its number. An address that answers with something else than a feed is
/// refused; one that does not answer now is kept, since it may answer later.
pub async fn add(context: &Context, url: &str, tags: Vec<String>) -> Result<FeedId, Trouble> {
    let command = Command::Add { urls: vec![url.to_owned()], tags, poll: true };
    let Done::Added { feeds } = act(context, command).await? else { return Err(Trouble::Closed) };
    let feed = feeds.first().ok_or(Trouble::Closed)?;
    let candidates = feed.poll.as_ref().map_or(&[][..], |poll| poll.candidates.as_slice());
    if candidates.is_empty() || feed.existed {
        return Ok(FeedId(feed.id));
    }
    act(context, Command::Remove { feed: feed.id.to_string() }).await?;
    let names = candidates.join(" ");
    Err(Trouble::asked(format!("this is a page with several feeds; choose one: {names}")))
}

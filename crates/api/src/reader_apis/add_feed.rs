//! One more feed, asked for by an app: it is polled at once, so that an address that is a page
//! becomes the feed that the page names.

use dispatch::command::{Command, Done};
use feed::FeedId;

use super::act;
use super::error::ReaderApiError;
use crate::Context;

/// Adds a feed and answers its number. An address that yields no feed is refused.
pub async fn add_feed(
    context: &Context,
    url: &str,
    tags: Vec<String>,
) -> Result<FeedId, ReaderApiError> {
    let command = Command::Add { urls: vec![url.to_owned()], tags, poll: true, force: false };
    let Done::Added { feeds, not_added } = act(context, command).await? else {
        return Err(ReaderApiError::Closed);
    };
    if let Some(not_added) = not_added.first() {
        let names = not_added.poll.candidates.join(" ");
        return Err(ReaderApiError::bad_request(
            format!("{} {names}", not_added.words()).trim().to_owned(),
        ));
    }
    feeds.first().map(|feed| FeedId(feed.id)).ok_or(ReaderApiError::Closed)
}

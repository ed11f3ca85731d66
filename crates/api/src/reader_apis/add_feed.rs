//! Adds a feed for an app. The feed is polled at once, so that the address of a page becomes the
//! feed that the page names.

use dispatch::command::{Command, CommandResult};
use feed::FeedId;

use super::act;
use super::error::ReaderApiError;
use crate::ServerContext;
use crate::auth::Person;

/// Adds a feed and returns its number. An address without a feed is an error.
pub async fn add_feed(
    context: &ServerContext,
    person: &Person,
    url: &str,
    tags: Vec<String>,
) -> Result<FeedId, ReaderApiError> {
    let (urls, account) = (vec![url.to_owned()], person.subscriber());
    let command = Command::Add { urls, tags, poll: true, force: false, account };
    let CommandResult::Added { feeds, not_added } = act(context, command).await? else {
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

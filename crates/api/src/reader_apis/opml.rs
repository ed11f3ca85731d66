//! Subscription lists as OPML: export of the feeds of an account, and import. Secrets in exported
//! addresses are masked.

use dispatch::command::ImportedFeed;
use parse::opml::Outline;
use store::{AccountId, FeedFilter, Store};

use super::error::ReaderApiError;
use super::view;

/// A list of 5,000 feeds is about a megabyte.
pub const BYTES_MAX: usize = 8 << 20;

pub fn export(store: &Store, account: AccountId) -> Result<String, ReaderApiError> {
    let feeds = store.feeds_of(account, &FeedFilter::default())?;
    let outlines: Vec<Outline> = feeds
        .iter()
        .map(|feed| Outline {
            url: feed.location.url.masked(),
            title: feed.shown_title().map(str::to_owned),
            site: feed.facts.site.clone(),
            tags: view::own_tags(feed).map(str::to_owned).collect(),
        })
        .collect();
    Ok(parse::opml::write("Tidings subscriptions", &outlines))
}

pub fn read(bytes: &[u8]) -> Result<Vec<ImportedFeed>, ReaderApiError> {
    let list =
        parse::opml::read(bytes).map_err(|error| ReaderApiError::bad_request(error.to_string()))?;
    let feeds = list.outlines.into_iter();
    Ok(feeds
        .map(|one| ImportedFeed {
            url: one.url,
            title: one.title,
            site: one.site,
            tags: one.tags.into_iter().filter(|tag| !tag.starts_with(view::OF_QUERY)).collect(),
        })
        .collect())
}

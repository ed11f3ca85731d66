//! Subscription lists as OPML: export of the feeds of an account, and import. Secrets in exported
//! addresses are masked.

use dispatch::command::ImportedFeed;
use store::{AccountId, Store};

use super::error::ReaderApiError;
use super::view;
use crate::own_order::written_opml;

/// A list of 5,000 feeds is about a megabyte.
pub const BYTES_MAX: usize = 8 << 20;

pub fn export(store: &Store, account: AccountId) -> Result<String, ReaderApiError> {
    Ok(written_opml(store, account, false)?)
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

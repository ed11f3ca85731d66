//! Pages that are asked for again: the stored validators are sent, but only where a page that has
//! not changed would give the same article.

use feed::{EntryId, FeedId, Validators};
use store::{KnownArticle, StoreError};
use url::Url;

use crate::context::Context;
use crate::facts;

/// The name and version of the extraction.
const EXTRACTOR: &str = concat!("tidings ", env!("CARGO_PKG_VERSION"), ", dom_smoothie 0.19");

/// Returns the name of an extraction, with its rule.
pub fn extractor(selector: Option<&str>) -> String {
    match selector {
        Some(selector) => format!("{EXTRACTOR}, selector {selector}"),
        None => EXTRACTOR.to_owned(),
    }
}

/// Returns the CSS selector for pages of a feed.
pub fn selector(context: &Context, feed: FeedId) -> Result<Option<String>, StoreError> {
    match context.store.poll_input(feed) {
        Ok(input) => Ok(facts::selector(&input.settings)),
        Err(StoreError::NoFeed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the stored article of an entry, if the same extraction made it.
pub fn known(
    context: &Context,
    entry: EntryId,
    feed: FeedId,
) -> Result<Option<KnownArticle>, StoreError> {
    let Some(known) = context.store.known_article(entry)? else { return Ok(None) };
    let extractor = extractor(selector(context, feed)?.as_deref());
    Ok(Some(known).filter(|known| known.extractor == extractor))
}

/// Returns the validators for one address. Those of another address mean nothing there.
pub fn validators(known: Option<&KnownArticle>, url: &Url) -> Validators {
    known
        .filter(|known| known.url == url.as_str())
        .map_or_else(Validators::default, |known| known.validators.clone())
}

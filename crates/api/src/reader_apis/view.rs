//! Texts of entries and feeds for apps. All texts pass the page's sanitiser, because apps may show
//! them without care. Addresses of feeds are masked.

use std::collections::HashMap;

use feed::{Enclosure, EntryId};
use store::{AccountId, ArticleRow, EntryRow, FeedRow, ReadEntry, Store, StoreError};
use url::Url;

use crate::page::ARTICLES_IN_APPS;
use crate::reading_time::n_words;
use crate::sanitise;

/// Apps see the entries of a query under this prefix and the query's name.
pub use store::QUERY_TAG as OF_QUERY;

pub fn feed_title(feed: &FeedRow) -> String {
    let shown = feed.shown_title().map(sanitise::text).filter(|text| !text.trim().is_empty());
    shown.unwrap_or_else(|| feed.location.url.masked())
}

/// Returns the site of a feed, if it can be opened.
pub fn site(feed: &FeedRow) -> Option<&str> {
    feed.facts.site.as_deref().filter(|link| is_web(link))
}

/// Returns the tags that people gave to a feed.
pub fn own_tags(feed: &FeedRow) -> impl Iterator<Item = &str> {
    feed.tags.iter().map(String::as_str).filter(|tag| !tag.starts_with(OF_QUERY))
}

/// Returns the title as one line. An entry without a title is shown by its address.
pub fn title(entry: &EntryRow) -> String {
    let text = entry.title.as_deref().map(sanitise::text).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { link(entry).unwrap_or("").to_owned() } else { text }
}

pub fn link(entry: &EntryRow) -> Option<&str> {
    entry.link.as_deref().filter(|link| is_web(link))
}

/// The articles behind entries, if the account wants them in apps.
#[derive(Default)]
pub struct AppArticles(HashMap<EntryId, ArticleRow>);

impl AppArticles {
    /// Reads the articles of one answer.
    pub fn read(
        store: &Store,
        account: AccountId,
        entries: &[ReadEntry],
    ) -> Result<AppArticles, StoreError> {
        let choice = store.choices(account)?.remove(ARTICLES_IN_APPS);
        if choice.as_deref() != Some("article") {
            return Ok(AppArticles::default());
        }
        let ids: Vec<EntryId> = entries.iter().map(|one| one.entry.id).collect();
        Ok(AppArticles(store.articles(&ids)?))
    }

    /// Returns the article of an entry as safe HTML, if it is longer than the feed's own text.
    fn html(&self, entry: &EntryRow) -> Option<String> {
        let row = self.0.get(&entry.id)?;
        let article = row.content.as_ref().ok()?;
        let own = entry.content.as_deref().or(entry.summary.as_deref()).unwrap_or("");
        let is_longer = n_words(&article.text) > n_words(&sanitise::text(own));
        is_longer.then(|| {
            let base = Url::parse(&row.url).ok();
            sanitise::html(&article.html, base.as_ref(), link(entry))
        })
    }
}

/// Returns the article or the content, or else the summary, as safe HTML. A note stands for a text
/// that did not fit into the answer.
pub fn html(one: &ReadEntry, feed: &FeedRow, articles: &AppArticles) -> String {
    let entry = &one.entry;
    if let Some(html) = articles.html(entry) {
        return html;
    }
    if one.without_texts {
        return "<p>[This text was left out: the answer was too long. Open the original.]</p>"
            .into();
    }
    let text = entry.content.as_deref().or(entry.summary.as_deref()).unwrap_or("");
    let base = link(entry).or(site(feed)).and_then(|link| Url::parse(link).ok());
    sanitise::html(text, base.as_ref(), link(entry))
}

pub fn author(entry: &EntryRow) -> Option<String> {
    let text = entry.author.as_deref().map(sanitise::text)?;
    (!text.is_empty()).then_some(text)
}

pub fn enclosures(entry: &EntryRow) -> impl Iterator<Item = &Enclosure> {
    entry.enclosures.iter().filter(|file| is_web(&file.url))
}

/// Whether a link leads to the web, and not to a script or a local file.
fn is_web(link: &str) -> bool {
    Url::parse(link).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

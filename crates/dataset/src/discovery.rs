//! Discovery at scale: the steps from a list of addresses to feeds (003, section 3.4), and what
//! each step removed.
//!
//! The caller asks the addresses and writes a [`JournalLine`] for each line of the list. A journal
//! is enough to continue after a crash. [`Funnel::add`] takes the lines and hands on what each of
//! them dropped. [`Funnel::run`] removes duplicates; its result holds the counts and the feeds.

mod funnel;
mod own;
mod table;

use feed::{EntryKey, Window, identify};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use url::Url;

use crate::resources::{ResourceFacts, key_digests};

pub use funnel::{DroppedAddress, FinalFeed, Funnel, FunnelResult};
pub use own::{ProposedDuplicate, own_duplicates};
pub use table::{DiscoveryCounts, FunnelStep, left_percent};

/// Titles are shown in lists. Longer ones are cut.
const TITLE_CHARS_MAX: usize = 200;

/// The result of one line of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct JournalLine {
    /// The number of the line, from 1.
    pub line: u64,
    /// The address in the line.
    pub address: String,
    /// The number of links to feeds on the page; 1 if the address is itself a feed.
    pub links: u64,
    /// The feeds that answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<AskedFeed>,
    /// The addresses that are not kept: the page itself, or links on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedAddress>,
}

impl JournalLine {
    /// Drops the address of the line itself.
    pub fn drop(&mut self, reason: DropReason, detail: String) {
        self.dropped.push(DroppedAddress { address: self.address.clone(), reason, detail });
    }
}

/// A feed that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct AskedFeed {
    pub title: Option<String>,
    pub format: String,
    pub facts: ResourceFacts,
}

/// The reason why an address is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// The line is not an address.
    NotAnAddress,
    /// Nobody answered, or the server refused.
    Unreachable,
    /// The answer is neither a feed nor a page with a link to one.
    NotAFeed,
    ExactDuplicate,
    SessionId,
    FormatDuplicate,
    ContentDuplicate,
}

impl DropReason {
    pub const fn word(self) -> &'static str {
        match self {
            DropReason::NotAnAddress => "not-an-address",
            DropReason::Unreachable => "unreachable",
            DropReason::NotAFeed => "not-a-feed",
            DropReason::ExactDuplicate => "exact-duplicate",
            DropReason::SessionId => "session-id",
            DropReason::FormatDuplicate => "format-duplicate",
            DropReason::ContentDuplicate => "content-duplicate",
        }
    }

    /// Returns whether the address is removed before anybody is asked.
    pub const fn removes_without_asking(self) -> bool {
        matches!(self, DropReason::ExactDuplicate | DropReason::SessionId)
    }

    /// Returns whether a request was sent to find this out. Such an address is not asked again.
    pub const fn was_asked(self) -> bool {
        matches!(self, DropReason::Unreachable | DropReason::NotAFeed)
    }
}

/// Reads an answer as a feed; `None` if it is none.
pub fn as_feed(
    url: &Url,
    final_url: &Url,
    bytes: &[u8],
    content_type: Option<&str>,
) -> Option<AskedFeed> {
    let limits = parse::Limits::default();
    let document = parse::document(bytes, content_type, Some(final_url), &limits).ok()?;
    let keyed = identify(document.items, &Window::default());
    let keys: Vec<EntryKey> = keyed.iter().map(|item| item.key).collect();
    let facts = ResourceFacts {
        url: url.as_str().to_owned(),
        final_url: final_url.as_str().to_owned(),
        body: body_digest(bytes),
        self_link: document.self_link,
        keys: key_digests(keys.iter()),
    };
    let title = document.title.map(|title| title.chars().take(TITLE_CHARS_MAX).collect());
    Some(AskedFeed { title, format: document.format.word().to_owned(), facts })
}

fn body_digest(bytes: &[u8]) -> u64 {
    Sha256::digest(bytes).iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// A digest by which a run recognises an address that it has asked. 128 bits: two of a billion
/// addresses are taken for one with a probability below 10⁻²⁰.
pub fn address_digest(url: &str) -> u128 {
    Sha256::digest(url).iter().take(16).fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_the_facts_of_a_feed() {
        let url = Url::parse("http://example.org/feed").unwrap();
        let text = b"<rss version='2.0'><channel><title>News</title><item><guid>1</guid></item>\
            <item><guid>2</guid></item></channel></rss>";
        let found = as_feed(&url, &url, text, Some("application/rss+xml")).unwrap();
        assert_eq!((found.title.as_deref(), found.format.as_str()), (Some("News"), "rss-2.0"));
        assert_eq!(found.facts.keys.len(), 2);
        assert!(as_feed(&url, &url, b"<html><body>no</body></html>", Some("text/html")).is_none());
    }

    #[test]
    fn a_journal_line_survives_its_text() {
        let line = JournalLine {
            line: 7,
            address: "http://a/".to_owned(),
            links: 2,
            ..JournalLine::default()
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(serde_json::from_str::<JournalLine>(&text).unwrap(), line);
    }
}

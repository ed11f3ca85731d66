//! One entry for reading: its sanitised text, its links, the publisher's date and our times.

use feed::{EntryId, FeedId};
use store::{EntryRow, FeedName, ReadEntry};
use url::Url;

use crate::words::{DisplayTime, LocalNow, bytes};
use crate::{Images, sanitise};

/// Length of the text that a list shows of an entry.
const TEASER_CHARS: usize = 160;
/// More files than a person opens.
const ENCLOSURES_MAX: usize = 20;

/// An entry as the page shows it.
pub struct Article {
    pub id: EntryId,
    pub title: String,
    /// Only http and https. Other schemes of a publisher are not safe for a reader.
    pub link: Option<String>,
    pub author: Option<String>,
    pub feed: FeedId,
    pub feed_title: String,
    pub language: Option<String>,
    pub published: DisplayTime,
    pub published_note: &'static str,
    pub seen: DisplayTime,
    pub edited: Option<DisplayTime>,
    pub html: String,
    pub enclosures: Vec<EnclosedFile>,
    pub categories: Vec<String>,
    pub starred: bool,
}

/// A file that came with an entry.
pub struct EnclosedFile {
    pub href: String,
    pub name: String,
    pub about: String,
}

impl Article {
    /// Sanitises the full text of an entry, up to the sanitiser's limit.
    pub fn new(
        found: &ReadEntry,
        name: Option<&FeedName>,
        images: Option<&Images>,
        now: LocalNow,
    ) -> Article {
        let entry = &found.entry;
        let body = entry.content.as_deref().or(entry.summary.as_deref()).unwrap_or("");
        let text = |text: &Option<String>| {
            text.as_deref().map(sanitise::text).filter(|text| !text.trim().is_empty())
        };
        Article {
            id: entry.id,
            title: title(entry, &teaser(body)),
            link: entry.link.as_deref().and_then(web_link),
            author: text(&entry.author),
            feed: entry.feed,
            feed_title: feed_title(name),
            language: language(entry, name),
            published: DisplayTime::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: published_note(entry),
            seen: DisplayTime::new(entry.seen_at, now),
            edited: entry.edited_at.map(|at| DisplayTime::new(at, now)),
            html: sanitise::page_html(
                body,
                base(entry, name).as_ref(),
                entry.link.as_deref().and_then(web_link).as_deref(),
                images,
            ),
            enclosures: enclosed(entry),
            categories: entry.categories.iter().map(|c| sanitise::text(c)).take(12).collect(),
            starred: found.starred,
        }
    }
}

/// Returns the words before the date, which say whether the publisher's claim was used.
pub fn published_note(entry: &EntryRow) -> &'static str {
    match entry.published_claim {
        None => "no date, shown as",
        Some(claim) if claim == entry.published_at => "published",
        Some(_) => "dated",
    }
}

/// Returns the language that an entry declares, else that of its feed.
pub fn language(entry: &EntryRow, name: Option<&FeedName>) -> Option<String> {
    entry.language.clone().or_else(|| name?.language.clone())
}

pub fn feed_title(name: Option<&FeedName>) -> String {
    let Some(name) = name else { return "removed feed".to_owned() };
    let title = name.title.as_deref().map(sanitise::text).filter(|t| !t.trim().is_empty());
    title.unwrap_or_else(|| name.url.masked())
}

pub fn title(entry: &EntryRow, teaser: &str) -> String {
    let written = entry.title.as_deref().map(sanitise::text).filter(|t| !t.trim().is_empty());
    written.unwrap_or_else(|| match teaser {
        "" => "Untitled".to_owned(),
        text => text.to_owned(),
    })
}

pub fn teaser(body: &str) -> String {
    let text = sanitise::text(body);
    let mut teaser = String::new();
    let mut n_chars = 0;
    for word in text.split_whitespace() {
        let more = word.chars().count() + 1;
        if n_chars + more > TEASER_CHARS {
            // A full stop before the ellipsis looks wrong.
            teaser.truncate(teaser.trim_end_matches(['.', ',', ';', ':']).len());
            teaser.push('…');
            break;
        }
        if !teaser.is_empty() {
            teaser.push(' ');
        }
        teaser.push_str(word);
        n_chars += more;
    }
    teaser
}

/// Returns the base of relative links in the text.
fn base(entry: &EntryRow, name: Option<&FeedName>) -> Option<Url> {
    let link = entry.link.as_deref().and_then(web_link).and_then(|l| Url::parse(&l).ok());
    let feed = || web_link(name?.url.as_str()).and_then(|l| Url::parse(&l).ok());
    link.or_else(feed)
}

fn enclosed(entry: &EntryRow) -> Vec<EnclosedFile> {
    let shown = entry.enclosures.iter().filter_map(|enclosure| {
        let href = web_link(&enclosure.url)?;
        let url = Url::parse(&href).ok()?;
        let last = url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or("");
        let name = if last.is_empty() { url.host_str().unwrap_or("file") } else { last };
        let size = enclosure.length.filter(|n| *n > 0).map(bytes);
        let about: Vec<String> = enclosure.mime_type.iter().cloned().chain(size).collect();
        Some(EnclosedFile { name: name.to_owned(), about: about.join(", "), href })
    });
    shown.take(ENCLOSURES_MAX).collect()
}

/// Returns an http(s) link without user and password. A relative link inherits these from the
/// feed's own address.
pub fn web_link(link: &str) -> Option<String> {
    let mut url = Url::parse(link.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    // Both succeed for URLs with a host, which these schemes have.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    Some(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_web_and_carry_no_password() {
        assert_eq!(web_link(" https://me:pw@a.test/x?y#z"), Some("https://a.test/x?y#z".into()));
        assert_eq!(web_link("javascript:alert(1)"), None);
        assert_eq!(web_link("data:text/html,x"), None);
        assert_eq!(web_link("/relative"), None);
    }

    #[test]
    fn a_teaser_is_the_beginning_of_the_text() {
        assert_eq!(teaser("<p>One  two</p><p>three &amp; four</p>"), "One two three & four");
        let long = "word ".repeat(100);
        assert!(teaser(&long).ends_with("word…") && teaser(&long).chars().count() <= TEASER_CHARS);
        assert!(teaser(&"x".repeat(500)).chars().count() <= TEASER_CHARS);
        assert!(teaser(&"Stop. ".repeat(100)).ends_with("Stop…"));
    }
}

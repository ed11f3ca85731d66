//! One entry as the feed's page shows it: our times beside the publisher's claims, its text
//! sanitised.

use feed::Time;
use store::{EntryRow, FeedRow};
use url::Url;

use crate::words::{Moment, span};
use crate::{Images, sanitise};

/// What is seen of a text before it is opened.
const TEASER_CHARS: usize = 160;

pub struct Entry {
    pub id: i64,
    pub title: String,
    /// Only http and https: whatever else a publisher writes is no place to lead a reader.
    pub link: Option<String>,
    pub author: Option<String>,
    pub published: Moment,
    pub published_note: &'static str,
    pub seen: Moment,
    pub delay: String,
    pub teaser: String,
    pub html: String,
}

impl Entry {
    pub fn new(entry: &EntryRow, feed: &FeedRow, images: Option<&Images>, now: Time) -> Entry {
        let base = base(entry, feed);
        let body = entry.summary.as_deref().or(entry.content.as_deref()).unwrap_or("");
        let html = sanitise::page_html(body, base.as_ref(), images);
        let teaser = teaser(body);
        Entry {
            id: entry.id.0,
            title: title(entry, &teaser),
            link: entry.link.as_deref().and_then(web_link),
            author: entry.author.as_deref().map(sanitise::text).filter(|a| !a.is_empty()),
            published: Moment::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: match entry.published_claim {
                None => "undated, taken as",
                Some(claim) if claim == entry.published_at => "published",
                Some(_) => "claims",
            },
            seen: Moment::new(entry.seen_at, now),
            delay: delay(entry),
            html,
            teaser,
        }
    }
}

fn title(entry: &EntryRow, teaser: &str) -> String {
    let written = entry.title.as_deref().map(sanitise::text).filter(|t| !t.trim().is_empty());
    written.unwrap_or_else(|| match teaser {
        "" => "Untitled".to_owned(),
        text => text.to_owned(),
    })
}

/// How late it was seen, by its own claim. A claim that had to be repaired says nothing.
fn delay(entry: &EntryRow) -> String {
    match entry.published_claim {
        Some(claim) if claim == entry.published_at && claim < entry.seen_at => {
            format!(", {} later", span(entry.seen_at.since(claim)))
        }
        _ => String::new(),
    }
}

fn teaser(body: &str) -> String {
    let text = sanitise::text(body);
    let mut words = text.split_whitespace();
    let mut teaser = String::new();
    for word in words.by_ref() {
        if teaser.chars().count() + word.chars().count() >= TEASER_CHARS {
            teaser.push('…');
            break;
        }
        if !teaser.is_empty() {
            teaser.push(' ');
        }
        teaser.push_str(word);
    }
    teaser
}

/// What relative links in its text lead from.
fn base(entry: &EntryRow, feed: &FeedRow) -> Option<Url> {
    let link = entry.link.as_deref().and_then(web_link).and_then(|l| Url::parse(&l).ok());
    link.or_else(|| web_link(feed.url.as_str()).and_then(|l| Url::parse(&l).ok()))
}

/// A link to the web, without the user and password that a relative link inherits from a feed's
/// own address.
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
    }
}

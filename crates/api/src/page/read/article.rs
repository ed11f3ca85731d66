//! One entry for reading: its sanitised text, its links, the publisher's date and our times.

use feed::{EntryId, FeedId};
use store::{EntryRow, FeedName, PlaybackPosition, ReadEntry};
use url::Url;

use super::files::EntryFiles;
use super::whole_text::{StoredPage, TextChoice, WholeText};
use crate::media_file::topic_name;
use crate::page::icon::FeedIcon;
use crate::reading_time;
use crate::sanitise::{PageText, PageTextContext};
use crate::words::{DisplayTime, LocalNow};
use crate::{Images, sanitise};

/// Length of the text that a list shows of an entry.
const TEASER_CHARS: usize = 160;

/// An entry as the page shows it.
pub struct Article {
    pub id: EntryId,
    pub title: String,
    /// Only http and https. Other schemes of a publisher are not safe for a reader.
    pub link: Option<String>,
    pub author: Option<String>,
    pub feed: FeedId,
    pub feed_title: String,
    pub icon: FeedIcon,
    /// The title or address of the feed that the entry first appeared in, if another one.
    pub origin: Option<String>,
    pub language: Option<String>,
    pub published: DisplayTime,
    pub published_note: &'static str,
    pub seen: DisplayTime,
    pub edited: Option<DisplayTime>,
    pub html: String,
    pub minutes: usize,
    pub files: EntryFiles,
    pub categories: Vec<String>,
    /// The name of a Media Topic of the IPTC.
    pub topic: Option<&'static str>,
    pub whole: WholeText,
    pub starred: bool,
}

/// The rows of the store that belong to an entry.
pub struct ArticleParts {
    pub found: ReadEntry,
    pub name: Option<FeedName>,
    pub icon: Option<String>,
    pub page: StoredPage,
    pub positions: Vec<PlaybackPosition>,
}

impl ArticleParts {
    pub fn chosen(&self, choice: Option<TextChoice>) -> TextChoice {
        self.page.chosen(choice, &sanitise::text(feed_text(&self.found.entry)))
    }
}

impl Article {
    /// Sanitises the full text of an entry, up to the sanitiser's limit.
    pub fn new(
        parts: &ArticleParts,
        choice: Option<TextChoice>,
        images: Option<&Images>,
        now: LocalNow,
    ) -> Article {
        let (entry, name) = (&parts.found.entry, parts.name.as_ref());
        let text = |text: &Option<String>| {
            text.as_deref().map(sanitise::text).filter(|text| !text.trim().is_empty())
        };
        let (page, shown) = (&parts.page, parts.chosen(choice));
        let article = page.text().filter(|_| shown == TextChoice::Article);
        let body = shown_text(entry, name, page, shown, images);
        let link = entry.link.as_deref().and_then(web_link);
        let byline = article.and_then(|article| text(&article.byline));
        let feed_title = feed_title(name);
        Article {
            id: entry.id,
            title: title(entry, &teaser(feed_text(entry))),
            author: text(&entry.author).or(byline),
            feed: entry.feed,
            icon: FeedIcon::new(parts.icon.as_ref(), &feed_title),
            feed_title,
            language: article.and_then(|a| a.language.clone()).or_else(|| language(entry, name)),
            origin: origin(entry),
            published: DisplayTime::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: published_note(entry),
            seen: DisplayTime::new(entry.seen_at, now),
            edited: entry.edited_at.map(|at| DisplayTime::new(at, now)),
            minutes: reading_time::minutes(&match article {
                Some(article) => article.text.clone(),
                None => sanitise::text(feed_text(entry)),
            }),
            files: EntryFiles::new(entry, &body.pictures, &parts.positions, images),
            html: body.html,
            categories: categories(entry),
            topic: entry.facts.topic.and_then(topic_name),
            whole: WholeText::new(page, shown, link.is_some(), now),
            link,
            starred: parts.found.starred,
        }
    }
}

/// Returns the feed's own text.
fn feed_text(entry: &EntryRow) -> &str {
    entry.content.as_deref().or(entry.summary.as_deref()).unwrap_or("")
}

/// Returns a text of an entry for our page. The numbers of its players are the same at each call.
pub fn shown_text(
    entry: &EntryRow,
    name: Option<&FeedName>,
    page: &StoredPage,
    shown: TextChoice,
    images: Option<&Images>,
) -> PageText {
    let link = entry.link.as_deref().and_then(web_link);
    let article = page.text().zip(page.row.as_ref()).filter(|_| shown == TextChoice::Article);
    let (dirty, base) = match article {
        Some((article, row)) => (article.html.as_str(), Url::parse(&row.url).ok()),
        None => (feed_text(entry), base(entry, name)),
    };
    let play = format!("/play/{}?text={}&embed=", entry.id, shown.word());
    let context = PageTextContext {
        base: base.as_ref(),
        original: link.as_deref(),
        images,
        prefix: &format!("e{}-", entry.id),
        play: Some(&play),
    };
    sanitise::page_text(dirty, &context)
}

/// Returns the publisher's categories, and that of the page or the feed if there are none.
fn categories(entry: &EntryRow) -> Vec<String> {
    let own = entry.categories.iter().map(|c| sanitise::text(c)).take(12);
    let mut all: Vec<String> = own.collect();
    if let Some(category) = entry.facts.category.as_ref().filter(|_| all.is_empty()) {
        all.push(sanitise::text(&category.name));
    }
    all
}

/// Returns the name of the feed that an entry first appeared in, if another feed passed it on.
fn origin(entry: &EntryRow) -> Option<String> {
    let source = entry.source.as_ref()?;
    let title = source.title.as_deref().map(sanitise::text).filter(|t| !t.trim().is_empty());
    title.or_else(|| source.url.clone())
}

/// Returns the words before the date, which say whether the publisher's claim was used.
pub fn published_note(entry: &EntryRow) -> &'static str {
    match entry.published_claim {
        None => "no date, shown as",
        Some(claim) if claim == entry.published_at => "published",
        Some(_) => "dated",
    }
}

/// Returns the language of an entry: the one that was found out, else the declared ones.
pub fn language(entry: &EntryRow, name: Option<&FeedName>) -> Option<String> {
    let known = entry.facts.language.as_ref().map(|language| language.tag.clone());
    known.or_else(|| entry.language.clone()).or_else(|| name?.language.clone())
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

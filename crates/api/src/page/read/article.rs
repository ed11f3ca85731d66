//! One entry for reading: its sanitised text, its links, the publisher's date and our times.

use article::category::{CategoryPlaces, CategorySource, category};
use feed::{EntryId, FeedId};
use store::{ArticleText, CategoryOrigin, EntryRow, FeedName, PlaybackPosition, ReadEntry};
use url::Url;

use super::files::EntryFiles;
use super::whole_text::{StoredPage, TextChoice, WholeText};
use crate::media_file::{own_player, topic_name};
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
    /// The origin of the language, in words.
    pub language_note: String,
    pub published: DisplayTime,
    pub published_note: &'static str,
    pub seen: DisplayTime,
    pub edited: Option<DisplayTime>,
    /// The main picture of the page, if its text has none.
    pub lead: Option<String>,
    pub html: String,
    /// `ltr` or `rtl`, if the page of the article says so; else `auto`.
    pub direction: &'static str,
    pub minutes: usize,
    pub files: EntryFiles,
    pub categories: Vec<ShownCategory>,
    /// The name of a Media Topic of the IPTC.
    pub topic: Option<&'static str>,
    pub whole: WholeText,
    pub starred: bool,
}

/// A category of an entry, and where it comes from if not from the entry itself.
pub struct ShownCategory {
    pub name: String,
    pub note: Option<&'static str>,
}

/// The rows of the store that belong to an entry.
pub struct ArticleParts {
    pub found: ReadEntry,
    pub name: Option<FeedName>,
    pub icon: Option<String>,
    pub page: StoredPage,
    pub positions: Vec<PlaybackPosition>,
    /// The first tag of the feed, if nothing else names a category.
    pub folder: Option<String>,
}

impl ArticleParts {
    pub fn chosen(&self, choice: Option<TextChoice>) -> TextChoice {
        self.page.chosen(choice, || sanitise::long_text(feed_text(&self.found.entry)))
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
        let mut body = shown_text(entry, name, page, shown, images);
        let lead = article.and_then(|article| lead(entry, article, &mut body, images));
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
            language_note: language_note(entry),
            origin: origin(entry),
            published: DisplayTime::new(entry.published_claim.unwrap_or(entry.published_at), now),
            published_note: published_note(entry),
            seen: DisplayTime::new(entry.seen_at, now),
            edited: entry.edited_at.map(|at| DisplayTime::new(at, now)),
            minutes: reading_time::minutes(&match article {
                Some(article) => article.text.clone(),
                None => sanitise::long_text(feed_text(entry)),
            }),
            files: EntryFiles::new(entry, &body.pictures, &parts.positions, images),
            lead,
            html: body.html,
            direction: match article.and_then(|article| article.direction.as_deref()) {
                Some("ltr") => "ltr",
                Some("rtl") => "rtl",
                _ => "auto",
            },
            categories: categories(entry, parts.folder.as_deref()),
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

/// Returns the address of an article's main picture on our page, if its text shows no picture, and
/// adds it to the pictures of the text. A video is its own picture.
fn lead(
    entry: &EntryRow,
    article: &ArticleText,
    body: &mut PageText,
    images: Option<&Images>,
) -> Option<String> {
    if !body.pictures.is_empty() || !body.embeds.is_empty() || own_player(entry).is_some() {
        return None;
    }
    let address = web_link(article.image.as_deref()?)?;
    let src = images?.address(&address)?;
    body.pictures.push(address);
    Some(src)
}

/// Returns the publisher's categories. If there are none, returns that of the page, of the feed or
/// of the person's folder.
fn categories(entry: &EntryRow, folder: Option<&str>) -> Vec<ShownCategory> {
    let shown = |name: &str, note| ShownCategory { name: sanitise::text(name), note };
    if !entry.categories.is_empty() {
        return entry.categories.iter().take(12).map(|name| shown(name, None)).collect();
    }
    if let Some(found) = &entry.facts.category {
        let note = match found.source {
            CategoryOrigin::Item => None,
            CategoryOrigin::Section => Some("the section of the page"),
            CategoryOrigin::Feed => Some("the category of the feed"),
        };
        return vec![shown(&found.name, note)];
    }
    let found = category(&CategoryPlaces { folder, ..CategoryPlaces::default() });
    let is_folder = found.source == CategorySource::Folder;
    is_folder.then(|| shown(&found.name, Some("your tag of the feed"))).into_iter().collect()
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

/// Says where the language of an entry comes from, and how sure a detection was.
fn language_note(entry: &EntryRow) -> String {
    let Some(found) = &entry.facts.language else { return "declared".to_owned() };
    match found.confidence_permille {
        Some(permille) => format!("{}, {} % sure", found.source.word(), permille / 10),
        None => found.source.word().to_owned(),
    }
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

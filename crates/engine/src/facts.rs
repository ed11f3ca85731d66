//! Finds out language, category and topic of the entries of a record, and whether their pages are
//! fetched. Pure: it reads the record, the feed's stored state and the settings.

use std::time::Duration;

use article::category::{CategoryPlaces, CategorySource, category};
use article::language::{self, LanguageClaims, LanguageSource};
use article::topic::MediaTopic;
use feed::{ArticleMode, Item, Time};
use parse::Document;
use store::{
    CategoryOrigin, EntryCategory, EntryChanges, EntryFacts, EntryLanguage, LanguageOrigin,
    LayeredSettings, PollInput, PollRecord,
};
use url::Url;

use crate::settings::ArticlesSettings;

/// Older entries are not news. Their pages are fetched on request only.
const ENTRY_AGE_MAX: Duration = Duration::from_secs(7 * 86_400);
/// Bytes of markup that are read for the detection, and characters of text that it gets.
const MARKUP_BYTES_MAX: usize = 20_000;
const TEXT_BYTES_MAX: usize = 4000;

/// The claims of a feed about all its entries.
#[derive(Clone, Copy, Default)]
struct FeedClaims<'a> {
    language: Option<&'a str>,
    detected: Option<&'a (String, u16)>,
    categories: &'a [String],
}

/// Completes the record of a poll.
pub fn complete(record: &mut PollRecord, input: &PollInput, settings: &ArticlesSettings) {
    let at = record.at;
    if record.document().is_none() {
        return;
    }
    let document = record.document_mut();
    let known = &input.document.detected_language;
    let found = detected_in(&document.entries);
    document.facts.detected_language = match (found, known) {
        // The confidence of the first document stays, so that few documents change the row.
        (Some((tag, _)), Some(known)) if tag == known.0 => Some(known.clone()),
        (found, known) => found.or_else(|| known.clone()),
    };
    let facts = document.facts.clone();
    let claims = FeedClaims {
        language: facts.language.as_deref(),
        detected: facts.detected_language.as_ref(),
        categories: &facts.categories,
    };
    complete_entries(&mut document.entries, claims, input, at, settings);
}

/// Completes the entries of a push. The last polled document says about the feed what the pushed
/// one leaves out.
pub fn complete_pushed(
    entries: &mut EntryChanges,
    pushed: &Document,
    input: &PollInput,
    at: Time,
    settings: &ArticlesSettings,
) {
    let known = &input.document;
    let claims = FeedClaims {
        language: pushed.language.as_deref().or(known.language.as_deref()),
        detected: known.detected_language.as_ref(),
        categories: match pushed.categories.is_empty() {
            true => &known.categories,
            false => &pushed.categories,
        },
    };
    complete_entries(entries, claims, input, at, settings);
}

fn complete_entries(
    entries: &mut EntryChanges,
    claims: FeedClaims<'_>,
    input: &PollInput,
    at: Time,
    settings: &ArticlesSettings,
) {
    // A first document shows entries that nobody waited for.
    let is_first = input.document.window.entries().is_empty();
    let every = mode(&input.settings, settings) == ArticleMode::Every && !is_first;
    for new in &mut entries.new {
        // The repaired time is never before the last poll. The claim says how old the page is.
        let appeared = new.published.claim.unwrap_or(new.published.at);
        let is_recent = at.since(appeared) <= ENTRY_AGE_MAX;
        new.facts = facts(&new.item, claims, None, settings);
        new.facts.wants_article = every && is_recent && web_link(&new.item).is_some();
    }
    for edited in &mut entries.edited {
        edited.facts = facts(&edited.item, claims, None, settings);
    }
}

/// Returns when pages of a feed are fetched: its own setting, that of its first tag, or that for
/// all.
pub fn mode(layers: &LayeredSettings, settings: &ArticlesSettings) -> ArticleMode {
    let of_tags = layers.of_tags.iter().find_map(|(_, tag)| tag.article.mode);
    layers.own.article.mode.or(of_tags).unwrap_or(settings.mode)
}

/// Returns the selector for the main text of pages of a feed.
pub fn selector(layers: &LayeredSettings) -> Option<String> {
    let of_tags = layers.of_tags.iter().find_map(|(_, tag)| tag.article.selector.clone());
    layers.own.article.selector.clone().or(of_tags)
}

/// The claims of a page about its entry.
#[derive(Clone, Copy)]
pub struct PageClaims<'a> {
    pub language: Option<&'a str>,
    pub section: Option<&'a str>,
    pub text: &'a str,
}

/// Returns the facts about an entry once its page is known. `before` are those of its recording.
pub fn with_page(
    item: &Item,
    before: &EntryFacts,
    page: PageClaims<'_>,
    settings: &ArticlesSettings,
) -> EntryFacts {
    let mut after = facts(item, FeedClaims::default(), Some(page), settings);
    let is_weak = after.language.as_ref().is_none_or(|l| l.source == LanguageOrigin::Default);
    if is_weak {
        after.language.clone_from(&before.language);
    }
    if after.category.is_none() {
        after.category.clone_from(&before.category);
    }
    after.topic = after.topic.or(before.topic);
    after.wants_article = before.wants_article;
    after
}

fn facts(
    item: &Item,
    claims: FeedClaims<'_>,
    page: Option<PageClaims<'_>>,
    settings: &ArticlesSettings,
) -> EntryFacts {
    let section = page.and_then(|page| page.section);
    let places =
        CategoryPlaces { item: &item.categories, section, feed: claims.categories, folder: None };
    let found = category(&places);
    let source = match found.source {
        CategorySource::Item => Some(CategoryOrigin::Item),
        CategorySource::Section => Some(CategoryOrigin::Section),
        CategorySource::Feed => Some(CategoryOrigin::Feed),
        CategorySource::Folder | CategorySource::Absent => None,
    };
    let words = item.categories.iter().map(String::as_str).chain(section);
    // The words of the feed are about all its entries. The address is nearer to this one.
    let of_feed = || settings.topics.topic(claims.categories.iter().map(String::as_str), None);
    let topic = settings.topics.topic(words, web_link(item).as_ref()).or_else(of_feed);
    EntryFacts {
        language: language(item, claims, page, settings),
        category: source.map(|source| EntryCategory { name: found.name, source }),
        topic: topic.map(MediaTopic::number),
        wants_article: false,
    }
}

fn language(
    item: &Item,
    claims: FeedClaims<'_>,
    page: Option<PageClaims<'_>>,
    settings: &ArticlesSettings,
) -> Option<EntryLanguage> {
    let declared = item.language.as_deref().or(page.and_then(|page| page.language));
    let detected = match page {
        Some(page) => language::detect(page.text),
        None => language::detect(&text(item)),
    };
    let near = LanguageClaims { declared, detected, ..LanguageClaims::default() };
    if let Some(found) = language::decide(&near) {
        let source = match found.source {
            LanguageSource::Declared => LanguageOrigin::Declared,
            LanguageSource::Detected => LanguageOrigin::Detected,
            LanguageSource::DetectedInFeed => LanguageOrigin::DetectedInFeed,
            LanguageSource::DeclaredByFeed => LanguageOrigin::DeclaredByFeed,
        };
        let confidence_permille = found.confidence_permille;
        return Some(EntryLanguage { tag: found.tag, source, confidence_permille });
    }
    let plain = |tag, source| EntryLanguage { tag, source, confidence_permille: None };
    if let Some((tag, confidence)) = claims.detected {
        let source = LanguageOrigin::DetectedInFeed;
        let confidence_permille = Some(*confidence);
        return Some(EntryLanguage { tag: tag.clone(), source, confidence_permille });
    }
    let by_feed = claims.language.and_then(language::language_tag);
    let by_feed = by_feed.map(|tag| plain(tag, LanguageOrigin::DeclaredByFeed));
    let default = settings.default_language.clone();
    by_feed.or_else(|| default.map(|tag| plain(tag, LanguageOrigin::Default)))
}

/// Detects the language of all new texts of a document together.
fn detected_in(entries: &EntryChanges) -> Option<(String, u16)> {
    let mut all = String::new();
    for new in &entries.new {
        if all.len() >= TEXT_BYTES_MAX {
            break;
        }
        all.push_str(&text(&new.item));
        all.push(' ');
    }
    let found = language::detect(&all)?;
    Some((found.tag.to_owned(), found.confidence_permille))
}

/// Returns the title and the longer text of an item without its markup.
fn text(item: &Item) -> String {
    let (summary, content) = (item.summary.as_deref(), item.content.as_deref());
    let longer =
        if content.map_or(0, str::len) >= summary.map_or(0, str::len) { content } else { summary };
    let mut text = item.title.clone().unwrap_or_default();
    text.push(' ');
    let longer = longer.unwrap_or_default();
    let beginning = &longer[..longer.floor_char_boundary(MARKUP_BYTES_MAX)];
    push_text(&mut text, beginning, TEXT_BYTES_MAX);
    text
}

/// Adds the words of a markup until the text has `bytes_max` bytes. Entities and comments stay as
/// they are written: they hardly matter for a language or a number of words.
pub fn push_text(text: &mut String, markup: &str, bytes_max: usize) {
    let mut inside = false;
    for c in markup.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                text.push(' ');
            }
            c if !inside => text.push(c),
            _ => {}
        }
        if text.len() >= bytes_max {
            break;
        }
    }
}

/// Returns the link of an item, if it leads to a page.
pub fn web_link(item: &Item) -> Option<Url> {
    let url = Url::parse(item.link.as_deref()?.trim()).ok()?;
    matches!(url.scheme(), "http" | "https").then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_more_about_the_topic_than_the_feed_before_and_after_the_page() {
        let settings = ArticlesSettings::default();
        let of_feed = ["Politics".to_owned()];
        let claims = FeedClaims { categories: &of_feed, ..FeedClaims::default() };
        for (link, expect) in [("https://e.org/sport/1", 15), ("https://e.org/1", 11)] {
            let item = Item { link: Some(link.to_owned()), ..Item::default() };
            let before = facts(&item, claims, None, &settings);
            assert_eq!(before.topic, Some(expect), "{link}");
            let page = PageClaims { language: None, section: None, text: "" };
            assert_eq!(with_page(&item, &before, page, &settings).topic, Some(expect), "{link}");
        }
    }
}

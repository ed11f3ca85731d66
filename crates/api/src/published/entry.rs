//! One entry of a published feed. Readers load it under our name, so its texts hold no active
//! content and its links are absolute. It obeys the rules of the W3C feed validator, whatever its
//! source wrote.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use feed::{Domain, Enclosure, EntryId, Item, Source, public_id, public_link, public_source};
use store::{ArticleRow, EntryRow, FeedRow};
use url::Url;

use crate::sanitise;

/// Returns an entry as the named instance publishes it.
pub fn item(entry: &EntryRow, feed: &FeedRow, instance: &str) -> Item {
    let base = entry.link.as_deref().and_then(|link| Url::parse(link).ok());
    let base = base.as_ref().unwrap_or(feed.location.url.url());
    let link = entry.link.as_deref().and_then(public_link);
    let clean = |dirty: &Option<String>| {
        let clean = dirty.as_deref().map(|d| sanitise::html(d, Some(base), link.as_deref()));
        clean.filter(|html| !html.trim().is_empty())
    };
    let (summary, content) = (clean(&entry.summary), clean(&entry.content));
    // A claimed edit after we saw the text is wrong, and validators call it implausible.
    let seen_at = entry.edited_at.unwrap_or(entry.seen_at);
    let updated = entry.updated_at.unwrap_or(entry.published_at).min(seen_at);
    Item {
        id: Some(id(entry, feed)),
        title: entry.title.as_deref().and_then(line),
        link: link.clone(),
        published: Some(entry.published_at),
        updated: Some(updated.max(entry.published_at)),
        author: entry.author.as_deref().and_then(name),
        summary: summary.filter(|summary| Some(summary) != content.as_ref()),
        content,
        categories: entry.categories.iter().filter_map(|one| name(one)).collect(),
        enclosures: entry.enclosures.iter().filter_map(enclosure).collect(),
        language: entry.language.clone(),
        source: Some(source(entry, feed, instance)),
        ..Item::default()
    }
}

/// Puts the whole article in the place of the content, unless its page forbids copies.
pub fn with_article(item: Item, article: Option<&ArticleRow>) -> Item {
    let Some(row) = article else { return item };
    let Some(text) = row.content.as_ref().ok().filter(|text| !text.noarchive) else { return item };
    let base = Url::parse(&row.url).ok();
    let html = sanitise::html(&text.html, base.as_ref(), item.link.as_deref());
    if html.trim().is_empty() {
        return item;
    }
    Item { content: Some(html), ..item }
}

fn id(entry: &EntryRow, feed: &FeedRow) -> String {
    let host = feed.location.url.url().host_str().unwrap_or_default();
    public_id(entry.guid.as_deref(), entry.link.as_deref(), entry.id, host)
}

/// Returns the first feed of an entry, with all instances that passed it on. The last of them is
/// this instance.
fn source(entry: &EntryRow, feed: &FeedRow, instance: &str) -> Source {
    let seen_at = entry.edited_at.unwrap_or(entry.seen_at);
    let (title, mut source) = match &entry.source {
        Some(source) => (source.title.as_deref(), source.clone()),
        None => {
            let known = public_source(&feed.location.url, feed.facts.site.as_deref(), feed.id);
            // The feed had changed by then. A later time would change this document with every
            // poll.
            (feed.shown_title(), Source { updated: Some(seen_at), ..known })
        }
    };
    source.title = title.and_then(name).or_else(|| source.name().map(str::to_owned));
    source.updated = source.updated.map(|updated| updated.min(seen_at));
    if !source.via.iter().any(|one| one == instance) {
        source.via.push(instance.to_owned());
    }
    source
}

fn enclosure(file: &Enclosure) -> Option<Enclosure> {
    Some(Enclosure { url: public_link(&file.url)?, ..file.clone() })
}

/// Returns a title as one line of text, or `None` if it is empty.
fn line(dirty: &str) -> Option<String> {
    let text = sanitise::text(dirty);
    // Replaces invisible characters, and the one that stands for a lost character.
    let shown = |c: char| if c.is_control() || c == '\u{fffd}' { ' ' } else { c };
    let text: String = text.chars().map(shown).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Returns the name of a person, a category or a feed. Formats cannot say whether a name is HTML,
/// so all tags are removed, however often they were escaped.
fn name(dirty: &str) -> Option<String> {
    const ESCAPED_MAX: usize = 3;
    let mut text = line(dirty)?;
    for _ in 0..ESCAPED_MAX {
        let again = line(&text)?;
        if again == text {
            return Some(text);
        }
        text = again;
    }
    line(&text.replace(['<', '>', '&'], " "))
}

/// The rank of one of several entries with the same id; the smallest rank wins. A feed's own entry
/// goes before a copy. An entry on its own host goes before one with the id of another host. Then
/// the older record wins. So nobody can replace an entry of a published feed by taking its id.
pub type CopyRank = (bool, bool, EntryId);

pub fn rank(entry: &EntryRow, feed: &FeedRow) -> CopyRank {
    let at_home = Url::parse(&id(entry, feed))
        .is_ok_and(|id| id.host_str().is_none() || Domain::of(&id) == feed.location.url.domain());
    (entry.source.is_some(), !at_home, entry.id)
}

/// The longest published text of one entry; a document must have room for more than one.
const TEXT_BYTES_MAX: usize = 1_000_000;

/// Replaces texts that are too long by a note.
pub fn fitted(mut item: Item) -> Item {
    if item.summary.as_deref().is_some_and(|text| escaped_len(text) > TEXT_BYTES_MAX) {
        item.summary = None;
    }
    if item.content.as_deref().is_some_and(|text| escaped_len(text) > TEXT_BYTES_MAX) {
        let note = "<p>This text is too long to be published here. Read it at its source.</p>";
        item.content = Some(note.to_owned());
    }
    item
}

/// Estimates the bytes of an entry in a document.
pub fn n_bytes(item: &Item) -> usize {
    let fields = [&item.id, &item.title, &item.link, &item.author, &item.summary, &item.content];
    let fields = fields.into_iter().flatten().chain(&item.categories);
    let texts = fields.chain(item.enclosures.iter().map(|file| &file.url));
    texts.map(|text| escaped_len(text) + 60).sum()
}

/// Returns the length of a text in XML or JSON, where special characters take up to six bytes.
fn escaped_len(text: &str) -> usize {
    text.len() + 5 * text.bytes().filter(|b| matches!(b, b'<' | b'>' | b'&' | b'"')).count()
}

/// Keeps one item for each id, in the given order.
pub fn each_once(items: Vec<(CopyRank, Item)>) -> Vec<Item> {
    let mut best: HashMap<Option<String>, (CopyRank, usize)> = HashMap::new();
    for (number, (rank, item)) in items.iter().enumerate() {
        match best.entry(item.id.clone()) {
            Entry::Vacant(new) => {
                new.insert((*rank, number));
            }
            Entry::Occupied(mut known) if *rank < known.get().0 => {
                known.insert((*rank, number));
            }
            Entry::Occupied(_) => {}
        }
    }
    let chosen = |number: usize, item: &Item| best.get(&item.id).is_some_and(|b| b.1 == number);
    let numbered = items.into_iter().enumerate();
    numbered.filter(|(n, (_, item))| chosen(*n, item)).map(|(_, (_, item))| item).collect()
}

/// JSON Feed has one HTML text; its summary is plain text.
pub fn for_json(item: &mut Item) {
    let summary = item.summary.take();
    item.summary = summary.as_deref().and_then(line);
    if item.content.is_none() {
        item.content = summary;
    }
}

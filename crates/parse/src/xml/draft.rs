//! The values read so far for a document and for an item. Each value has a rank, so that the best
//! one wins in any order. It invents nothing.

use feed::{Enclosure, Hints, Item, Source, Time};

use super::hint;
use super::media::MediaDraft;
use crate::Limits;
use crate::language::language_tag;
use crate::room::shorten;

/// The best value so far for one field.
#[derive(Debug)]
pub(super) struct RankedValue<T> {
    rank: u8,
    value: Option<T>,
}

impl<T> Default for RankedValue<T> {
    fn default() -> RankedValue<T> {
        RankedValue { rank: u8::MAX, value: None }
    }
}

impl<T> RankedValue<T> {
    /// Takes the value if it is better than the present one. Returns whether it did.
    pub(super) fn offer(&mut self, rank: u8, value: T) -> bool {
        let better = self.value.is_none() || rank < self.rank;
        if better {
            self.rank = rank;
            self.value = Some(value);
        }
        better
    }

    pub(super) fn into_value(self) -> Option<T> {
        self.value
    }

    fn is_taken_at(&self, rank: u8) -> bool {
        self.value.is_some() && self.rank == rank
    }
}

#[derive(Debug, Default)]
pub(super) struct ItemDraft {
    pub(super) id: RankedValue<String>,
    pub(super) title: RankedValue<String>,
    pub(super) link: RankedValue<String>,
    pub(super) published: RankedValue<Time>,
    pub(super) updated: RankedValue<Time>,
    author: RankedValue<Vec<String>>,
    summary: RankedValue<String>,
    pub(super) content: RankedValue<String>,
    categories: Vec<String>,
    enclosures: Vec<Enclosure>,
    pub(super) media: MediaDraft,
    language: RankedValue<String>,
    pub(super) source: RankedValue<Source>,
    via: Vec<String>,
}

impl ItemDraft {
    /// Takes a `description` or `summary`. If an item has both, the first is the summary and the
    /// other one the longer text, unless a real content follows.
    pub(super) fn summary(&mut self, rank: u8, text: String) {
        if self.summary.is_taken_at(rank) {
            if self.summary.value.as_ref() != Some(&text) {
                self.content.offer(9, text);
            }
        } else {
            self.summary.offer(rank, text);
        }
    }

    /// Adds an author. Several authors of one rank are all kept.
    pub(super) fn author(&mut self, rank: u8, name: String, limits: &Limits) {
        match &mut self.author.value {
            Some(names) if self.author.rank == rank => push_new(names, name, limits),
            _ => {
                self.author.offer(rank, vec![name]);
            }
        }
    }

    pub(super) fn category(&mut self, name: String, limits: &Limits) {
        push_new(&mut self.categories, name, limits);
    }

    /// Adds words separated by commas, each as a category.
    pub(super) fn keywords(&mut self, text: &str, limits: &Limits) {
        for word in split_keywords(text) {
            self.category(word.to_owned(), limits);
        }
    }

    /// The language of the item or of one of its texts.
    pub(super) fn language(&mut self, rank: u8, text: &str) {
        if let Some(tag) = language_tag(text) {
            self.language.offer(rank, tag);
        }
    }

    pub(super) fn enclosure(&mut self, enclosure: Enclosure, limits: &Limits) {
        self.file(enclosure, false, limits);
    }

    /// Adds a file. The default rendition comes before the others of its group.
    pub(super) fn file(&mut self, file: Enclosure, is_default: bool, limits: &Limits) {
        if let Some(known) = self.enclosures.iter_mut().find(|e| e.url == file.url) {
            merge(known, file);
        } else if self.enclosures.len() < limits.list_max {
            let group = file.group.filter(|_| is_default);
            let first = |group| self.enclosures.iter().position(|e| e.group == Some(group));
            let at = group.and_then(first).unwrap_or(self.enclosures.len());
            self.enclosures.insert(at, file);
        }
    }

    /// Adds an instance that passed the item on. Other addresses under `via` name pages.
    pub(super) fn via(&mut self, instance: String) {
        if self.via.len() < VIA_MAX && is_instance(&instance) {
            self.via.push(instance);
        }
    }

    pub(super) fn has_id(&self) -> bool {
        self.id.value.is_some()
    }

    pub(super) fn finish(self) -> Item {
        let via = self.via;
        let mut enclosures = self.enclosures;
        let media = self.media.finish(&mut enclosures);
        Item {
            source: self.source.value.map(|source| Source { via, ..source }),
            id: self.id.value,
            title: self.title.value,
            link: self.link.value,
            published: self.published.value,
            updated: self.updated.value,
            author: self.author.value.map(|names| names.join(", ")),
            summary: self.summary.value,
            content: self.content.value,
            categories: self.categories,
            enclosures,
            language: self.language.value,
            media,
        }
    }
}

/// An item that passed through more instances goes round in a circle.
const VIA_MAX: usize = 20;
/// The same limit as for a feed's address; a longer one names no feed.
const SOURCE_BYTES_MAX: usize = 8192;

/// Whether an address has the form of an instance's name.
fn is_instance(address: &str) -> bool {
    address.len() == "urn:uuid:".len() + 36 && address.starts_with("urn:uuid:")
}

/// Returns a source that names a feed, without values that are too long: it is stored with every
/// entry.
pub(crate) fn named(source: Source) -> Option<Source> {
    let short = |text: Option<String>| text.filter(|text| text.len() <= SOURCE_BYTES_MAX);
    let via = source.via.into_iter().filter(|one| is_instance(one));
    let source = Source {
        id: short(source.id),
        url: short(source.url),
        title: short(source.title),
        site: short(source.site),
        updated: source.updated,
        via: via.take(VIA_MAX).collect(),
    };
    (source.id.is_some() || source.url.is_some()).then_some(source)
}

fn split_keywords(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|word| !word.is_empty())
}

fn push_new(list: &mut Vec<String>, text: String, limits: &Limits) {
    if list.len() < limits.list_max && !list.contains(&text) {
        list.push(text);
    }
}

/// An Atom person, or the text of an RSS author.
#[derive(Debug, Default)]
pub(super) struct PersonDraft {
    pub(super) depth: usize,
    pub(super) rank: u8,
    pub(super) text: String,
    pub(super) name: Option<String>,
    pub(super) email: Option<String>,
}

impl PersonDraft {
    pub(super) fn finish(self) -> Option<String> {
        match (self.name, self.email) {
            (Some(name), Some(email)) if name != email => Some(format!("{name} ({email})")),
            (Some(name), _) => Some(name),
            (None, Some(email)) => Some(email),
            (None, None) => Some(self.text.trim().to_owned()).filter(|t| !t.is_empty()),
        }
    }
}

/// The feed that an item was taken from, as the item names it.
#[derive(Debug, Default)]
pub(super) struct SourceDraft {
    pub(super) depth: usize,
    pub(super) rank: u8,
    /// The title of an RSS source.
    pub(super) text: String,
    pub(super) source: Source,
}

impl SourceDraft {
    /// Returns the source, if it names a feed.
    pub(super) fn finish(self) -> Option<Source> {
        let SourceDraft { text, mut source, .. } = self;
        let text = text.trim();
        if source.title.is_none() && !text.is_empty() {
            source.title = Some(text.to_owned());
        }
        named(source)
    }
}

#[derive(Debug, Default)]
pub(super) struct FactsDraft {
    pub(super) title: RankedValue<String>,
    pub(super) link: RankedValue<String>,
    pub(super) self_link: RankedValue<String>,
    pub(super) hubs: Vec<String>,
    pub(super) cloud: RankedValue<String>,
    pub(super) icon: RankedValue<String>,
    pub(super) language: RankedValue<String>,
    pub(super) categories: Vec<String>,
    pub(super) updated: RankedValue<Time>,
    pub(super) hints: Hints,
    pub(super) period: Option<String>,
    pub(super) frequency: Option<String>,
}

impl FactsDraft {
    /// Takes a language in the spelling of RFC 5646: software writes `en_US` for `en-US`.
    pub(super) fn language(&mut self, rank: u8, text: &str) {
        if !text.is_empty() {
            self.language.offer(rank, text.replace('_', "-"));
        }
    }

    /// A category of the feed itself, cut to the length of a name.
    pub(super) fn category(&mut self, mut name: String, limits: &Limits) {
        shorten(&mut name);
        push_new(&mut self.categories, name, limits);
    }

    pub(super) fn keywords(&mut self, text: &str, limits: &Limits) {
        for word in split_keywords(text) {
            self.category(word.to_owned(), limits);
        }
    }

    pub(super) fn hub(&mut self, url: String, limits: &Limits) {
        push_new(&mut self.hubs, url, limits);
    }

    /// Returns the hints. The two halves of `sy:` are separate elements, so they are combined here.
    pub(super) fn hints(&mut self) -> Hints {
        let mut hints = std::mem::take(&mut self.hints);
        hints.update_every = hint::update_every(self.period.as_deref(), self.frequency.as_deref());
        hints.skip_hours.sort_unstable();
        hints.skip_hours.dedup();
        hints.skip_days.sort_unstable();
        hints.skip_days.dedup();
        hints
    }
}

/// Creates an enclosure at an absolute address.
pub(super) fn enclosure(url: String, mime_type: Option<String>, length: Option<&str>) -> Enclosure {
    let length = length.and_then(|l| l.trim().replace(',', "").parse().ok());
    Enclosure { url, mime_type, length, ..Enclosure::default() }
}

/// Two elements name the same file. One may have a value that the other lacks.
fn merge(known: &mut Enclosure, other: Enclosure) {
    known.mime_type = known.mime_type.take().or(other.mime_type);
    known.length = known.length.or(other.length);
    known.medium = known.medium.take().or(other.medium);
    known.duration = known.duration.or(other.duration);
    known.width = known.width.or(other.width);
    known.height = known.height.or(other.height);
    known.group = known.group.or(other.group);
}

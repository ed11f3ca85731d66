//! Limits how much longer than its document the parsed result may become. A text can grow: relative
//! links become absolute, and inline markup is escaped and gets missing end tags. This module
//! counts bytes; it cuts only titles and other names, and the texts of an item that is too large.

use std::cell::Cell;

use feed::Item;

use crate::Limits;
use crate::warning::{Defect, Warnings};

/// Absolute links may add as many bytes as the document has, but at least this many for short
/// documents. Real feeds with relative links grow by a few percent.
const LINK_BYTES_MIN: usize = 64 * 1024;
/// All items together may have twice the bytes of their document, plus this many, so that short
/// documents can grow too.
const ITEM_BYTES_MIN: usize = 256 * 1024;

/// Titles, authors and categories are names. The longest title of the sample has less than 1 KB.
const NAME_BYTES_MAX: usize = 4096;
/// The same limit as for the address of a feed. A file at a longer address is left out.
pub(crate) const FILE_URL_BYTES_MAX: usize = 8192;

/// Cuts a name that is too long. Returns whether it did.
pub(crate) fn shorten(name: &mut String) -> bool {
    let too_long = name.len() > NAME_BYTES_MAX;
    name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
    too_long
}

/// The bytes that the items of one document may still use.
#[derive(Debug)]
pub(crate) struct GrowthBudget {
    field_bytes_max: usize,
    link_bytes: Cell<usize>,
    item_bytes: Cell<usize>,
}

impl GrowthBudget {
    /// Creates the budget of a document with this many bytes of text.
    pub(crate) fn new(text_bytes: usize, limits: &Limits) -> GrowthBudget {
        GrowthBudget {
            field_bytes_max: limits.field_bytes_max,
            link_bytes: Cell::new(text_bytes.saturating_add(LINK_BYTES_MIN)),
            item_bytes: Cell::new(text_bytes.saturating_mul(2).saturating_add(ITEM_BYTES_MIN)),
        }
    }

    /// Whether any link may still become longer than it was written.
    pub(crate) fn has_links(&self) -> bool {
        self.link_bytes.get() > 0
    }

    /// Whether a field may grow from `before` to `after` bytes. The first link without enough room
    /// uses up the rest, so that later ones are not even tried.
    pub(crate) fn grow(&self, before: usize, after: usize) -> bool {
        if after <= before {
            return true;
        }
        if after > self.field_bytes_max {
            return false;
        }
        let left = self.link_bytes.get().checked_sub(after - before);
        self.link_bytes.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Adds an item to those that are kept. An item that is too large loses summary and content. If
    /// it does not fit without them either, the result is `false` and the rest of the document is
    /// not read.
    pub(crate) fn keep(
        &self,
        mut item: Item,
        items: &mut Vec<Item>,
        at: usize,
        warnings: &mut Warnings,
    ) -> bool {
        let names = item.title.iter_mut().chain(&mut item.author).chain(&mut item.categories);
        let n_cut = names.map(shorten).filter(|cut| *cut).count();
        let n_files = item.enclosures.len();
        item.enclosures.retain(|file| file.url.len() <= FILE_URL_BYTES_MAX);
        if n_cut > 0 || item.enclosures.len() < n_files {
            warnings.note(Defect::FieldTooLong, at);
        }
        if !self.fits(&item) {
            warnings.note(Defect::ItemTooLong, at);
            item = Item { content: None, summary: None, ..item };
            if !self.fits(&item) {
                warnings.note(Defect::TooManyBytes, at);
                return false;
            }
        }
        items.push(item);
        true
    }

    /// Takes the bytes of an item from the budget, if there are enough.
    fn fits(&self, item: &Item) -> bool {
        let left = self.item_bytes.get().checked_sub(n_bytes(item));
        self.item_bytes.set(left.unwrap_or(self.item_bytes.get()));
        left.is_some()
    }
}

fn n_bytes(item: &Item) -> usize {
    let own = [&item.id, &item.title, &item.link, &item.author, &item.summary, &item.content];
    let own = own.into_iter().flatten();
    let files: usize = item.enclosures.iter().map(feed::Enclosure::n_bytes).sum();
    let texts: usize = own.chain(&item.categories).map(String::len).sum();
    texts + files + item.media.n_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(content: usize) -> Item {
        Item { id: Some("i".repeat(10)), content: Some("c".repeat(content)), ..Item::default() }
    }

    #[test]
    fn a_field_grows_to_the_limit_of_fields_and_a_document_by_its_own_length() {
        let room = GrowthBudget::new(0, &Limits { field_bytes_max: 100, ..Limits::default() });
        assert!(room.grow(90, 100));
        assert!(!room.grow(90, 101), "longer than a field may be");
        assert!(room.has_links(), "which costs the document nothing");
        let n = (0..).take_while(|_| room.grow(0, 100)).count();
        assert_eq!(n, (LINK_BYTES_MIN - 10) / 100);
        assert!(!room.has_links());
        assert!(room.grow(100, 100), "what does not grow needs no room");
    }

    #[test]
    fn an_item_that_does_not_fit_loses_its_texts_and_then_its_place() {
        let room = GrowthBudget::new(0, &Limits::default());
        let (mut items, mut warnings) = (Vec::new(), Warnings::default());
        let mut keep = |content| room.keep(item(content), &mut items, 0, &mut warnings);
        assert!(keep(ITEM_BYTES_MIN - 25), "it fits");
        assert!(keep(10), "it fits without its text");
        assert!(!keep(10));
        let lengths: Vec<_> = items.iter().map(|i| i.content.as_ref().map(String::len)).collect();
        assert_eq!(lengths, [Some(ITEM_BYTES_MIN - 25), None]);
    }
}

//! The words of one entry: which terms of the dictionary occur, and at which positions. The buffers
//! are reused, so that reading an entry allocates nothing.

use std::borrow::Cow;

use super::dictionary::{Dictionary, TermId, TermKind};
use super::graph::{FieldSet, Graph};
use crate::Entry;
use crate::limits::{CATEGORIES_MAX, FIELD_BYTES_MAX};
use crate::text::{Markup, canonical_link, folded, language_ranges, reduce, scan};

/// The texts of an entry without markup.
pub(super) struct EntryTexts<'a> {
    texts: Vec<(FieldSet, Cow<'a, str>)>,
}

impl<'a> EntryTexts<'a> {
    pub(super) fn of(entry: &Entry<'a>) -> EntryTexts<'a> {
        let single = [
            (FieldSet::TITLE, entry.title, Some(Markup::Inline)),
            (FieldSet::SUMMARY, entry.summary, Some(Markup::Full)),
            (FieldSet::CONTENT, entry.content, Some(Markup::Full)),
            (FieldSet::AUTHOR, entry.author, Some(Markup::Inline)),
            (FieldSet::LINK, entry.link, None),
            (FieldSet::FEED, Some(entry.feed_url), None),
            (FieldSet::ARTICLE, entry.article, None),
        ];
        let categories = entry.categories.iter().take(CATEGORIES_MAX);
        let categories =
            categories.map(|c| (FieldSet::CATEGORY, Some(c.as_str()), Some(Markup::Inline)));
        let reduced = single.into_iter().chain(categories).filter_map(|(field, text, markup)| {
            let text = text?;
            let text = markup.map_or(Cow::Borrowed(text), |markup| reduce(text, markup));
            Some((field, text))
        });
        EntryTexts { texts: reduced.collect() }
    }

    /// Returns the texts of some fields, each cut to the size limit.
    pub(super) fn in_fields(&self, fields: FieldSet) -> impl Iterator<Item = (FieldSet, &str)> {
        let texts = self.texts.iter().filter(move |(field, _)| field.meets(fields));
        texts.map(|(field, text)| (*field, &text[..text.floor_char_boundary(FIELD_BYTES_MAX)]))
    }
}

/// Visits the texts of an entry that people read; the flag marks the title.
pub(crate) fn for_each_text(entry: &Entry<'_>, mut visit: impl FnMut(bool, &str)) {
    for (field, text) in EntryTexts::of(entry).in_fields(FieldSet::READABLE) {
        visit(field.meets(FieldSet::TITLE), text);
    }
}

/// The terms that occur in one entry.
pub(super) struct EntryIndex {
    slots: Vec<WordSlot>,
    n_used: usize,
    occurrences: Vec<Occurrence>,
    terms: Vec<TermId>,
    /// A Bloom filter: one bit per term, by the low bits of its number. Most terms do not occur,
    /// and this answers quickly.
    bits: [u64; BITS / 64],
}

const BITS: usize = 4096;

/// A slot of an open hash table. The table has a power of two slots and is at most half full.
#[derive(Clone, Copy)]
struct WordSlot {
    /// The number of the term plus one; zero marks a free slot.
    term: u32,
    fields: FieldSet,
    /// The first and last occurrence, plus one; zero for facts.
    first: u32,
    last: u32,
}

/// A word at a position of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occurrence {
    pub term: TermId,
    /// The index of the text within the entry.
    pub text: u32,
    pub field: FieldSet,
    pub position: u32,
    /// The next occurrence of the same word, plus one.
    next: u32,
}

const FREE: WordSlot = WordSlot { term: 0, fields: FieldSet(0), first: 0, last: 0 };
/// Enough for an ordinary entry. A table grows for a large entry and shrinks afterwards.
const SLOTS_MIN: usize = 1024;

impl Default for EntryIndex {
    fn default() -> EntryIndex {
        let slots = vec![FREE; SLOTS_MIN];
        let bits = [0; BITS / 64];
        EntryIndex { slots, n_used: 0, occurrences: Vec::new(), terms: Vec::new(), bits }
    }
}

impl EntryIndex {
    pub(super) fn read(
        &mut self,
        entry: &Entry<'_>,
        texts: &EntryTexts<'_>,
        dictionary: &Dictionary,
        graph: &Graph,
    ) {
        // One huge entry must not slow down clearing for all later ones.
        if self.n_used * 8 < self.slots.len() {
            self.slots.truncate(SLOTS_MIN);
        }
        self.slots.fill(FREE);
        self.n_used = 0;
        self.bits = [0; BITS / 64];
        self.occurrences.clear();
        self.terms.clear();
        let mut read = 0;
        for (n, field) in FieldSet::TEXTS.into_iter().enumerate() {
            read |= if graph.reads(n) { field.0 } else { 0 };
        }
        for (n, (field, text)) in texts.in_fields(FieldSet(read)).enumerate() {
            self.text(n as u32, field, text, dictionary);
        }
        self.facts(entry, dictionary);
    }

    fn text(&mut self, text_number: u32, field: FieldSet, text: &str, dictionary: &Dictionary) {
        let has_prefixes = dictionary.has(TermKind::Prefix);
        let has_pairs = dictionary.has(TermKind::Pair);
        let mut position = 0;
        let mut pair = [0; 8];
        let mut sign_len = 0;
        scan(text, |token| {
            position += 1;
            if !token.cut
                && let Some(term) = dictionary.find(TermKind::Word, token.letters)
            {
                self.occur(term, text_number, field, position);
            }
            if has_prefixes && !token.unit {
                for len in dictionary.prefix_lengths(token.letters.len()) {
                    if let Some(term) = dictionary.find(TermKind::Prefix, &token.letters[..len]) {
                        self.occur(term, text_number, field, position);
                    }
                }
            }
            if !has_pairs || !token.unit {
                sign_len = 0;
                return;
            }
            // A character has at most four bytes, so two fit.
            let len = token.letters.len();
            pair[sign_len..sign_len + len].copy_from_slice(token.letters);
            if sign_len > 0
                && let Some(term) = dictionary.find(TermKind::Pair, &pair[..sign_len + len])
            {
                self.mark(term, field);
            }
            pair.copy_within(sign_len..sign_len + len, 0);
            sign_len = len;
        });
    }

    fn facts(&mut self, entry: &Entry<'_>, dictionary: &Dictionary) {
        let mut fact = |kind: TermKind, value: &str| {
            if let Some(term) = dictionary.find(kind, value.as_bytes()) {
                self.mark(term, FieldSet::FACT);
            }
        };
        fact(TermKind::Feed, entry.feed_url);
        entry.tags.iter().for_each(|tag| fact(TermKind::Tag, tag));
        let mut whole = |kind: TermKind, value: Option<&str>| {
            if let Some(value) = value.filter(|_| dictionary.has(kind)) {
                fact(kind, &folded(&reduce(value, Markup::Inline)));
            }
        };
        whole(TermKind::Title, entry.title);
        whole(TermKind::Author, entry.author);
        for category in entry.categories.iter().take(CATEGORIES_MAX) {
            whole(TermKind::Category, Some(category));
        }
        if let Some(link) = entry.link.filter(|_| dictionary.has(TermKind::Link)) {
            canonical_link(link).into_iter().for_each(|link| fact(TermKind::Link, &link));
        }
        if let Some(topic) = entry.topic.filter(|_| dictionary.has(TermKind::Topic)) {
            fact(TermKind::Topic, &folded(topic));
        }
        if let Some(language) = entry.language.filter(|_| dictionary.has(TermKind::Language)) {
            language_ranges(language).iter().for_each(|range| fact(TermKind::Language, range));
        }
    }

    /// Records a word at a position.
    fn occur(&mut self, term: TermId, text: u32, field: FieldSet, position: u32) {
        self.occurrences.push(Occurrence { term, text, field, position, next: 0 });
        let number = self.occurrences.len() as u32;
        let slot = self.mark(term, field);
        let before = std::mem::replace(&mut slot.last, number);
        if before == 0 {
            slot.first = number;
        } else {
            self.occurrences[before as usize - 1].next = number;
        }
    }

    /// Records that a term occurs.
    fn mark(&mut self, term: TermId, field: FieldSet) -> &mut WordSlot {
        if self.n_used * 2 >= self.slots.len() {
            self.grow();
        }
        let at = self.find(term);
        let slot = &mut self.slots[at];
        if slot.term == 0 {
            slot.term = term.0 + 1;
            self.n_used += 1;
            self.terms.push(term);
            self.bits[term.0 as usize % BITS / 64] |= 1 << (term.0 % 64);
        }
        slot.fields = FieldSet(slot.fields.0 | field.0);
        slot
    }

    /// Records a fact that became known during matching. Returns whether it is new.
    pub(super) fn learn(&mut self, term: TermId) -> bool {
        let is_new = !self.has_in(term, FieldSet::FACT);
        self.mark(term, FieldSet::FACT);
        is_new
    }

    /// Returns the slot of a term, or the free slot for it.
    #[inline]
    fn find(&self, term: TermId) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (term.0.wrapping_mul(0x9e37_79b1) >> 7) as usize & mask;
        while self.slots[at].term != 0 && self.slots[at].term != term.0 + 1 {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let larger = vec![FREE; self.slots.len() * 2];
        let smaller = std::mem::replace(&mut self.slots, larger);
        for slot in smaller.into_iter().filter(|slot| slot.term != 0) {
            let at = self.find(TermId(slot.term - 1));
            self.slots[at] = slot;
        }
    }

    /// Returns every term that occurs, once.
    pub(super) fn terms(&self) -> &[TermId] {
        &self.terms
    }

    #[inline]
    pub(super) fn has_in(&self, term: TermId, fields: FieldSet) -> bool {
        let may_occur = self.bits[term.0 as usize % BITS / 64] >> (term.0 % 64) & 1 == 1;
        may_occur && self.slots[self.find(term)].fields.meets(fields)
    }

    /// Returns the occurrences of a word, in the order of the text.
    pub(super) fn places(&self, term: TermId) -> impl Iterator<Item = usize> {
        let mut next = self.slots[self.find(term)].first;
        std::iter::from_fn(move || {
            let at = (next as usize).checked_sub(1)?;
            next = self.occurrences[at].next;
            Some(at)
        })
    }

    pub(super) fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }
}

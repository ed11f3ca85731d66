//! The words of an entry as a `tsvector` of PostgreSQL: each word with its places. Words of the
//! title have the weight A and words of the body B. No text-search configuration is involved, so
//! that all scripts work as in FTS5.
//!
//! A `tsvector` has limits that FTS5 does not have. An entry beyond them is *long*: its words have
//! no places, so the index cannot check phrases in it. The words of a huge entry do not fit at all.
//! The index then finds the entry by every search. The caller tests what the index finds anyway.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use feed::{SearchColumn, split_words};

/// The highest place that PostgreSQL distinguishes.
const PLACE_MAX: usize = 16_383;
/// Places that PostgreSQL keeps of one word, less one.
const PLACES_MAX: usize = 255;
/// Bytes of one word. PostgreSQL refuses 2,047. Ours have 64 at most, so nothing is cut in fact.
const WORD_BYTES_MAX: usize = 2000;
/// Bytes of all words with their places. PostgreSQL refuses more than 1,048,575. The rest is for
/// the word of the block.
const BYTES_MAX: usize = 1_048_500;
/// The only word of a huge entry. No word of a text has a space.
pub(super) const HUGE: &str = "' '";

/// Entry numbers in one block. A search of a common word asks the index for one block after the
/// other. Sixteen thousand matches take about 60 ms.
const BLOCK: i64 = 16_384;

/// The block of an entry number.
pub(super) fn block_of(entry: i64) -> i64 {
    entry.div_euclid(BLOCK)
}

/// The first entry number of a block.
pub(super) fn block_start(block: i64) -> i64 {
    block * BLOCK
}

/// The word by which the index finds the entries of a block. No word of a text has a space.
pub(super) fn block_word(block: i64) -> String {
    format!("' {block}'")
}

/// The words of one entry, ready for PostgreSQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WordList {
    /// A literal of the type `tsvector`.
    pub literal: String,
    pub is_long: bool,
}

/// The places of a word.
#[derive(Default)]
struct Places {
    places: Vec<usize>,
    /// How many of `places` are in the title. They come first.
    n_title: usize,
    in_title: bool,
    in_body: bool,
    /// The word has more places than PostgreSQL keeps.
    has_more: bool,
}

impl WordList {
    /// Lists the words of a title and of a body.
    pub fn new(title: &str, body: &str) -> WordList {
        let mut words: BTreeMap<Cow<'_, str>, Places> = BTreeMap::new();
        let mut place = 0;
        for (column, text) in [(SearchColumn::Title, title), (SearchColumn::Body, body)] {
            for word in split_words(text) {
                place += 1;
                words.entry(lexeme(word)).or_default().add(place, column);
            }
            // No phrase continues from the title into the body.
            place += 1;
        }
        let last = place - 1;
        let is_long = last > PLACE_MAX || words.values().any(|places| places.has_more);
        if !is_long && n_bytes(&words, |places| places.places.len()) <= BYTES_MAX {
            return WordList { literal: literal(&words, Places::write), is_long };
        }
        if n_bytes(&words, |_| 2) <= BYTES_MAX {
            return WordList { literal: literal(&words, Places::write_columns), is_long: true };
        }
        WordList { literal: HUGE.to_owned(), is_long: true }
    }
}

/// Returns a word as PostgreSQL stores it and as a search must name it.
pub(super) fn lexeme(word: &str) -> Cow<'_, str> {
    let word = &word[..word.floor_char_boundary(WORD_BYTES_MAX)];
    if word.bytes().any(|b| b.is_ascii_uppercase()) {
        return Cow::Owned(word.to_ascii_lowercase());
    }
    Cow::Borrowed(word)
}

impl Places {
    fn add(&mut self, place: usize, column: SearchColumn) {
        let is_title = column == SearchColumn::Title;
        self.in_title |= is_title;
        self.in_body |= !is_title;
        if self.places.len() == PLACES_MAX {
            self.has_more = true;
            return;
        }
        self.places.push(place);
        self.n_title += usize::from(is_title);
    }

    /// Writes all places.
    fn write(&self, out: &mut String) {
        for (number, place) in self.places.iter().enumerate() {
            let sign = if number == 0 { ':' } else { ',' };
            let weight = if number < self.n_title { 'A' } else { 'B' };
            // Writing to a text does not fail.
            let _ = write!(out, "{sign}{place}{weight}");
        }
    }

    /// Writes the columns only.
    fn write_columns(&self, out: &mut String) {
        out.push_str(match (self.in_title, self.in_body) {
            (true, true) => ":1A,2B",
            (true, false) => ":1A",
            _ => ":2B",
        });
    }
}

/// Returns an upper bound of the bytes that PostgreSQL needs.
fn n_bytes(words: &BTreeMap<Cow<'_, str>, Places>, n_places: fn(&Places) -> usize) -> usize {
    // The number of places and each place take two bytes; the word is padded to an even length.
    words.iter().map(|(word, places)| word.len() + 3 + 2 * n_places(places)).sum()
}

fn literal(words: &BTreeMap<Cow<'_, str>, Places>, write: fn(&Places, &mut String)) -> String {
    let mut out = String::with_capacity(words.len() * 16);
    for (word, places) in words {
        // No word has a quote or a backslash: they end words.
        out.push('\'');
        out.push_str(word);
        out.push('\'');
        write(places, &mut out);
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_places_and_columns_with_a_gap() {
        let list = WordList::new("Ash 火 山", "ash + it's\\");
        assert!(!list.is_long);
        assert_eq!(list.literal, "'ash':1A,5B 'it':6B 's':7B '山':3A '火':2A ");
        assert_eq!(WordList::new("", " ").literal, "");
    }

    #[test]
    fn a_word_too_often_or_too_many_words_make_an_entry_long() {
        let often = |n: usize| WordList::new("", &"a ".repeat(n)).is_long;
        assert_eq!([often(255), often(256)], [false, true]);
        let list = WordList::new("a b", &"a ".repeat(256));
        assert_eq!(list.literal, "'a':1A,2B 'b':1A ");
        let many = |n: usize| {
            let body: Vec<String> = (0..n).map(|n| format!("w{n}")).collect();
            WordList::new("", &body.join(" "))
        };
        assert_eq!([many(16_382).is_long, many(16_383).is_long], [false, true]);
        assert!(many(16_382).literal.contains(":16383B "));
    }

    #[test]
    fn what_does_not_fit_has_no_words_of_its_own() {
        let body: Vec<String> = (0..16_000).map(|n| format!("{n:0>64}")).collect();
        let list = WordList::new("", &body.join(" "));
        assert_eq!((list.literal.as_str(), list.is_long), (HUGE, true));
        let long = "é".repeat(3000);
        assert_eq!(lexeme(&long).len(), WORD_BYTES_MAX);
    }
}

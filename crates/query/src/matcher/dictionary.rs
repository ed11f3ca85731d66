//! All words that queries search for, each once, with the queries listed under it.
//!
//! The matcher looks up words of entries only here; it ignores words that no query searches for.
//! Values that are compared as a whole (addresses, tags, authors, names of queries) are terms of
//! another kind.

use super::anchor::Posting;
use super::table::NumberTable;
use crate::hash::hash;
use crate::limits::WORD_BYTES_MAX;

/// A word of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(crate) u32);

/// The kind of value that a term is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// A word of a text.
    Word,
    /// The start of a word.
    Prefix,
    /// Two adjacent characters of a script without spaces: much rarer than each alone.
    Pair,
    /// Whole values of an entry.
    Title,
    Author,
    Category,
    Link,
    Language,
    Topic,
    /// Facts about the source of an entry.
    Feed,
    Tag,
    /// The name of a query that kept the entry.
    Query,
}

const KINDS: usize = TermKind::Query as usize + 1;

#[derive(Default)]
pub(crate) struct Dictionary {
    table: NumberTable,
    terms: Vec<Term>,
    free: Vec<u32>,
    n_of_kind: [u32; KINDS],
    /// The number of prefixes of each length in bytes.
    prefixes: Vec<u32>,
}

/// One cache line of 64 bytes.
struct Term {
    spelling: Spelling,
    postings: Postings,
    n_users: u32,
    /// The number of sampled entries with this term.
    n_seen: u32,
    kind: TermKind,
}

/// Most words have one query or none, which needs no allocation.
enum Postings {
    None,
    One(Posting),
    Many(Vec<Posting>),
}

impl Postings {
    fn as_slice(&self) -> &[Posting] {
        match self {
            Postings::None => &[],
            Postings::One(posting) => std::slice::from_ref(posting),
            Postings::Many(postings) => postings,
        }
    }

    fn push(&mut self, posting: Posting) {
        match self {
            Postings::None => *self = Postings::One(posting),
            Postings::One(first) => *self = Postings::Many(vec![*first, posting]),
            Postings::Many(postings) => {
                if postings.len() == postings.capacity() {
                    // Doubling would waste as much memory as the list uses.
                    postings.reserve_exact(1 + postings.len() / 4);
                }
                postings.push(posting);
            }
        }
    }

    fn remove(&mut self, query: u32) {
        match self {
            Postings::One(posting) if posting.query == query => *self = Postings::None,
            Postings::None | Postings::One(_) => {}
            Postings::Many(postings) => {
                if let Some(at) = postings.iter().position(|posting| posting.query == query) {
                    postings.swap_remove(at);
                }
                if let [last] = postings[..] {
                    *self = Postings::One(last);
                }
            }
        }
    }
}

/// Short words are inline, which saves a memory access.
enum Spelling {
    Short(u8, [u8; SHORT_BYTES_MAX]),
    Long(Box<[u8]>),
}

const SHORT_BYTES_MAX: usize = 22;

impl Spelling {
    fn new(bytes: &[u8]) -> Spelling {
        let mut short = [0; SHORT_BYTES_MAX];
        match (short.get_mut(..bytes.len()), u8::try_from(bytes.len())) {
            (Some(start), Ok(len)) => {
                start.copy_from_slice(bytes);
                Spelling::Short(len, short)
            }
            _ => Spelling::Long(bytes.into()),
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Spelling::Short(len, bytes) => &bytes[..usize::from(*len)],
            Spelling::Long(bytes) => bytes,
        }
    }
}

impl Dictionary {
    /// Returns the word if any query searches for it.
    #[inline]
    pub(crate) fn find(&self, kind: TermKind, bytes: &[u8]) -> Option<TermId> {
        let hash = hash(kind as u64, bytes);
        let is_it = |id: u32| {
            let term = &self.terms[id as usize];
            term.kind == kind && term.spelling.bytes() == bytes
        };
        self.table.find(hash, is_it).map(TermId)
    }

    /// Returns the word and adds a user.
    pub(crate) fn acquire(&mut self, kind: TermKind, bytes: &[u8]) -> TermId {
        if let Some(known) = self.find(kind, bytes) {
            self.terms[known.0 as usize].n_users += 1;
            return known;
        }
        let hash = hash(kind as u64, bytes);
        let spelling = Spelling::new(bytes);
        let term = Term { spelling, postings: Postings::None, n_users: 1, n_seen: 0, kind };
        let id = match self.free.pop() {
            Some(id) => {
                self.terms[id as usize] = term;
                id
            }
            None => {
                self.terms.push(term);
                (self.terms.len() - 1) as u32
            }
        };
        self.table.insert(hash, id);
        self.n_of_kind[kind as usize] += 1;
        if kind == TermKind::Prefix {
            self.prefixes.resize(WORD_BYTES_MAX + 1, 0);
            self.prefixes[bytes.len().min(WORD_BYTES_MAX)] += 1;
        }
        TermId(id)
    }

    /// Removes a user; the last one removes the word.
    pub(crate) fn release(&mut self, id: TermId) {
        let term = &mut self.terms[id.0 as usize];
        term.n_users -= 1;
        if term.n_users > 0 {
            return;
        }
        term.postings = Postings::None;
        let (kind, len) = (term.kind, term.spelling.bytes().len());
        self.table.remove(hash(kind as u64, term.spelling.bytes()), id.0);
        self.free.push(id.0);
        self.n_of_kind[kind as usize] -= 1;
        if kind == TermKind::Prefix {
            self.prefixes[len.min(WORD_BYTES_MAX)] -= 1;
        }
    }

    pub(crate) fn has(&self, kind: TermKind) -> bool {
        self.n_of_kind[kind as usize] > 0
    }

    /// Returns the lengths of prefixes in bytes, up to `len`.
    pub(crate) fn prefix_lengths(&self, len: usize) -> impl Iterator<Item = usize> {
        let counts = self.prefixes.iter().enumerate().take(len + 1);
        counts.filter(|(_, n)| **n > 0).map(|(len, _)| len)
    }

    #[inline]
    pub(crate) fn postings(&self, id: TermId) -> &[Posting] {
        self.terms[id.0 as usize].postings.as_slice()
    }

    pub(crate) fn add_posting(&mut self, id: TermId, posting: Posting) {
        self.terms[id.0 as usize].postings.push(posting);
    }

    pub(crate) fn remove_posting(&mut self, id: TermId, query: u32) {
        self.terms[id.0 as usize].postings.remove(query);
    }

    pub(crate) fn kind(&self, id: TermId) -> TermKind {
        self.terms[id.0 as usize].kind
    }

    pub(crate) fn spelling(&self, id: TermId) -> &[u8] {
        self.terms[id.0 as usize].spelling.bytes()
    }

    pub(crate) fn n_seen(&self, id: TermId) -> u32 {
        self.terms[id.0 as usize].n_seen
    }

    pub(crate) fn note_seen(&mut self, index: usize, n: u32) {
        if let Some(term) = self.terms.get_mut(index) {
            term.n_seen = term.n_seen.saturating_add(n);
        }
    }

    /// Halves the counts, so that recent entries weigh more.
    pub(crate) fn fade(&mut self) {
        self.terms.iter_mut().for_each(|term| term.n_seen /= 2);
    }

    /// Returns the number of words.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.terms.len() - self.free.len()
    }

    /// Returns one more than the largest number of a word.
    pub(crate) fn bound(&self) -> usize {
        self.terms.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_takes_one_line_of_memory() {
        assert_eq!(size_of::<Term>(), 64);
        assert_eq!(size_of::<Posting>(), 16);
    }

    #[test]
    fn words_come_and_go_with_their_users() {
        let mut dictionary = Dictionary::default();
        let long = [b'x'; 60];
        let a = dictionary.acquire(TermKind::Word, b"ash");
        assert_eq!(dictionary.acquire(TermKind::Word, b"ash"), a);
        let other = dictionary.acquire(TermKind::Prefix, b"ash");
        let third = dictionary.acquire(TermKind::Word, &long);
        assert!(a != other && dictionary.find(TermKind::Word, &long) == Some(third));
        assert_eq!(dictionary.prefix_lengths(64).collect::<Vec<_>>(), [3]);
        assert_eq!(dictionary.prefix_lengths(2).count(), 0);
        dictionary.release(a);
        assert_eq!(dictionary.find(TermKind::Word, b"ash"), Some(a));
        dictionary.release(a);
        dictionary.release(other);
        assert_eq!(dictionary.find(TermKind::Word, b"ash"), None);
        assert!(!dictionary.has(TermKind::Prefix) && dictionary.has(TermKind::Word));
        assert_eq!(dictionary.acquire(TermKind::Tag, b"x"), other, "numbers are used again");
    }
}

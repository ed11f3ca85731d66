//! Limits on what a statement may ask for, each with its reason. The callers check them.

use std::time::Duration;

/// Ten thousand queries of 1 KB fit. Larger sets belong in several files.
pub const FILE_BYTES_MAX: usize = 16 << 20;
/// A thousand sources with long URLs fit.
pub const STATEMENT_BYTES_MAX: usize = 256 << 10;
/// A search is a long sentence at most.
pub const SEARCH_BYTES_MAX: usize = 1000;
/// People nest three or four brackets and `NOT`s. The limit keeps the recursion shallow.
pub const NESTING_MAX: usize = 64;
/// Texts in one condition. The word list of a subject has a few hundred.
pub const TERMS_MAX: usize = 1000;
/// Sources of one query. The list of a newsroom has four hundred.
pub const SOURCES_MAX: usize = 1000;
/// A text in quotes. The longest useful ones are URLs.
pub const TEXT_BYTES_MAX: usize = 8192;
/// Words in a phrase. A longer text is not a phrase.
pub const PHRASE_WORDS_MAX: usize = 32;
/// Bytes of one word after folding. The longest German words are shorter.
pub const WORD_BYTES_MAX: usize = 64;
/// A shorter prefix matches a large part of all words.
pub const PREFIX_LETTERS_MIN: usize = 2;
/// Bytes of an expression as written.
pub const PATTERN_BYTES_MAX: usize = 1000;
/// Bytes of a compiled expression. `(a{1000}){1000}` exceeds it; ordinary ones take a tenth.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 512 << 10;
/// The matcher checks expressions one by one, so a statement may have only a few.
pub const PATTERNS_MAX: usize = 16;
/// The largest distance of `NEAR`. Beyond a paragraph, nearness has no meaning.
pub const NEAR_WORDS_MAX: u16 = 100;
/// The distance of `NEAR` without a number: about a sentence.
pub const NEAR_WORDS_DEFAULT: u16 = 10;
/// The longest `WITHIN` and `WINDOW`: a year, for feeds that publish once a season.
pub const LOOK_BACK_MAX: Duration = Duration::from_secs(366 * 86_400);
/// Entries that one operator of one query remembers at most, for any duration. With titles that is
/// about 1 MB.
pub const REMEMBERED_MAX: usize = 10_000;
/// Receivers of one query.
pub const DELIVERIES_MAX: usize = 16;
/// The longest chain of queries that read each other.
pub const CHAIN_MAX: usize = 32;
/// Faults reported for one file. The rest follow once these are repaired.
pub const FAULTS_MAX: usize = 100;
/// Bytes of one field, markup removed, that the matcher reads. A longer field is a book, and its
/// start shows the subject.
pub const FIELD_BYTES_MAX: usize = 256 << 10;
/// Categories of an entry that the matcher reads.
pub const CATEGORIES_MAX: usize = 500;
/// A rule of a person is a few lines; one with a long list of words fits.
pub const RULE_BYTES_MAX: usize = 16 << 10;
/// Actions of one rule: each kind once, and several labels.
pub const ACTIONS_MAX: usize = 8;
/// Letters of a label. The longest useful ones are a few words.
pub const LABEL_CHARS_MAX: usize = 100;

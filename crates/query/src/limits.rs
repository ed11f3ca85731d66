//! How much a statement may ask for, each limit with its reason. It checks nothing by itself.

use std::time::Duration;

/// Ten thousand queries of a kilobyte fit; more belongs in several files.
pub const FILE_BYTES_MAX: usize = 16 << 20;
/// A thousand sources with long URLs fit.
pub const STATEMENT_BYTES_MAX: usize = 256 << 10;
/// A search as somebody types it: a long sentence, not a page.
pub const SEARCH_BYTES_MAX: usize = 1000;
/// Brackets and `NOT`s inside each other; people write three or four. Keeps recursion shallow.
pub const NESTING_MAX: usize = 64;
/// Texts in one condition; word lists of a subject have some hundred.
pub const TERMS_MAX: usize = 1000;
/// Sources of one query; a newsroom's list has four hundred.
pub const SOURCES_MAX: usize = 1000;
/// A text in quotes. The longest that make sense are URLs.
pub const TEXT_BYTES_MAX: usize = 8192;
/// Words in a phrase; a sentence, not a page.
pub const PHRASE_WORDS_MAX: usize = 32;
/// Letters of one word after folding, in bytes. The longest words of German stay below.
pub const WORD_BYTES_MAX: usize = 64;
/// A prefix shorter than this stands for half of a dictionary.
pub const PREFIX_LETTERS_MIN: usize = 2;
/// An expression as written.
pub const PATTERN_BYTES_MAX: usize = 1000;
/// An expression once compiled: `(a{1000}){1000}` is refused, ordinary ones take a tenth.
pub const PATTERN_COMPILED_BYTES_MAX: usize = 512 << 10;
/// Expressions are checked one by one, so a statement may hold few.
pub const PATTERNS_MAX: usize = 16;
/// How far apart `NEAR` may look; beyond a paragraph nearness means nothing.
pub const NEAR_WORDS_MAX: u16 = 100;
/// How far apart `NEAR` looks when nothing is said: about a sentence.
pub const NEAR_WORDS_DEFAULT: u16 = 10;
/// The longest `WITHIN` and `WINDOW`: a year, for feeds that speak once a season.
pub const REACH_MAX: Duration = Duration::from_secs(366 * 86_400);
/// How many entries one operator of one query remembers at most, whatever its duration says.
/// With titles that is about a megabyte.
pub const REMEMBERED_MAX: usize = 10_000;
/// Receivers of one query.
pub const DELIVERIES_MAX: usize = 16;
/// Queries over queries over queries.
pub const CHAIN_MAX: usize = 32;
/// Faults reported for one file; whoever has more repairs these first.
pub const FAULTS_MAX: usize = 100;
/// Reduced text of one field that is looked at. Longer fields are books; the start of a book says
/// what it is about.
pub const FIELD_BYTES_MAX: usize = 256 << 10;
/// Categories of an entry that are looked at.
pub const CATEGORIES_MAX: usize = 500;

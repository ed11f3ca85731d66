//! Standing queries: the language, the plan, matching many at once, and what they remember.
//!
//! Everything here is pure: time comes with each entry, storage is the caller's, and nothing is
//! fetched, sent or configured. A file is [`parse`]d into statements, the [`Catalog`] says whether
//! they fit what exists, the [`Matcher`] holds all queries and says for each entry which of them
//! keep it, with the [`States`] of those that remember.
//!
//! ```
//! use feed::{EntryId, FeedId, Time};
//! use query::{Entry, Matcher, QueryId, Scratch, Statement, States};
//!
//! let file = r#"
//!     CREATE FEED IcelandVolcano AS
//!     RETURN "http://feeds.guardian.co.uk/theguardian/rss"
//!     WHERE ITEM CONTAINS "iceland" OR "volcano" OR "eruption""#;
//! let statements = query::parse(file).unwrap();
//! let Statement::Create(create) = &statements[0] else { unreachable!() };
//!
//! let mut matcher = Matcher::new();
//! matcher.insert(QueryId(1), &create.name.text, &create.query);
//!
//! let url = "http://feeds.guardian.co.uk/theguardian/rss";
//! let mut entry = Entry::bare(EntryId(7), FeedId(1), url, Time::from_secs(1_271_203_200));
//! entry.title = Some("Ash from Eyjafjallajökull: Volcano grounds flights");
//! let (mut states, mut scratch) = (States::default(), Scratch::new());
//! let matches = matcher.matches(&entry, &mut states, &mut scratch);
//! assert_eq!(matches[0].query, QueryId(1));
//! ```
//!
//! # Layout
//! - `lexer`, `parser`, `ast`, `show`: text to statements and back, faults with their place.
//! - `mask`: a statement without the secrets of its addresses.
//! - `text`: what a word is; folding, markup, links, likeness of titles.
//! - `catalog`: names, who reads whom, cycles.
//! - `matcher`: dictionary, shared conditions, anchors, one pass over an entry, plans in words.
//! - `state`: what operators remember, as records that can be stored.
//! - `search`: what people type to find stored entries, and the words an index is filled with.
//! - `tally`, `trial`: the share of entries that is kept; a query against stored entries.

mod entry;
mod hash;
mod language;
pub mod limits;
mod matcher;
mod query_id;
mod search;
mod state;
mod tally;
mod text;
mod trial;

pub use entry::Entry;
pub use language::ast::{
    Access, Comparison, Condition, Count, Create, Date, Deliver, Distinct, Drop, Field, Join,
    Likeness, LookBack, Query, QueryName, QuerySource, Statement, Test,
};
pub use language::{Catalog, Effect, Fault, Position, RegexPattern, masked, meant_name, parse};
pub use matcher::{Match, Matcher, Scratch};
pub use query_id::QueryId;
pub use search::{Search, index_words};
pub use state::{MemoryChange, States};
pub use tally::Tally;
pub use text::{Phrase, PhraseWord};
pub use trial::{Trial, TrialResult};

//! Standing queries: the language, compiling, matching many queries at once, and their state.
//!
//! Everything here is pure. Time comes with each entry, the caller stores the state, and nothing is
//! fetched, sent or configured. [`parse`] reads a file into statements. The [`Catalog`] checks them
//! against the queries that exist. The [`Matcher`] holds all queries and returns, for each entry,
//! the queries that keep it. [`States`] holds what operators such as `JOIN` remember.
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
//! - `language`: text to statements and rules and back, faults with their position, the catalog
//!   of names.
//! - `text`: folding, words, markup, links, similarity of titles.
//! - `matcher`: dictionary, shared conditions, anchors, one pass over an entry, query plans.
//! - `state`: what operators remember, as records that the caller can store.
//! - `search`: the language of the search field, and the words of a full-text index.
//! - `tally`, `trial`: the share of entries that is kept; a dry run over stored entries.

mod entry;
mod hash;
mod language;
pub mod limits;
mod matcher;
mod query_id;
mod receiver;
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
pub use language::{
    Catalog, Effect, Fault, Position, RegexPattern, Rule, RuleAction, label_name, masked,
    meant_name, parse, parse_create, parse_rule, rule_text,
};
pub use matcher::{Match, Matcher, Scratch};
pub use query_id::QueryId;
pub use receiver::masked_receiver;
pub use search::{Search, index_words};
pub use state::{MemoryChange, States};
pub use tally::Tally;
pub use text::{Phrase, PhraseWord};
pub use trial::{Trial, TrialResult};

//! The vocabulary of Tidings: feed, item, entry, window and observation, and the rule by which an
//! entry is recognised again.
//!
//! This crate does no I/O, reads no clock and knows neither XML, SQL nor JSON. It consists of
//! values and functions of values.

mod address;
mod article_mode;
mod comparison;
mod entry;
mod entry_key;
mod fetch_settings;
mod identity;
mod media;
mod origin;
mod poll;
mod repair;
mod search_expression;
mod story;
mod time;
mod window;

pub use address::{
    AddressError, Domain, FeedUrl, INDEXED_ADDRESS_MAX, mask_address, mask_secrets, mask_text,
};
pub use article_mode::ArticleMode;
pub use comparison::{Known, Observed, Sighting, WindowComparison};
pub use entry::{Enclosure, EntryId, FeedId, Item, QueryId, Source};
pub use entry_key::{EntryKey, IDENTITY_RULE};
pub use fetch_settings::{FetchSetting, FetchSettingError, RequestSettings, origin_text};
pub use identity::{KeyedItem, content_hash, identify, identify_again};
pub use media::{Chapter, ItemMedia, Thumbnail, Transcript};
pub use origin::{origin, original_keys, passed_on, public_id, public_link, public_source};
pub use poll::{
    Cause, ERROR_BYTES_MAX, ExchangeFacts, Hints, HttpVersion, Links, Observation, Outcome,
    RawAnswer, RetryAfter, Trouble, Validators,
};
pub use repair::{DocumentDates, Published, late, repair};
pub use search_expression::{SearchColumn, SearchExpression, SearchPhrase, split_words};
pub use story::{STORY_SPAN, StoryKeys, TitleWords, page_key, site_of};
pub use time::{Time, TimeError};
pub use window::{Window, WindowEntry, WindowError};

/// Returns whether a text can name a machine or a region: a word that is safe in subjects, rows and
/// log lines.
pub fn is_machine_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&text.len()) && text.chars().all(is_plain)
}

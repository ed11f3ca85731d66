//! The vocabulary of Tidings: feed, item, entry, window and observation, and the rule by which an
//! entry is recognised again.
//!
//! This crate does no I/O, reads no clock and knows neither XML, SQL nor JSON. It consists of
//! values and functions of values.

mod address;
mod comparison;
mod entry;
mod entry_key;
mod identity;
mod origin;
mod poll;
mod repair;
mod time;
mod window;

pub use address::{AddressError, Domain, FeedUrl, mask_address, mask_secrets, mask_text};
pub use comparison::{Known, Observed, Sighting, WindowComparison};
pub use entry::{Enclosure, EntryId, FeedId, Item, QueryId, Source};
pub use entry_key::EntryKey;
pub use identity::{KeyedItem, content_hash, identify};
pub use origin::{origin, original_keys, passed_on, public_id, public_link, public_source};
pub use poll::{
    Cause, ExchangeFacts, Hints, HttpVersion, Links, Observation, Outcome, RetryAfter, Trouble,
    Validators,
};
pub use repair::{DocumentDates, Published, late, repair};
pub use time::{Time, TimeError};
pub use window::{Window, WindowEntry, WindowError};

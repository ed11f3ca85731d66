//! The vocabulary of Tidings: what a feed, an item, an entry, a window and an
//! observation are, and how an entry is recognised again.
//!
//! This crate does no I/O, reads no clock and knows neither XML, SQL nor JSON.
//! Everything here is a value or a function of values.

mod address;
mod cause;
mod comparison;
mod entry;
mod entry_key;
mod exchange;
mod hints;
mod identity;
mod observation;
mod origin;
mod repair;
mod secrets;
mod time;
mod trouble;
mod window;

pub use address::{AddressError, Domain, FeedUrl};
pub use cause::Cause;
pub use comparison::{Known, Observed, Sighting, WindowComparison};
pub use entry::{Enclosure, EntryId, FeedId, Item, QueryId, Source};
pub use entry_key::EntryKey;
pub use exchange::{ExchangeFacts, HttpVersion, Links, RetryAfter, Validators};
pub use hints::Hints;
pub use identity::{KeyedItem, content_hash, identify};
pub use observation::{Observation, Outcome};
pub use origin::{origin, original_keys, passed_on, public_id, public_link, public_source};
pub use repair::{DocumentDates, Published, late, repair};
pub use secrets::{mask_secrets, mask_text};
pub use time::{Time, TimeError};
pub use trouble::Trouble;
pub use window::{Window, WindowEntry, WindowError};

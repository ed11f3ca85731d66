//! What was seen and learned, kept: feeds, entries, polls and the state of the schedule.
//!
//! One noun, one file; SQL by hand in the subset that SQLite and PostgreSQL share; one
//! transaction per public function. It takes no decision: what is recorded was decided by the
//! caller, and the order of the stream is the order of recording.

mod accounts;
mod backup;
mod choices;
mod columns;
mod connection;
mod counts;
mod cursor;
mod deliveries;
mod domains;
mod entries;
mod error;
mod feed_rows;
mod feeds;
mod figures;
mod history;
mod hub;
mod identity;
mod integrity;
mod keeping;
mod kept;
mod lock;
mod marks;
mod matching;
mod migrations;
mod names;
mod origins;
mod overview;
mod page;
mod polls;
mod provenance;
mod push;
mod push_inbox;
mod queries;
mod query_entries;
mod readers;
mod reading;
mod record;
mod relevant;
mod replan;
mod replay;
mod requests;
mod retention;
mod schedule;
mod schema;
mod search;
mod settings;
mod sift;
mod standing;
mod store;
mod tag_numbers;
mod undo;
mod writer;

pub use accounts::{AccountId, AccountRow, Digest, NewToken, NotMade, TokenRow, TokenScope};
pub use backup::{Copied, backup, restore};
pub use counts::Counts;
pub use cursor::{Cursor, NoCursor};
pub use deliveries::{DeadLetter, DeliveryId, DeliveryRow, DueDelivery};
pub use domains::Pace;
pub use entries::{EntryFilter, EntryRow, PAGE_BYTES_MAX, RevisionRow, StreamPage, is_full};
pub use error::{ErrorKind, StoreError};
pub use feed_rows::{FeedFilter, FeedRow, State};
pub use feeds::{Added, NewFeed};
pub use figures::{Distribution, Figures, Histogram};
pub use history::EntryTimes;
pub use hub::{HubRow, HubWish, HubWishKind};
pub use integrity::Finding;
pub use lock::{Held, Lock, lock};
pub use marks::ReadMarks;
pub use matching::{Arrival, Keeps, Kept, QueryId, Share, StateChange};
pub use names::FeedName;
pub use overview::{DelayDay, DomainLoad};
pub use page::{FeedLine, FeedPage, FeedQuery, Order, StateCounts};
pub use polls::{PollDay, PollRow};
pub use push::{PushCandidate, PushDue, PushRow, PushTrust};
pub use push_inbox::{HubAsks, PushNote, PushParcel, PushTaken};
pub use queries::{NewQuery, QUERY_TAG, QueriesChanged, QueryChange, QueryRow};
pub use query_entries::{QueryEntry, QueryPage};
pub use reading::{ReadEntry, Reading, ReadingPlace, Scope};
pub use record::{
    BodyHash, Edited, FeedFacts, Gone, Moved, NewEntry, PollRecord, Recorded, Validators,
};
pub use relevant::{Decision, WindowRelevance};
pub use replan::{FeedOutlook, Outlook, Replan};
pub use requests::{Answer, Request, RequestId};
pub use retention::{FeedRetention, KEYS_AGE_MIN, Retained, Retention};
pub use schedule::{Due, DueIndex, PollInput};
pub use search::SearchWords;
pub use settings::{FeedSettings, Settings, TagRow};
pub use standing::{Failing, Standing};
pub use store::{Mode, Store};
pub use tag_numbers::NumberedTag;
pub use undo::UNDO_LASTS;

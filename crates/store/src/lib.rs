//! The store: feeds, entries, polls, queries, accounts and the schedule, in one SQLite database.
//!
//! Each public function is one transaction. The SQL uses the subset that SQLite and PostgreSQL
//! share. The store takes no decisions: the caller decides what is recorded. The order of the
//! stream is the order of recording.

mod db;
mod error;
mod feeds;
mod matching;
mod people;
mod push;
mod queries;
mod reading;
mod record;
mod report;
mod schedule;
mod search;
mod store;

pub use db::backup::{Copied, backup, restore};
pub use db::integrity::Finding;
pub use db::lock::{Held, Lock, lock};
pub use db::metrics::{Distribution, Figures, Histogram};
pub use error::{ErrorKind, StoreError};
pub use feeds::address::MovedFeed;
pub use feeds::change::{Added, NewFeed};
pub use feeds::domains::Pace;
pub use feeds::list::{FeedLine, FeedPage, FeedQuery};
pub use feeds::list_order::{FeedCursor, Order};
pub use feeds::names::FeedName;
pub use feeds::parts::{FeedLocation, FeedSchedule, PollHistory};
pub use feeds::rows::{FeedFilter, FeedRow};
pub use feeds::settings::{FeedSettings, Settings, TagRow};
pub use feeds::state::{State, StateCounts};
pub use feeds::tag_feeds::TagFeeds;
pub use feeds::tag_numbers::NumberedTag;
pub use matching::{Arrival, Keeps, Kept, QueryId, Share, StateChange};
pub use people::accounts::{
    AccountId, AccountRow, Digest, NewToken, NotMade, TokenRow, TokenScope,
};
pub use people::requests::{Answer, Request, RequestId};
pub use push::hub::{HubDue, HubRow, HubWish, HubWishKind, WISH_LIFE, WishNoted};
pub use push::inbox::{HubAsks, PushParcel, PushTaken, PushTrustChange};
pub use push::subscriptions::{PushCandidate, PushDue, PushRow, PushTrust};
pub use queries::change::{NewQuery, QUERY_TAG, QueriesChanged, QueryChange, QueryRow};
pub use queries::deliveries::{DeadLetter, DeliveryId, DeliveryRow, DueDelivery};
pub use queries::entries::{QueryEntry, QueryPage};
pub use reading::cursor::{Cursor, NoCursor};
pub use reading::entries::{
    EntryFilter, EntryRow, PAGE_BYTES_MAX, RevisionRow, StreamPage, is_full,
};
pub use reading::history::EntryTimes;
pub use reading::list::{ReadEntry, Reading, ReadingPlace, Scope};
pub use reading::marks::ReadMarks;
pub use reading::undo::UNDO_LASTS;
pub use record::decision::WindowRelevance;
pub use record::poll_history::{PollDay, PollRow};
pub use record::poll_record::{
    BodyHash, Decision, DocumentRecord, EditedEntry, EntryChanges, ExchangeRecord, FeedFacts, Gone,
    LocationChange, Moved, NewEntry, NextPoll, NextPollReason, ObservedWindow, PollContent,
    PollProblem, PollRecord, PushRecord, Recorded, Validators,
};
pub use record::retention::{FeedRetention, KEYS_AGE_MIN, Retained, Retention};
pub use report::counts::Counts;
pub use report::overview::{DelayDay, DomainLoad};
pub use report::status::{Failing, Standing};
pub use schedule::due::{Due, DueIndex, KnownDocument, LayeredSettings, PollInput, PushInput};
pub use schedule::replan::{FeedOutlook, Outlook, Replan};
pub use search::SearchWords;
pub use store::{Mode, Store};

//! The store: feeds, entries, polls, queries, accounts and the schedule, in one SQLite database.
//!
//! Each public function is one transaction. The SQL uses the subset that SQLite and PostgreSQL
//! share. The store takes no decisions: the caller decides what is recorded. The order of the
//! stream is the order of recording.

mod db;
mod error;
mod feeds;
mod matching;
mod migrate;
mod people;
mod push;
mod queries;
mod reading;
mod record;
mod report;
mod schedule;
mod search;
mod store;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use db::backup::{BackupSummary, backup, restore};
pub use db::integrity::Finding;
pub use db::location::Location;
pub use db::lock::{Lock, LockError, lock};
pub use db::metrics::{Distribution, DurationHistogram, StoreMetrics};
pub use db::open_mode::OpenMode;
pub use db::postgres::seat::SeatRow;
pub use db::postgres::{DatabaseAddressError, PgAddress};
pub use db::transfer::{
    MigratedTable, MigrationError, MigrationPhase, MigrationProgress, MigrationSummary,
};
pub use error::{ErrorKind, StoreError};
pub use feed::QueryId;
pub use feeds::address::AddressChange;
pub use feeds::change::{AddFeedResult, NewFeed};
pub use feeds::domains::StoredPace;
pub use feeds::list::{FeedListFilter, FeedListPage, FeedListRow};
pub use feeds::list_order::{FeedCursor, FeedOrder};
pub use feeds::names::FeedName;
pub use feeds::parts::{
    FeedFacts, FeedLocation, Gone, NextPollReason, PendingRedirect, PollHistory, PollProblem,
    StoredSchedule,
};
pub use feeds::rows::{FeedFilter, FeedRow};
pub use feeds::settings::{Settings, SettingsChange, TagRow};
pub use feeds::state::{FeedState, StateCounts};
pub use feeds::tag_feeds::TagFeeds;
pub use feeds::tag_numbers::NumberedTag;
pub use matching::{ArrivedEntry, EntryMatcher, QueryMatch, QueryStateChange, RelevantShare};
pub use migrate::migrate;
pub use people::accounts::{
    AccountError, AccountId, AccountRow, Digest, NewToken, TokenRow, TokenScope,
};
pub use people::requests::{CommandAnswer, CommandRequest, RequestId};
pub use push::clouds::{CLOUD_LEASE, CloudCandidate, CloudDue, CloudRow};
pub use push::hub::{
    DueSubscriber, HUB_REQUEST_LIFE, HubSubscription, SubscriberProtocol, SubscriberRequest,
    SubscriberRequestKind, SubscriberRequestOutcome,
};
pub use push::inbox::{HubVerification, InboxPush, PushReceipt, PushTrustChange};
pub use push::subscriptions::{PushCandidate, PushDue, PushRow, PushTrust};
pub use queries::change::{NewQuery, QUERY_TAG, QueriesChanged, QueryChange, QueryRow};
pub use queries::deliveries::{DeadLetter, DeliveryId, DeliveryRow, DueDelivery};
pub use queries::entries::{QueryEntry, QueryPage};
pub use reading::cursor::{InvalidCursor, StreamCursor};
pub use reading::entries::{
    EntryFilter, EntryRow, PAGE_BYTES_MAX, RevisionRow, StreamPage, is_full,
};
pub use reading::history::EntryTimes;
pub use reading::list::{ReadEntry, ReadingFilter, ReadingPosition, Scope};
pub use reading::marks::ReadMarks;
pub use reading::undo::UNDO_LASTS;
pub use record::decision::WindowRelevance;
pub use record::poll_history::{PollDay, PollRow};
pub use record::poll_record::{
    BodyHash, Decision, DocumentRecord, EditedEntry, EntryChanges, ExchangeRecord, LocationChange,
    NewEntry, NextPoll, ObservedWindow, PollContent, PollRecord, PushRecord, RecordResult,
    StoredValidators,
};
pub use record::retention::{FeedRetention, KEYS_AGE_MIN, Retention, RetentionResult};
pub use report::counts::Counts;
pub use report::overview::{DelayDay, DomainLoad};
pub use report::status::{FailingFeeds, InstanceStatus};
pub use schedule::due::{
    DueIndex, FeedDueTime, KnownDocument, LayeredSettings, PollInput, PushInput,
};
pub use schedule::replan::{ExpectedPoll, ExpectedPolls, Replan};
pub use search::SearchWords;
pub use store::Store;

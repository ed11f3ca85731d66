//! The store: feeds, entries, polls, queries, accounts and the schedule, in one SQLite or
//! PostgreSQL database.
//!
//! Each public function is one transaction. The SQL uses the subset that SQLite and PostgreSQL
//! share. The store takes no decisions: the caller decides what is recorded. The order of the
//! stream is the order of recording.

mod account_id;
mod articles;
mod bulk;
mod db;
mod error;
mod facts;
mod feeds;
mod icons;
mod matching;
mod migrate;
mod people;
mod poll_row;
mod push;
mod queries;
mod reading;
mod record;
mod recording;
mod report;
mod rules;
mod schedule;
mod search;
mod secrets;
mod statistics;
mod store;
mod subscriptions;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use account_id::AccountId;
pub use articles::{
    ArticleAttempt, ArticleFailure, ArticleRecord, ArticleRequest, ArticleRow, ArticleState,
    ArticleText, ArticleTry, KnownArticle, LateDecisions, NewArticle, PostponedArticle, RobotsRow,
    WaitingArticle,
};
pub use bulk::journal::{BULK_UNDO_LASTS, BulkRow};
pub use bulk::selection::{FEEDS_AT_ONCE_MAX, FeedSelection};
pub use bulk::{BulkDone, BulkScope, FeedsChange};
pub use db::backup::{BackupSummary, backup, restore};
pub use db::integrity::Finding;
pub use db::location::Location;
pub use db::lock::{Lock, LockError, lock};
pub use db::metrics::{Distribution, DurationHistogram, StoreMetrics};
pub use db::open_mode::OpenMode;
pub use db::postgres::inspect::ServerReport;
pub use db::postgres::seat::{SeatRow, host_name};
pub use db::postgres::signals::{Signal, SignalReceiver};
pub use db::postgres::{DatabaseAddressError, PgAddress};
pub use db::transfer::{
    MigratedTable, MigrationError, MigrationPhase, MigrationProgress, MigrationSummary,
};
pub use error::{ErrorKind, StoreError};
pub use facts::languages::LanguageCount;
pub use facts::{CategoryOrigin, EntryCategory, EntryFacts, EntryLanguage, LanguageOrigin};
pub use feed::QueryId;
pub use feeds::address::AddressChange;
pub use feeds::change::{AddFeedResult, NewFeed};
pub use feeds::domains::StoredPace;
pub use feeds::fetch_settings::FetchSettingRow;
pub use feeds::list::{FeedListFilter, FeedListPage, FeedListRow};
pub use feeds::list_order::{FeedCursor, FeedOrder};
pub use feeds::names::FeedName;
pub use feeds::parts::{
    FeedFacts, FeedLocation, Gone, NextPollReason, PendingRedirect, PollHistory, PollProblem,
    StoredSchedule,
};
pub use feeds::rows::{FeedFilter, FeedRow};
pub use feeds::settings::{ArticleSettings, Settings, SettingsChange, TagRow};
pub use feeds::state::{FeedState, StateCounts};
pub use feeds::tag_feeds::TagFeeds;
pub use icons::{IconDue, IconLook, IconRecord, IconRow, IconlessFeed};
pub use matching::{
    ArrivedArticle, ArrivedEntry, EntryMatcher, QueryMatch, QueryScope, QueryStateChange,
    RelevantShare, private_owner,
};
pub use migrate::migrate;
pub use people::account_list::{AccountListFilter, AccountListPage};
pub use people::accounts::{
    AccountError, AccountRole, AccountRow, Digest, NO_PASSWORD, NewToken, TokenRow, TokenScope,
};
pub use people::identities::Identity;
pub use people::machines::{
    BeatAnswer, MACHINE_BEAT_EVERY, MACHINE_SILENCE_MAX, MachineBeat, MachineList, MachineRole,
    MachineRow, MachineState, MachineWish,
};
pub use people::positions::PlaybackPosition;
pub use people::requests::{CommandAnswer, CommandRequest, RequestId};
pub use people::seat::SeatWaiter;
pub use people::sessions::{SessionNumber, SessionOrigin, SessionRow};
pub use people::share_targets::{ShareKind, ShareTarget};
pub use poll_row::PollRow;
pub use push::clouds::{CLOUD_LEASE, CloudCandidate, CloudDue, CloudRow};
pub use push::hub::{
    DueSubscriber, HUB_REQUEST_LIFE, HubSubscription, SubscriberProtocol, SubscriberRequest,
    SubscriberRequestKind, SubscriberRequestOutcome,
};
pub use push::inbox::{HubVerification, InboxPush, PushReceipt, PushTrustChange};
pub use push::subscriptions::{PushCandidate, PushDue, PushRow, PushTrust};
pub use queries::change::{NewQuery, QUERY_TAG, QueriesChanged, QueryChange, QueryRow};
pub use queries::deliveries::{DeadLetter, DeliveryId, DeliveryRow, DueDelivery};
pub use queries::entries::{QueryEntry, QueryPage, RecentMatches};
pub use reading::cursor::{InvalidCursor, StreamCursor};
pub use reading::entries::{
    EntryFilter, EntryRow, PAGE_BYTES_MAX, RevisionRow, StreamPage, is_full,
};
pub use reading::hidden::HiddenMarks;
pub use reading::history::EntryTimes;
pub use reading::labels::{LabelId, LabelRow, LabelledEntry};
pub use reading::list::{ReadEntry, ReadingFilter, ReadingPosition, Scope};
pub use reading::marks::ReadMarks;
pub use reading::moving_in::{AppliedMarks, PendingMark, WaitingMarks};
pub use reading::stories::find::{StoryCandidate, StoryRecord};
pub use reading::stories::fold::{FoldedEntry, FoldedPage};
pub use reading::stories::linked::LinkedSite;
pub use reading::stories::together::STORIES_CHOICE;
pub use reading::undo::UNDO_LASTS;
pub use record::decision::WindowRelevance;
pub use record::grants::{GrantRow, OpenGrantRow};
pub use record::poll_history::PollDay;
pub use record::poll_record::{
    BodyHash, Decision, DocumentRecord, EditedEntry, EntryChanges, ExchangeRecord, LocationChange,
    NewEntry, NextPoll, ObservedWindow, PollContent, PollRecord, PushRecord, RecordResult,
    StoredValidators,
};
pub use record::retention::{FeedRetention, KEYS_AGE_MIN, Retention, RetentionResult};
pub use recording::listing::DocumentVersionRow;
pub use recording::period::{NewRecording, RecordingRow};
pub use recording::reading::{DocumentVersion, PollMessages, RecordedEntryRow, RecordedPollRow};
pub use recording::write::RecordedAnswer;
pub use report::counts::Counts;
pub use report::overview::{DelayDay, DomainLoad};
pub use report::status::{FailingFeeds, InstanceStatus};
pub use rules::acting::{RuleAct, RuleEffect, RuleStep};
pub use rules::audience::FeedAudience;
pub use rules::change::{ChangedRules, NewRule, RuleError, RuleId, RuleRow};
pub use rules::devices::{NewPushDevice, PushDeviceId, PushDeviceRow};
pub use rules::notifications::{NOTIFICATION_LIFE, NotificationRow};
pub use schedule::due::{
    DueIndex, FeedDueTime, FeedPlace, KnownDocument, LayeredSettings, PollInput, PushInput,
};
pub use schedule::replan::{ExpectedPoll, ExpectedPolls, Replan};
pub use search::SearchWords;
pub use secrets::{KeyFile, SecretError, SecretKey};
pub use statistics::counted::COUNTED_CHOICE;
pub use statistics::neighbours::{FeedNeighbour, FeedNeighbours};
pub use statistics::person::{ENTRIES_COUNTED_MAX, OpenedCounts};
pub use statistics::popularity::{FeedPopularity, InstanceFigures, PopularityOrder};
pub use statistics::sites::{SiteCandidate, SiteFeed, SiteLinks};
pub use store::Store;
pub use subscriptions::account_tags::NumberedTag;
pub use subscriptions::rows::SubscriptionRow;
pub use subscriptions::scope::ReadFeeds;

//! Changes of many feeds at once, and of the names and the order of tags. Each is one transaction
//! and can be undone for a while. The undo is exact: it restores everything that the change has
//! touched, and nothing else.
//!
//! Statements take whole lists, so that 20,000 feeds cost PostgreSQL few round trips. Nothing here
//! decides who may change what.

mod instance_tags;
pub(crate) mod journal;
mod leaving;
mod own_tags;
pub(crate) mod selection;
mod settings;
mod tag_order;

use feed::{FeedId, Time};
use serde::{Deserialize, Serialize};

use crate::db::sql::Connection;
use crate::error::DbError;
use crate::{AccountId, FeedSelection, Store, StoreError};

/// The account that changes feeds, and the account whose feeds these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BulkScope {
    /// The account that makes the change and may undo it.
    pub actor: AccountId,
    /// The account whose subscriptions and tags are meant. Account 0 stands for the instance, or
    /// for the person at a machine without accounts.
    pub owner: AccountId,
}

/// A change of many feeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedsChange {
    /// Removes some tags, then adds others.
    Tag { add: Vec<String>, remove: Vec<String> },
    /// Ends the subscriptions. For account 0 the feeds are kept for queries and accounts only.
    Unsubscribe,
    /// Changes settings of the feeds themselves. `Some(None)` removes the policy of a feed.
    Set { policy: Option<Option<String>>, paused: Option<bool> },
}

/// The result of a change, or of its undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkDone {
    /// The number under which it can be undone; `None` if it changed nothing.
    pub number: Option<i64>,
    pub n_feeds: usize,
    /// Feeds whose settings or pause may have changed. Their next polls must be decided again.
    pub touched: Vec<FeedId>,
}

/// How everything was before a change.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum BulkBefore {
    OwnTags(own_tags::OwnTagsBefore),
    OwnTag(own_tags::OwnTagBefore),
    InstanceTags(instance_tags::InstanceTagsBefore),
    InstanceTag(instance_tags::InstanceTagBefore),
    Subscriptions(leaving::SubscriptionsBefore),
    Ownership(leaving::OwnershipBefore),
    Settings(settings::ManySettingsBefore),
    Order(tag_order::OrderBefore),
}

impl BulkBefore {
    /// Returns whether it is a change of the instance, which only administrators make and undo.
    fn is_of_instance(&self) -> bool {
        match self {
            BulkBefore::OwnTags(_) | BulkBefore::OwnTag(_) | BulkBefore::Subscriptions(_) => false,
            BulkBefore::InstanceTags(_)
            | BulkBefore::InstanceTag(_)
            | BulkBefore::Ownership(_)
            | BulkBefore::Settings(_) => true,
            BulkBefore::Order(before) => before.is_of_instance(),
        }
    }

    /// Restores everything. Returns the feeds whose next polls must be decided again.
    fn restore(&self, conn: &Connection) -> Result<Vec<FeedId>, DbError> {
        match self {
            BulkBefore::OwnTags(before) => before.restore(conn).map(|()| Vec::new()),
            BulkBefore::OwnTag(before) => before.restore(conn).map(|()| Vec::new()),
            BulkBefore::InstanceTags(before) => before.restore(conn),
            BulkBefore::InstanceTag(before) => before.restore(conn),
            BulkBefore::Subscriptions(before) => before.restore(conn),
            BulkBefore::Ownership(before) => before.restore(conn),
            BulkBefore::Settings(before) => before.restore(conn),
            BulkBefore::Order(before) => before.restore(conn).map(|()| Vec::new()),
        }
    }
}

impl Store {
    /// Changes the selected feeds, all or none. `what` describes the change of so many feeds.
    pub fn change_feeds(
        &self,
        scope: BulkScope,
        selection: &FeedSelection,
        change: &FeedsChange,
        what: impl FnOnce(usize) -> String + Send + 'static,
        now: Time,
    ) -> Result<BulkDone, StoreError> {
        let (selection, change) = (selection.clone(), change.clone());
        self.write(move |conn| {
            let feeds = selection.feeds(conn, scope.owner)?;
            if feeds.is_empty() {
                return Ok(BulkDone::default());
            }
            let (before, touched) = apply(conn, scope.owner, &feeds, &change, now)?;
            let n_feeds = feeds.len();
            let number = journal::keep(conn, scope.actor, &what(n_feeds), n_feeds, &before, now)?;
            Ok(BulkDone { number: Some(number), n_feeds, touched })
        })
    }

    /// Renames a tag, or removes it from all feeds. If the new name is in use, the two tags become
    /// one. Nothing happens if the tag does not exist.
    pub fn rename_tag_undoably(
        &self,
        scope: BulkScope,
        tag: &str,
        to: Option<&str>,
        what: impl FnOnce(usize) -> String + Send + 'static,
        now: Time,
    ) -> Result<BulkDone, StoreError> {
        let (tag, to) = (tag.to_owned(), to.map(str::to_owned));
        self.write(move |conn| {
            let renamed = match scope.owner {
                AccountId::LOCAL => instance_tags::rename(conn, &tag, to.as_deref())?,
                account => own_tags::rename(conn, account, &tag, to.as_deref())?,
            };
            let Some((before, n_feeds, touched)) = renamed else {
                return Ok(BulkDone::default());
            };
            let number = journal::keep(conn, scope.actor, &what(n_feeds), n_feeds, &before, now)?;
            Ok(BulkDone { number: Some(number), n_feeds, touched })
        })
    }

    /// Sets the order of tags. Tags that are not named follow in the present order.
    pub fn order_tags(
        &self,
        scope: BulkScope,
        tags: &[String],
        what: &str,
        now: Time,
    ) -> Result<BulkDone, StoreError> {
        let (tags, what) = (tags.to_vec(), what.to_owned());
        self.write(move |conn| {
            let before = BulkBefore::Order(tag_order::order(conn, scope.owner, &tags)?);
            let number = journal::keep(conn, scope.actor, &what, 0, &before, now)?;
            Ok(BulkDone { number: Some(number), ..BulkDone::default() })
        })
    }
}

fn apply(
    conn: &Connection,
    owner: AccountId,
    feeds: &[FeedId],
    change: &FeedsChange,
    now: Time,
) -> Result<(BulkBefore, Vec<FeedId>), DbError> {
    Ok(match (change, owner) {
        (FeedsChange::Tag { add, remove }, AccountId::LOCAL) => {
            let before = instance_tags::tag(conn, feeds, add, remove)?;
            (BulkBefore::InstanceTags(before), feeds.to_vec())
        }
        (FeedsChange::Tag { add, remove }, account) => {
            let before = own_tags::tag(conn, account, feeds, add, remove)?;
            (BulkBefore::OwnTags(before), Vec::new())
        }
        (FeedsChange::Unsubscribe, AccountId::LOCAL) => {
            let (before, rested) = leaving::give_up(conn, feeds, now)?;
            (BulkBefore::Ownership(before), rested)
        }
        (FeedsChange::Unsubscribe, account) => {
            let (before, rested) = leaving::unsubscribe(conn, account, feeds, now)?;
            (BulkBefore::Subscriptions(before), rested)
        }
        (FeedsChange::Set { policy, paused }, _) => {
            let before = settings::set(conn, feeds, policy.as_ref(), *paused)?;
            (BulkBefore::Settings(before), feeds.to_vec())
        }
    })
}

/// Writes numbers of feeds as a JSON array, for a statement that takes a list.
fn json_list(feeds: &[FeedId]) -> String {
    let numbers: Vec<String> = feeds.iter().map(|feed| feed.0.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

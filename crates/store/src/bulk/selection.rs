//! The feeds that a change concerns: a list, or all that match a search.

use feed::FeedId;

use crate::db::sql::{Connection, Value};
use crate::error::DbError;
use crate::feeds::{list, rows};
use crate::{AccountId, FeedState, StoreError};

/// The most feeds that one change concerns. A transaction with so many takes a second or two, and
/// polls wait for it.
pub const FEEDS_AT_ONCE_MAX: usize = 20_000;

/// Some feeds of an account, or of the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedSelection {
    /// Exactly these.
    Feeds(Vec<FeedId>),
    /// All with a text in their title, address or tags, with a tag, and in a state.
    Matching { text: String, tag: Option<String>, state: Option<FeedState> },
}

impl FeedSelection {
    /// Returns the feeds, by number. A feed that the account does not read is an error.
    pub(super) fn feeds(
        &self,
        conn: &Connection,
        account: AccountId,
    ) -> Result<Vec<FeedId>, DbError> {
        let mut feeds = match self {
            FeedSelection::Feeds(feeds) => feeds.clone(),
            FeedSelection::Matching { text, tag, state } => {
                let most = FEEDS_AT_ONCE_MAX + 1;
                list::all_matching(conn, account, text, tag.as_deref(), *state, most)?
            }
        };
        feeds.sort_unstable();
        feeds.dedup();
        if feeds.len() > FEEDS_AT_ONCE_MAX {
            return Err(StoreError::TooManyFeeds { most: FEEDS_AT_ONCE_MAX }.into());
        }
        let (sql, others) = match account {
            AccountId::LOCAL => ("select id from feeds where id = $1", Vec::new()),
            account => (
                "select feed from subscriptions where feed = $1 and account = $2",
                vec![Value::Int(account.0)],
            ),
        };
        let mut statement = conn.prepare_cached(sql)?;
        let found =
            statement.each(&rows::keys(&feeds), &others, |_, row| row.get(0).map(FeedId))?;
        match feeds.iter().zip(&found).find(|(wanted, found)| wanted != found) {
            Some((missing, _)) => Err(StoreError::NoFeed(*missing).into()),
            None if found.len() < feeds.len() => Err(StoreError::NoFeed(feeds[found.len()]).into()),
            None => Ok(feeds),
        }
    }
}

//! The services to which a person sends entries. The caller checks templates; nothing is sent here.

use crate::db::columns::count;
use crate::db::dialect::{self, LockSubject};
use crate::db::sql::params;
use crate::{AccountId, Store, StoreError};

/// More services than anybody uses.
const TARGETS_MAX: u64 = 30;

/// The way in which an entry gets to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareKind {
    /// The browser opens a link.
    Link,
    /// This program posts the entry.
    Webhook,
}

impl ShareKind {
    pub const fn word(self) -> &'static str {
        match self {
            ShareKind::Link => "link",
            ShareKind::Webhook => "webhook",
        }
    }

    pub fn from_word(word: &str) -> Option<ShareKind> {
        [ShareKind::Link, ShareKind::Webhook].into_iter().find(|kind| kind.word() == word)
    }
}

/// A service to which a person sends entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareTarget {
    /// Its number among the services of the person.
    pub position: i64,
    pub name: String,
    pub kind: ShareKind,
    /// The template of the link, or the address of the webhook.
    pub template: String,
    /// The key that signs requests to the webhook.
    pub signing_key: String,
}

impl Store {
    /// Returns the services of a person, in the order in which they were added.
    pub fn share_targets(&self, account: AccountId) -> Result<Vec<ShareTarget>, StoreError> {
        self.read(|conn| {
            let sql = "select position, name, kind, template, signing_key from share_targets \
                       where account = $1 order by position";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| {
                let kind: String = row.get(2)?;
                Ok(ShareTarget {
                    position: row.get(0)?,
                    name: row.get(1)?,
                    kind: ShareKind::from_word(&kind).unwrap_or(ShareKind::Link),
                    template: row.get(3)?,
                    signing_key: row.get(4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Adds a service and returns its number; `None` if the person has too many.
    pub fn add_share_target(
        &self,
        account: AccountId,
        target: &ShareTarget,
    ) -> Result<Option<i64>, StoreError> {
        let target = target.clone();
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Account, account.0)?;
            let sql = "select count(*) from share_targets where account = $1";
            if conn.query_row(sql, [account.0], |row| count(row, 0))? >= TARGETS_MAX {
                return Ok(None);
            }
            let sql = "select coalesce(max(position), 0) + 1 from share_targets where account = $1";
            let position: i64 = conn.query_row(sql, [account.0], |row| row.get(0))?;
            let sql = "insert into share_targets \
                       (account, position, name, kind, template, signing_key) \
                       values ($1, $2, $3, $4, $5, $6)";
            let ShareTarget { name, kind, template, signing_key, .. } = target;
            let values = params![account.0, position, name, kind.word(), template, signing_key];
            conn.execute(sql, values)?;
            Ok(Some(position))
        })
    }

    /// Removes a service. Returns whether it was there.
    pub fn remove_share_target(
        &self,
        account: AccountId,
        position: i64,
    ) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            let sql = "delete from share_targets where account = $1 and position = $2";
            Ok(conn.execute(sql, params![account.0, position])? > 0)
        })
    }
}

//! The tags (folders) of an account, their numbers and their order.

use std::collections::HashSet;

use feed::FeedId;

use crate::db::columns::count;
use crate::db::dialect;
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;
use crate::{AccountId, Store, StoreError};

/// A tag with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedTag {
    /// Below 2^31, because some apps use 32 bits.
    pub number: i64,
    /// Empty for feeds without a tag.
    pub tag: String,
    pub n_feeds: u64,
}

impl NumberedTag {
    /// The number for feeds without a tag.
    pub const UNTAGGED: i64 = 1;
}

/// A tag of an account that at least one of its feeds has, or that an app created.
const LISTED: &str = "(a.made = 1 or exists (select 1 from subscription_tags s \
    where s.account = a.account and s.tag = a.number))";

impl Store {
    /// Returns the tags of an account in its order, with their numbers. For the person at the
    /// machine these are the tags of all feeds.
    pub fn tags_of(&self, account: AccountId) -> Result<Vec<NumberedTag>, StoreError> {
        if account == AccountId::LOCAL {
            return self.numbered_tags();
        }
        self.read(|conn| {
            let mut tags = listed(conn, account)?;
            let sql = "select count(*) from subscriptions s where s.account = $1 and not exists \
                       (select 1 from subscription_tags t where t.account = $1 \
                        and t.feed = s.feed)";
            let n_feeds = conn.prepare_cached(sql)?.query_row([account.0], |row| count(row, 0))?;
            let number = NumberedTag::UNTAGGED;
            tags.insert(0, NumberedTag { number, tag: String::new(), n_feeds });
            Ok(tags)
        })
    }

    /// Creates a tag of an account, also without feeds, and returns its number.
    pub fn make_tag_of(&self, account: AccountId, tag: &str) -> Result<i64, StoreError> {
        if account == AccountId::LOCAL {
            return self.make_tag(tag);
        }
        let tag = tag.to_owned();
        self.write_own(move |conn| {
            lock(conn, account)?;
            let number = number(conn, account, &tag)?;
            let sql = "update account_tags set made = 1 where account = $1 and number = $2";
            conn.execute(sql, params![account.0, number])?;
            Ok(number)
        })
    }

    /// Returns the tag of an account with a number, also if no feed has it.
    pub fn tag_of_number(
        &self,
        account: AccountId,
        number: i64,
    ) -> Result<Option<String>, StoreError> {
        if account == AccountId::LOCAL || number == NumberedTag::UNTAGGED {
            return self.tag_numbered(number);
        }
        self.read(|conn| {
            let sql = "select tag from account_tags where account = $1 and number = $2";
            let mut statement = conn.prepare_cached(sql)?;
            Ok(statement.query_row(params![account.0, number], |row| row.get(0)).optional()?)
        })
    }

    /// Renames a tag of an account, or removes it. If the account has the new name already, the two
    /// tags become one. Returns the number of feeds that had the tag.
    pub fn rename_tag_of(
        &self,
        account: AccountId,
        tag: &str,
        to: Option<&str>,
    ) -> Result<u64, StoreError> {
        let (tag, to) = (tag.to_owned(), to.map(str::to_owned));
        self.write_own(move |conn| rename(conn, account, &tag, to.as_deref()))
    }
}

/// Returns the listed tags of an account in its order.
pub(crate) fn listed(conn: &Connection, account: AccountId) -> Result<Vec<NumberedTag>, DbError> {
    let sql = format!(
        "select a.number, a.tag, (select count(*) from subscription_tags s \
         where s.account = a.account and s.tag = a.number) from account_tags a \
         where a.account = $1 and {LISTED} order by a.position, a.tag"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([account.0], |row| {
        Ok(NumberedTag { number: row.get(0)?, tag: row.get(1)?, n_feeds: count(row, 2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Sets the order of an account's tags. Tags that are not named follow in the present order.
pub(crate) fn order(conn: &Connection, account: AccountId, tags: &[String]) -> Result<(), DbError> {
    lock(conn, account)?;
    let sql = "select tag from account_tags where account = $1 order by position, tag";
    let mut statement = conn.prepare_cached(sql)?;
    let known: Vec<String> =
        statement.query_map([account.0], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let named: HashSet<&String> = tags.iter().collect();
    let rest = known.iter().filter(|tag| !named.contains(tag));
    let sql = "update account_tags set position = $1 where account = $2 and tag = $3";
    let mut statement = conn.prepare_cached(sql)?;
    for (position, tag) in tags.iter().chain(rest).enumerate() {
        statement.execute(params![position as i64 + 1, account.0, tag])?;
    }
    Ok(())
}

/// Locks the row of an account, so that two processes do not change its tags at once.
pub(crate) fn lock(conn: &Connection, account: AccountId) -> Result<(), DbError> {
    let lock = dialect::for_update(conn);
    let sql = format!("select id from accounts where id = $1{lock}");
    let found: Option<i64> =
        conn.prepare_cached(&sql)?.query_row([account.0], |row| row.get(0)).optional()?;
    found.map(drop).ok_or_else(|| StoreError::NoAccount(account).into())
}

/// Returns the number of a tag, which it gets if it has none.
pub(crate) fn number(conn: &Connection, account: AccountId, tag: &str) -> Result<i64, DbError> {
    if let Some(known) = known(conn, account, tag)? {
        return Ok(known);
    }
    let sql = "update accounts set last_tag = last_tag + 1 where id = $1 returning last_tag";
    let number: i64 = conn.prepare_cached(sql)?.query_row([account.0], |row| row.get(0))?;
    let sql = "insert into account_tags (account, number, tag, position) values ($1, $2, $3, $2)";
    conn.prepare_cached(sql)?.execute(params![account.0, number, tag])?;
    Ok(number)
}

/// Returns the number of a tag, if the account has it.
pub(crate) fn known(
    conn: &Connection,
    account: AccountId,
    tag: &str,
) -> Result<Option<i64>, DbError> {
    let sql = "select number from account_tags where account = $1 and tag = $2";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row(params![account.0, tag], |row| row.get(0)).optional()?)
}

/// Adds tags to a subscription.
pub(crate) fn add(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
    tags: &[String],
) -> Result<(), DbError> {
    for tag in tags {
        let number = number(conn, account, tag)?;
        let sql = "insert into subscription_tags (account, tag, feed) values ($1, $2, $3) \
                   on conflict (account, tag, feed) do nothing";
        conn.prepare_cached(sql)?.execute(params![account.0, number, feed.0])?;
    }
    Ok(())
}

/// Removes tags from a subscription.
pub(crate) fn remove(
    conn: &Connection,
    account: AccountId,
    feed: FeedId,
    tags: &[String],
) -> Result<(), DbError> {
    let sql = "delete from subscription_tags where account = $1 and feed = $2 and tag = \
               (select number from account_tags where account = $1 and tag = $3)";
    for tag in tags {
        conn.prepare_cached(sql)?.execute(params![account.0, feed.0, tag])?;
    }
    Ok(())
}

/// Renames a tag, or removes it. Returns the number of feeds that had it.
pub(crate) fn rename(
    conn: &Connection,
    account: AccountId,
    tag: &str,
    to: Option<&str>,
) -> Result<u64, DbError> {
    lock(conn, account)?;
    let Some(old) = known(conn, account, tag)? else { return Ok(0) };
    let sql = "select count(*) from subscription_tags where account = $1 and tag = $2";
    let n_feeds = conn.query_row(sql, params![account.0, old], |row| count(row, 0))?;
    let Some(to) = to else {
        let sql = "delete from account_tags where account = $1 and number = $2";
        conn.execute(sql, params![account.0, old])?;
        return Ok(n_feeds);
    };
    match known(conn, account, to)? {
        Some(new) if new == old => {}
        Some(new) => {
            let sql = "insert into subscription_tags (account, tag, feed) \
                       select account, $1, feed from subscription_tags \
                       where account = $2 and tag = $3 on conflict (account, tag, feed) do nothing";
            conn.execute(sql, params![new, account.0, old])?;
            let sql = "delete from account_tags where account = $1 and number = $2";
            conn.execute(sql, params![account.0, old])?;
        }
        None => {
            let sql = "update account_tags set tag = $1 where account = $2 and number = $3";
            conn.execute(sql, params![to, account.0, old])?;
        }
    }
    Ok(n_feeds)
}

//! Tags of an account's subscriptions: many feeds get or lose tags, a tag gets another name.

use std::collections::HashSet;

use feed::FeedId;
use serde::{Deserialize, Serialize};

use super::{BulkBefore, json_list};
use crate::AccountId;
use crate::db::dialect;
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::subscriptions::account_tags;

/// A tag with some of its feeds.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct TaggedFeeds {
    pub number: i64,
    pub tag: String,
    pub feeds: Vec<FeedId>,
}

/// The tags that feeds got and lost.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct OwnTagsBefore {
    account: AccountId,
    gained: Vec<TaggedFeeds>,
    lost: Vec<TaggedFeeds>,
    /// The numbers of tags that did not exist.
    made: Vec<i64>,
}

/// A tag before it was renamed, removed, or became one with another.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct OwnTagBefore {
    account: AccountId,
    was: TaggedFeeds,
    /// 1: an app made it.
    made: i64,
    position: i64,
    /// The other tag, and the feeds that got it only now.
    merged: Option<TaggedFeeds>,
}

/// Removes tags from subscriptions, then adds others.
pub(super) fn tag(
    conn: &Connection,
    account: AccountId,
    feeds: &[FeedId],
    add: &[String],
    remove: &[String],
) -> Result<OwnTagsBefore, DbError> {
    account_tags::lock(conn, account)?;
    let (gained, lost, made) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = OwnTagsBefore { account, gained, lost, made };
    for tag in remove {
        let Some(number) = account_tags::known(conn, account, tag)? else { continue };
        let tagged = tagged(conn, account, number)?;
        let feeds: Vec<FeedId> = feeds.iter().copied().filter(|f| tagged.contains(f)).collect();
        take(conn, account, number, &feeds)?;
        before.lost.push(TaggedFeeds { number, tag: tag.clone(), feeds });
    }
    for tag in add {
        if account_tags::known(conn, account, tag)?.is_none() {
            before.made.push(account_tags::number(conn, account, tag)?);
        }
        let number = account_tags::number(conn, account, tag)?;
        let tagged = tagged(conn, account, number)?;
        let feeds: Vec<FeedId> = feeds.iter().copied().filter(|f| !tagged.contains(f)).collect();
        give(conn, account, number, &feeds)?;
        before.gained.push(TaggedFeeds { number, tag: tag.clone(), feeds });
    }
    Ok(before)
}

/// Renames a tag, or removes it. `None`: the account has no such tag.
pub(super) fn rename(
    conn: &Connection,
    account: AccountId,
    tag: &str,
    to: Option<&str>,
) -> Result<Option<(BulkBefore, usize, Vec<FeedId>)>, DbError> {
    account_tags::lock(conn, account)?;
    let Some(number) = account_tags::known(conn, account, tag)? else { return Ok(None) };
    let sql = "select made, position from account_tags where account = $1 and number = $2";
    let read = |row: &crate::db::sql::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (made, position) = conn.query_row(sql, [account.0, number], read)?;
    let mut feeds: Vec<FeedId> = tagged(conn, account, number)?.into_iter().collect();
    feeds.sort_unstable();
    let other = to.map(|to| account_tags::known(conn, account, to)).transpose()?.flatten();
    let merged = match (other, to) {
        (Some(other), Some(to)) if other != number => {
            let had = tagged(conn, account, other)?;
            let feeds = feeds.iter().copied().filter(|feed| !had.contains(feed)).collect();
            Some(TaggedFeeds { number: other, tag: to.to_owned(), feeds })
        }
        _ => None,
    };
    account_tags::rename(conn, account, tag, to)?;
    let n_feeds = feeds.len();
    let was = TaggedFeeds { number, tag: tag.to_owned(), feeds };
    let before = OwnTagBefore { account, was, made, position, merged };
    Ok(Some((BulkBefore::OwnTag(before), n_feeds, Vec::new())))
}

impl OwnTagsBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<(), DbError> {
        let account = self.account;
        account_tags::lock(conn, account)?;
        for one in &self.gained {
            take(conn, account, one.number, &one.feeds)?;
        }
        for one in &self.lost {
            give_back(conn, account, one)?;
        }
        for number in &self.made {
            let sql = "delete from account_tags where account = $1 and number = $2 and made = 0 \
                       and not exists (select 1 from subscription_tags s \
                        where s.account = $1 and s.tag = $2)";
            conn.execute(sql, [account.0, *number])?;
        }
        Ok(())
    }
}

impl OwnTagBefore {
    pub(super) fn restore(&self, conn: &Connection) -> Result<(), DbError> {
        let (account, was) = (self.account, &self.was);
        account_tags::lock(conn, account)?;
        if account_tags::known(conn, account, &was.tag)?.is_none() {
            let sql = "update account_tags set tag = $1 where account = $2 and number = $3";
            if conn.execute(sql, params![was.tag, account.0, was.number])? == 0 {
                let sql = "insert into account_tags (account, number, tag, made, position) \
                           values ($1, $2, $3, $4, $5)";
                let (made, position) = (self.made, self.position);
                conn.execute(sql, params![account.0, was.number, was.tag, made, position])?;
            }
        }
        give_back(conn, account, was)?;
        match &self.merged {
            Some(other) => take(conn, account, other.number, &other.feeds),
            None => Ok(()),
        }
    }
}

/// Gives a tag to feeds again. If it was removed meanwhile, it is made again.
pub(super) fn give_back(
    conn: &Connection,
    account: AccountId,
    was: &TaggedFeeds,
) -> Result<(), DbError> {
    let sql = "select 1 from account_tags where account = $1 and number = $2";
    let number = match conn.prepare_cached(sql)?.exists([account.0, was.number])? {
        true => was.number,
        false => account_tags::number(conn, account, &was.tag)?,
    };
    give(conn, account, number, &was.feeds)
}

/// Returns the feeds that have a tag.
fn tagged(conn: &Connection, account: AccountId, number: i64) -> Result<HashSet<FeedId>, DbError> {
    let sql = "select feed from subscription_tags where account = $1 and tag = $2";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map([account.0, number], |row| row.get(0).map(FeedId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Gives a tag to those of the feeds that the account reads.
fn give(
    conn: &Connection,
    account: AccountId,
    number: i64,
    feeds: &[FeedId],
) -> Result<(), DbError> {
    let sql = format!(
        "insert into subscription_tags (account, tag, feed) select s.account, $1, s.feed \
         from subscriptions s where s.account = $2 and s.feed in ({}) \
         on conflict (account, tag, feed) do nothing",
        dialect::json_numbers(conn, "$3")
    );
    conn.prepare_cached(&sql)?.execute(params![number, account.0, json_list(feeds)])?;
    Ok(())
}

fn take(
    conn: &Connection,
    account: AccountId,
    number: i64,
    feeds: &[FeedId],
) -> Result<(), DbError> {
    let sql = format!(
        "delete from subscription_tags where account = $1 and tag = $2 and feed in ({})",
        dialect::json_numbers(conn, "$3")
    );
    conn.prepare_cached(&sql)?.execute(params![account.0, number, json_list(feeds)])?;
    Ok(())
}

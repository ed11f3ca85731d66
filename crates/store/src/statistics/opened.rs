//! Counts the entries that an account opens: each entry once, by feed and day, and by hour. Marking
//! many entries at once is not opening them.

use std::collections::BTreeMap;

use feed::{EntryId, FeedId, Time};

use crate::db::sql::{Connection, OptionalExtension, Value, params};
use crate::error::DbError;
use crate::reading::marks::{bit_position, change_bits, mark, mark_bits};
use crate::reading::stories::together::with_stories;
use crate::{AccountId, Store, StoreError};

/// Entries of one call that count as opened. An app sends what was read without a network at once;
/// more than this is a person who tidies up.
const COUNTED_MAX: usize = 25;
/// Accounts whose old counts are deleted in one transaction.
const ACCOUNTS_AT_ONCE: i64 = 200;

pub(super) const DAY_MS: i64 = 86_400_000;
pub(super) const HOUR_MS: i64 = 3_600_000;

impl Store {
    /// Marks entries as read because the account has opened them, and counts them, if they are at
    /// most 25.
    pub fn open_entries(
        &self,
        account: AccountId,
        entries: &[EntryId],
        now: Time,
    ) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        self.write_own(move |conn| {
            let marked = with_stories(conn, account, entries.clone())?;
            mark(conn, account, &marked, true)?;
            if entries.len() <= COUNTED_MAX {
                count_opened(conn, account, &entries, now)?;
            }
            Ok(())
        })
    }

    /// Returns whether an entry was counted as opened.
    pub fn has_opened(&self, account: AccountId, entry: EntryId) -> Result<bool, StoreError> {
        self.read(|conn| {
            let (block, byte, bit) = bit_position(entry.0);
            let sql = "select bits from opened_marks where account = $1 and block = $2";
            let stored: Option<Vec<u8>> = conn
                .prepare_cached(sql)?
                .query_row([account.0, block], |row| row.get(0))
                .optional()?;
            Ok(stored.is_some_and(|stored| mark_bits(&stored)[byte] & bit != 0))
        })
    }

    /// Deletes the counts of days before a time, in small steps.
    pub fn forget_openings(&self, before: Time) -> Result<(), StoreError> {
        let (day, hour) = (before.millis().div_euclid(DAY_MS), before.millis().div_euclid(HOUR_MS));
        for (table, column, first) in [("opened_days", "day", day), ("opened_hours", "hour", hour)]
        {
            let old = format!("select 1 from {table} where {column} < $1 limit 1");
            while self.read(|conn| Ok(conn.prepare_cached(&old)?.exists([first])?))? {
                let sql = format!(
                    "delete from {table} where {column} < $1 and account in \
                     (select distinct account from {table} where {column} < $1 \
                      order by account limit $2)"
                );
                self.write(move |conn| Ok(conn.execute(&sql, [first, ACCOUNTS_AT_ONCE])?))?;
            }
        }
        Ok(())
    }
}

/// Counts entries of the account's own feeds that it had not opened before.
fn count_opened(
    conn: &Connection,
    account: AccountId,
    entries: &[EntryId],
    now: Time,
) -> Result<(), DbError> {
    let keys: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let sql = match account {
        AccountId::LOCAL => "select id, feed from entries where id = $1 and $2 = 0",
        _ => {
            "select e.id, e.feed from entries e join subscriptions s on s.feed = e.feed \
             where e.id = $1 and s.account = $2"
        }
    };
    let found = conn.prepare_cached(sql)?.each(&keys, &[Value::Int(account.0)], |_, row| {
        Ok((row.get::<_, i64>(0)?, FeedId(row.get(1)?)))
    })?;
    let mut blocks: BTreeMap<i64, Vec<(i64, FeedId)>> = BTreeMap::new();
    for one in found {
        blocks.entry(bit_position(one.0).0).or_default().push(one);
    }
    let mut opened: BTreeMap<FeedId, i64> = BTreeMap::new();
    for (block, entries) in blocks {
        change_bits(conn, "opened_marks", account, block, |bits| {
            for (entry, feed) in entries {
                let (_, byte, bit) = bit_position(entry);
                if bits[byte] & bit == 0 {
                    bits[byte] |= bit;
                    *opened.entry(feed).or_default() += 1;
                }
            }
        })?;
    }
    if opened.is_empty() {
        return Ok(());
    }
    let (day, hour) = (now.millis().div_euclid(DAY_MS), now.millis().div_euclid(HOUR_MS));
    let by_day = "insert into opened_days (account, feed, day, opened) values ($1, $2, $3, $4) \
                  on conflict (account, feed, day) \
                  do update set opened = opened_days.opened + excluded.opened";
    for (feed, n) in &opened {
        conn.prepare_cached(by_day)?.execute(params![account.0, feed.0, day, *n])?;
    }
    let by_hour = "insert into opened_hours (account, hour, opened) values ($1, $2, $3) \
                   on conflict (account, hour) \
                   do update set opened = opened_hours.opened + excluded.opened";
    conn.prepare_cached(by_hour)?.execute([account.0, hour, opened.values().sum()])?;
    Ok(())
}

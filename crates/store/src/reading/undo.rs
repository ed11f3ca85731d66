//! Marks a whole list as read and takes that back. The undo is exact: it keeps the bits that the
//! act set, and clears those and no others. Input: an account and a scope; output: how many entries
//! were marked. Nothing here decides when an undo is offered.

use std::collections::BTreeMap;
use std::time::Duration;

use feed::{EntryId, Time};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::Fault;
use crate::reading::list::mark_scope;
use crate::reading::marks::{self, Bits};
use crate::{AccountId, Scope, Store, StoreError};

/// How long an act can be undone: long enough to notice a slip, short enough that nobody is
/// surprised by marks of yesterday.
pub const UNDO_LASTS: Duration = Duration::from_secs(3600);
/// Blocks of 4096 entries that one undo keeps: 2 MB, room for 16 million entries. A larger act is
/// done but cannot be undone.
const UNDO_BLOCKS_MAX: usize = 4096;

impl Store {
    /// Marks what is unread in a scope, up to a number, as read, and remembers what this changed.
    /// Only the last such act of an account can be undone.
    pub fn mark_list_read(
        &self,
        account: AccountId,
        scope: &Scope,
        up_to: EntryId,
        now: Time,
    ) -> Result<u64, StoreError> {
        let scope = scope.clone();
        self.write(move |conn| {
            let before = marks::blocks(conn, account)?;
            mark_scope(conn, account, scope.clone(), None, Some(up_to))?;
            let changed = changed(conn, account, &before)?;
            let n_marked = changed.values().flatten().map(|byte| u64::from(byte.count_ones()));
            let n_marked = n_marked.sum();
            forget(conn, account, now)?;
            if n_marked > 0 && changed.len() <= UNDO_BLOCKS_MAX {
                keep(conn, account, &changed, n_marked, now)?;
            }
            Ok(n_marked)
        })
    }

    /// How many entries an undo would make unread again; `None` where nothing can be undone.
    pub fn undoable(&self, account: AccountId, now: Time) -> Result<Option<u64>, StoreError> {
        self.read(|conn| {
            let sql = "select n_marked from read_undo where account = $1 and marked_at > $2";
            let since = (now - UNDO_LASTS).millis();
            let n = conn
                .prepare_cached(sql)?
                .query_row(params![account.0, since], |row| row.get::<_, i64>(0))
                .optional()?;
            Ok(n.map(i64::unsigned_abs))
        })
    }

    /// Makes the entries unread again that the last [`Store::mark_list_read`] marked. Answers
    /// whether there was something to undo.
    pub fn undo_mark_list(&self, account: AccountId, now: Time) -> Result<bool, StoreError> {
        self.write(move |conn| {
            let sql = "select block, bits from read_undo_blocks join read_undo using (account) \
                       where account = $1 and marked_at > $2";
            let since = (now - UNDO_LASTS).millis();
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![account.0, since], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
            })?;
            let rows = rows.collect::<Result<Vec<_>, _>>()?;
            for (block, undone) in &rows {
                marks::change_block(conn, account, *block, |bits| {
                    for (byte, undone) in bits.iter_mut().zip(undone) {
                        *byte &= !undone;
                    }
                })?;
            }
            forget(conn, account, now)?;
            Ok(!rows.is_empty())
        })
    }
}

/// The bits that are set now and were not before. Entries that are gone count for nobody.
fn changed(
    conn: &Connection,
    account: AccountId,
    before: &BTreeMap<i64, Bits>,
) -> Result<BTreeMap<i64, Bits>, Fault> {
    let gone = marks::blocks(conn, AccountId::GONE)?;
    let mut changed = marks::blocks(conn, account)?;
    for (block, bits) in &mut changed {
        for others in [before.get(block), gone.get(block)].into_iter().flatten() {
            for (byte, other) in bits.iter_mut().zip(others) {
                *byte &= !other;
            }
        }
    }
    changed.retain(|_, bits| bits.iter().any(|byte| *byte != 0));
    Ok(changed)
}

fn keep(
    conn: &Connection,
    account: AccountId,
    changed: &BTreeMap<i64, Bits>,
    n_marked: u64,
    now: Time,
) -> Result<(), Fault> {
    let sql = "insert into read_undo (account, marked_at, n_marked) values ($1, $2, $3)";
    conn.execute(sql, params![account.0, now.millis(), n_marked as i64])?;
    let sql = "insert into read_undo_blocks (account, block, bits) values ($1, $2, $3)";
    let mut statement = conn.prepare_cached(sql)?;
    for (block, bits) in changed {
        statement.execute(params![account.0, block, bits.as_slice()])?;
    }
    Ok(())
}

/// Forgets what this account could undo, and what nobody can undo any more.
fn forget(conn: &Connection, account: AccountId, now: Time) -> Result<(), Fault> {
    let sql = "delete from read_undo where account = $1 or marked_at <= $2";
    conn.execute(sql, params![account.0, (now - UNDO_LASTS).millis()])?;
    Ok(())
}

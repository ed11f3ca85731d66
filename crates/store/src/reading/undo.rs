//! Marks a whole list as read and can undo this. The undo is exact: the store keeps the bits that
//! were set, and clears only these. Nothing here decides when a page offers the undo.

use std::time::Duration;

use crate::db::sql::{Connection, OptionalExtension, params};
use feed::{EntryId, Time};

use crate::db::dialect::{self, LockSubject};
use crate::error::DbError;
use crate::reading::list::mark_scope;
use crate::reading::marks::{self, SetBits};
use crate::{AccountId, Scope, Store, StoreError};

/// How long a list can be undone: long enough to notice a mistake, and short enough that nobody
/// undoes marks of yesterday.
pub const UNDO_LASTS: Duration = Duration::from_secs(3600);
/// Blocks of 4096 entries that one undo stores: 2 MB for 16 million entries. A larger list is
/// marked but cannot be undone.
const UNDO_BLOCKS_MAX: usize = 4096;

impl Store {
    /// Marks the unread entries of a scope up to a number as read, and stores the changed bits.
    /// Only the last such list of an account can be undone. Returns the number of entries.
    pub fn mark_list_read(
        &self,
        account: AccountId,
        scope: &Scope,
        up_to: EntryId,
        now: Time,
    ) -> Result<u64, StoreError> {
        let scope = scope.clone();
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Undo, account.0)?;
            let set = mark_scope(conn, account, scope, None, Some(up_to))?;
            let changed = of_existing(conn, set)?;
            let n_marked = changed.values().flatten().map(|byte| u64::from(byte.count_ones()));
            let n_marked = n_marked.sum();
            forget(conn, account, now)?;
            if n_marked > 0 && changed.len() <= UNDO_BLOCKS_MAX {
                store_undo(conn, account, &changed, n_marked, now)?;
            }
            Ok(n_marked)
        })
    }

    /// Returns how many entries an undo would make unread; `None` if nothing can be undone.
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

    /// Undoes the last [`Store::mark_list_read`]. Returns whether there was something to undo.
    pub fn undo_mark_list(&self, account: AccountId, now: Time) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Undo, account.0)?;
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

/// Returns the bits without those of deleted entries.
fn of_existing(conn: &Connection, mut set: SetBits) -> Result<SetBits, DbError> {
    let gone = marks::blocks(conn, AccountId::GONE)?;
    for (block, bits) in &mut set {
        for (byte, gone) in bits.iter_mut().zip(gone.get(block).into_iter().flatten()) {
            *byte &= !gone;
        }
    }
    set.retain(|_, bits| bits.iter().any(|byte| *byte != 0));
    Ok(set)
}

fn store_undo(
    conn: &Connection,
    account: AccountId,
    changed: &SetBits,
    n_marked: u64,
    now: Time,
) -> Result<(), DbError> {
    let sql = "insert into read_undo (account, marked_at, n_marked) values ($1, $2, $3)";
    conn.execute(sql, params![account.0, now.millis(), n_marked as i64])?;
    let sql = "insert into read_undo_blocks (account, block, bits) values ($1, $2, $3)";
    let mut statement = conn.prepare_cached(sql)?;
    for (block, bits) in changed {
        statement.execute(params![account.0, block, bits.as_slice()])?;
    }
    Ok(())
}

/// Deletes the undo of this account and all expired ones.
fn forget(conn: &Connection, account: AccountId, now: Time) -> Result<(), DbError> {
    let sql = "delete from read_undo where account = $1 or marked_at <= $2";
    conn.execute(sql, params![account.0, (now - UNDO_LASTS).millis()])?;
    Ok(())
}

//! Read marks and stars of each account. Read marks are bits, 4096 of them in a row: a million
//! entries take 125 KB. Deleted entries have their bits too, once for all accounts, so that an
//! entry without a bit is unread.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use crate::db::sql::{Connection, OptionalExtension, Value, params};
use feed::{EntryId, Time};

use crate::db::{dialect, sequence};
use crate::error::DbError;
use crate::reading::stories::together::with_stories;
use crate::subscriptions::{readers, scope};
use crate::{AccountId, Store, StoreError};

const BLOCK: usize = 4096;
const BYTES: usize = BLOCK / 8;
/// One block of marks.
pub(crate) type MarkBits = [u8; BYTES];
/// Bits that a change has set, by block.
pub(crate) type SetBits = BTreeMap<i64, MarkBits>;

/// The read marks of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadMarks {
    blocks: BTreeMap<i64, Box<[u8]>>,
    numbers: EntryNumbers,
}

impl ReadMarks {
    pub(crate) fn load(conn: &Connection, account: AccountId) -> Result<ReadMarks, DbError> {
        let sql = "select block, bits from read_marks where account in ($1, $2)";
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query([account.0, AccountId::GONE.0])?;
        let mut blocks: BTreeMap<i64, Box<[u8]>> = BTreeMap::new();
        while let Some(row) = &rows.next()? {
            let bits: Vec<u8> = row.get(1)?;
            let block = blocks.entry(row.get(0)?).or_insert_with(|| Box::new([0; BYTES]));
            for (byte, bits) in block.iter_mut().zip(bits) {
                *byte |= bits;
            }
        }
        Ok(ReadMarks { blocks, numbers: EntryNumbers::load(conn)? })
    }

    pub fn is_read(&self, entry: EntryId) -> bool {
        let (block, byte, bit) = bit_position(entry.0);
        self.blocks.get(&block).is_some_and(|bits| bits.get(byte).is_some_and(|b| b & bit != 0))
    }

    /// Returns whether any entry above `after` and up to `up_to` has a mark.
    pub(crate) fn has_between(&self, after: EntryId, up_to: EntryId) -> bool {
        let (first, last) = (bit_position(after.0 + 1).0, bit_position(up_to.0).0);
        let mut blocks = self.blocks.range(first..=last.max(first));
        blocks.any(|(block, bits)| {
            let start = block * BLOCK as i64;
            let marked = (0..BLOCK as i64).filter(|n| {
                let (_, byte, bit) = bit_position(*n);
                bits.get(byte).is_some_and(|b| b & bit != 0)
            });
            marked.map(|n| start + n).any(|n| n > after.0 && n <= up_to.0)
        })
    }

    /// Returns the number of unread entries.
    pub fn n_unread(&self) -> u64 {
        let read: u64 = self
            .blocks
            .values()
            .flat_map(|bits| bits.iter())
            .map(|byte| u64::from(byte.count_ones()))
            .sum();
        self.numbers.n().max(0).unsigned_abs().saturating_sub(read)
    }

    /// Visits the number of every unread entry, the lowest first.
    pub(crate) fn for_each_unread(&self, mut visit: impl FnMut(usize)) {
        let end = usize::try_from(self.numbers.last).unwrap_or(0) + 1;
        for start in (0..end).step_by(BLOCK) {
            if self.numbers.is_gap(start as i64, (start + BLOCK) as i64 - 1) {
                continue;
            }
            let bits = self.blocks.get(&((start / BLOCK) as i64));
            for byte in 0..BYTES {
                let read = bits.and_then(|bits| bits.get(byte)).copied().unwrap_or(0);
                if read == 0xff {
                    continue;
                }
                for bit in 0..8 {
                    let entry = start + byte * 8 + bit;
                    if read >> bit & 1 == 0 && (1..end).contains(&entry) {
                        visit(entry);
                    }
                }
            }
        }
    }

    /// Returns the unread entries, the highest number first.
    pub fn unread(&self) -> impl Iterator<Item = EntryId> + '_ {
        let mut next = self.numbers.last;
        std::iter::from_fn(move || {
            while next > 0 {
                if let Some((first, _)) = self.numbers.gap(next) {
                    next = first - 1;
                    continue;
                }
                let (block, byte, bit) = bit_position(next);
                let Some(bits) = self.blocks.get(&block) else { break };
                match bits.get(byte) {
                    // Skips eight numbers at once if all are read.
                    Some(0xff) => next = (next & !7) - 1,
                    Some(b) if b & bit != 0 => next -= 1,
                    _ => break,
                }
            }
            let found = next;
            next -= 1;
            (found > 0).then_some(EntryId(found))
        })
    }
}

pub(crate) fn bit_position(entry: i64) -> (i64, usize, u8) {
    let within = usize::try_from(entry.rem_euclid(BLOCK as i64)).unwrap_or(0);
    (entry.div_euclid(BLOCK as i64), within / 8, 1 << (within % 8))
}

impl Store {
    pub fn read_marks(&self, account: AccountId) -> Result<ReadMarks, StoreError> {
        self.read(|conn| ReadMarks::load(conn, account))
    }

    /// Marks entries as read or unread. Deleted entries stay as they are.
    pub fn mark_read(
        &self,
        account: AccountId,
        entries: &[EntryId],
        read: bool,
    ) -> Result<(), StoreError> {
        let entries = entries.to_vec();
        self.write_own(move |conn| {
            let kept = match read {
                true => with_stories(conn, account, entries)?,
                false => existing(conn, &entries)?,
            };
            mark(conn, account, &kept, read).map(drop)
        })
    }

    /// Stars entries or removes their stars. Deleted entries stay as they are.
    pub fn star(
        &self,
        account: AccountId,
        entries: &[EntryId],
        starred: bool,
        now: Time,
    ) -> Result<(), StoreError> {
        let mut entries = entries.to_vec();
        // Every process locks entries in this order.
        entries.sort_unstable();
        self.write_own(move |conn| {
            let visible = scope::visible_entries(conn, account, &entries)?;
            for entry in &entries {
                if !starred {
                    let sql = "delete from stars where account = $1 and entry = $2";
                    conn.prepare_cached(sql)?.execute([account.0, entry.0])?;
                } else if visible.contains(entry) {
                    // A star keeps an entry, so only entries that the account can see get one.
                    star_one(conn, account, *entry, now)?;
                }
            }
            Ok(())
        })
    }

    /// Returns every entry that an account has starred.
    pub fn stars(&self, account: AccountId) -> Result<HashSet<EntryId>, StoreError> {
        self.read(|conn| stars(conn, account))
    }
}

/// Stars an entry that exists. Returns the number of new stars.
pub(crate) fn star_one(
    conn: &Connection,
    account: AccountId,
    entry: EntryId,
    now: Time,
) -> Result<usize, DbError> {
    // Retention of another process may delete the entry at the same time.
    let lock = dialect::for_key_share(conn);
    let sql = format!(
        "insert into stars (account, entry, starred_at) \
         select $1, id, $2 from entries where id = $3{lock} on conflict do nothing"
    );
    Ok(conn.prepare_cached(&sql)?.execute(params![account.0, now.millis(), entry.0])?)
}

pub(crate) fn stars(conn: &Connection, account: AccountId) -> Result<HashSet<EntryId>, DbError> {
    let mut statement = conn.prepare_cached("select entry from stars where account = $1")?;
    let rows = statement.query_map([account.0], |row| row.get(0).map(EntryId))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn existing(conn: &Connection, entries: &[EntryId]) -> Result<Vec<EntryId>, DbError> {
    let keys: Vec<Value<'_>> = entries.iter().map(|entry| Value::Int(entry.0)).collect();
    let sql = "select id from entries where id = $1";
    Ok(conn.prepare_cached(sql)?.each(&keys, &[], |_, row| row.get(0).map(EntryId))?)
}

/// Sets or clears bits. Each block is written once. Returns the bits that were set.
pub(crate) fn mark(
    conn: &Connection,
    account: AccountId,
    entries: &[EntryId],
    read: bool,
) -> Result<SetBits, DbError> {
    if read && !entries.is_empty() {
        readers::note_now(conn, account)?;
    }
    set_bits(conn, account, entries, read)
}

/// Does the same, but does not note that the person reads.
pub(crate) fn set_bits(
    conn: &Connection,
    account: AccountId,
    entries: &[EntryId],
    read: bool,
) -> Result<SetBits, DbError> {
    let numbers = EntryNumbers::load(conn)?;
    let mut by_block: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| numbers.has(entry.0)) {
        by_block.entry(bit_position(entry.0).0).or_default().push(entry.0);
    }
    let mut set = SetBits::new();
    for (block, numbers) in by_block {
        let new = change_block(conn, account, block, |bits| {
            for number in &numbers {
                let (_, byte, bit) = bit_position(*number);
                if read { bits[byte] |= bit } else { bits[byte] &= !bit }
            }
        })?;
        set.insert(block, new);
    }
    Ok(set)
}

/// Marks everything up to a number as read. Returns the bits that were set.
pub(crate) fn mark_up_to(
    conn: &Connection,
    account: AccountId,
    last: EntryId,
) -> Result<SetBits, DbError> {
    let numbers = EntryNumbers::load(conn)?;
    let (mut block, mut set) = (0, SetBits::new());
    while block <= bit_position(last.0).0 {
        let (first, end) = (block * BLOCK as i64, (block + 1) * BLOCK as i64 - 1);
        if let Some((_, gap_last)) = numbers.gap(first).filter(|(_, last)| *last >= end) {
            block = bit_position(gap_last + 1).0;
            continue;
        }
        let new = change_block(conn, account, block, |bits| {
            for number in (first..=end).filter(|n| *n <= last.0 && numbers.has(*n)) {
                let (_, byte, bit) = bit_position(number);
                bits[byte] |= bit;
            }
        })?;
        set.insert(block, new);
        block += 1;
    }
    Ok(set)
}

/// Reads a stored block. A shorter one is filled up with zeros.
pub(crate) fn mark_bits(stored: &[u8]) -> MarkBits {
    let mut bits = [0; BYTES];
    let n = stored.len().min(BYTES);
    bits[..n].copy_from_slice(&stored[..n]);
    bits
}

/// Changes the read marks of one block of an account. Returns the bits that were set.
pub(crate) fn change_block(
    conn: &Connection,
    account: AccountId,
    block: i64,
    change: impl FnOnce(&mut MarkBits),
) -> Result<MarkBits, DbError> {
    change_bits(conn, "read_marks", account, block, change)
}

/// Changes the bits of one block of an account in a table of marks. Returns the bits that were set.
pub(crate) fn change_bits(
    conn: &Connection,
    table: &str,
    account: AccountId,
    block: i64,
    change: impl FnOnce(&mut MarkBits),
) -> Result<MarkBits, DbError> {
    // Another process may change the same block. A row that does not exist cannot be locked, so it
    // is made first.
    if conn.is_postgres() {
        let sql = format!(
            "insert into {table} (account, block, bits) values ($1, $2, $3) \
             on conflict (account, block) do nothing"
        );
        conn.prepare_cached(&sql)?.execute(params![account.0, block, [].as_slice()])?;
    }
    let lock = dialect::for_update(conn);
    let sql = format!("select bits from {table} where account = $1 and block = $2{lock}");
    let stored: Option<Vec<u8>> = conn
        .prepare_cached(&sql)?
        .query_row(params![account.0, block], |row| row.get(0))
        .optional()?;
    let before = mark_bits(&stored.unwrap_or_default());
    let mut bits = before;
    change(&mut bits);
    let sql = format!(
        "insert into {table} (account, block, bits) values ($1, $2, $3) \
         on conflict (account, block) do update set bits = excluded.bits"
    );
    conn.prepare_cached(&sql)?.execute(params![account.0, block, bits.as_slice()])?;
    for (bits, before) in bits.iter_mut().zip(before) {
        *bits &= !before;
    }
    Ok(bits)
}

/// Returns the read marks of one account by block, without those of deleted entries.
pub(crate) fn blocks(
    conn: &Connection,
    account: AccountId,
) -> Result<BTreeMap<i64, MarkBits>, DbError> {
    let mut statement =
        conn.prepare_cached("select block, bits from read_marks where account = $1")?;
    let mut rows = statement.query([account.0])?;
    let mut blocks = BTreeMap::new();
    while let Some(row) = &rows.next()? {
        let stored: Vec<u8> = row.get(1)?;
        blocks.insert(row.get(0)?, mark_bits(&stored));
    }
    Ok(blocks)
}

/// Marks deleted entries as read for all accounts.
pub(crate) fn remove_entries(conn: &Connection, entries: &[EntryId]) -> Result<(), DbError> {
    mark(conn, AccountId::GONE, entries, true).map(drop)
}

/// The entry numbers given so far, and the gaps among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryNumbers {
    pub(crate) last: i64,
    /// First and last of each gap.
    gaps: BTreeMap<i64, i64>,
}

impl EntryNumbers {
    pub(crate) fn load(conn: &Connection) -> Result<EntryNumbers, DbError> {
        let last = sequence::last_entry(conn)?;
        let mut statement = conn.prepare_cached("select first, last from entry_gaps")?;
        let gaps = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(EntryNumbers { last, gaps: gaps.collect::<Result<_, _>>()? })
    }

    /// Returns the gap that contains a number.
    fn gap(&self, number: i64) -> Option<(i64, i64)> {
        let (first, last) = self.gaps.range(..=number).next_back()?;
        (number <= *last).then_some((*first, *last))
    }

    /// Returns whether a gap contains all numbers from `first` to `last`.
    fn is_gap(&self, first: i64, last: i64) -> bool {
        self.gap(first).is_some_and(|(_, end)| end >= last)
    }

    fn has(&self, number: i64) -> bool {
        (1..=self.last).contains(&number) && self.gap(number).is_none()
    }

    fn n(&self) -> i64 {
        self.n_between(0, self.last)
    }

    /// Returns how many entries have a number above `above` and up to `up_to`.
    pub(crate) fn n_between(&self, above: i64, up_to: i64) -> i64 {
        let inside = |(first, last): (&i64, &i64)| {
            let (first, last) = ((*first).max(above + 1), (*last).min(up_to));
            (last - first + 1).max(0)
        };
        (up_to - above).max(0) - self.gaps.iter().map(inside).sum::<i64>()
    }
}

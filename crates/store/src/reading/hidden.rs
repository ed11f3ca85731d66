//! Entries that rules have hidden from a person. Lists leave them out.

use std::collections::BTreeMap;

use feed::EntryId;

use crate::db::sql::Connection;
use crate::error::DbError;
use crate::reading::marks::{self, MarkBits, bit_position, mark_bits};
use crate::{AccountId, Store, StoreError};

/// The hidden entries of one account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenMarks {
    blocks: BTreeMap<i64, Box<MarkBits>>,
}

impl HiddenMarks {
    pub(crate) fn load(conn: &Connection, account: AccountId) -> Result<HiddenMarks, DbError> {
        let sql = "select block, bits from hidden_marks where account = $1";
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement.query_map([account.0], |row| {
            Ok((row.get::<_, i64>(0)?, Box::new(mark_bits(&row.get::<_, Vec<u8>>(1)?))))
        })?;
        Ok(HiddenMarks { blocks: rows.collect::<Result<_, _>>()? })
    }

    pub fn is_hidden(&self, entry: EntryId) -> bool {
        let (block, byte, bit) = bit_position(entry.0);
        self.blocks.get(&block).is_some_and(|bits| bits[byte] & bit != 0)
    }

    fn n(&self) -> u64 {
        let bytes = self.blocks.values().flat_map(|bits| bits.iter());
        bytes.map(|byte| u64::from(byte.count_ones())).sum()
    }
}

impl Store {
    pub fn hidden_marks(&self, account: AccountId) -> Result<HiddenMarks, StoreError> {
        self.read(|conn| HiddenMarks::load(conn, account))
    }

    /// Returns how many entries are hidden from an account. Deleted ones count too.
    pub fn n_hidden(&self, account: AccountId) -> Result<u64, StoreError> {
        self.read(|conn| Ok(HiddenMarks::load(conn, account)?.n()))
    }

    /// Shows all hidden entries of an account again. They stay read.
    pub fn show_hidden(&self, account: AccountId) -> Result<(), StoreError> {
        self.write_own(move |conn| {
            conn.execute("delete from hidden_marks where account = $1", [account.0])?;
            Ok(())
        })
    }
}

/// Hides entries. Each block is written once.
pub(crate) fn hide(
    conn: &Connection,
    account: AccountId,
    entries: &[EntryId],
) -> Result<(), DbError> {
    let mut by_block: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for entry in entries {
        by_block.entry(bit_position(entry.0).0).or_default().push(entry.0);
    }
    for (block, numbers) in by_block {
        marks::change_bits(conn, "hidden_marks", account, block, |bits| {
            for number in &numbers {
                let (_, byte, bit) = bit_position(*number);
                bits[byte] |= bit;
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_name_entries() {
        let mut bits = [0; 512];
        bits[1] = 0b10;
        let marks = HiddenMarks { blocks: BTreeMap::from([(1, Box::new(bits))]) };
        assert!(marks.is_hidden(EntryId(4096 + 9)) && !marks.is_hidden(EntryId(9)));
        assert_eq!(marks.n(), 1);
    }
}

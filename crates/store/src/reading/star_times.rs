//! The times at which an account starred entries, for its export.

use std::collections::HashMap;

use feed::{EntryId, Time};

use crate::db::columns::time;
use crate::{AccountId, Store, StoreError};

impl Store {
    /// Returns every entry that an account has starred, with the time.
    pub fn star_times(&self, account: AccountId) -> Result<HashMap<EntryId, Time>, StoreError> {
        self.read(|conn| {
            let sql = "select entry, starred_at from stars where account = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement
                .query_map([account.0], |row| Ok((EntryId(row.get(0)?), time(row, 1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

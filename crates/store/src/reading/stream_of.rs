//! The stream of entries as one account sees it: those of its own feeds.

use feed::EntryId;

use crate::db::sequence;
use crate::reading::entries::{COLUMNS, entry_row, page};
use crate::reading::marks::ReadMarks;
use crate::subscriptions::scope;
use crate::{AccountId, ReadFeeds, Store, StoreError, StreamPage};

impl Store {
    /// Returns a page of the entries that an account reads. The gap also counts deleted entries of
    /// other feeds: nobody knows any more to which feed they belonged.
    pub fn stream_of(
        &self,
        account: AccountId,
        after: EntryId,
        limit: u32,
    ) -> Result<StreamPage, StoreError> {
        let limit = limit.max(1);
        self.read(|conn| {
            let ReadFeeds::Only(feeds) = scope::read_feeds(conn, account)? else {
                return Ok(None);
            };
            let last = EntryId(sequence::last_entry(conn)?);
            let is_own = |feed| feeds.contains(&feed);
            let found = self.entry_feeds().after(conn, after, limit as usize, is_own)?;
            let is_full = found.len() == limit as usize;
            let sql = format!("{COLUMNS} where id = $1");
            let mut statement = conn.prepare_cached(&sql)?;
            let keys: Vec<crate::db::sql::Value<'_>> =
                found.iter().map(|entry| crate::db::sql::Value::Int(entry.0)).collect();
            let rows = statement.each(&keys, &[], |_, row| entry_row(row))?;
            let n_rows = rows.len();
            let entries = page(rows.into_iter().map(Ok), |row| row)?;
            let next = match entries.last() {
                Some(row) if is_full || entries.len() < n_rows => row.id,
                _ => last.max(after),
            };
            let gone = ReadMarks::load(conn, AccountId::GONE)?;
            let gap = gone.has_between(after, next);
            Ok(Some(StreamPage { entries, gap, next }))
        })?
        .map_or_else(|| self.stream(after, limit), Ok)
    }
}

//! The people and feeds that the figures of an instance count.

use crate::people::choices;
use crate::{AccountId, Store, StoreError};

/// The preference of an account that does not want to be counted, and its value.
pub const COUNTED_CHOICE: (&str, &str) = ("counted", "no");

/// The key in `settings` that asks for a new calculation, because somebody has changed the
/// preference.
const STALE: &str = "figures of people";

/// An SQL condition for rows of accounts that want to be counted. The person at the machine is not
/// one of many.
pub(super) const IS_COUNTED: &str = "account > 0 and account not in \
    (select account from reading_choices where name = 'counted' and value = 'no')";

/// An SQL condition for feeds without secrets.
pub(super) const IS_OPEN: &str = "feed not in (select feed from private_feeds)";

impl Store {
    /// Sets whether an account is counted in the figures of the instance. They are calculated
    /// again soon.
    pub fn count_account(&self, account: AccountId, counted: bool) -> Result<(), StoreError> {
        let (name, value) = COUNTED_CHOICE;
        self.write_own(move |conn| {
            choices::put(conn, account, name, (!counted).then_some(value))?;
            let sql = "insert into settings (key, value) values ($1, 'stale') \
                       on conflict (key) do nothing";
            conn.execute(sql, [STALE])?;
            Ok(())
        })
    }

    /// Returns whether the figures must be calculated again, and forgets it.
    pub fn take_stale_figures(&self) -> Result<bool, StoreError> {
        if self.setting(STALE)?.is_none() {
            return Ok(false);
        }
        self.write(|conn| Ok(conn.execute("delete from settings where key = $1", [STALE])? > 0))
    }
}

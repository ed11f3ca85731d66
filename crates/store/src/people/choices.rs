//! Reading preferences of each account: short texts by name. The pages give them their meaning and
//! treat unknown values as the default.

use std::collections::BTreeMap;

use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::{AccountId, Store, StoreError};

/// Bytes of a value. The longest name of a time zone has 32.
const VALUE_BYTES_MAX: usize = 64;

impl Store {
    /// Returns all preferences of an account.
    pub fn choices(&self, account: AccountId) -> Result<BTreeMap<String, String>, StoreError> {
        self.read(|conn| {
            let sql = "select name, value from reading_choices where account = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Stores a preference; `None`, or a value that is too long, restores the default.
    pub fn choose(
        &self,
        account: AccountId,
        name: &'static str,
        value: Option<&str>,
    ) -> Result<(), StoreError> {
        let value = value.filter(|value| value.len() <= VALUE_BYTES_MAX).map(str::to_owned);
        self.write_own(move |conn| put(conn, account, name, value.as_deref()))
    }
}

/// Stores a preference; `None` restores the default.
pub(crate) fn put(
    conn: &Connection,
    account: AccountId,
    name: &str,
    value: Option<&str>,
) -> Result<(), DbError> {
    match value {
        Some(value) => conn.execute(
            "insert into reading_choices (account, name, value) values ($1, $2, $3) \
             on conflict (account, name) do update set value = excluded.value",
            params![account.0, name, value],
        )?,
        None => conn.execute(
            "delete from reading_choices where account = $1 and name = $2",
            params![account.0, name],
        )?,
    };
    Ok(())
}

//! The accounts as administrators list them: by name, in pages, perhaps only those with a text in
//! their name. An instance may have ten thousand.

use std::collections::HashMap;

use feed::Time;

use crate::db::columns::{count, time_or_none};
use crate::db::sql::{Connection, OptionalExtension, Value, params};
use crate::error::DbError;
use crate::feeds::list::pattern;
use crate::people::accounts::account_row;
use crate::{AccountId, AccountRow, Store, StoreError};

/// The part of the list of accounts that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountListFilter {
    /// Only accounts with this text in their name; empty: all.
    pub text: String,
    /// Only names after this one, or before it if `backwards`.
    pub from: Option<String>,
    pub backwards: bool,
    pub limit: u32,
}

/// Some accounts, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountListPage {
    pub accounts: Vec<AccountRow>,
    /// The number of accounts on all pages.
    pub n_accounts: u64,
    /// Whether there are accounts before and after these.
    pub has_earlier: bool,
    pub has_later: bool,
}

impl Store {
    /// Returns one page of the list of accounts.
    pub fn account_page(&self, filter: &AccountListFilter) -> Result<AccountListPage, StoreError> {
        self.read(|conn| account_page(conn, filter))
    }

    pub fn account_numbered(&self, account: AccountId) -> Result<Option<AccountRow>, StoreError> {
        self.read(|conn| {
            let sql = "select id, name, password, created_at, role from accounts where id = $1";
            Ok(conn.prepare_cached(sql)?.query_row([account.0], account_row).optional()?)
        })
    }

    /// Returns when these accounts were last seen, by a session or a token. Accounts that were
    /// never seen are left out.
    pub fn last_seen(
        &self,
        accounts: &[AccountId],
        now: Time,
    ) -> Result<HashMap<AccountId, Time>, StoreError> {
        self.read(|conn| {
            let sql = "select max(at) from ( \
                        select coalesce(seen_at, created_at) as at from sessions \
                         where account = $1 and expires_at > $2 \
                        union all select used_at from tokens \
                         where account = $1 and used_at is not null \
                       ) as seen";
            let keys: Vec<Value<'_>> = accounts.iter().map(|one| Value::Int(one.0)).collect();
            let now = [Value::Int(now.millis())];
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.each(&keys, &now, |place, row| {
                Ok(time_or_none(row, 0)?.map(|at| (accounts[place], at)))
            })?;
            Ok(found.into_iter().flatten().collect())
        })
    }
}

fn account_page(conn: &Connection, filter: &AccountListFilter) -> Result<AccountListPage, DbError> {
    // Names are stored in lower case.
    let pattern = pattern(&filter.text.to_lowercase());
    let sql = "select count(*) from accounts where name like $1 escape '\\'";
    let n_accounts = conn.prepare_cached(sql)?.query_row([&pattern], |row| count(row, 0))?;
    let (comparison, direction) = if filter.backwards { ("<", "desc") } else { (">", "asc") };
    let sql = format!(
        "select id, name, password, created_at, role from accounts \
         where name like $1 escape '\\' and ($2 = 0 or name {comparison} $3) \
         order by name {direction} limit $4"
    );
    let from = filter.from.as_deref().unwrap_or_default();
    let limit = i64::from(filter.limit.max(1));
    let values = params![pattern, i64::from(filter.from.is_some()), from, limit + 1];
    let mut statement = conn.prepare_cached(&sql)?;
    let mut accounts: Vec<AccountRow> =
        statement.query_map(values, account_row)?.collect::<Result<_, _>>()?;
    let has_more = accounts.len() > filter.limit.max(1) as usize;
    accounts.truncate(filter.limit.max(1) as usize);
    // Behind the cursor is at least one account, unless it was removed or another text is given.
    let comparison = if filter.backwards { ">" } else { "<" };
    let sql = format!(
        "select 1 from accounts where name like $1 escape '\\' and name {comparison} $2 limit 1"
    );
    let has_others = match (&filter.from, accounts.first()) {
        (Some(_), Some(first)) => {
            conn.prepare_cached(&sql)?.exists(params![pattern, first.name])?
        }
        (from, _) => from.is_some() && n_accounts > 0,
    };
    if filter.backwards {
        accounts.reverse();
    }
    let (has_earlier, has_later) = match filter.backwards {
        true => (has_more, has_others),
        false => (has_others, has_more),
    };
    Ok(AccountListPage { accounts, n_accounts, has_earlier, has_later })
}

//! Logins at an identity provider: which account belongs to a subject of an issuer.

use feed::Time;

use crate::db::dialect::{self, LockSubject};
use crate::db::sql::{OptionalExtension, params};
use crate::people::accounts::account_row;
use crate::{AccountError, AccountId, AccountRole, AccountRow, NO_PASSWORD, Store, StoreError};

/// Names that are tried for a new account before it is refused.
const NAMES_TRIED_MAX: u32 = 100;

/// A person at an identity provider. Both texts are compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
}

impl Store {
    /// Returns the account of an identity.
    pub fn identified(&self, identity: &Identity) -> Result<Option<AccountRow>, StoreError> {
        let Identity { issuer, subject } = identity.clone();
        self.read(|conn| {
            let sql = "select a.id, a.name, a.password, a.created_at, a.role \
                       from identities i join accounts a on a.id = i.account \
                       where i.issuer = $1 and i.subject = $2";
            let mut statement = conn.prepare_cached(sql)?;
            Ok(statement.query_row(params![issuer, subject], account_row).optional()?)
        })
    }

    /// Returns the identities of an account.
    pub fn identities(&self, account: AccountId) -> Result<Vec<Identity>, StoreError> {
        self.read(|conn| {
            let sql = "select issuer, subject from identities where account = $1 \
                       order by issuer, subject";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| {
                Ok(Identity { issuer: row.get(0)?, subject: row.get(1)? })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Connects an identity with an account. An identity of another account stays there.
    pub fn connect_identity(
        &self,
        account: AccountId,
        identity: &Identity,
        now: Time,
    ) -> Result<Result<(), AccountError>, StoreError> {
        let Identity { issuer, subject } = identity.clone();
        self.write_own(move |conn| {
            let sql = "select 1 from accounts where id = $1";
            if !conn.prepare_cached(sql)?.exists([account.0])? {
                return Ok(Err(AccountError::NoAccount));
            }
            dialect::one_at_a_time(conn, LockSubject::Identities, 0)?;
            let sql = "insert into identities (issuer, subject, account, created_at) \
                       values ($1, $2, $3, $4) on conflict (issuer, subject) do nothing";
            conn.execute(sql, params![issuer, subject, account.0, now.millis()])?;
            let sql = "select account from identities where issuer = $1 and subject = $2";
            let owner: i64 = conn.query_row(sql, params![issuer, subject], |row| row.get(0))?;
            Ok(if owner == account.0 { Ok(()) } else { Err(AccountError::Taken) })
        })
    }

    /// Removes an identity from an account; `false` if the account does not have it.
    pub fn disconnect_identity(
        &self,
        account: AccountId,
        identity: &Identity,
    ) -> Result<bool, StoreError> {
        let Identity { issuer, subject } = identity.clone();
        self.write_own(move |conn| {
            let sql = "delete from identities where account = $1 and issuer = $2 and subject = $3";
            Ok(conn.execute(sql, params![account.0, issuer, subject])? > 0)
        })
    }

    /// Returns the account of an identity, or creates one without a password. It gets a name that
    /// is free: `wanted`, or `wanted` with a number. An account that exists is never taken over.
    pub fn account_for_identity(
        &self,
        identity: &Identity,
        wanted: &str,
        now: Time,
    ) -> Result<Result<AccountRow, AccountError>, StoreError> {
        let (Identity { issuer, subject }, wanted) = (identity.clone(), wanted.to_lowercase());
        self.write_own(move |conn| {
            let find = "select a.id, a.name, a.password, a.created_at, a.role \
                        from identities i join accounts a on a.id = i.account \
                        where i.issuer = $1 and i.subject = $2";
            let of = || conn.query_row(find, params![issuer, subject], account_row).optional();
            if let Some(found) = of()? {
                return Ok(Ok(found));
            }
            // A person may log in for the first time on two machines at once.
            dialect::one_at_a_time(conn, LockSubject::Identities, 0)?;
            if let Some(found) = of()? {
                return Ok(Ok(found));
            }
            for n in 1..=NAMES_TRIED_MAX {
                let name = if n == 1 { wanted.clone() } else { format!("{wanted}-{n}") };
                let sql = "insert into accounts (name, password, created_at, role) \
                           values ($1, $2, $3, $4) on conflict (name) do nothing \
                           returning id, name, password, created_at, role";
                let role = AccountRole::Reader.word();
                let values = params![name, NO_PASSWORD, now.millis(), role];
                let made = conn.query_row(sql, values, account_row).optional()?;
                if let Some(made) = made {
                    let sql = "insert into identities (issuer, subject, account, created_at) \
                               values ($1, $2, $3, $4)";
                    conn.execute(sql, params![issuer, subject, made.id.0, now.millis()])?;
                    return Ok(Ok(made));
                }
            }
            Ok(Err(AccountError::Taken))
        })
    }
}

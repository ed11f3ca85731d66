//! Accounts and their tokens. Callers pass hashed passwords and digests of secrets,
//! so that nothing stored here can be used to log in.

use crate::db::sql::{Connection, OptionalExtension, Row, params};
use feed::Time;

use crate::db::columns::{count, time, time_or_none};
use crate::db::dialect::{self, LockSubject};
use crate::error::DbError;
use crate::feeds::takeover;
use crate::people::belongings;
use crate::{AccountId, Store, StoreError};

/// SHA-256 of a secret.
pub type Digest = [u8; 32];

/// Tokens that one account may have.
const TOKENS_MAX: u64 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRow {
    pub id: AccountId,
    pub name: String,
    /// A PHC string, or [`NO_PASSWORD`].
    pub password: String,
    pub created_at: Time,
    pub role: AccountRole,
}

/// Stored for an account that logs in elsewhere. No password has this hash.
pub const NO_PASSWORD: &str = "!";

/// The rights of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountRole {
    /// Everything.
    Admin,
    /// Its own marks, stars, sessions and tokens.
    Reader,
}

impl AccountRole {
    pub const ALL: [AccountRole; 2] = [AccountRole::Admin, AccountRole::Reader];

    pub const fn word(self) -> &'static str {
        match self {
            AccountRole::Admin => "admin",
            AccountRole::Reader => "reader",
        }
    }

    pub fn from_word(word: &str) -> Option<AccountRole> {
        AccountRole::ALL.into_iter().find(|role| role.word() == word)
    }

    /// Returns the widest scope that an account with this role can use.
    pub const fn scope_max(self) -> TokenScope {
        match self {
            AccountRole::Admin => TokenScope::Admin,
            AccountRole::Reader => TokenScope::Write,
        }
    }
}

/// The rights of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenScope {
    /// Read everything.
    Read,
    /// Also change the account's own subscriptions, tags, marks, rules and queries.
    Write,
    /// Also manage the account; with the role admin also feeds, the budget and other accounts.
    Admin,
}

impl TokenScope {
    pub const ALL: [TokenScope; 3] = [TokenScope::Read, TokenScope::Write, TokenScope::Admin];

    pub const fn word(self) -> &'static str {
        match self {
            TokenScope::Read => "read",
            TokenScope::Write => "write",
            TokenScope::Admin => "admin",
        }
    }

    pub fn from_word(word: &str) -> Option<TokenScope> {
        TokenScope::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// A token to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub account: AccountId,
    pub name: String,
    pub scope: TokenScope,
    pub digest: Digest,
    /// Digest of `md5(name:token)`, the only thing that Fever clients send.
    pub fever_digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    pub id: i64,
    pub account: AccountId,
    pub name: String,
    pub scope: TokenScope,
    pub created_at: Time,
    /// Accurate to the day.
    pub used_at: Option<Time>,
}

/// The reason why an account or a token was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    #[error("the name is taken; choose another one")]
    Taken,
    #[error("the account has too many tokens; revoke one first")]
    TooMany,
    #[error("the account does not exist")]
    NoAccount,
    #[error("this is the only account with the role admin; give another account this role first")]
    LastAdmin,
}

impl Store {
    /// Returns whether there are accounts. From the first one on, everything needs a login.
    pub fn has_accounts(&self) -> Result<bool, StoreError> {
        self.read(|conn| Ok(conn.prepare_cached("select 1 from accounts limit 1")?.exists([])?))
    }

    /// Creates an account: the first one is an admin, later ones are readers.
    pub fn add_account(
        &self,
        name: &str,
        password: &str,
        now: Time,
    ) -> Result<Result<AccountId, AccountError>, StoreError> {
        self.add_account_as(name, password, None, now)
    }

    /// Creates an account with a role. The first account takes over everything of the local person:
    /// feeds, tags, queries, read marks, stars and preferences. Later ones begin without
    /// subscriptions.
    pub fn add_account_as(
        &self,
        name: &str,
        password: &str,
        role: Option<AccountRole>,
        now: Time,
    ) -> Result<Result<AccountId, AccountError>, StoreError> {
        let (name, password) = (name.to_lowercase(), password.to_owned());
        self.write_own(move |conn| {
            let first = is_first(conn)?;
            let usual = if first { AccountRole::Admin } else { AccountRole::Reader };
            let role = role.unwrap_or(usual).word();
            // PostgreSQL uses up a number for each row that it tries to insert.
            let sql = "insert into accounts (name, password, created_at, role) \
                       select $1, $2, $3, $4 \
                       where not exists (select 1 from accounts where name = $1) \
                       on conflict (name) do nothing returning id";
            let made = conn
                .query_row(sql, params![name, password, now.millis(), role], |row| row.get(0))
                .optional()?;
            let Some(id) = made.map(AccountId) else { return Ok(Err(AccountError::Taken)) };
            if first {
                belongings::adopt(conn, id)?;
                takeover::take_over(conn, id)?;
            }
            Ok(Ok(id))
        })
    }

    pub fn accounts(&self) -> Result<Vec<AccountRow>, StoreError> {
        self.read(|conn| {
            let sql = "select id, name, password, created_at, role from accounts order by name";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], account_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn account(&self, name: &str) -> Result<Option<AccountRow>, StoreError> {
        let name = name.to_lowercase();
        self.read(|conn| {
            let sql = "select id, name, password, created_at, role from accounts where name = $1";
            Ok(conn.prepare_cached(sql)?.query_row([name], account_row).optional()?)
        })
    }

    /// Changes the password of an account and ends its sessions.
    pub fn set_password(&self, account: AccountId, password: &str) -> Result<(), StoreError> {
        self.change_password(account, password, None)
    }

    /// Changes the password of an account and ends its sessions, except one.
    pub fn change_password(
        &self,
        account: AccountId,
        password: &str,
        except: Option<Digest>,
    ) -> Result<(), StoreError> {
        let password = password.to_owned();
        self.write_own(move |conn| {
            let sql = "update accounts set password = $1 where id = $2";
            conn.execute(sql, params![password, account.0])?;
            let kept: &[u8] = except.as_ref().map_or(&[], |digest| digest.as_slice());
            let sql = "delete from sessions where account = $1 and digest <> $2";
            conn.execute(sql, params![account.0, kept])?;
            Ok(())
        })
    }

    /// Returns the role of an account, if it exists.
    pub fn role_of(&self, account: AccountId) -> Result<Option<AccountRole>, StoreError> {
        self.read(|conn| {
            let sql = "select role from accounts where id = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let word: Option<String> =
                statement.query_row([account.0], |row| row.get(0)).optional()?;
            Ok(word.and_then(|word| AccountRole::from_word(&word)))
        })
    }

    /// Gives an account another role. The last admin stays one.
    pub fn set_role(
        &self,
        account: AccountId,
        role: AccountRole,
    ) -> Result<Result<(), AccountError>, StoreError> {
        self.write_own(move |conn| {
            if role == AccountRole::Reader && is_last_admin(conn, account)? {
                return Ok(Err(AccountError::LastAdmin));
            }
            let sql = "update accounts set role = $1 where id = $2";
            let n = conn.execute(sql, params![role.word(), account.0])?;
            Ok(if n > 0 { Ok(()) } else { Err(AccountError::NoAccount) })
        })
    }

    /// Removes an account and everything that belongs to it; `false` if it does not exist.
    pub fn remove_account(&self, account: AccountId) -> Result<bool, StoreError> {
        self.write_own(move |conn| remove(conn, account))
    }

    /// The same, except for the last admin.
    pub fn remove_account_but_last_admin(
        &self,
        account: AccountId,
    ) -> Result<Result<(), AccountError>, StoreError> {
        self.write_own(move |conn| {
            if is_last_admin(conn, account)? {
                return Ok(Err(AccountError::LastAdmin));
            }
            Ok(if remove(conn, account)? { Ok(()) } else { Err(AccountError::NoAccount) })
        })
    }

    pub fn add_token(
        &self,
        new: &NewToken,
        now: Time,
    ) -> Result<Result<TokenRow, AccountError>, StoreError> {
        let new = new.clone();
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Account, new.account.0)?;
            let sql = "select count(*) from tokens where account = $1";
            if conn.query_row(sql, [new.account.0], |row| count(row, 0))? >= TOKENS_MAX {
                return Ok(Err(AccountError::TooMany));
            }
            let sql = "select 1 from accounts where id = $1";
            if !conn.prepare_cached(sql)?.exists([new.account.0])? {
                return Ok(Err(AccountError::NoAccount));
            }
            let sql = "insert into tokens (account, name, scope, digest, fever_digest, created_at) \
                       values ($1, $2, $3, $4, $5, $6) on conflict (account, name) do nothing \
                       returning id, account, name, scope, created_at, used_at";
            let (account, scope) = (new.account.0, new.scope.word());
            let values =
                params![account, new.name, scope, new.digest, new.fever_digest, now.millis()];
            let made = conn.query_row(sql, values, |row| token_row(row, 0)).optional()?;
            Ok(made.ok_or(AccountError::Taken))
        })
    }

    /// Returns the tokens of an account, the oldest first.
    pub fn tokens(&self, account: AccountId) -> Result<Vec<TokenRow>, StoreError> {
        self.read(|conn| {
            let sql = "select id, account, name, scope, created_at, used_at from tokens \
                       where account = $1 order by id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| token_row(row, 0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the token with this digest, and its account.
    pub fn token(&self, digest: &Digest) -> Result<Option<(AccountRow, TokenRow)>, StoreError> {
        self.token_where("t.digest", digest)
    }

    /// Returns the token with this digest of a Fever key, and its account.
    pub fn fever_token(
        &self,
        digest: &Digest,
    ) -> Result<Option<(AccountRow, TokenRow)>, StoreError> {
        self.token_where("t.fever_digest", digest)
    }

    fn token_where(
        &self,
        column: &str,
        digest: &Digest,
    ) -> Result<Option<(AccountRow, TokenRow)>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select a.id, a.name, a.password, a.created_at, a.role, \
                 t.id, t.account, t.name, t.scope, t.created_at, t.used_at \
                 from tokens t join accounts a on a.id = t.account where {column} = $1"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let found =
                statement.query_row([digest], |row| Ok((account_row(row)?, token_row(row, 5)?)));
            Ok(found.optional()?)
        })
    }

    /// Notes that a token was used. The caller does this once a day.
    pub fn note_token_use(&self, id: i64, at: Time) -> Result<(), StoreError> {
        self.write_own(move |conn| {
            let sql = "update tokens set used_at = $1 where id = $2";
            conn.execute(sql, params![at.millis(), id])?;
            Ok(())
        })
    }

    /// Revokes a token; `false` if the account has no token with this number.
    pub fn revoke_token(&self, account: AccountId, id: i64) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            let sql = "delete from tokens where account = $1 and id = $2";
            Ok(conn.execute(sql, params![account.0, id])? > 0)
        })
    }
}

/// Returns whether there are no accounts yet. Then no other process can create one until the end of
/// the transaction: only one account can be the first.
fn is_first(conn: &Connection) -> crate::db::sql::Result<bool> {
    let is_empty = || Ok(!conn.prepare_cached("select 1 from accounts limit 1")?.exists([])?);
    if !is_empty()? || !conn.is_postgres() {
        return is_empty();
    }
    conn.execute_batch("lock table accounts in share row exclusive mode")?;
    is_empty()
}

/// Locks the rows of all admins first: two of them may leave at the same time.
fn is_last_admin(conn: &Connection, account: AccountId) -> crate::db::sql::Result<bool> {
    let lock = if conn.is_postgres() { " for update" } else { "" };
    let sql = format!("select id from accounts where role = 'admin' order by id{lock}");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    let admins: Vec<i64> = rows.collect::<Result<_, _>>()?;
    Ok(admins == [account.0])
}

fn remove(conn: &Connection, account: AccountId) -> Result<bool, DbError> {
    takeover::leave(conn, account)?;
    belongings::forget(conn, account)?;
    Ok(conn.execute("delete from accounts where id = $1", [account.0])? > 0)
}

pub(super) fn account_row(row: &Row<'_>) -> crate::db::sql::Result<AccountRow> {
    Ok(AccountRow {
        id: AccountId(row.get(0)?),
        name: row.get(1)?,
        password: row.get(2)?,
        created_at: time(row, 3)?,
        // An unknown word grants the least.
        role: AccountRole::from_word(&row.get::<_, String>(4)?).unwrap_or(AccountRole::Reader),
    })
}

fn token_row(row: &Row<'_>, first: usize) -> crate::db::sql::Result<TokenRow> {
    let scope: String = row.get(first + 3)?;
    Ok(TokenRow {
        id: row.get(first)?,
        account: AccountId(row.get(first + 1)?),
        name: row.get(first + 2)?,
        // An unknown word grants the least.
        scope: TokenScope::from_word(&scope).unwrap_or(TokenScope::Read),
        created_at: time(row, first + 4)?,
        used_at: time_or_none(row, first + 5)?,
    })
}

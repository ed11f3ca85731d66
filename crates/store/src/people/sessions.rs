//! Sessions of browsers and apps, as digests of their secrets.

use std::fmt;

use feed::Time;

use crate::db::columns::{time, time_or_none};
use crate::db::sql::{OptionalExtension, params};
use crate::people::accounts::account_row;
use crate::{AccountId, AccountRow, Digest, Store, StoreError};

/// Sessions of one account; the oldest are removed first. Some apps log in at every start, and
/// their session lasts a year.
const SESSIONS_MAX: u32 = 500;
/// Characters of a User-Agent that are kept.
const DEVICE_CHARS_MAX: usize = 300;

/// The number of a session that is shown to its owner. It cannot be used to log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNumber(u64);

impl SessionNumber {
    pub fn of(digest: &Digest) -> SessionNumber {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest[..8]);
        SessionNumber(u64::from_be_bytes(bytes))
    }

    pub fn parse(text: &str) -> Option<SessionNumber> {
        u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16).map(SessionNumber)
    }
}

impl fmt::Display for SessionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The device and the address at the last use of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionOrigin {
    /// The User-Agent.
    pub device: String,
    pub address: String,
}

/// A session as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    pub number: SessionNumber,
    pub origin: SessionOrigin,
    pub created_at: Time,
    /// Accurate to the hour.
    pub seen_at: Time,
    pub expires_at: Time,
}

impl Store {
    /// Stores a session without its origin and removes expired ones.
    pub fn begin_session(
        &self,
        account: AccountId,
        digest: Digest,
        now: Time,
        expires_at: Time,
    ) -> Result<(), StoreError> {
        self.begin_session_at(account, digest, SessionOrigin::default(), now, expires_at)
    }

    /// Stores a session and removes expired ones.
    pub fn begin_session_at(
        &self,
        account: AccountId,
        digest: Digest,
        origin: SessionOrigin,
        now: Time,
        expires_at: Time,
    ) -> Result<(), StoreError> {
        let (device, address) = (cut(&origin.device), origin.address);
        self.write_own(move |conn| {
            conn.execute("delete from sessions where expires_at <= $1", [now.millis()])?;
            let sql = "insert into sessions \
                       (digest, account, created_at, expires_at, device, address, seen_at) \
                       values ($1, $2, $3, $4, $5, $6, $3)";
            let (begins, ends) = (now.millis(), expires_at.millis());
            conn.execute(sql, params![digest, account.0, begins, ends, device, address])?;
            let sql = "delete from sessions where account = $1 and digest not in \
                       (select digest from sessions where account = $1 \
                        order by created_at desc, digest limit $2)";
            conn.execute(sql, params![account.0, SESSIONS_MAX])?;
            Ok(())
        })
    }

    /// Returns the account of a session that has not expired.
    pub fn session(&self, digest: &Digest, now: Time) -> Result<Option<AccountRow>, StoreError> {
        Ok(self.session_seen(digest, now)?.map(|(account, _)| account))
    }

    /// Returns the account of a session that has not expired, and when the session was used last.
    pub fn session_seen(
        &self,
        digest: &Digest,
        now: Time,
    ) -> Result<Option<(AccountRow, Option<Time>)>, StoreError> {
        self.read(|conn| {
            let sql = "select a.id, a.name, a.password, a.created_at, a.role, s.seen_at \
                       from sessions s join accounts a on a.id = s.account \
                       where s.digest = $1 and s.expires_at > $2";
            let mut statement = conn.prepare_cached(sql)?;
            let found = statement.query_row(params![digest, now.millis()], |row| {
                Ok((account_row(row)?, time_or_none(row, 5)?))
            });
            Ok(found.optional()?)
        })
    }

    /// Notes that a session was used. The caller does this once an hour.
    pub fn note_session_use(
        &self,
        digest: Digest,
        origin: SessionOrigin,
        at: Time,
    ) -> Result<(), StoreError> {
        let (device, address) = (cut(&origin.device), origin.address);
        self.write_own(move |conn| {
            let sql = "update sessions set seen_at = $1, device = $2, address = $3 \
                       where digest = $4";
            conn.execute(sql, params![at.millis(), device, address, digest])?;
            Ok(())
        })
    }

    /// Returns the sessions of an account that have not expired, the last used first.
    pub fn sessions(&self, account: AccountId, now: Time) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|conn| {
            let sql = "select digest, device, address, created_at, \
                       coalesce(seen_at, created_at), expires_at from sessions \
                       where account = $1 and expires_at > $2 \
                       order by coalesce(seen_at, created_at) desc, digest";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![account.0, now.millis()], |row| {
                Ok(SessionRow {
                    number: SessionNumber::of(&row.get(0)?),
                    origin: SessionOrigin { device: row.get(1)?, address: row.get(2)? },
                    created_at: time(row, 3)?,
                    seen_at: time(row, 4)?,
                    expires_at: time(row, 5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    pub fn end_session(&self, digest: Digest) -> Result<(), StoreError> {
        self.write_own(move |conn| {
            conn.execute("delete from sessions where digest = $1", [digest])?;
            Ok(())
        })
    }

    /// Ends a session of an account; `false` if it has no session with this number.
    pub fn end_session_numbered(
        &self,
        account: AccountId,
        number: SessionNumber,
    ) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            let sql = "select digest from sessions where account = $1";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| row.get::<_, Digest>(0))?;
            let digests: Vec<Digest> = rows.collect::<Result<_, _>>()?;
            let found = digests.into_iter().find(|d| SessionNumber::of(d) == number);
            let Some(digest) = found else { return Ok(false) };
            Ok(conn.execute("delete from sessions where digest = $1", [digest])? > 0)
        })
    }

    /// Ends all sessions of an account, except one. Returns how many.
    pub fn end_other_sessions(
        &self,
        account: AccountId,
        except: Option<Digest>,
    ) -> Result<usize, StoreError> {
        self.write_own(move |conn| {
            let kept: &[u8] = except.as_ref().map_or(&[], |digest| digest.as_slice());
            let sql = "delete from sessions where account = $1 and digest <> $2";
            Ok(conn.execute(sql, params![account.0, kept])?)
        })
    }
}

fn cut(text: &str) -> String {
    text.chars().take(DEVICE_CHARS_MAX).collect()
}

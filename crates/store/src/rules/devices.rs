//! The browsers that take notifications of a person.

use feed::Time;

use crate::db::columns::{count, time, time_or_none};
use crate::db::dialect::{self, LockSubject};
use crate::db::sql::{Row, params};
use crate::{AccountId, Digest, Store, StoreError};

/// Devices that one account may have: phones and browsers of one person.
const DEVICES_MAX: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PushDeviceId(pub i64);

/// A device to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPushDevice {
    /// The session of the browser. The device goes with it.
    pub session: Option<Digest>,
    /// The address at the push service of the browser. It is a secret.
    pub endpoint: String,
    /// The public key of the browser, an uncompressed point of P-256.
    pub p256dh: Vec<u8>,
    pub auth: Vec<u8>,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushDeviceRow {
    pub id: PushDeviceId,
    pub account: AccountId,
    pub endpoint: String,
    pub p256dh: Vec<u8>,
    pub auth: Vec<u8>,
    pub name: String,
    pub created_at: Time,
    /// The last notification that it got.
    pub sent_to: i64,
    pub sent_at: Option<Time>,
    pub attempts: u32,
    pub next_at: Option<Time>,
    pub error: Option<String>,
}

pub(super) const COLUMNS: &str = "select d.id, d.account, d.endpoint, d.p256dh, d.auth, d.name, \
    d.created_at, d.sent_to, d.sent_at, d.attempts, d.next_at, d.error from push_devices d";

impl Store {
    /// Stores a device. The same browser replaces what it was before, also that of another account.
    /// `false`: the account has too many.
    pub fn put_push_device(
        &self,
        account: AccountId,
        new: &NewPushDevice,
        now: Time,
    ) -> Result<bool, StoreError> {
        let new = new.clone();
        self.write_own(move |conn| {
            dialect::one_at_a_time(conn, LockSubject::Devices, 0)?;
            conn.execute("delete from push_devices where endpoint = $1", [&new.endpoint])?;
            let sql = "select count(*) from push_devices where account = $1";
            if conn.query_row(sql, [account.0], |row| count(row, 0))? >= DEVICES_MAX {
                return Ok(false);
            }
            // Only what rules find from now on is sent.
            let sql = "insert into push_devices (account, session, endpoint, p256dh, auth, name, \
                       created_at, sent_to) select $1, \
                       (select digest from sessions where digest = $2), $3, $4, $5, $6, $7, \
                       coalesce(max(id), 0) from notifications";
            let session = new.session.as_ref().map(|digest| digest.as_slice());
            let values = params![
                account.0,
                session,
                new.endpoint,
                new.p256dh,
                new.auth,
                new.name,
                now.millis()
            ];
            conn.execute(sql, values)?;
            Ok(true)
        })
    }

    /// Returns the devices of an account, the oldest first.
    pub fn push_devices(&self, account: AccountId) -> Result<Vec<PushDeviceRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("{COLUMNS} where d.account = $1 order by d.id");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([account.0], device_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Removes a device of an account; `false` if it has none with this number.
    pub fn remove_push_device(
        &self,
        account: AccountId,
        device: PushDeviceId,
    ) -> Result<bool, StoreError> {
        self.write_own(move |conn| {
            let sql = "delete from push_devices where account = $1 and id = $2";
            Ok(conn.execute(sql, [account.0, device.0])? > 0)
        })
    }
}

pub(super) fn device_row(row: &Row<'_>) -> crate::db::sql::Result<PushDeviceRow> {
    Ok(PushDeviceRow {
        id: PushDeviceId(row.get(0)?),
        account: AccountId(row.get(1)?),
        endpoint: row.get(2)?,
        p256dh: row.get(3)?,
        auth: row.get(4)?,
        name: row.get(5)?,
        created_at: time(row, 6)?,
        sent_to: row.get(7)?,
        sent_at: time_or_none(row, 8)?,
        attempts: row.get(9)?,
        next_at: time_or_none(row, 10)?,
        error: row.get(11)?,
    })
}

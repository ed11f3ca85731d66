//! Notifications that wait for the devices of people. Each device has a cursor over those of its
//! account.

use std::time::Duration;

use feed::{EntryId, Time};

use super::devices::{COLUMNS, device_row};
use crate::db::columns::time;
use crate::db::sql::params;
use crate::{AccountId, PushDeviceId, PushDeviceRow, Store, StoreError};

/// Nobody needs a notification about an entry of yesterday.
pub const NOTIFICATION_LIFE: Duration = Duration::from_secs(86_400);

/// A notification that a rule made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationRow {
    pub id: i64,
    pub rule: String,
    pub entry: EntryId,
    pub made_at: Time,
}

impl Store {
    /// Returns devices with waiting notifications whose time has come.
    pub fn push_devices_due(
        &self,
        now: Time,
        limit: u32,
    ) -> Result<Vec<PushDeviceRow>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "{COLUMNS} where (d.next_at is null or d.next_at <= $1) and exists \
                 (select 1 from notifications n where n.account = d.account and n.id > d.sent_to) \
                 order by d.id limit $2"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map(params![now.millis(), limit], device_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the notifications of an account after a number, the oldest first.
    pub fn notifications(
        &self,
        account: AccountId,
        after: i64,
        limit: u32,
    ) -> Result<Vec<NotificationRow>, StoreError> {
        self.read(|conn| {
            let sql = "select id, rule, entry, made_at from notifications \
                       where account = $1 and id > $2 order by id limit $3";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![account.0, after, limit], |row| {
                Ok(NotificationRow {
                    id: row.get(0)?,
                    rule: row.get(1)?,
                    entry: EntryId(row.get(2)?),
                    made_at: time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes that a device got everything up to a notification, and when it may get the next.
    pub async fn note_pushed(
        &self,
        device: PushDeviceId,
        to: i64,
        now: Time,
        next_at: Time,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update push_devices set sent_to = $1, sent_at = $2, next_at = $3, \
                       attempts = 0, error = null where id = $4 and sent_to < $1";
            let values = params![to, now.millis(), next_at.millis(), device.0];
            conn.prepare_cached(sql)?.execute(values)?;
            Ok(())
        })
        .await
    }

    /// Notes that a device could not be reached. `host` gives all devices of an address that
    /// begins with it the same wait: their push service asked for it.
    pub async fn postpone_push(
        &self,
        device: PushDeviceId,
        host: Option<String>,
        until: Time,
        error: String,
    ) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            let sql = "update push_devices set attempts = attempts + 1, next_at = $1, error = $2 \
                       where id = $3";
            conn.prepare_cached(sql)?.execute(params![until.millis(), error, device.0])?;
            if let Some(host) = host {
                let sql = "update push_devices set next_at = $1 \
                           where substr(endpoint, 1, $2) = $3 \
                           and (next_at is null or next_at < $1)";
                let n = i64::try_from(host.chars().count()).unwrap_or(i64::MAX);
                conn.prepare_cached(sql)?.execute(params![until.millis(), n, host])?;
            }
            Ok(())
        })
        .await
    }

    /// Drops a device whose push service does not know it any more.
    pub async fn drop_push_device(&self, device: PushDeviceId) -> Result<(), StoreError> {
        self.write_async(move |conn| {
            conn.execute("delete from push_devices where id = $1", [device.0])?;
            Ok(())
        })
        .await
    }

    /// Deletes notifications that are too old to be sent. Returns how many.
    pub fn drop_old_notifications(&self, now: Time) -> Result<u64, StoreError> {
        let before = (now - NOTIFICATION_LIFE).millis();
        self.write(move |conn| {
            let sql = "delete from notifications where made_at < $1";
            Ok(conn.execute(sql, [before])? as u64)
        })
    }
}

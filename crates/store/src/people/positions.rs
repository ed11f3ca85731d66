//! How far each account has listened to or watched the enclosures of entries.

use feed::{EntryId, INDEXED_ADDRESS_MAX, Time};

use crate::db::columns::time;
use crate::db::dialect;
use crate::db::sql::params;
use crate::{AccountId, Store, StoreError};

/// The position of one account in one enclosure.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybackPosition {
    pub entry: EntryId,
    /// The address of the enclosure.
    pub url: String,
    pub seconds: f64,
    pub duration: Option<f64>,
    pub changed_at: Time,
}

impl PlaybackPosition {
    /// Returns whether so little is left that the enclosure counts as heard.
    pub fn is_finished(&self) -> bool {
        self.duration.is_some_and(|duration| duration > 0.0 && self.seconds > 0.95 * duration)
    }
}

impl Store {
    /// Returns the positions of an account in the enclosures of an entry.
    pub fn playback_positions(
        &self,
        account: AccountId,
        entry: EntryId,
    ) -> Result<Vec<PlaybackPosition>, StoreError> {
        self.read(|conn| {
            let sql = "select url, seconds, duration, changed_at from playback_positions \
                       where account = $1 and entry = $2 order by url";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map(params![account.0, entry.0], |row| {
                Ok(PlaybackPosition {
                    entry,
                    url: row.get(0)?,
                    seconds: row.get(1)?,
                    duration: row.get(2)?,
                    changed_at: time(row, 3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns all positions of an account, by entry.
    pub fn all_playback_positions(
        &self,
        account: AccountId,
    ) -> Result<Vec<PlaybackPosition>, StoreError> {
        self.read(|conn| {
            let sql = "select entry, url, seconds, duration, changed_at from playback_positions \
                       where account = $1 order by entry, url";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([account.0], |row| {
                Ok(PlaybackPosition {
                    entry: EntryId(row.get(0)?),
                    url: row.get(1)?,
                    seconds: row.get(2)?,
                    duration: row.get(3)?,
                    changed_at: time(row, 4)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Stores a position. An older one of another device does not replace a newer one. Returns
    /// `false` if the entry does not exist, a number makes no sense, or the address is too long.
    pub fn put_playback_position(
        &self,
        account: AccountId,
        position: &PlaybackPosition,
    ) -> Result<bool, StoreError> {
        let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
        let is_sane = is_time(position.seconds) && position.duration.is_none_or(is_time);
        if !is_sane || position.url.len() > INDEXED_ADDRESS_MAX {
            return Ok(false);
        }
        let position = position.clone();
        self.write_own(move |conn| {
            let lock = dialect::for_key_share(conn);
            let sql = format!("select 1 from entries where id = $1{lock}");
            if !conn.prepare_cached(&sql)?.exists([position.entry.0])? {
                return Ok(false);
            }
            let sql = "insert into playback_positions \
                       (account, entry, url, seconds, duration, changed_at) \
                       values ($1, $2, $3, $4, $5, $6) on conflict (account, entry, url) \
                       do update set seconds = excluded.seconds, \
                       duration = coalesce(excluded.duration, playback_positions.duration), \
                       changed_at = excluded.changed_at \
                       where playback_positions.changed_at <= excluded.changed_at";
            conn.prepare_cached(sql)?.execute(params![
                account.0,
                position.entry.0,
                position.url,
                position.seconds,
                position.duration,
                position.changed_at.millis(),
            ])?;
            Ok(true)
        })
    }
}

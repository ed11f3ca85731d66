//! The settings for the requests of single feeds. Secret values come and go encrypted.

use feed::{FeedId, FetchSetting, Time};

use crate::db::sql::{Connection, Row, params};
use crate::error::DbError;
use crate::{Store, StoreError};

/// One setting of one feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettingRow {
    pub feed: FeedId,
    pub setting: FetchSetting,
    /// The origin that may receive the value.
    pub origin: String,
    /// The part of the value that may be shown.
    pub shown: Option<String>,
    /// The whole value, encrypted, if it has a secret.
    pub sealed: Option<Vec<u8>>,
}

impl FetchSettingRow {
    /// Returns the context for which a value is encrypted.
    pub fn context(origin: &str, setting: &FetchSetting) -> String {
        format!("tidings fetch setting\n{origin}\n{}", setting.name())
    }
}

const COLUMNS: &str = "feed, name, origin, shown, sealed";

/// Reads a row; `None` if another version of this program wrote a name that this one refuses.
fn read_row(row: &Row<'_>) -> crate::db::sql::Result<Option<FetchSettingRow>> {
    let name: String = row.get(1)?;
    let Some(setting) = FetchSetting::from_name(&name) else { return Ok(None) };
    let (feed, origin) = (FeedId(row.get(0)?), row.get(2)?);
    Ok(Some(FetchSettingRow { feed, setting, origin, shown: row.get(3)?, sealed: row.get(4)? }))
}

/// Forgets what the last answer of a feed's server was. Returns whether the feed exists.
pub(crate) fn forget_validators(conn: &Connection, feed: FeedId) -> Result<bool, DbError> {
    let sql = "update feed_state set etag = null, last_modified = null, validators_of = null, \
               body_hash = null where feed = $1";
    Ok(conn.prepare_cached(sql)?.execute([feed.0])? > 0)
}

impl Store {
    /// Sets and removes settings of a feed. The next poll asks for the whole document, because the
    /// server may send another one from now on.
    pub fn set_fetch_settings(
        &self,
        feed: FeedId,
        set: Vec<FetchSettingRow>,
        remove: Vec<FetchSetting>,
        now: Time,
    ) -> Result<(), StoreError> {
        self.write(move |conn| {
            if !forget_validators(conn, feed)? {
                return Err(StoreError::NoFeed(feed).into());
            }
            for setting in &remove {
                let sql = "delete from fetch_settings where feed = $1 and name = $2";
                conn.execute(sql, params![feed.0, setting.name()])?;
            }
            for row in &set {
                let sql = "insert into fetch_settings \
                           (feed, name, origin, shown, sealed, changed_at) \
                           values ($1, $2, $3, $4, $5, $6) on conflict (feed, name) do update set \
                           origin = excluded.origin, shown = excluded.shown, \
                           sealed = excluded.sealed, changed_at = excluded.changed_at";
                let (name, at) = (row.setting.name(), now.millis());
                conn.execute(sql, params![feed.0, name, row.origin, row.shown, row.sealed, at])?;
            }
            Ok(())
        })
    }

    /// Returns the settings of one feed, by name.
    pub fn fetch_settings_of(&self, feed: FeedId) -> Result<Vec<FetchSettingRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("select {COLUMNS} from fetch_settings where feed = $1 order by name");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([feed.0], read_row)?;
            Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
        })
    }

    /// Returns the settings of all feeds, by feed and name.
    pub fn fetch_settings(&self) -> Result<Vec<FetchSettingRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("select {COLUMNS} from fetch_settings order by feed, name");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([], read_row)?;
            Ok(rows.filter_map(Result::transpose).collect::<Result<_, _>>()?)
        })
    }

    /// Returns whether any secret is stored.
    pub fn has_secrets(&self) -> Result<bool, StoreError> {
        self.read(|conn| {
            let sql = "select 1 from fetch_settings where sealed is not null limit 1";
            Ok(conn.prepare_cached(sql)?.exists([])?)
        })
    }
}

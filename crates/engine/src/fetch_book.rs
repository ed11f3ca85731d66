//! The settings for requests of feeds, decrypted and kept in memory: few feeds have any. Input: the
//! rows of the store and the key file. Output: the settings of one request.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use feed::{FeedId, FetchSetting, RequestSettings, origin_text};
use store::{FetchSettingRow, KeyFile, SecretError, SecretKey, Store, StoreError};
use url::Url;

/// The settings of all feeds that have some.
#[derive(Default)]
pub struct FetchBook(RwLock<HashMap<FeedId, Vec<OriginSettings>>>);

/// The settings of a feed for one origin. After a move a feed may have settings for two.
struct OriginSettings {
    origin: String,
    settings: RequestSettings,
}

impl FetchBook {
    /// Reads all settings.
    pub fn load(store: &Store, file: &KeyFile) -> Result<FetchBook, StoreError> {
        let book = FetchBook::default();
        book.read(store, file)?;
        Ok(book)
    }

    /// Reads all settings again, after one changed.
    pub fn read(&self, store: &Store, file: &KeyFile) -> Result<(), StoreError> {
        let rows = store.fetch_settings()?;
        let key = match rows.iter().any(|row| row.sealed.is_some()) {
            true => file.existing(true),
            false => Ok(None),
        };
        if let Err(error) = &key {
            tracing::error!(%error, "feeds with secret settings cannot be polled");
        }
        let mut feeds: HashMap<FeedId, Vec<OriginSettings>> = HashMap::new();
        for row in rows {
            let of_feed = feeds.entry(row.feed).or_default();
            let place = match of_feed.iter().position(|one| one.origin == row.origin) {
                Some(place) => place,
                None => {
                    let origin = row.origin.clone();
                    let settings = RequestSettings::default();
                    of_feed.push(OriginSettings { origin, settings });
                    of_feed.len() - 1
                }
            };
            let settings = &mut of_feed[place].settings;
            match value(&row, &key) {
                Ok(value) => settings.put(&row.setting, value),
                Err(error) => {
                    settings.fault =
                        Some(format!("its {} is not usable: {error}", row.setting.name()));
                }
            }
        }
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = feeds;
        Ok(())
    }

    /// Returns the settings of a request. A redirect to another origin gets none.
    pub fn of(&self, feed: FeedId, url: &Url) -> Option<Box<RequestSettings>> {
        let feeds = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let of_feed = feeds.get(&feed)?;
        let origin = origin_text(url);
        let found = of_feed.iter().find(|one| one.origin == origin)?;
        Some(Box::new(found.settings.clone()))
    }
}

fn value(
    row: &FetchSettingRow,
    key: &Result<Option<SecretKey>, SecretError>,
) -> Result<String, SecretError> {
    let Some(sealed) = &row.sealed else { return Ok(row.shown.clone().unwrap_or_default()) };
    match key {
        Ok(Some(key)) => open(key, row, sealed),
        // The key is read whenever a row has a secret.
        Ok(None) => Err(SecretError::Damaged),
        Err(error) => Err(error.clone()),
    }
}

fn open(key: &SecretKey, row: &FetchSettingRow, sealed: &[u8]) -> Result<String, SecretError> {
    key.open(&FetchSettingRow::context(&row.origin, &row.setting), sealed)
}

/// Returns the rows of a change, after a look at each secret: it must be readable here, and a value
/// that was not checked does not get in.
pub fn checked_rows(
    feed: FeedId,
    change: &dispatch::command::FetchSettingsChange,
    key: &Result<Option<SecretKey>, SecretError>,
) -> Result<Vec<FetchSettingRow>, String> {
    let mut rows = Vec::with_capacity(change.set.len());
    for one in &change.set {
        let setting = FetchSetting::from_name(&one.name);
        let setting = setting.ok_or_else(|| format!("there is no setting `{}`", one.name))?;
        if setting.is_secret() != one.sealed.is_some() {
            return Err(format!("the value of {} must be encrypted", one.name));
        }
        let (origin, shown) = (change.origin.clone(), one.shown.clone());
        let mut row = FetchSettingRow { feed, setting, origin, shown, sealed: one.sealed.clone() };
        let found = value(&row, key).map_err(|error| error.to_string())?;
        if row.setting != FetchSetting::InsecureTls {
            row.setting.check(&found).map_err(|error| error.to_string())?;
        }
        // Only this program decides what is shown.
        row.shown = row.setting.shown(&found);
        rows.push(row);
    }
    Ok(rows)
}

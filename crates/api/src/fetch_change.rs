//! Changes of the settings for requests of a feed: checks what a person wrote, and encrypts secrets
//! before they leave this process. Output: a command that holds no secret in plain text.

use dispatch::command::{Command, FetchSettingsChange, SealedSetting};
use feed::{FeedId, FetchSetting, FetchSettingError, origin_text};
use store::{
    AccountId, FeedRow, FetchSettingRow, KeyFile, SecretError, Store, StoreError, TokenScope,
};

use crate::auth::Person;

/// The changes that a person wants.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FetchEdit {
    pub set: Vec<(FetchSetting, String)>,
    pub remove: Vec<FetchSetting>,
}

/// Why a change cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FetchEditError {
    #[error(transparent)]
    Setting(#[from] FetchSettingError),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl FetchEdit {
    pub fn is_empty(&self) -> bool {
        *self == FetchEdit::default()
    }

    /// Whether only administrators may make this change.
    pub fn needs_admin(&self) -> bool {
        let set = self.set.iter().map(|(setting, _)| setting);
        set.chain(&self.remove).any(FetchSetting::needs_admin)
    }

    /// Returns the account whose feed is changed. Administrators change feeds for everybody, except
    /// for their own private feed, and for a login, cookies and headers.
    pub fn account(&self, person: &Person, private_to: Option<AccountId>) -> Option<i64> {
        let sets_credential = self.set.iter().any(|(setting, _)| setting.is_credential());
        let is_own = private_to == Some(person.account);
        let is_for_all = person.may(TokenScope::Admin) && !sets_credential && !is_own;
        person.subscriber().filter(|_| !is_for_all)
    }

    /// Returns the command for a feed.
    pub fn command(
        &self,
        store: &Store,
        key_file: &KeyFile,
        feed: FeedId,
        account: Option<i64>,
    ) -> Result<Command, FetchEditError> {
        let origin = origin_text(store.feed(feed)?.location.current().url());
        let mut set = Vec::with_capacity(self.set.len());
        for (setting, value) in &self.set {
            let value = match setting {
                FetchSetting::InsecureTls => String::new(),
                other => other.check(value)?,
            };
            let sealed = match setting.is_secret() {
                true => {
                    let key = key_file.read_or_create(store.has_secrets()?)?;
                    Some(key.seal(&FetchSettingRow::context(&origin, setting), &value)?)
                }
                false => None,
            };
            set.push(SealedSetting { name: setting.name(), shown: setting.shown(&value), sealed });
        }
        let remove = self.remove.iter().map(FetchSetting::name).collect();
        let change = FetchSettingsChange { origin, set, remove };
        Ok(Command::Fetch { feed: feed.to_string(), change, account })
    }
}

/// Returns the settings of a feed that a person may see: everybody those of their own feeds, and
/// administrators those of common feeds.
pub fn seen_settings(
    store: &Store,
    person: &Person,
    row: &FeedRow,
) -> Result<Vec<FetchSettingRow>, StoreError> {
    let is_own = person.account == AccountId::LOCAL || row.private_to == Some(person.account);
    let is_common = row.private_to.is_none_or(|owner| owner == AccountId::LOCAL);
    match is_own || is_common && person.may(TokenScope::Admin) {
        true => store.fetch_settings_of(row.id),
        false => Ok(Vec::new()),
    }
}

/// Returns the feed that has an address for a person, after a change that may have given them a
/// feed of their own.
pub fn feed_after(store: &Store, person: &Person, feed: FeedId) -> Result<FeedId, StoreError> {
    let row = store.feed(feed)?;
    let own = store.find_feed_of(person.account, row.location.url.as_str())?;
    Ok(own.filter(|_| person.subscriber().is_some()).unwrap_or(feed))
}

/// Returns the part of a stored setting that may be shown.
pub fn shown(row: &FetchSettingRow) -> String {
    row.shown.clone().unwrap_or_else(|| "set".to_owned())
}

#[cfg(test)]
mod tests {
    use feed::{FeedUrl, Time};
    use store::{NewFeed, OpenMode};

    use super::*;

    #[test]
    fn a_command_has_no_secret_in_plain_text() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::ReadWrite).unwrap();
        let url = FeedUrl::parse("https://e.org/feed").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let feed = store.add_feeds(&[new], Time::from_secs(1_700_000_000)).unwrap()[0].id;
        let edit = FetchEdit {
            set: vec![
                (FetchSetting::header("X-Key").unwrap(), "hunter2".to_owned()),
                (FetchSetting::Proxy, "http://u:hunter2@p.example:1".to_owned()),
                (FetchSetting::UserAgent, "Other/1".to_owned()),
            ],
            remove: vec![FetchSetting::Cookie],
        };
        assert!(edit.needs_admin());
        let key_file = KeyFile::in_folder(folder.path());
        let command = edit.command(&store, &key_file, feed, None).unwrap();
        let text = serde_json::to_string(&command).unwrap();
        assert!(!text.contains("hunter2"), "{text}");
        assert!(text.contains("https://e.org") && text.contains("Other/1"), "{text}");
        let read = FetchEdit { set: vec![(FetchSetting::Login, "a:b".to_owned())], ..edit };
        assert!(!read.needs_admin());
    }
}

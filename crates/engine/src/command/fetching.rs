//! The command that changes the settings for requests of a feed.

use dispatch::command::{CommandResult, FetchSettingsChange};
use feed::{FeedId, FetchSetting, RequestSettings, origin_text};
use store::{AccountId, FetchSettingRow};

use super::{CommandError, find};
use crate::Engine;
use crate::fetch_book::checked_rows;

/// Stores the change and schedules the feed for now, so that a person sees whether it helps. If
/// others read the feed, an account gets a feed of its own.
pub fn carry_out(
    engine: &Engine,
    account: AccountId,
    name: &str,
    change: &FetchSettingsChange,
) -> Result<CommandResult, CommandError> {
    let feed = find(engine, account, name)?;
    let row = engine.store.feed(feed)?;
    if origin_text(row.location.current().url()) != change.origin && !change.set.is_empty() {
        let text = "the feed has moved to another address meanwhile; set the values again";
        return Err(CommandError::Change(text.to_owned()));
    }
    let removed = change.remove.iter().map(|name| {
        let unknown = || CommandError::Change(format!("there is no setting `{name}`"));
        FetchSetting::from_name(name).ok_or_else(unknown)
    });
    let removed = removed.collect::<Result<Vec<_>, _>>()?;
    let refused = |error: String| CommandError::Change(error);
    let key = engine.settings.key_file.read();
    let rows = checked_rows(feed, change, &key).map_err(refused)?;
    let mut left = engine.store.fetch_settings_of(feed)?;
    left.retain(|old| {
        !removed.contains(&old.setting) && rows.iter().all(|new| new.setting != old.setting)
    });
    // Encrypted values are a little longer than the values themselves.
    let mut all = RequestSettings::default();
    for row in left.iter().chain(&rows) {
        let bytes = row.sealed.as_ref().map_or(0, Vec::len);
        all.put(&row.setting, "x".repeat(bytes.max(row.shown.as_ref().map_or(0, String::len))));
    }
    all.check_size().map_err(|error| refused(error.to_string()))?;
    keep_logins(engine, account, feed, (&rows, &left))?;
    let now = engine.clock.now();
    tokio::task::block_in_place(|| {
        let feed = own(engine, account, feed, change)?;
        engine.store.set_fetch_settings(feed, rows, removed, now)?;
        engine.read_fetch_settings()?;
        engine.schedule(feed, now)?;
        Ok(CommandResult::Set { feeds: 1 })
    })
}

/// Refuses a proxy, and certificates that are not checked, for a private feed of somebody else:
/// its requests would carry their login to a place that they did not choose. `new` and `left` are
/// the settings after the change.
fn keep_logins(
    engine: &Engine,
    account: AccountId,
    feed: FeedId,
    (new, left): (&[FetchSettingRow], &[FetchSettingRow]),
) -> Result<(), CommandError> {
    let owner = engine.store.owner_of_feed(feed)?;
    let is_of_other = owner.is_some_and(|owner| ![AccountId::LOCAL, account].contains(&owner));
    if !is_of_other || !new.iter().any(|row| row.setting.needs_admin()) {
        return Ok(());
    }
    let url = engine.store.feed(feed)?.location.url;
    if url.masked() == url.as_str() && !left.iter().any(|row| row.setting.is_credential()) {
        return Ok(());
    }
    let text = "this feed has the login of somebody else, which a proxy or a server without a \
                checked certificate could read; remove its login, cookies and headers in the same \
                change, or let its owner make the change";
    Err(CommandError::Change(text.to_owned()))
}

/// Returns the feed that gets the change. Nobody else may read a feed with the secrets of a person.
fn own(
    engine: &Engine,
    account: AccountId,
    feed: FeedId,
    change: &FetchSettingsChange,
) -> Result<FeedId, CommandError> {
    let refused = |text: &str| Err(CommandError::Change(text.to_owned()));
    if account != AccountId::LOCAL {
        if !change.set.is_empty() {
            let own = engine.store.own_feed(account, feed, engine.clock.now())?;
            return own.ok_or_else(|| CommandError::NoFeed(feed.to_string()));
        }
        return match engine.store.owner_of_feed(feed)? == Some(account) {
            true => Ok(feed),
            false => refused("the settings of a common feed are changed by administrators"),
        };
    }
    let is_credential =
        |name: &str| FetchSetting::from_name(name).is_some_and(|setting| setting.is_credential());
    if change.set.iter().any(|one| is_credential(&one.name))
        && !engine.store.close_to_people(feed)?
    {
        return refused(
            "people read this feed, so it gets no login, cookies or headers of the instance; a \
             reader can set their own, on the page of the feed or with `--user NAME`",
        );
    }
    Ok(feed)
}

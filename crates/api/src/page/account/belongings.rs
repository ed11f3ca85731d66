//! The lists of an account's export besides its entries: feeds with their order and settings, tags,
//! read marks, positions, dismissed feeds, tokens and devices. Secrets only leave for a login that
//! may also change things, and those of tokens, devices and requests never do.

use std::collections::HashMap;

use feed::{EntryId, FeedId, Time};
use serde_json::{Value, json};
use store::{AccountId, FeedFilter, FeedRow, Store, StoreError};

use crate::fetch_change::shown;

/// The lists, by their names in the export.
pub fn lists(
    store: &Store,
    account: AccountId,
    with_secrets: bool,
    now: Time,
) -> Result<Vec<(&'static str, Value)>, StoreError> {
    let tags = store.tags_of(account)?.into_iter().map(|tag| tag.tag);
    let tags: Vec<String> = tags.filter(|tag| !tag.is_empty()).collect();
    let positions = store.all_playback_positions(account)?.into_iter().map(|one| {
        json!({
            "entry": one.entry.0,
            "url": one.url,
            "seconds": one.seconds,
            "duration": one.duration,
        })
    });
    let mut dismissed: Vec<String> = store.dismissed_feeds(account)?.into_iter().collect();
    dismissed.sort_unstable();
    let tokens = store
        .tokens(account)?
        .into_iter()
        .map(|token| json!({"name": token.name, "scope": token.scope.word()}));
    let sessions = store.sessions(account, now)?.into_iter();
    let devices = store.push_devices(account)?.into_iter();
    Ok(vec![
        ("feeds", feeds(store, account, with_secrets)?.into()),
        ("tags", tags.into()),
        ("read", read_ranges(store, account)?.into()),
        ("positions", positions.collect()),
        ("dismissed_feeds", dismissed.into()),
        ("tokens", tokens.collect()),
        ("logins", sessions.map(|session| json!(session.origin.device)).collect()),
        ("devices", devices.map(|device| json!(device.name)).collect()),
    ])
}

fn feeds(store: &Store, account: AccountId, with_secrets: bool) -> Result<Vec<Value>, StoreError> {
    let places = store.subscriptions(account)?.into_iter();
    let places: HashMap<FeedId, i64> = places.map(|row| (row.feed, row.position)).collect();
    let feed = |feed: FeedRow| {
        let url = &feed.location.url;
        Ok(json!({
            "url": if with_secrets { url.as_str().to_owned() } else { url.masked() },
            "title": feed.shown_title(),
            "site": feed.facts.site,
            "tags": feed.tags,
            "place": places.get(&feed.id).filter(|place| **place > 0),
            "requests": requests(store, account, &feed)?,
        }))
    };
    store.feeds_of(account, &FeedFilter::default())?.into_iter().map(feed).collect()
}

/// The settings for requests of the account's own feed.
fn requests(store: &Store, account: AccountId, feed: &FeedRow) -> Result<Value, StoreError> {
    if feed.private_to != Some(account) {
        return Ok(json!([]));
    }
    let rows = store.fetch_settings_of(feed.id)?.into_iter();
    Ok(rows.map(|row| json!({"name": row.setting.name(), "value": shown(&row)})).collect())
}

/// The read entries, as ranges of numbers: the first and the last one.
fn read_ranges(store: &Store, account: AccountId) -> Result<Vec<[i64; 2]>, StoreError> {
    let marks = store.read_marks(account)?;
    let mut ranges: Vec<[i64; 2]> = Vec::new();
    for entry in (1..=store.last_entry_id()?.0).filter(|entry| marks.is_read(EntryId(*entry))) {
        match ranges.last_mut().filter(|range| range[1] + 1 == entry) {
            Some(range) => range[1] = entry,
            None => ranges.push([entry, entry]),
        }
    }
    Ok(ranges)
}

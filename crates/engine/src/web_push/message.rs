//! The text of a notification: JSON that the service worker of the page shows. One entry has its
//! title; several are counted.

use feed::EntryId;
use serde_json::json;
use store::{AccountId, NotificationRow, Store, StoreError};

use super::encrypt::TEXT_BYTES_MAX;

/// Letters of a title and of a line below it.
const CHARS_MAX: usize = 120;
/// Titles in a message about several entries.
const NAMED_MAX: usize = 4;

/// Returns the message about these notifications; `None` if no entry is left.
pub fn compose(
    store: &Store,
    account: AccountId,
    notifications: &[&NotificationRow],
) -> Result<Option<String>, StoreError> {
    // The person may have ended a subscription since the rule acted.
    let ids: Vec<EntryId> = notifications.iter().map(|one| one.entry).collect();
    let visible = store.visible_entries(account, &ids)?;
    let notifications: Vec<&NotificationRow> =
        notifications.iter().copied().filter(|one| visible.contains(&one.entry)).collect();
    let mut titles = Vec::new();
    let mut seen = std::collections::HashSet::new();
    // Two rules may name the same entry.
    let entries = notifications.iter().filter(|one| seen.insert(one.entry)).count();
    let mut last = None;
    for one in notifications.iter().rev() {
        if titles.len() == NAMED_MAX {
            break;
        }
        if !seen.remove(&one.entry) {
            continue;
        }
        let Some(entry) = store.entry(one.entry)? else { continue };
        let name = store.feed_names_of(account, [entry.feed])?.remove(&entry.feed);
        let title = entry.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
        titles.push(shortened(title.unwrap_or("Untitled entry")));
        let feed = name.map(|name| name.title.unwrap_or_else(|| name.url.masked()));
        last.get_or_insert((entry.id, feed, one.rule.clone()));
    }
    let Some((entry, feed, rule)) = last else { return Ok(None) };
    let feed = feed.map(|name| shortened(&name)).unwrap_or_default();
    let message = if entries == 1 {
        let title = titles.pop().unwrap_or_default();
        let url = format!("/entry/{}?show=all", entry.0);
        json!({"title": title, "body": feed, "url": url, "tag": format!("entry {}", entry.0)})
    } else {
        let title = format!("{entries} new entries");
        let (body, tag) = (titles.join("\n"), format!("rule {rule}"));
        json!({"title": title, "body": body, "url": "/", "tag": tag})
    };
    // Shortened texts are far below the limit; escapes could make them longer.
    Ok(Some(message.to_string()).filter(|text| text.len() <= TEXT_BYTES_MAX))
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect();
    if text.chars().nth(CHARS_MAX).is_some() {
        short.push('…');
    }
    short
}

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
    // The person may have ended a subscription since the rule acted, or another rule of theirs has
    // hidden the entry.
    let ids: Vec<EntryId> = notifications.iter().map(|one| one.entry).collect();
    let (visible, hidden) = (store.visible_entries(account, &ids)?, store.hidden_marks(account)?);
    let is_shown =
        |one: &&NotificationRow| visible.contains(&one.entry) && !hidden.is_hidden(one.entry);
    let notifications: Vec<&NotificationRow> =
        notifications.iter().copied().filter(is_shown).collect();
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

#[cfg(test)]
mod tests {
    use feed::{EntryKey, FeedUrl, Item, Outcome, Published, Time};
    use store::{NewEntry, NewFeed, NewRule, OpenMode, PollRecord, RuleAct, RuleEffect, RuleStep};

    use super::*;

    const T0: Time = Time::from_secs(1_700_000_000);

    /// A feed with one entry.
    fn store(folder: &std::path::Path) -> Store {
        let store = Store::open(store::testing::location(folder), OpenMode::ReadWrite).unwrap();
        let url = FeedUrl::parse("https://a.org/").unwrap();
        let new = NewFeed { url, title: None, site: None, tags: Vec::new() };
        let feed = store.add_feed(&new, T0).unwrap().id;
        let mut record = PollRecord::empty(feed, 0, T0, Outcome::Seen, T0);
        record.document_mut().entries.new.push(NewEntry {
            key: EntryKey::from_bytes([1; 16]),
            item: Item { title: Some("Spoiler".to_owned()), ..Item::default() },
            published: Published { claim: None, at: T0 },
            content: 0,
            facts: store::EntryFacts::default(),
        });
        store.record_blocking(record).unwrap();
        store
    }

    #[tokio::test]
    async fn an_entry_that_another_rule_hides_is_not_announced() {
        let folder = tempfile::tempdir().unwrap();
        let (store, me, entry) = (store(folder.path()), AccountId::LOCAL, EntryId(1));
        let rule = "tell".to_owned();
        let row = NotificationRow { id: 1, rule: rule.clone(), entry, made_at: T0 };
        let message = || compose(&store, me, &[&row]).unwrap();
        assert!(message().unwrap().contains("Spoiler"));
        let text = "CREATE RULE tell ON ALL FEEDS DO HIDE".to_owned();
        let new = NewRule { name: rule, text, is_on: true, replaces: None };
        let rule = store.put_rule(me, &new, T0).unwrap().unwrap().id;
        let (from, version) = store.rule_progress().unwrap();
        let acts = vec![RuleAct { rule, account: me, entry, effects: [RuleEffect::Hide].into() }];
        assert!(store.act_by_rules(RuleStep { version, from, to: from, acts }, T0).await.unwrap());
        assert_eq!(message(), None);
    }
}

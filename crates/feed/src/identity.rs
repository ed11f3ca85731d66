//! Gives the items of a document their keys. Input: the items and the feed's last window; output: a
//! [`KeyedItem`] for each entry. It compares nothing with the store and judges no dates.
//!
//! The rule: the publisher's id; if one id stands for several links, id and link; without an id the
//! link; without a link title and content. The rule never uses the title if an id or a link exists,
//! because titles are edited. It never uses a date, because some feeds print the current time into
//! every item. docs/notes/entry-identity.md gives the reasons.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::entry_key::digest;
use crate::{EntryKey, Item, Time, Window, WindowEntry};

/// An item of a document with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedItem {
    pub key: EntryKey,
    /// A hash that changes when the publisher edits the entry.
    pub content: u64,
    /// The hash of the link, which distinguishes entries with the same id.
    pub link: u64,
    /// `None` if the window holds the entry with the same content: nothing of it is needed.
    pub item: Option<Item>,
}

/// Gives every item of a document its key, in document order. Items with one key are one entry,
/// and the first item represents it. An id may stand for several links in one document and for one
/// in another. Therefore an entry keeps the key under which the window knows it.
pub fn identify(items: Vec<Item>, window: &Window) -> Vec<KeyedItem> {
    let links: Vec<u64> = items.iter().map(link_hash).collect();
    let ambiguous = ambiguous_ids(&items, &links);
    let before = window.by_key();
    let mut taken = HashSet::with_capacity(items.len());
    let mut keyed = Vec::with_capacity(items.len());
    for (item, link) in items.into_iter().zip(links) {
        let ambiguous = text(&item.id).is_some_and(|id| ambiguous.contains(id));
        let key = key(&item, link, ambiguous, &before);
        if taken.insert(key) {
            let content = content_hash(&item);
            let is_unchanged = before.get(&key).is_some_and(|entry| entry.content == content);
            keyed.push(KeyedItem { key, content, link, item: (!is_unchanged).then_some(item) });
        }
    }
    keyed
}

/// Gives the items of a document their keys again, by the window that the store has. A terminal may
/// have named them without this window. Then every item came along; otherwise the keys stay.
pub fn identify_again(items: Vec<KeyedItem>, window: &Window) -> Vec<KeyedItem> {
    if window.entries().is_empty() || items.iter().any(|keyed| keyed.item.is_none()) {
        return items;
    }
    identify(items.into_iter().filter_map(|keyed| keyed.item).collect(), window)
}

impl Window {
    /// Returns the window after a document, for comparisons only: it does not know the repaired
    /// times of new entries.
    pub fn after_items(&self, items: &[KeyedItem], partial: bool) -> Window {
        let known = self.by_key();
        let entries = items.iter().map(|item| WindowEntry {
            key: item.key,
            content: item.content,
            link: item.link,
            published_at: known.get(&item.key).map_or(Time::MIN, |entry| entry.published_at),
        });
        self.followed_by(entries.collect(), partial)
    }
}

/// Returns the ids that stand for several links in one document.
fn ambiguous_ids(items: &[Item], links: &[u64]) -> HashSet<String> {
    let mut link_of_id: HashMap<&str, u64> = HashMap::with_capacity(items.len());
    let mut ambiguous = HashSet::new();
    for (item, link) in items.iter().zip(links) {
        if let Some(id) = text(&item.id)
            && *link_of_id.entry(id).or_insert(*link) != *link
        {
            ambiguous.insert(id.to_owned());
        }
    }
    ambiguous
}

fn key(
    item: &Item,
    link: u64,
    ambiguous: bool,
    before: &HashMap<EntryKey, &WindowEntry>,
) -> EntryKey {
    let Some(id) = text(&item.id) else {
        return match text(&item.link) {
            Some(link) => EntryKey::of("link", &[&strip_session(link)]),
            None => EntryKey::of(
                "text",
                &[
                    text(&item.title).unwrap_or(""),
                    text(&item.content).or(text(&item.summary)).unwrap_or(""),
                ],
            ),
        };
    };
    let id = strip_session(id);
    let by_id = EntryKey::of("id", &[&id]);
    if before.get(&by_id).is_some_and(|entry| entry.link == link) || before.is_empty() && !ambiguous
    {
        return by_id;
    }
    let stripped = text(&item.link).map(strip_session);
    let by_both = EntryKey::of("id+link", &[&id, stripped.as_deref().unwrap_or("")]);
    if ambiguous || before.contains_key(&by_both) { by_both } else { by_id }
}

/// Returns a hash of an item's visible parts. Dates are left out: some feeds print the current
/// time, and a changed date alone is not an edit.
pub fn content_hash(item: &Item) -> u64 {
    let mut parts = vec![
        text(&item.title).unwrap_or(""),
        text(&item.link).unwrap_or(""),
        text(&item.author).unwrap_or(""),
        text(&item.summary).unwrap_or(""),
        text(&item.content).unwrap_or(""),
    ];
    parts.extend(item.enclosures.iter().map(|e| e.url.as_str()));
    // Stills were enclosures once. They count as before, so that old entries stay unedited.
    parts.extend(item.media.thumbnails.iter().map(|still| still.url.as_str()));
    short(&digest("content", &parts))
}

fn link_hash(item: &Item) -> u64 {
    text(&item.link).map_or(0, |link| short(&digest("l", &[&strip_session(link)])))
}

/// Removes session ids that servers write into links; they differ at every poll.
pub(crate) fn strip_session(link: &str) -> Cow<'_, str> {
    if !mentions_session(link) {
        return Cow::Borrowed(link);
    }
    let (path, rest) = link.split_at(link.find(['?', '#']).unwrap_or(link.len()));
    let path = match path.to_ascii_lowercase().find(";jsessionid=") {
        Some(at) => {
            let end = path[at..].find('/').map_or(path.len(), |e| at + e);
            format!("{}{}", &path[..at], &path[end..])
        }
        None => path.to_owned(),
    };
    let Some(query_and_fragment) = rest.strip_prefix('?') else {
        return Cow::Owned(format!("{path}{rest}"));
    };
    let (query, fragment) = match query_and_fragment.split_once('#') {
        Some((q, f)) => (q, format!("#{f}")),
        None => (query_and_fragment, String::new()),
    };
    let kept: Vec<&str> = query.split('&').filter(|pair| !is_session_pair(pair)).collect();
    let question = if kept.is_empty() { "" } else { "?" };
    Cow::Owned(format!("{path}{question}{}{fragment}", kept.join("&")))
}

/// Names of parameters that carry a session only.
const SESSION_NAMES: [&str; 6] =
    ["phpsessid", "sessionid", "session_id", "jsessionid", "aspsessionid", "sessid"];

fn mentions_session(link: &str) -> bool {
    // Every name contains it, and hardly any link does.
    if !link.as_bytes().windows(4).any(|four| four.eq_ignore_ascii_case(b"sess")) {
        return false;
    }
    let lower = link.to_ascii_lowercase();
    SESSION_NAMES.iter().any(|name| lower.contains(name))
}

fn is_session_pair(pair: &str) -> bool {
    let name = pair.trim_start_matches("amp;").split('=').next().unwrap_or("").to_ascii_lowercase();
    SESSION_NAMES.contains(&name.as_str()) || name.starts_with("aspsessionid")
}

/// Returns the trimmed text, if it is not empty.
fn text(field: &Option<String>) -> Option<&str> {
    field.as_deref().map(str::trim).filter(|t| !t.is_empty())
}

fn short(digest: &[u8; 32]) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&digest[..8]);
    u64::from_le_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, link: &str, title: &str) -> Item {
        let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
        Item { id: some(id), link: some(link), title: some(title), ..Item::default() }
    }

    fn keys(items: &[Item]) -> Vec<EntryKey> {
        identify(items.to_vec(), &Window::default()).iter().map(|i| i.key).collect()
    }

    #[test]
    fn an_edited_title_keeps_the_key() {
        assert_eq!(keys(&[item("g", "l", "old")]), keys(&[item("g", "l", "new")]));
        assert_eq!(keys(&[item("", "l", "old")]), keys(&[item("", "l", "new")]));
    }

    #[test]
    fn equal_id_and_link_are_one_entry() {
        assert_eq!(keys(&[item("g", "l", "a"), item("g", "l", "b")]).len(), 1);
    }

    #[test]
    fn one_id_with_two_links_are_two_entries() {
        let k = keys(&[item("g", "l1", "a"), item("g", "l2", "b")]);
        assert_eq!(k.len(), 2);
        assert_ne!(k[0], k[1]);
    }

    #[test]
    fn keys_that_were_given_without_the_window_are_given_again() {
        let both = vec![item("g", "l1", "a"), item("g", "l2", "b")];
        let one = vec![item("g", "l2", "b")];
        for (before, after) in [(&both, &one), (&one, &both)] {
            let first = identify(before.clone(), &Window::default());
            let window = Window::default().after_items(&first, false);
            let known = identify(after.clone(), &window);
            let unknown = identify(after.clone(), &Window::default());
            assert_ne!(known, unknown);
            assert_eq!(identify_again(unknown, &window), known);
            assert_eq!(identify_again(known.clone(), &window), known, "an item is left out");
        }
        let fresh = identify(vec![item("new", "l3", "c")], &Window::default());
        assert_eq!(identify_again(fresh.clone(), &Window::default()), fresh);
    }

    #[test]
    fn without_id_and_link_title_and_content_decide() {
        assert_eq!(keys(&[item("", "", "a"), item("", "", "b")]).len(), 2);
    }

    #[test]
    fn session_ids_in_links_do_not_count() {
        for (a, b) in [
            ("http://x/p?id=1&PHPSESSID=aa", "http://x/p?id=1"),
            ("http://x/p?sessionid=1&id=1", "http://x/p?sessionid=2&id=1"),
            ("http://x/p;jsessionid=AA?id=1", "http://x/p;jsessionid=BB?id=1"),
            ("http://x/p?PHPSESSID=a#f", "http://x/p#f"),
        ] {
            assert_eq!(keys(&[item("", a, "")]), keys(&[item("", b, "")]), "{a} and {b}");
        }
        assert_ne!(
            keys(&[item("", "http://x/?id=1", "")]),
            keys(&[item("", "http://x/?id=2", "")])
        );
    }

    #[test]
    fn an_item_that_the_window_holds_unchanged_is_left_out() {
        use crate::{DocumentDates, Known, Time, WindowComparison};
        let (at, dates, none) = (Time::from_secs(1), DocumentDates::default(), Known::new());
        let items = vec![item("a", "l1", "a"), item("b", "l2", "b")];
        let empty = Window::default();
        let first = identify(items, &empty);
        assert!(first.iter().all(|keyed| keyed.item.is_some()), "nothing was seen before");
        let comparison = WindowComparison::new(&first, &empty);
        let window = comparison.observe(&none, dates, at, None, false).window;
        let items = vec![item("a", "l1", "a"), item("b", "l2", "edited"), item("c", "l3", "c")];
        let second = identify(items, &window);
        let sent: Vec<bool> = second.iter().map(|keyed| keyed.item.is_some()).collect();
        assert_eq!(sent, [false, true, true]);
    }
}

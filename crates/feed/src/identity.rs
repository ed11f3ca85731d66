//! How an entry is recognised again: a deterministic key within its feed.
//!
//! The rule (spec/recording.md, "Reading"): the publisher's id; where one id stands for several
//! links, id and link; without an id the link; without a link title and content. Never the title
//! where an id or a link exists, for titles are edited; never a date, for some feeds print the
//! current time into every item. The rule's version is part of the key, so that a better rule can
//! be told from this one.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use sha2::{Digest, Sha256};

use crate::{Item, Window, WindowEntry};

/// The version of the rule above.
const RULE: u8 = 1;

/// The identity of an entry within its feed: the rule's version and 120 bits of SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryKey([u8; 16]);

impl EntryKey {
    pub const fn from_bytes(bytes: [u8; 16]) -> EntryKey {
        EntryKey(bytes)
    }

    pub const fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) fn of(basis: &str, parts: &[&str]) -> EntryKey {
        let digest = hash(basis, parts);
        let mut key = [RULE; 16];
        key[1..].copy_from_slice(&digest[..15]);
        EntryKey(key)
    }
}

impl fmt::Debug for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// An item of a document with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The item's place in the document.
    pub index: usize,
    pub key: EntryKey,
    /// Changes when the publisher edits the entry.
    pub content: u64,
    /// The link's hash: tells apart entries that share an id.
    pub link: u64,
}

/// A document whose items have their keys, beside the window before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identified<'a> {
    pub(crate) items: &'a [Item],
    pub(crate) window: &'a Window,
    /// The window's entries by their keys.
    pub(crate) before: HashMap<EntryKey, &'a WindowEntry>,
    pub(crate) found: Vec<Found>,
}

impl Identified<'_> {
    /// The entries of the document, in its order.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// The keys that the window does not hold: what else is known of them is to be looked up.
    pub fn beyond(&self) -> Vec<EntryKey> {
        let keys = self.found.iter().map(|found| found.key);
        keys.filter(|key| !self.before.contains_key(key)).collect()
    }
}

/// Gives every item of a document its key, in document order. Items with one key are one entry:
/// the first stands for all. `previous` settles ids that stand for several links in one document
/// and for one in another: an entry keeps the key under which the last window knew it.
pub fn identify<'a>(items: &'a [Item], previous: &'a Window) -> Identified<'a> {
    let links: Vec<u64> = items.iter().map(link_hash).collect();
    let mut link_of_id: HashMap<&str, u64> = HashMap::with_capacity(items.len());
    let mut ambiguous: HashSet<&str> = HashSet::new();
    for (item, link) in items.iter().zip(&links) {
        if let Some(id) = text(&item.id)
            && *link_of_id.entry(id).or_insert(*link) != *link
        {
            ambiguous.insert(id);
        }
    }
    let before = previous.entries().iter().map(|e| (e.key, e)).collect();

    let mut taken = HashSet::with_capacity(items.len());
    let mut found = Vec::with_capacity(items.len());
    for (index, (item, link)) in items.iter().zip(links).enumerate() {
        let ambiguous = text(&item.id).is_some_and(|id| ambiguous.contains(id));
        let key = key(item, link, ambiguous, &before);
        if taken.insert(key) {
            found.push(Found { index, key, content: content_hash(item), link });
        }
    }
    Identified { items, window: previous, before, found }
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

/// What tells an edited entry from an untouched one. Dates are left out: some feeds print the
/// current time, and a touched date alone is no edit.
pub fn content_hash(item: &Item) -> u64 {
    let mut parts = vec![
        text(&item.title).unwrap_or(""),
        text(&item.link).unwrap_or(""),
        text(&item.author).unwrap_or(""),
        text(&item.summary).unwrap_or(""),
        text(&item.content).unwrap_or(""),
    ];
    parts.extend(item.enclosures.iter().map(|e| e.url.as_str()));
    short(&hash("content", &parts))
}

fn link_hash(item: &Item) -> u64 {
    text(&item.link).map_or(0, |link| short(&hash("l", &[&strip_session(link)])))
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

/// Names of parameters that carry a session and nothing else.
const SESSION_NAMES: [&str; 6] =
    ["phpsessid", "sessionid", "session_id", "jsessionid", "aspsessionid", "sessid"];

fn mentions_session(link: &str) -> bool {
    // A part of every name: nearly all links end here.
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

/// A text that says something: trimmed, not empty.
fn text(field: &Option<String>) -> Option<&str> {
    field.as_deref().map(str::trim).filter(|t| !t.is_empty())
}

fn hash(basis: &str, parts: &[&str]) -> [u8; 32] {
    let mut sha = Sha256::new();
    sha.update(basis.as_bytes());
    for part in parts {
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    sha.finalize().into()
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
        identify(items, &Window::default()).found().iter().map(|i| i.key).collect()
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
    fn an_id_that_becomes_ambiguous_keeps_the_old_entry_known() {
        use crate::{DocumentDates, Time};
        let (at, dates) = (Time::from_secs(1), DocumentDates::default());
        let one = [item("g", "l1", "a")];
        let none = HashMap::new();
        let before = Window::default();
        let first = identify(&one, &before).observe(&none, dates, at, None, false);
        let two = [item("g", "l2", "b"), item("g", "l1", "a")];
        let second = identify(&two, &first.window).observe(&none, dates, at, Some(at), false);
        assert_eq!(second.n_new(), 1);
        assert_eq!(second.overlap, 1);
        // The older of the two leaves: what stays is still itself, not an edit of the other.
        let three = [item("g", "l2", "b")];
        let third = identify(&three, &second.window).observe(&none, dates, at, Some(at), false);
        assert_eq!((third.n_new(), third.overlap), (0, 1));
    }
}

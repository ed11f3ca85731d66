//! The ids and addresses under which entries are published, and the recognition of an entry that
//! comes back. An entry is the same on every instance if its first feed and its id are the same.
//!
//! This module handles claims of documents only. The store decides what follows from a claim, since
//! it knows what this instance has seen itself.

use sha2::{Digest, Sha256};
use url::{Position, Url, form_urlencoded};

use crate::identity::strip_session;
use crate::{EntryId, EntryKey, FeedId, FeedUrl, Source};

/// Longer ids are published as a digest: publishers do not need them, and readers store each one.
const ID_BYTES_MAX: usize = 2000;

/// Schemes of ids that are published unchanged. Others might run code.
const ID_SCHEMES: [&str; 9] = ["http", "https", "ftp", "tag", "urn", "info", "news", "mid", "at"];

/// Schemes of safe links.
const LINK_SCHEMES: [&str; 5] = ["http", "https", "ftp", "magnet", "mailto"];

/// Returns the id under which an entry is published. It is the publisher's id if that is a valid
/// URI, else its link, else a stable `tag:` URI (RFC 4151) made of it. `host` is the feed's.
pub fn public_id(guid: Option<&str>, link: Option<&str>, entry: EntryId, host: &str) -> String {
    let said =
        |text: Option<&str>| text.map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned);
    let own = said(guid).or_else(|| said(link));
    match own {
        Some(id) if is_uri(&id) => id,
        Some(id) => tag(host, &id),
        None => tag(host, &entry.to_string()),
    }
}

/// Returns a `tag:` URI on the feed's host.
fn tag(host: &str, own: &str) -> String {
    let host: String = host
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '-' })
        .collect();
    let host = if host.is_empty() { "localhost" } else { &host };
    let specific: String = if own.len() <= ID_BYTES_MAX {
        form_urlencoded::byte_serialize(own.as_bytes()).collect()
    } else {
        Sha256::digest(own.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    format!("tag:{host},2005:{specific}")
}

/// Returns an address in a form that may be published: with a safe scheme, and with all illegal
/// characters escaped. `None` if it cannot be published.
pub fn public_link(link: &str) -> Option<String> {
    let url = Url::parse(link.trim()).ok()?;
    if !LINK_SCHEMES.contains(&url.scheme()) || url.as_str().len() > ID_BYTES_MAX * 4 {
        return None;
    }
    let (head, tail) = (&url[..Position::BeforePath], &url[Position::BeforePath..]);
    let mut written = head.to_owned();
    for (at, c) in tail.char_indices() {
        let allowed = match c {
            '%' => is_escape(&tail[at..]),
            c => is_uri_character(c),
        };
        if allowed {
            written.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                written.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    Some(written)
}

/// Returns whether a text is an absolute URI that feed formats accept as an id (RFC 3986). `urn:`
/// also follows RFC 8141, `urn:uuid:` RFC 9562, `tag:` RFC 4151.
fn is_uri(id: &str) -> bool {
    let Some((scheme, rest)) = id.split_once(':') else { return false };
    let good = |(at, c): (usize, char)| match c {
        '%' => is_escape(&id[at..]),
        c => is_uri_character(c),
    };
    if id.len() > ID_BYTES_MAX
        || !ID_SCHEMES.contains(&scheme)
        || rest.is_empty()
        || id.matches('#').count() > 1
        || !id.char_indices().all(good)
    {
        return false;
    }
    match scheme {
        "http" | "https" | "ftp" => {
            // Browsers repair `http:///x`; other readers do not.
            Url::parse(id).is_ok() && rest.starts_with("//") && !rest.starts_with("///")
        }
        "urn" => is_urn(rest),
        "tag" => is_tag(rest),
        _ => true,
    }
}

fn is_urn(rest: &str) -> bool {
    let Some((space, own)) = rest.split_once(':') else { return false };
    if space.eq_ignore_ascii_case("uuid") {
        return is_uuid(own);
    }
    let good = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    let name =
        (2..=32).contains(&space.len()) && space.bytes().all(good) && !space.starts_with('-');
    name && !own.is_empty() && !own.contains(['#', '?', '/', '&', '~'])
}

fn is_uuid(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [8, 4, 4, 4, 12] && parts.concat().bytes().all(|b| b.is_ascii_hexdigit())
}

fn is_tag(rest: &str) -> bool {
    let Some((authority, tail)) = rest.split_once(',') else { return false };
    let Some((date, specific)) = tail.split_once(':') else { return false };
    let name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-_".contains(&b);
    let named = match authority.split_once('@') {
        Some((user, host)) => {
            !user.is_empty() && user.bytes().all(name) && !host.contains('_') && is_host(host)
        }
        None => is_host(authority),
    };
    let parts: Vec<&str> = date.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let dated = matches!(lengths[..], [4] | [4, 2] | [4, 2, 2])
        && parts.concat().bytes().all(|b| b.is_ascii_digit());
    named && dated && !specific.is_empty()
}

fn is_host(text: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-".contains(&b);
    !text.is_empty() && text.bytes().all(good)
}

fn is_escape(text: &str) -> bool {
    text.as_bytes().get(1..3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
}

/// Returns whether a character may appear in a URI, except `%` and the brackets of a host.
fn is_uri_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=".contains(c)
}

/// Returns the source of a feed's published entries. An address that holds a secret is never part
/// of it: the feed's site replaces it, or else a name on its host.
pub fn public_source(url: &FeedUrl, site: Option<&str>, number: FeedId) -> Source {
    let site = site.and_then(public_link).filter(|link| !holds_secret(link));
    if !holds_secret(url.as_str()) {
        let address = public_link(url.as_str());
        return Source { id: address.clone(), url: address, site, ..Source::default() };
    }
    let host = url.url().host_str().unwrap_or_default();
    let id = site.clone().unwrap_or_else(|| tag(host, &format!("feed-{number}")));
    Source { id: Some(id), site, ..Source::default() }
}

fn holds_secret(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| crate::mask_secrets(&url) != url.as_str())
}

/// Returns a claimed source in the form in which it is stored and passed on: only names that may be
/// published, in their published spelling. `None` if nothing names a feed.
pub fn passed_on(claim: &Source) -> Option<Source> {
    let open = |link: &String| public_link(link).filter(|link| !holds_secret(link));
    let url = claim.url.as_ref().and_then(open);
    let id = claim.id.clone().filter(|id| is_uri(id) && !holds_secret(id));
    let id = id.or_else(|| url.clone()).or_else(|| claim.id.as_ref().and_then(open))?;
    let site = claim.site.as_ref().and_then(open);
    Some(Source { id: Some(id), url, site, ..claim.clone() })
}

impl Source {
    /// Returns the name of the feed: its address, else its id.
    pub fn name(&self) -> Option<&str> {
        self.url.as_deref().or(self.id.as_deref())
    }

    /// Returns the number of the feed, if [`public_source`] made the name from it.
    pub fn numbered(&self) -> Option<FeedId> {
        let (_, number) = self.name()?.strip_prefix("tag:")?.rsplit_once(",2005:feed-")?;
        number.parse().ok().map(FeedId)
    }
}

/// Returns the identity of an entry on any instance: 16 bytes of a digest of its first feed's name
/// and its published id.
pub fn origin(source: &Source, public_id: &str) -> Option<[u8; 16]> {
    let name = source.name()?;
    let mut sha = Sha256::new();
    for part in [name, public_id] {
        // The length distinguishes ("ab", "c") from ("a", "bc").
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    let mut first = [0; 16];
    first.copy_from_slice(&sha.finalize()[..16]);
    Some(first)
}

/// Returns the keys that an entry with this published id may have in its first feed. Also returns
/// its number there, if the number may be its only identity.
pub fn original_keys(public_id: &str, link: Option<&str>) -> (Vec<EntryKey>, Option<EntryId>) {
    let mut ids = vec![public_id.to_owned()];
    let mut number = None;
    if let Some((_, specific)) =
        public_id.strip_prefix("tag:").and_then(|rest| rest.split_once(",2005:"))
    {
        // One pair without a value: this reverses `tag`.
        let own = form_urlencoded::parse(specific.as_bytes()).next();
        let own = own.map_or_else(String::new, |(own, _)| own.into_owned());
        number = own.parse().ok().map(EntryId);
        ids.push(own);
    }
    let mut keys = Vec::with_capacity(ids.len() * 3);
    for id in &ids {
        let id = strip_session(id.trim());
        keys.push(EntryKey::of("id", &[&id]));
        keys.push(EntryKey::of("link", &[&id]));
        let link = link.map(|link| strip_session(link.trim()));
        keys.push(EntryKey::of("id+link", &[&id, link.as_deref().unwrap_or("")]));
    }
    (keys, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, Window, identify};

    fn id(guid: &str) -> String {
        public_id(Some(guid), None, EntryId(7), "e.org")
    }

    #[test]
    fn ids_are_published_as_they_are_only_where_they_are_valid() {
        for valid in [
            "https://e.org/?p=1&x=%20#f",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "urn:isbn:0451450523",
            "tag:e.org,2024-01-02:a/b",
            "tag:ann@e.org,2024:a",
        ] {
            assert_eq!(id(valid), valid);
        }
        for (bad, published) in [
            ("urn:uuid:4711", "tag:e.org,2005:urn%3Auuid%3A4711"),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bfX", ""),
            ("urn:x", ""),
            ("tag:E.org,2024:a", ""),
            ("tag:e.org,24:a", ""),
            ("http:///no-host", ""),
            ("https://e.org/a b", "tag:e.org,2005:https%3A%2F%2Fe.org%2Fa+b"),
            ("https://e.org/%zz", ""),
            ("https://e.org/{x}", ""),
            ("https://e.org/\u{e9}", ""),
            ("javascript:alert(1)", ""),
            ("12345", "tag:e.org,2005:12345"),
        ] {
            let made = id(bad);
            assert!(is_uri(&made) && made.starts_with("tag:e.org,2005:"), "{bad}: {made}");
            assert!(published.is_empty() || made == published, "{made}");
        }
        assert!(is_uri(&public_id(None, None, EntryId(7), "[::1]")));
        assert!(id(&"x".repeat(100_000)).len() < 200);
        assert_eq!(public_id(None, Some("https://e.org/1"), EntryId(7), ""), "https://e.org/1");
    }

    #[test]
    fn links_hold_only_what_addresses_may() {
        for (link, published) in [
            (
                "https://e.org/a b|c{d}?q=[1]^`%zz%20",
                "https://e.org/a%20b%7Cc%7Bd%7D?q=%5B1%5D%5E%60%25zz%20",
            ),
            ("https://[::1]/x", "https://[::1]/x"),
            ("magnet:?xt=urn:a", "magnet:?xt=urn:a"),
        ] {
            assert_eq!(public_link(link).as_deref(), Some(published));
        }
        for link in ["javascript:alert(1)", "data:text/html,x", "/relative", ""] {
            assert_eq!(public_link(link), None);
        }
    }

    #[test]
    fn a_published_id_leads_back_to_the_key_of_its_entry() {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        for (guid, link) in [
            ("https://e.org/1", "https://e.org/a"),
            ("plain & odd +id%", ""),
            ("urn:uuid:4711", ""),
            ("", "https://e.org/only?PHPSESSID=1"),
            ("", "https://e.org/with space"),
        ] {
            let item = Item { id: some(guid), link: some(link), ..Item::default() };
            let window = Window::default();
            let key = identify(vec![item.clone()], &window)[0].key;
            let public = public_id(item.id.as_deref(), item.link.as_deref(), EntryId(9), "e.org");
            let (keys, _) = original_keys(&public, item.link.as_deref());
            assert!(keys.contains(&key), "{guid} {link}: {public}");
        }
        // Two links with one id are distinguished by both.
        let twice = ["https://e.org/a", "https://e.org/b"].map(|link| Item {
            id: Some("same".to_owned()),
            link: Some(link.to_owned()),
            ..Item::default()
        });
        let window = Window::default();
        for keyed in identify(twice.to_vec(), &window) {
            let link = keyed.item.and_then(|item| item.link);
            let (keys, _) = original_keys("tag:e.org,2005:same", link.as_deref());
            assert!(keys.contains(&keyed.key));
        }
        let (_, number) = original_keys(&public_id(None, None, EntryId(77), "e.org"), None);
        assert_eq!(number, Some(EntryId(77)));
    }

    #[test]
    fn a_secret_in_a_feeds_address_is_never_published() {
        let of = |url: &str, site| public_source(&FeedUrl::parse(url).unwrap(), site, FeedId(3));
        let open = of("https://e.org/feed?a=1", Some("https://e.org/"));
        assert_eq!(
            (open.name(), open.site.as_deref()),
            (Some("https://e.org/feed?a=1"), Some("https://e.org/"))
        );
        for url in ["https://me:pw@e.org/feed", "https://e.org/feed?token=pw"] {
            let closed = of(url, Some("https://e.org/"));
            assert_eq!((closed.name(), closed.url.as_deref()), (Some("https://e.org/"), None));
            let bare = of(url, Some("https://e.org/?token=pw"));
            assert_eq!(bare.name(), Some("tag:e.org,2005:feed-3"));
            assert_eq!((bare.numbered(), bare.site), (Some(FeedId(3)), None));
        }
    }
}

//! Removes what identifies publishers and authors: titles go, links and addresses become digests.
//! The same link has the same digest in one data set, so that copies can still be counted. Without
//! the salt nobody can test whether a known link is in the data set.

use sha2::{Digest, Sha256};

use crate::sample::hex;
use crate::tables::{FeedLine, StreamLine};

/// Bytes of a digest that are written: enough for a billion links without a collision.
const DIGEST_BYTES: usize = 16;

/// Makes pseudonyms with one salt.
#[derive(Clone, Debug)]
pub struct Pseudonyms {
    salt: Vec<u8>,
}

impl Pseudonyms {
    /// The salt must be secret and belong to one data set.
    pub fn new(salt: &[u8]) -> Pseudonyms {
        Pseudonyms { salt: salt.to_vec() }
    }

    pub fn of(&self, text: &str) -> String {
        let mut sha = Sha256::new();
        sha.update((self.salt.len() as u64).to_le_bytes());
        sha.update(&self.salt);
        sha.update(text.as_bytes());
        hex(&sha.finalize()[..DIGEST_BYTES])
    }

    /// Empties the title of an entry and replaces its link and keys.
    pub fn entry(&self, entry: &mut StreamLine) {
        entry.title = None;
        entry.link = entry.link.as_deref().map(|link| self.of(link));
        // Keys are digests of ids and links, which anybody could compute again.
        entry.key = self.of(&entry.key);
        entry.hash = entry.hash.as_deref().map(|hash| self.of(hash));
    }

    /// Empties the title of a feed and replaces its addresses.
    pub fn feed(&self, feed: &mut FeedLine) {
        feed.title = None;
        feed.url = self.of(&feed.url);
        feed.site = feed.site.as_deref().map(|site| self.of(site));
        feed.hub = feed.hub.as_deref().map(|hub| self.of(hub));
        feed.cloud = feed.cloud.as_deref().map(|cloud| self.of(cloud));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_depend_on_text_and_salt_only() {
        let (a, b) = (Pseudonyms::new(b"a"), Pseudonyms::new(b"b"));
        assert_eq!(a.of("http://example.org/"), a.of("http://example.org/"));
        assert_ne!(a.of("http://example.org/"), b.of("http://example.org/"));
        assert_eq!(a.of("").len(), 32);
    }

    #[test]
    fn nothing_readable_is_left() {
        let mut feed = FeedLine { url: "http://secret.example/".to_owned(), ..FeedLine::default() };
        feed.title = Some("Secret".to_owned());
        feed.site = Some("http://secret.example/".to_owned());
        Pseudonyms::new(b"x").feed(&mut feed);
        assert!(!format!("{feed:?}").to_lowercase().contains("secret"));
        let mut entry = StreamLine {
            link: Some("http://secret.example/1".to_owned()),
            ..StreamLine::default()
        };
        entry.title = Some("Secret".to_owned());
        Pseudonyms::new(b"x").entry(&mut entry);
        assert!(!format!("{entry:?}").to_lowercase().contains("secret"));
    }
}

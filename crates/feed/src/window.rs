//! The window: the ordered entries that a feed shows at one time, with its stored form. Module
//! `comparison` compares it with a document.

use std::collections::{HashMap, HashSet};

use sha2::{Digest, Sha256};

use crate::{EntryKey, Observation, Outcome, Time};

/// The ordered entries that a feed showed last. An empty document does not clear it: some feeds
/// alternate with an empty one, which must not look like a miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    entries: Vec<WindowEntry>,
    empty_now: bool,
}

/// One entry as the last window showed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowEntry {
    pub key: EntryKey,
    pub content: u64,
    pub link: u64,
    /// The publication time, as repaired when the entry was first seen.
    pub published_at: Time,
}

/// A stored window that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the stored window is damaged ({0}); the next poll rebuilds it")]
pub struct WindowError(&'static str);

impl Window {
    /// Returns the entries of the last non-empty window, in document order.
    pub fn entries(&self) -> &[WindowEntry] {
        &self.entries
    }

    /// Returns the publication times of the entries that the feed shows now, oldest first.
    pub fn times(&self) -> Vec<Time> {
        if self.empty_now {
            return Vec::new();
        }
        sorted(self.entries.iter().map(|e| e.published_at))
    }

    /// Returns the entries by their keys.
    pub(crate) fn by_key(&self) -> HashMap<EntryKey, &WindowEntry> {
        self.entries.iter().map(|e| (e.key, e)).collect()
    }

    /// Returns the window after a document with these entries. A partial document adds to the
    /// window.
    pub(crate) fn followed_by(&self, mut entries: Vec<WindowEntry>, partial: bool) -> Window {
        if partial {
            let shown: HashSet<EntryKey> = entries.iter().map(|e| e.key).collect();
            let size = self.entries.len().max(entries.len());
            entries.extend(self.entries.iter().filter(|e| !shown.contains(&e.key)));
            entries.truncate(size);
        }
        if entries.is_empty() {
            return Window { entries: self.entries.clone(), empty_now: !partial };
        }
        Window { entries, empty_now: false }
    }

    /// Returns a digest of the entries: their keys, contents and links, in order. Windows with the
    /// same digest compare a document in the same way.
    pub fn digest(&self) -> [u8; 16] {
        let mut hasher = Sha256::new();
        for e in &self.entries {
            hasher.update(e.key.bytes());
            hasher.update(e.content.to_le_bytes());
            hasher.update(e.link.to_le_bytes());
        }
        let mut digest = [0; 16];
        digest.copy_from_slice(&hasher.finalize()[..16]);
        digest
    }

    /// Returns the observation of a poll without a document: unchanged, refused, failed or gone.
    /// `times` is the result of [`Window::times`].
    pub fn without_document(times: &[Time], at: Time, outcome: Outcome) -> Observation<'_> {
        Observation { outcome, ..Observation::unchanged(at, times) }
    }

    /// Encodes the window: a version, a flag, then 40 bytes for each entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 + self.entries.len() * 40);
        bytes.extend([1, u8::from(self.empty_now)]);
        for e in &self.entries {
            bytes.extend(e.key.bytes());
            bytes.extend(e.content.to_le_bytes());
            bytes.extend(e.link.to_le_bytes());
            bytes.extend(e.published_at.millis().to_le_bytes());
        }
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Window, WindowError> {
        let [version, empty_now, rest @ ..] = bytes else {
            return if bytes.is_empty() {
                Ok(Window::default())
            } else {
                Err(WindowError("too short"))
            };
        };
        if *version != 1 {
            return Err(WindowError("unknown version"));
        }
        let (chunks, tail) = rest.as_chunks::<40>();
        if !tail.is_empty() {
            return Err(WindowError("cut off"));
        }
        let word = |c: &[u8; 40], at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&c[at..at + 8]);
            eight
        };
        let entries = chunks.iter().map(|c| {
            let mut key = [0; 16];
            key.copy_from_slice(&c[..16]);
            WindowEntry {
                key: EntryKey::from_bytes(key),
                content: u64::from_le_bytes(word(c, 16)),
                link: u64::from_le_bytes(word(c, 24)),
                published_at: Time::from_millis(i64::from_le_bytes(word(c, 32))),
            }
        });
        Ok(Window { entries: entries.collect(), empty_now: *empty_now != 0 })
    }
}

pub(crate) fn sorted(times: impl Iterator<Item = Time>) -> Vec<Time> {
    let mut times: Vec<Time> = times.collect();
    times.sort_unstable();
    times
}

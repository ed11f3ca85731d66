//! The key under which an entry is recognised again within its feed. It holds the version of the
//! identity rule and a digest; `identity` decides which parts of an item go into the digest.

use std::fmt;

use sha2::{Digest, Sha256};

/// The version of the identity rule. It is part of every key, so that keys of a later rule differ.
pub const IDENTITY_RULE: u8 = 1;

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
        let digest = digest(basis, parts);
        let mut key = [IDENTITY_RULE; 16];
        key[1..].copy_from_slice(&digest[..15]);
        EntryKey(key)
    }
}

impl fmt::Debug for EntryKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Hashes texts under a word for their kind.
pub(crate) fn digest(basis: &str, parts: &[&str]) -> [u8; 32] {
    let mut sha = Sha256::new();
    sha.update(basis.as_bytes());
    for part in parts {
        // The length distinguishes ("ab", "c") from ("a", "bc").
        sha.update((part.len() as u64).to_le_bytes());
        sha.update(part.as_bytes());
    }
    sha.finalize().into()
}

//! The layout of stored records: a version, the operator, the entry. Ignores records of another
//! version or operator.

use feed::{EntryId, FeedId, Time};
use sha2::{Digest, Sha256};

use super::memory::RememberedEntry;
use crate::language::ast::Likeness;
use crate::text::{Signature, canonical_link};

/// The version of the layout. It also changes with `crate::hash` and with the folding of titles,
/// since records contain both.
const VERSION: u8 = 1;

/// The operator that remembers an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperatorKind {
    JoinLeft = 1,
    JoinRight = 2,
    Distinct = 3,
    Count = 4,
    Window = 5,
}

impl OperatorKind {
    fn from_byte(byte: u8) -> Option<OperatorKind> {
        [
            OperatorKind::JoinLeft,
            OperatorKind::JoinRight,
            OperatorKind::Distinct,
            OperatorKind::Count,
            OperatorKind::Window,
        ]
        .into_iter()
        .find(|operator| *operator as u8 == byte)
    }
}

/// The key by which an entry is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LikenessKey {
    /// 64 bits of SHA-256, so that nobody can publish a link that collides with another.
    Link(u64),
    Title(Signature),
}

impl LikenessKey {
    /// Returns `None` for an entry without a link or title, which is not the same as any other.
    pub(super) fn of(on: Likeness, entry: &crate::Entry<'_>) -> Option<LikenessKey> {
        match on {
            Likeness::Link => {
                let digest = Sha256::digest(canonical_link(entry.link?)?.as_bytes());
                let start = digest.first_chunk::<8>()?;
                Some(LikenessKey::Link(u64::from_le_bytes(*start)))
            }
            Likeness::Title => Signature::of(entry.title?).map(LikenessKey::Title),
        }
    }

    /// Returns probes; two keys that are the same share at least one.
    pub(super) fn probes(&self) -> impl Iterator<Item = u64> {
        let (link, title) = match self {
            LikenessKey::Link(link) => (Some(*link), &[][..]),
            LikenessKey::Title(signature) => (None, signature.probes()),
        };
        link.into_iter().chain(title.iter().map(|probe| u64::from(*probe)))
    }

    pub(super) fn is_same(&self, other: &LikenessKey) -> bool {
        match (self, other) {
            (LikenessKey::Link(a), LikenessKey::Link(b)) => a == b,
            (LikenessKey::Title(a), LikenessKey::Title(b)) => a.is_similar(b),
            _ => false,
        }
    }
}

/// Encodes a record. The number is the key of the record, not part of the bytes.
pub(super) fn encode(operator: OperatorKind, remembered: &RememberedEntry) -> Vec<u8> {
    let mut bytes = vec![VERSION, operator as u8];
    bytes.extend(remembered.entry.0.to_le_bytes());
    bytes.extend(remembered.feed.0.to_le_bytes());
    bytes.extend(remembered.seen.millis().to_le_bytes());
    match &remembered.key {
        None => bytes.push(0),
        Some(LikenessKey::Link(link)) => {
            bytes.push(1);
            bytes.extend(link.to_le_bytes());
        }
        Some(LikenessKey::Title(signature)) => {
            bytes.push(2);
            bytes.extend(signature.numbers.to_le_bytes());
            bytes.extend(signature.words.iter().flat_map(|word| word.to_le_bytes()));
        }
    }
    bytes
}

/// Decodes a record.
pub(super) fn decode(number: u64, bytes: &[u8]) -> Option<(OperatorKind, RememberedEntry)> {
    let mut reader = RecordReader(bytes);
    let [version, operator] = reader.take::<2>()?;
    let operator = OperatorKind::from_byte(operator).filter(|_| version == VERSION)?;
    let entry = EntryId(i64::from_le_bytes(reader.take()?));
    let feed = FeedId(u32::from_le_bytes(reader.take()?));
    let seen = Time::from_millis(i64::from_le_bytes(reader.take()?));
    let key = match reader.take::<1>()? {
        [0] => None,
        [1] => Some(LikenessKey::Link(u64::from_le_bytes(reader.take()?))),
        [2] => Some(LikenessKey::Title(reader.signature()?)),
        _ => return None,
    };
    reader.0.is_empty().then_some((operator, RememberedEntry { number, entry, feed, seen, key }))
}

/// Reads stored bytes from the front; `None` if they end too early.
struct RecordReader<'a>(&'a [u8]);

impl RecordReader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    /// The remaining bytes are words; a signature has at least one, in ascending order.
    fn signature(&mut self) -> Option<Signature> {
        let numbers = u32::from_le_bytes(self.take()?);
        let (words, rest) = self.0.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        self.0 = rest;
        let ascending = words.windows(2).all(|two| two[0] < two[1]);
        (ascending && !words.is_empty()).then_some(Signature { numbers, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remembered(key: Option<LikenessKey>) -> RememberedEntry {
        let (entry, feed) = (EntryId(7), FeedId(3));
        RememberedEntry { number: 9, entry, feed, seen: Time::from_secs(1000), key }
    }

    #[test]
    fn records_survive_being_stored() {
        let title = Signature::of("Volcano erupts in Iceland 2010").map(LikenessKey::Title);
        for key in [None, Some(LikenessKey::Link(u64::MAX)), title] {
            for operator in [OperatorKind::JoinLeft, OperatorKind::Distinct, OperatorKind::Window] {
                let record = remembered(key.clone());
                let stored = encode(operator, &record);
                assert_eq!(decode(9, &stored), Some((operator, record)));
            }
        }
    }

    #[test]
    fn what_is_no_record_is_none() {
        let stored = encode(OperatorKind::Count, &remembered(Some(LikenessKey::Link(1))));
        let mut newer = stored.clone();
        newer[0] = VERSION + 1;
        let mut longer = stored.clone();
        longer.push(0);
        for bytes in [&newer[..], &longer, &stored[..stored.len() - 1], &[], &[VERSION, 9]] {
            assert_eq!(decode(9, bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn the_layout_is_the_one_that_is_stored() {
        let stored = encode(OperatorKind::Distinct, &remembered(Some(LikenessKey::Link(5))));
        let expect = [
            1, 3, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x40, 0x42, 0xf, 0, 0, 0, 0, 0, 1, 5, 0, 0,
            0, 0, 0, 0, 0,
        ];
        assert_eq!(stored, expect);
    }
}

//! Answers with only the entries that a client does not have yet (RFC 3229, the manipulation
//! `feed`). The client names the tag of its document. Digests of the entries of earlier documents
//! say which entries are new or changed since. This module keeps no texts and decides no access.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, header};
use parse::write::WrittenDocument;
use sha2::{Digest, Sha256};

use super::RenderedFeed;

/// Enough for about ten thousand documents of fifty entries. A client whose document is forgotten
/// gets the whole one.
const BYTES_MAX: usize = 6 << 20;
/// The memory of a document besides its digests, roughly.
const OVERHEAD: usize = 160;

/// The digest of one entry as it was written.
type EntryDigest = u64;

/// Returns the digests of all entries of a document.
pub fn digests(document: &WrittenDocument) -> Box<[EntryDigest]> {
    let digest = |text: &str| {
        let sha = Sha256::digest(text.as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&sha[..8]);
        u64::from_le_bytes(first)
    };
    document.item_texts().map(digest).collect()
}

/// The entries of earlier documents, and what partial answers saved.
#[derive(Default)]
pub struct DeltaMemory {
    documents: Mutex<EarlierDocuments>,
    n_answers: AtomicU64,
    n_bytes_saved: AtomicU64,
}

/// The digests of documents by their tags. Tags differ between addresses, because every document
/// names its own.
#[derive(Default)]
struct EarlierDocuments {
    digests: HashMap<String, Box<[EntryDigest]>>,
    /// The tags, oldest first.
    order: VecDeque<String>,
    n_bytes: usize,
}

/// The part of a document that a client does not have.
pub struct Delta {
    pub body: String,
    /// The tag of the document that the client has.
    pub base: String,
}

impl DeltaMemory {
    /// Remembers the entries of a document that clients are about to get.
    pub fn remember(&self, tag: &str, digests: &[EntryDigest]) {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if documents.digests.contains_key(tag) {
            return;
        }
        documents.n_bytes += size(digests);
        documents.digests.insert(tag.to_owned(), digests.into());
        documents.order.push_back(tag.to_owned());
        while documents.n_bytes > BYTES_MAX {
            let Some(oldest) = documents.order.pop_front() else { break };
            let forgotten = documents.digests.remove(&oldest);
            documents.n_bytes -= forgotten.map_or(0, |digests| size(&digests));
        }
    }

    /// Returns the part of a document that the client lacks, if it asks for it and has an earlier
    /// one that we know. The whole document is better if no entry changed or if all did: then the
    /// client must notice that it may have missed some.
    pub fn delta(&self, request: &HeaderMap, rendered: &RenderedFeed) -> Option<Delta> {
        if !accepts_feed(request) {
            return None;
        }
        let tags = request.get(header::IF_NONE_MATCH)?.to_str().ok()?;
        let (base, had) = self.earlier(tags)?;
        let digests = rendered.digests.iter().enumerate();
        let new: Vec<usize> =
            digests.filter(|(_, digest)| !had.contains(digest)).map(|(number, _)| number).collect();
        if new.is_empty() || new.len() == rendered.digests.len() {
            return None;
        }
        let body = rendered.written.with_items(&new);
        let saved = rendered.written.text.len().saturating_sub(body.len());
        self.n_answers.fetch_add(1, Ordering::Relaxed);
        self.n_bytes_saved.fetch_add(saved as u64, Ordering::Relaxed);
        Some(Delta { body, base })
    }

    /// Returns the first known document of a list of tags.
    fn earlier(&self, tags: &str) -> Option<(String, HashSet<EntryDigest>)> {
        let documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        tags.split(',').find_map(|tag| {
            let tag = tag.trim();
            let digests = documents.digests.get(tag)?;
            Some((tag.to_owned(), digests.iter().copied().collect()))
        })
    }

    /// Returns how many partial answers were given, and how many bytes they saved.
    pub fn saved(&self) -> (u64, u64) {
        (self.n_answers.load(Ordering::Relaxed), self.n_bytes_saved.load(Ordering::Relaxed))
    }
}

/// Whether `A-IM` names the manipulation `feed` and does not exclude it by `q=0`.
fn accepts_feed(request: &HeaderMap) -> bool {
    let lists = request.get_all("a-im").into_iter().filter_map(|list| list.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_feed = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("feed"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f32>);
        is_feed && weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0))
    })
}

fn size(digests: &[EntryDigest]) -> usize {
    size_of_val(digests) + OVERHEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manipulation_is_accepted_by_name_and_weight() {
        let accepts = |sent: &'static str| {
            let value = axum::http::HeaderValue::from_static(sent);
            accepts_feed(&HeaderMap::from_iter([(header::HeaderName::from_static("a-im"), value)]))
        };
        for (sent, expect) in [
            ("feed", true),
            ("vcdiff, FEED;q=0.5", true),
            ("feed;q=0", false),
            ("feed;q=x", false),
            ("feeds, gzip", false),
        ] {
            assert_eq!(accepts(sent), expect, "{sent}");
        }
        assert!(!accepts_feed(&HeaderMap::new()));
    }

    #[test]
    fn the_memory_has_a_limit_and_forgets_the_oldest() {
        let memory = DeltaMemory::default();
        let digests: Vec<u64> = (0..500).collect();
        let n = 2 * BYTES_MAX / size(&digests);
        for number in 0..n {
            memory.remember(&format!("\"{number}\""), &digests);
            memory.remember(&format!("\"{number}\""), &digests);
        }
        let documents = memory.documents.lock().unwrap();
        assert!(documents.n_bytes <= BYTES_MAX && documents.n_bytes > BYTES_MAX / 2);
        assert_eq!(documents.digests.len(), documents.order.len());
        assert!(!documents.digests.contains_key("\"0\""));
        assert!(documents.digests.contains_key(&format!("\"{}\"", n - 1)));
    }
}

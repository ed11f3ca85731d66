//! A cache of rendered feeds. Rendering sanitises every text of a page, which takes seconds on
//! hostile feeds, so each change is rendered once. The cache does not decide who may see a
//! document.

pub mod delta;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use feed::Time;
use parse::write::WrittenDocument;
use tokio::sync::MutexGuard;

use crate::http::etag;
use delta::DeltaMemory;

/// About thirty pages of usual size. Readers request a few of them again and again.
const BYTES_MAX: usize = 32 << 20;
/// Documents that are rendered at once, so that other requests still get CPU time.
const TURNS: usize = 2;

/// A rendered document.
#[derive(Debug)]
pub struct RenderedFeed {
    pub written: WrittenDocument,
    pub tag: String,
    pub changed_at: Time,
    /// The digests of its entries.
    pub digests: Box<[u64]>,
}

impl RenderedFeed {
    pub fn new(written: WrittenDocument, changed_at: Time) -> RenderedFeed {
        let tag = etag::tag(written.text.as_bytes());
        RenderedFeed { digests: delta::digests(&written), written, tag, changed_at }
    }
}

/// A digest of everything that a document depends on.
pub type ContentDigest = [u8; 32];

struct CachedFeed {
    mark: ContentDigest,
    rendered: Arc<RenderedFeed>,
    /// The number of the request that used it last.
    used: u64,
}

#[derive(Default)]
struct CacheContent {
    /// Documents by address.
    kept: HashMap<String, CachedFeed>,
    bytes: usize,
    n_asked: u64,
    n_rendered: u64,
}

/// The cache of published feeds.
#[derive(Default)]
pub struct FeedCache {
    documents: Mutex<CacheContent>,
    turns: [tokio::sync::Mutex<()>; TURNS],
    /// The entries of earlier documents, for answers with only what is new.
    pub deltas: DeltaMemory,
}

impl FeedCache {
    /// Waits until nobody else renders the document at this address.
    pub async fn turn(&self, address: &str) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        address.hash(&mut hasher);
        let number = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or(0);
        self.turns[number].lock().await
    }

    /// Returns the document at an address, if its content has not changed.
    pub fn get(&self, address: &str, mark: &ContentDigest) -> Option<Arc<RenderedFeed>> {
        let mut documents = self.lock();
        documents.n_asked += 1;
        let used = documents.n_asked;
        let kept = documents.kept.get_mut(address).filter(|kept| kept.mark == *mark)?;
        kept.used = used;
        Some(Arc::clone(&kept.rendered))
    }

    /// Stores a document, and drops the least recently used ones if there is no room.
    pub fn put(
        &self,
        address: &str,
        mark: ContentDigest,
        rendered: RenderedFeed,
    ) -> Arc<RenderedFeed> {
        let rendered = Arc::new(rendered);
        self.deltas.remember(&rendered.tag, &rendered.digests);
        let mut documents = self.lock();
        documents.n_rendered += 1;
        documents.remove(address);
        let size = size(address, &rendered);
        if size > BYTES_MAX {
            return rendered;
        }
        while documents.bytes + size > BYTES_MAX {
            let oldest = documents.kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(address, _)| address.clone()) else { break };
            documents.remove(&oldest);
        }
        let kept = CachedFeed { mark, rendered: Arc::clone(&rendered), used: documents.n_asked };
        documents.kept.insert(address.to_owned(), kept);
        documents.bytes += size;
        rendered
    }

    /// Returns how many documents were rendered so far.
    pub fn n_rendered(&self) -> u64 {
        self.lock().n_rendered
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CacheContent> {
        // Every change leaves the map valid, so a panic elsewhere does no harm.
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheContent {
    fn remove(&mut self, address: &str) {
        if let Some(kept) = self.kept.remove(address) {
            self.bytes -= size(address, &kept.rendered);
        }
    }
}

/// Returns the size that a document counts. The minimum is 4 KiB, which also limits their number.
fn size(address: &str, rendered: &RenderedFeed) -> usize {
    address.len() + rendered.written.text.len() + 4096
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(n_bytes: usize) -> RenderedFeed {
        let written = WrittenDocument { text: "x".repeat(n_bytes), ..WrittenDocument::default() };
        RenderedFeed::new(written, Time::from_secs(0))
    }

    #[test]
    fn what_is_kept_has_a_limit_and_the_least_asked_for_goes_first() {
        let shelf = FeedCache::default();
        let third = BYTES_MAX / 3;
        for address in ["a", "b"] {
            shelf.put(address, [1; 32], rendered(third));
        }
        assert!(shelf.get("b", &[1; 32]).is_some() && shelf.get("a", &[1; 32]).is_some());
        shelf.put("c", [1; 32], rendered(third));
        let there = |address| shelf.get(address, &[1; 32]).is_some();
        assert_eq!(["a", "b", "c"].map(there), [true, false, true]);
        assert!(shelf.get("a", &[2; 32]).is_none(), "it has changed since");
        shelf.put("a", [2; 32], rendered(10));
        assert!(shelf.lock().bytes < BYTES_MAX / 2, "the new one replaced the old one");
        shelf.put("d", [1; 32], rendered(BYTES_MAX + 1));
        assert_eq!(["a", "c", "d"].map(there), [false, true, false], "it drops no other");
        for number in 0..10_000 {
            shelf.put(&number.to_string(), [1; 32], rendered(10));
        }
        assert!(shelf.lock().bytes <= BYTES_MAX);
        assert!(shelf.lock().kept.len() <= BYTES_MAX / 4096);
    }
}

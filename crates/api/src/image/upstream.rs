//! The source of pictures: asks for one, and decides whether the answer is a picture. The engine
//! sends the requests, waits for their turns and follows redirects.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fetch::{FailureKind, Fetched};
use url::Url;

use super::kind;

/// Fetches what is at an address, redirects followed; `None`: too many requests are under way.
pub type FetchPicture =
    Arc<dyn Fn(Url) -> Pin<Box<dyn Future<Output = Option<Fetched>> + Send>> + Send + Sync>;

/// The reason why there is nothing to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureRefusal {
    /// The address, or one that it leads to, is not public.
    NotPublic,
    NotAPicture,
    TooLarge,
    Failed,
    /// Too many are under way.
    Crowded,
}

/// The source of pictures, with counters of its results.
pub struct Upstream {
    fetch: FetchPicture,
    counters: PictureCounters,
}

#[derive(Debug, Default)]
struct PictureCounters {
    shown: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

impl Upstream {
    pub fn new(fetch: FetchPicture) -> Upstream {
        Upstream { fetch, counters: PictureCounters::default() }
    }

    pub fn tally(&self) -> [(&'static str, u64); 3] {
        let PictureCounters { shown, refused, failed } = &self.counters;
        [("shown", shown), ("refused", refused), ("failed", failed)]
            .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)))
    }

    /// Returns the bytes at an address, whatever they are.
    pub async fn bytes(&self, url: Url) -> Option<Vec<u8>> {
        match (self.fetch)(url).await {
            Some(Fetched::Body { bytes, .. }) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the bytes of a picture and its type.
    pub async fn picture(&self, url: Url) -> Result<(Vec<u8>, &'static str), PictureRefusal> {
        let found = read((self.fetch)(url).await);
        let counter = match found {
            Ok(_) => &self.counters.shown,
            Err(
                PictureRefusal::NotPublic | PictureRefusal::NotAPicture | PictureRefusal::TooLarge,
            ) => &self.counters.refused,
            Err(PictureRefusal::Failed | PictureRefusal::Crowded) => &self.counters.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }
}

fn read(answer: Option<Fetched>) -> Result<(Vec<u8>, &'static str), PictureRefusal> {
    match answer {
        None => Err(PictureRefusal::Crowded),
        Some(Fetched::Body { bytes, .. }) => {
            let kind = kind::sniffed(&bytes).ok_or(PictureRefusal::NotAPicture)?;
            Ok((bytes, kind))
        }
        Some(Fetched::Blocked { .. }) => Err(PictureRefusal::NotPublic),
        Some(Fetched::Failed(failure)) if failure.kind == FailureKind::TooLarge => {
            Err(PictureRefusal::TooLarge)
        }
        Some(
            Fetched::Moved { .. }
            | Fetched::NotModified { .. }
            | Fetched::Gone
            | Fetched::Refused { .. }
            | Fetched::Failed(_),
        ) => Err(PictureRefusal::Failed),
    }
}

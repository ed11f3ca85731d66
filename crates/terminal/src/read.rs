//! From the body of an answer to a reading: hash, parse, identify. It records nothing and decides
//! nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dispatch::{FeedDescription, PollJob, PollReading, ReadDocument};
use feed::{DocumentDates, Time, Trouble, Window, identify};
use fetch::{FailureKind, Fetched};
use parse::Document;
use sha2::{Digest, Sha256};
use url::Url;

use crate::windows::RemoteWindows;

/// Documents up to this size in bytes are parsed in place. Larger ones are parsed on a thread of
/// their own, so that they do not delay other polls. The size is the decompressed one.
const PARSE_INLINE_BYTES: usize = 256 * 1024;

/// The number of feeds of a page that are reported.
const CANDIDATES_MAX: usize = 20;

/// Turns the outcome of an exchange into a reading.
pub async fn read(
    job: &PollJob,
    fetched: Fetched,
    response_date: Option<Time>,
    limits: parse::Limits,
    windows: Option<&RemoteWindows>,
) -> PollReading {
    match fetched {
        Fetched::NotModified { validators } => PollReading::NotModified { validators },
        Fetched::Moved { to, permanent } => PollReading::Moved { to, permanent },
        Fetched::Gone => PollReading::Gone,
        Fetched::Refused { status } => PollReading::Refused { status },
        Fetched::Blocked { reason } => PollReading::Blocked { reason },
        Fetched::Failed(failure) => {
            PollReading::Failed { trouble: trouble(failure.kind), detail: failure.detail }
        }
        Fetched::Body { bytes, content_type, validators, partial } => {
            let body_hash = body_hash(&bytes);
            if !job.whole && !partial && job.body_hash == Some(body_hash) {
                return PollReading::Same { validators };
            }
            let (n_bytes, base) = (bytes.len(), job.url.clone());
            let read = move || read_document(&bytes, content_type.as_deref(), &base, &limits);
            match contained(n_bytes, read).await {
                Ok(Ok(document)) => {
                    let empty =
                        ReadDocument { validators, body_hash, partial, ..Default::default() };
                    let window = window(windows, job).await;
                    let filled = filled(empty, &window, document, response_date);
                    if let Some(windows) = windows {
                        windows.followed(job.feed, &window, &filled.items, partial);
                    }
                    PollReading::Document(Box::new(filled))
                }
                Ok(Err(not_a_feed)) => not_a_feed,
                Err(detail) => {
                    PollReading::NotAFeed { detail, candidates: Vec::new(), is_damaged: false }
                }
            }
        }
    }
}

/// Returns the window to compare a document with. Without one, every item travels.
async fn window(windows: Option<&RemoteWindows>, job: &PollJob) -> Arc<Window> {
    if job.whole {
        return Arc::default();
    }
    match (windows, job.window_digest) {
        (Some(windows), Some(digest)) => windows.get(job.grant, job.feed, digest).await,
        _ => Arc::clone(&job.window),
    }
}

/// Gives the items of a document their keys and leaves out those that the window holds.
fn filled(
    empty: ReadDocument,
    window: &Window,
    document: Document,
    response_date: Option<Time>,
) -> ReadDocument {
    let on_the_fly = DocumentDates::are_on_the_fly(&document.items, response_date);
    let items = identify(document.items, window);
    ReadDocument {
        is_cut_off: document.is_cut_off,
        is_damaged: document.is_damaged,
        description: FeedDescription {
            title: document.title,
            site: document.link,
            language: document.language,
            hub: document.hubs.into_iter().next(),
            self_link: document.self_link,
            cloud: document.cloud,
            categories: document.categories,
            icon: document.icon,
        },
        hints: document.hints,
        on_the_fly,
        items,
        warnings: document.warnings,
        ..empty
    }
}

/// The stored form of a failed exchange.
pub(crate) fn trouble(failure: FailureKind) -> Trouble {
    match failure {
        FailureKind::Dns => Trouble::Lookup,
        FailureKind::NoSuchHost => Trouble::NoSuchHost,
        FailureKind::Connect => Trouble::Connect,
        FailureKind::Tls => Trouble::Tls,
        FailureKind::Timeout => Trouble::Timeout,
        FailureKind::Status(_) => Trouble::Status,
        FailureKind::TooLarge => Trouble::TooLarge,
        FailureKind::Encoding => Trouble::Encoding,
        FailureKind::Protocol => Trouble::Protocol,
        FailureKind::Redirect => Trouble::Redirect,
    }
}

/// Runs `read` on a document of so many bytes. An error means that the parser panicked; it costs
/// this document only.
pub async fn contained<T: Send + 'static>(
    n_bytes: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    if n_bytes <= PARSE_INLINE_BYTES {
        let read = catch_unwind(AssertUnwindSafe(read));
        return read.map_err(|_| "internal error in the parser; please report it".into());
    }
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| format!("internal error in the parser; please report it: {error}"))
}

fn body_hash(bytes: &[u8]) -> [u8; 16] {
    let digest = Sha256::digest(bytes);
    let mut hash = [0; 16];
    hash.copy_from_slice(&digest[..16]);
    hash
}

/// Parses a document. The error is the reading of a body that is not a feed.
fn read_document(
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
    limits: &parse::Limits,
) -> Result<Document, PollReading> {
    parse::document(bytes, content_type, Some(base), limits).map_err(|not_a_feed| {
        let candidates = parse::discover::links(bytes, content_type, base);
        PollReading::NotAFeed {
            detail: not_a_feed.to_string(),
            candidates: candidates.into_iter().map(|c| c.url).take(CANDIDATES_MAX).collect(),
            is_damaged: not_a_feed.kind == parse::NotAFeedKind::BrokenJsonFeed,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn large_documents_are_parsed_on_another_thread() {
        let here = Ok(thread::current().id());
        let at = async |n_bytes| contained(n_bytes, || thread::current().id()).await;
        assert_eq!(at(PARSE_INLINE_BYTES).await, here);
        assert_ne!(at(PARSE_INLINE_BYTES + 1).await, here);
    }

    #[tokio::test]
    async fn a_parser_that_panics_costs_its_document_only() {
        for n_bytes in [1, PARSE_INLINE_BYTES + 1] {
            let read = contained(n_bytes, || panic!("an unforeseen document")).await;
            let read: Result<(), String> = read;
            assert!(read.is_err_and(|why| why.contains("please report it")), "{n_bytes}");
        }
    }
}

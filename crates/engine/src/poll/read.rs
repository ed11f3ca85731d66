//! From what a server sent to what it means for the feed: parse, identify, compare with the
//! window. It records nothing and decides no next poll.

use std::panic::{AssertUnwindSafe, catch_unwind};

use feed::{
    DocumentDates, EntryKey, KeyedItem, Observed, Time, Trouble, WindowComparison, identify, repair,
};
use fetch::{FailureKind, Fetched};
use parse::Document;
use sha2::{Digest, Sha256};
use store::{BodyHash, PollInput, Store, StoreError};
use url::Url;

use super::{Context, Poll, Verdict};
use crate::conclude::{self, Reading};

/// Documents up to this size are parsed where they arrive; larger ones on a thread of their own,
/// so that they hold no other poll up. It is the size that is parsed: on the wire a document of
/// megabytes may be some kilobytes.
const PARSE_INLINE_BYTES: usize = 256 * 1024;

/// What the exchange means: a document compared with the window, or the reason for none.
pub(super) async fn read(
    context: &Context,
    poll: &Poll,
    at: Time,
    fetched: Fetched,
    facts: &fetch::ExchangeFacts,
    verdict: &Verdict,
) -> Reading {
    match fetched {
        Fetched::NotModified { validators } => Reading::Unchanged { validators },
        Fetched::Gone => Reading::Gone,
        Fetched::Refused { status } => Reading::Refused {
            kind: Trouble::Status,
            detail: conclude::refusal(status, verdict.pace.as_ref()),
        },
        Fetched::Blocked { reason } => {
            Reading::Refused { kind: Trouble::NotPublic, detail: reason }
        }
        Fetched::Failed(failure) => Reading::Failed {
            kind: kind(failure.kind),
            detail: failure.detail,
            our_network: verdict.our_network,
            candidates: Vec::new(),
        },
        Fetched::Moved { to, .. } => Reading::Failed {
            kind: Trouble::Redirect,
            detail: format!("redirect to {} not followed", feed::mask_secrets(&to)),
            our_network: false,
            candidates: Vec::new(),
        },
        Fetched::Body { bytes, content_type, validators, partial } => {
            let body_hash = body_hash(&bytes);
            if !partial && poll.input.document.body_hash == Some(body_hash) {
                return Reading::Unchanged { validators };
            }
            let limits = context.settings.parse;
            let base = poll.url.clone();
            let n_bytes = bytes.len();
            let read = move || read_document(&bytes, content_type.as_deref(), &base, &limits);
            let failed = |detail| Unread { detail, candidates: Vec::new(), is_damaged: false };
            match parsed(n_bytes, read).await.unwrap_or_else(|why| Err(failed(why))) {
                Ok(mut document) => {
                    let on_the_fly = DocumentDates::are_on_the_fly(&document.items, facts.date);
                    let items = std::mem::take(&mut document.items);
                    let items = identify(items, &poll.input.document.window);
                    let dates = DocumentDates::new(on_the_fly, facts.date, at);
                    let seen = observe(&context.store, &poll.input, &items, dates, at, partial);
                    match seen {
                        Ok(observed) => Reading::Document {
                            document,
                            items,
                            observed,
                            dates,
                            validators,
                            body_hash,
                        },
                        Err(e) => Reading::Failed {
                            kind: Trouble::Internal,
                            detail: format!("the store could not be read: {e}"),
                            our_network: true,
                            candidates: Vec::new(),
                        },
                    }
                }
                Err(unread)
                    if unread.is_damaged && !poll.input.document.window.entries().is_empty() =>
                {
                    Reading::Damaged { warnings: vec![unread.detail] }
                }
                Err(Unread { detail, candidates, .. }) => {
                    let kind = Trouble::NotAFeed;
                    Reading::Failed { kind, detail, our_network: false, candidates }
                }
            }
        }
    }
}

/// A failed exchange as it is kept.
fn kind(failure: FailureKind) -> Trouble {
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

/// What `read` makes of a document of so many bytes. An error is a fault of the parser: it costs
/// this document, not the task that wanted it.
pub async fn parsed<T: Send + 'static>(
    n_bytes: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    if n_bytes <= PARSE_INLINE_BYTES {
        let read = catch_unwind(AssertUnwindSafe(read));
        return read.map_err(|_| "the parser failed by a fault of ours; please report it".into());
    }
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| format!("the parser failed by a fault of ours; please report it: {error}"))
}

fn body_hash(bytes: &[u8]) -> BodyHash {
    let digest = Sha256::digest(bytes);
    let mut hash = BodyHash::default();
    hash.copy_from_slice(&digest[..16]);
    hash
}

/// A document that is not read as a feed.
struct Unread {
    detail: String,
    /// Feeds that it names.
    candidates: Vec<Url>,
    /// It is a feed all the same, but a broken one.
    is_damaged: bool,
}

fn read_document(
    bytes: &[u8],
    content_type: Option<&str>,
    base: &Url,
    limits: &parse::Limits,
) -> Result<Document, Unread> {
    parse::document(bytes, content_type, Some(base), limits).map_err(|not_a_feed| {
        let candidates = parse::discover::links(bytes, content_type, base);
        let candidates = candidates.into_iter().map(|c| c.url).take(20).collect();
        let is_damaged = not_a_feed.kind == parse::NotAFeedKind::BrokenJsonFeed;
        Unread { detail: not_a_feed.to_string(), candidates, is_damaged }
    })
}

/// Compares a document with the feed's window and with what the store knows of its items.
pub fn observe(
    store: &Store,
    input: &PollInput,
    items: &[KeyedItem],
    dates: DocumentDates,
    at: Time,
    partial: bool,
) -> Result<Observed, StoreError> {
    let comparison = WindowComparison::new(items, &input.document.window);
    let keys: Vec<EntryKey> = comparison.beyond().map(|keyed| keyed.key).collect();
    let mut known = store.known(input.id, &keys)?;
    let previous = input.history.last_success_at;
    // Copies of entries that this instance has already are not new here either.
    let claims = comparison.beyond().filter(|keyed| !known.contains_key(&keyed.key));
    let claims = claims.filter_map(|keyed| Some((keyed.key, keyed.content, keyed.item.as_ref()?)));
    let claims: Vec<_> = claims.filter(|(_, _, item)| item.source.is_some()).collect();
    let copies = store.known_copies(input.id, &claims)?;
    for (key, content, item) in claims.into_iter().filter(|(key, _, _)| copies.contains(key)) {
        known.insert(key, (content, repair(item, dates, at, previous).at));
    }
    Ok(comparison.observe(&known, dates, at, previous, partial))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[tokio::test]
    async fn large_documents_hold_no_other_poll_up() {
        let here = Ok(thread::current().id());
        let at = async |n_bytes| parsed(n_bytes, || thread::current().id()).await;
        assert_eq!(at(PARSE_INLINE_BYTES).await, here);
        assert_ne!(at(PARSE_INLINE_BYTES + 1).await, here);
    }

    #[tokio::test]
    async fn a_parser_that_fails_costs_its_document_alone() {
        for n_bytes in [1, PARSE_INLINE_BYTES + 1] {
            let read = parsed(n_bytes, || panic!("a document that nobody thought of")).await;
            let read: Result<(), String> = read;
            assert!(read.is_err_and(|why| why.contains("please report it")), "{n_bytes}");
        }
    }
}

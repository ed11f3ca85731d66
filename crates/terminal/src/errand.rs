//! Errands: requests that are not polls. Sends one and returns the answer as it came; the same for
//! the terminal in the controller's process and for those on other machines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use dispatch::wire::encoded_len;
use dispatch::{ErrandJob, ErrandReading, ErrandRequest, ErrandResult, GrantId};
use feed::{ExchangeFacts, Trouble};
use fetch::{Exchange, Failure, FailureKind, Fetched, Fetcher, Parcel, Posted};

use crate::outbox::RESULT_BYTES_MAX;
use crate::read;

/// The wait before a result is sent again.
const RESEND_AFTER: Duration = Duration::from_secs(1);
/// A result that nobody took for so long is dropped: its controller has given it up.
const KEEP_FOR: Duration = Duration::from_secs(120);

/// Sends the request of an errand, if `may_send` allows it at the last moment.
pub async fn errand(
    fetcher: &Fetcher,
    job: ErrandJob,
    may_send: impl Fn() -> bool,
) -> ErrandResult {
    let ErrandJob { grant, url, request, .. } = job;
    let place = fetcher.place().await;
    // Other requests may have had all places for long.
    if !may_send() {
        return ErrandResult::bare(grant, ErrandReading::NotSent);
    }
    let exchange = match request {
        ErrandRequest::Page { validators, own } => {
            place.page(&url, &validators, own.as_deref()).await
        }
        ErrandRequest::File { validators, bytes_max, first_bytes, within } => {
            let exchange = async {
                match first_bytes {
                    None => place.file(&url, &validators, bytes_max).await,
                    Some(first) => place.beginning(&url, &validators, first, bytes_max).await,
                }
            };
            match within {
                None => exchange.await,
                Some(within) => match tokio::time::timeout(within, exchange).await {
                    Ok(exchange) => exchange,
                    Err(_) => return too_late(grant, within),
                },
            }
        }
        ErrandRequest::Post { content_type, headers, body } => {
            let headers = headers.into_iter().map(|(name, value)| (Cow::Owned(name), value));
            let content_type = Cow::Owned(content_type);
            let parcel = Parcel { content_type, headers: headers.collect(), body };
            return ErrandResult::bare(grant, of_posted(place.post(&url, parcel).await));
        }
    };
    let Exchange { fetched, facts, .. } = exchange;
    ErrandResult { grant, facts, reading: of_fetched(fetched) }
}

fn too_late(grant: GrantId, within: Duration) -> ErrandResult {
    let detail = format!("no answer within {} s", within.as_secs_f64());
    ErrandResult::bare(grant, ErrandReading::Failed { trouble: Trouble::Timeout, detail })
}

fn of_fetched(fetched: Fetched) -> ErrandReading {
    match fetched {
        Fetched::NotModified { validators } => ErrandReading::NotModified { validators },
        Fetched::Body { bytes, content_type, validators, partial } => {
            ErrandReading::Body { bytes, content_type, validators, partial }
        }
        Fetched::Moved { to, permanent } => ErrandReading::Moved { to, permanent },
        Fetched::Gone => ErrandReading::Gone,
        Fetched::Refused { status } => ErrandReading::Refused { status },
        Fetched::Blocked { reason } => ErrandReading::Blocked { reason },
        Fetched::Failed(failure) => of_failure(failure),
    }
}

fn of_failure(failure: Failure) -> ErrandReading {
    ErrandReading::Failed { trouble: read::trouble(failure.kind), detail: failure.detail }
}

fn of_posted(posted: Posted) -> ErrandReading {
    match posted {
        Posted::Taken { status } => ErrandReading::Posted { status, retry_after: None, to: None },
        Posted::Refused { status, retry_after, to } => {
            ErrandReading::Posted { status, retry_after, to }
        }
        Posted::Blocked { reason } => ErrandReading::Blocked { reason },
        Posted::Failed(failure) => of_failure(failure),
    }
}

/// The outcome of an errand that asked for something, as `fetch` tells it.
pub fn fetched(reading: ErrandReading, facts: &ExchangeFacts) -> Fetched {
    match reading {
        ErrandReading::NotModified { validators } => Fetched::NotModified { validators },
        ErrandReading::Body { bytes, content_type, validators, partial } => {
            Fetched::Body { bytes, content_type, validators, partial }
        }
        ErrandReading::Moved { to, permanent } => Fetched::Moved { to, permanent },
        ErrandReading::Gone => Fetched::Gone,
        ErrandReading::Refused { status } => Fetched::Refused { status },
        ErrandReading::Blocked { reason } => Fetched::Blocked { reason },
        ErrandReading::Failed { trouble, detail } => {
            Fetched::Failed(Failure { kind: kind(trouble, facts.status), detail })
        }
        ErrandReading::NotSent | ErrandReading::Posted { .. } => Fetched::Failed(not_sent()),
    }
}

/// The outcome of an errand that sent a body.
pub fn posted(reading: ErrandReading) -> Posted {
    match reading {
        ErrandReading::Posted { status, .. } if (200..300).contains(&status) => {
            Posted::Taken { status }
        }
        ErrandReading::Posted { status, retry_after, to } => {
            Posted::Refused { status, retry_after, to }
        }
        ErrandReading::Blocked { reason } => Posted::Blocked { reason },
        ErrandReading::Failed { trouble, detail } => {
            Posted::Failed(Failure { kind: kind(trouble, None), detail })
        }
        _ => Posted::Failed(not_sent()),
    }
}

fn not_sent() -> Failure {
    let detail = "no terminal sent the request in time".to_owned();
    Failure { kind: FailureKind::Timeout, detail }
}

fn kind(trouble: Trouble, status: Option<u16>) -> FailureKind {
    match trouble {
        Trouble::Lookup => FailureKind::Dns,
        Trouble::NoSuchHost => FailureKind::NoSuchHost,
        Trouble::Connect => FailureKind::Connect,
        Trouble::Tls => FailureKind::Tls,
        Trouble::Timeout => FailureKind::Timeout,
        Trouble::Status => FailureKind::Status(status.unwrap_or_default()),
        Trouble::TooLarge => FailureKind::TooLarge,
        Trouble::Encoding => FailureKind::Encoding,
        Trouble::Redirect => FailureKind::Redirect,
        _ => FailureKind::Protocol,
    }
}

/// Turns a request for `fetch` into that of an errand.
pub fn post(parcel: Parcel) -> ErrandRequest {
    let Parcel { content_type, headers, body } = parcel;
    let headers = headers.into_iter().map(|(name, value)| (name.into_owned(), value)).collect();
    ErrandRequest::Post { content_type: content_type.into_owned(), headers, body }
}

/// Returns a result that a message can carry. One that is too long becomes a failure.
pub fn sendable(result: ErrandResult) -> ErrandResult {
    if encoded_len(&result).is_ok_and(|n_bytes| n_bytes <= RESULT_BYTES_MAX) {
        return result;
    }
    let detail = format!("the answer is longer than the bus carries ({RESULT_BYTES_MAX} bytes)");
    let reading = ErrandReading::Failed { trouble: Trouble::TooLarge, detail };
    ErrandResult { reading, ..result }
}

/// Results of errands that the controller has not taken yet. Pure: the caller gives the time.
#[derive(Debug, Default)]
pub struct ErrandOutbox {
    kept: BTreeMap<GrantId, KeptErrand>,
}

#[derive(Debug)]
struct KeptErrand {
    result: ErrandResult,
    ready_at: Duration,
    sent_at: Option<Duration>,
}

impl ErrandOutbox {
    /// Keeps a result that became ready at `now`. The first result of a grant stays.
    pub fn keep(&mut self, result: ErrandResult, now: Duration) {
        let kept = KeptErrand { result, ready_at: now, sent_at: None };
        self.kept.entry(kept.result.grant).or_insert(kept);
    }

    /// Returns the next result to send at `now`, until there is none: they may be long. Old ones
    /// are given up.
    pub fn next_due(&mut self, now: Duration) -> Option<ErrandResult> {
        self.kept.retain(|_, kept| now.saturating_sub(kept.ready_at) < KEEP_FOR);
        let kept = self
            .kept
            .values_mut()
            .find(|kept| kept.sent_at.is_none_or(|at| now.saturating_sub(at) >= RESEND_AFTER))?;
        kept.sent_at = Some(now);
        Some(kept.result.clone())
    }

    /// Drops a result that the controller has.
    pub fn answered(&mut self, grant: GrantId) {
        self.kept.remove(&grant);
    }

    /// The bytes of all bodies.
    pub fn n_bytes(&self) -> usize {
        let bodies = self.kept.values().map(|kept| match &kept.result.reading {
            ErrandReading::Body { bytes, .. } => bytes.len(),
            _ => 0,
        });
        bodies.sum()
    }

    /// The number of results that wait.
    pub fn n_kept(&self) -> usize {
        self.kept.len()
    }
}

#[cfg(test)]
mod tests {
    use feed::Validators;
    use url::Url;

    use super::*;

    #[test]
    fn outcomes_come_back_as_they_were() {
        let to = Url::parse("https://example.org/b").expect("a URL");
        let validators = Validators { etag: Some(b"\"1\"".to_vec()), last_modified: None };
        let failed = |kind| Fetched::Failed(Failure { kind, detail: "so".to_owned() });
        let facts = ExchangeFacts { status: Some(404), ..ExchangeFacts::default() };
        for outcome in [
            Fetched::NotModified { validators: validators.clone() },
            Fetched::Body { bytes: vec![0, 255], content_type: None, validators, partial: true },
            Fetched::Moved { to: to.clone(), permanent: true },
            Fetched::Gone,
            Fetched::Refused { status: 403 },
            Fetched::Blocked { reason: "why".to_owned() },
            failed(FailureKind::Status(404)),
            failed(FailureKind::Dns),
            failed(FailureKind::NoSuchHost),
            failed(FailureKind::Connect),
            failed(FailureKind::Tls),
            failed(FailureKind::Timeout),
            failed(FailureKind::TooLarge),
            failed(FailureKind::Encoding),
            failed(FailureKind::Protocol),
            failed(FailureKind::Redirect),
        ] {
            let sent = ErrandResult {
                grant: GrantId(1),
                facts: facts.clone(),
                reading: of_fetched(outcome.clone()),
            };
            let bytes = dispatch::wire::encode(&sent).expect("written");
            let arrived: ErrandResult = dispatch::wire::decode(&bytes).expect("read");
            assert_eq!(fetched(arrived.reading, &arrived.facts), outcome);
        }
        let retry_after = Some(feed::RetryAfter::After(Duration::from_secs(3)));
        for outcome in [
            Posted::Taken { status: 202 },
            Posted::Refused { status: 503, retry_after, to: None },
            Posted::Refused { status: 307, retry_after: None, to: Some(to) },
            Posted::Blocked { reason: "why".to_owned() },
        ] {
            assert_eq!(posted(of_posted(outcome.clone())), outcome);
        }
    }

    #[test]
    fn a_result_is_sent_until_it_is_taken_or_too_old() {
        let (mut outbox, at) = (ErrandOutbox::default(), Duration::from_millis);
        outbox.keep(ErrandResult::bare(GrantId(1), ErrandReading::Gone), at(0));
        outbox.keep(ErrandResult::bare(GrantId(2), ErrandReading::Gone), at(0));
        let n_due =
            |outbox: &mut ErrandOutbox, now| std::iter::from_fn(|| outbox.next_due(now)).count();
        assert_eq!(n_due(&mut outbox, at(10)), 2);
        assert_eq!(n_due(&mut outbox, at(500)), 0);
        outbox.answered(GrantId(1));
        assert_eq!(n_due(&mut outbox, at(1010)), 1);
        let (content_type, validators) = (None, Validators::default());
        let body =
            ErrandReading::Body { bytes: vec![0; 9], content_type, validators, partial: false };
        outbox.keep(ErrandResult::bare(GrantId(3), body), at(1020));
        assert_eq!(outbox.n_bytes(), 9);
        assert_eq!(n_due(&mut outbox, KEEP_FOR + at(1020)), 0);
        assert_eq!(outbox.n_kept(), 0);
    }

    #[test]
    fn an_answer_that_is_too_long_becomes_a_failure() {
        let bytes = vec![0; dispatch::wire::MESSAGE_BYTES_MAX];
        let (content_type, validators, partial) = (None, Validators::default(), false);
        let body = ErrandReading::Body { bytes, content_type, validators, partial };
        let sent = sendable(ErrandResult::bare(GrantId(1), body));
        let ErrandReading::Failed { trouble, .. } = sent.reading else { panic!("it is sent") };
        assert_eq!((sent.grant, trouble), (GrantId(1), Trouble::TooLarge));
        let short = ErrandResult::bare(GrantId(1), ErrandReading::Gone);
        assert_eq!(sendable(short.clone()), short);
    }
}

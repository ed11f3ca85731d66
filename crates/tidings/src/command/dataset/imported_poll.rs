//! Turns the rows of a data set into the records of polls, as if the polls were made now. It reads
//! no file and asks nobody.

use std::collections::HashMap;
use std::time::Duration;

use dataset::http_head;
use dataset::tables::{FeedLine, PollLine, StreamLine};
use dataset::warc::ArchivedExchange;
use feed::{EntryKey, FeedId, Hints, Item, Outcome, Published, RawAnswer, Time, Window, identify};
use sha2::{Digest, Sha256};
use store::{
    DocumentRecord, EntryChanges, EntryFacts, FeedFacts, Gone, NewEntry, NextPoll, PollContent,
    PollProblem, PollRecord, RecordedAnswer, StoredValidators,
};

/// The next poll of the last row. The feed is paused, so nobody is polled then.
const LATER: Duration = Duration::from_secs(86_400);

/// The rows of one feed.
pub struct FeedToImport {
    pub id: FeedId,
    pub line: FeedLine,
    pub polls: Vec<PollLine>,
    pub entries: Vec<StreamLine>,
    /// The times of suspected misses.
    pub misses: Vec<Time>,
    pub exchanges: Vec<ArchivedExchange>,
}

/// Makes the records of a feed one by one, in the order of its polls.
pub struct FeedRecords {
    feed: FeedToImport,
    by_seen: HashMap<Time, Vec<StreamLine>>,
    exchanges: HashMap<Time, ArchivedExchange>,
    n_items: u32,
    failures: u32,
}

impl FeedRecords {
    pub fn new(mut feed: FeedToImport) -> FeedRecords {
        let mut by_seen: HashMap<Time, Vec<StreamLine>> = HashMap::new();
        for entry in std::mem::take(&mut feed.entries) {
            by_seen.entry(entry.seen).or_default().push(entry);
        }
        let exchanges = std::mem::take(&mut feed.exchanges);
        let exchanges = exchanges.into_iter().map(|one| (one.at, one)).collect();
        FeedRecords { feed, by_seen, exchanges, n_items: 0, failures: 0 }
    }

    pub fn n_polls(&self) -> usize {
        self.feed.polls.len()
    }

    /// Returns the record of a poll. `generation` is that of the feed before it.
    pub fn record(&mut self, place: usize, generation: u32) -> Option<PollRecord> {
        let poll = self.feed.polls.get(place)?.clone();
        let next = self.feed.polls.get(place + 1).map(|next| next.planned.unwrap_or(next.at));
        let outcome = Outcome::from_word(&poll.outcome).unwrap_or(Outcome::Failed);
        let next_at = next.unwrap_or(poll.at + LATER);
        let exchange = self.exchanges.remove(&poll.at);
        let mut record = PollRecord::empty(self.feed.id, generation, poll.at, outcome, next_at);
        record.decision.next = NextPoll::at(next_at);
        record.exchange.status = poll.status;
        record.exchange.bytes = poll.bytes;
        record.exchange.elapsed = Duration::from_millis(poll.elapsed_ms);
        record.warnings = poll.warnings.iter().map(ToOwned::to_owned).collect();
        record.content = match outcome {
            Outcome::Seen => {
                let body = exchange.as_ref().and_then(|exchange| exchange.body.as_deref());
                PollContent::Document(Box::new(self.document(&poll, body)))
            }
            Outcome::Unchanged => PollContent::Unchanged { validators: None },
            _ => PollContent::Nothing,
        };
        if let Some(items) = poll.items {
            self.n_items = u32::try_from(items).unwrap_or(u32::MAX);
        }
        record.observed.len = self.n_items;
        record.observed.suspected_miss = self.feed.misses.contains(&poll.at);
        self.failures = if outcome.is_success() { 0 } else { self.failures + 1 };
        record.decision.failures = self.failures;
        if !outcome.is_success() {
            let error = poll.error.clone().unwrap_or_else(|| outcome.word().to_owned());
            record.problem = Some(PollProblem::new(error));
        }
        if outcome == Outcome::Gone {
            let reason = "the publisher ended the feed".to_owned();
            record.location.gone = Some(Gone { at: poll.at, reason });
        }
        record.raw = Some(Box::new(match exchange {
            Some(exchange) => answer(exchange),
            None => answer_of_row(&poll, &self.feed.line.url),
        }));
        Some(record)
    }

    /// The document of a poll. With its body, entries get their texts and ids back.
    fn document(&mut self, poll: &PollLine, body: Option<&[u8]>) -> DocumentRecord {
        let limits = parse::Limits::default();
        let parsed =
            body.and_then(|b| parse::document(b, poll.content_type.as_deref(), None, &limits).ok());
        let line = &self.feed.line;
        let hints = parsed.as_ref().map_or_else(|| hints(line), |parsed| parsed.hints.clone());
        let keyed = identify(parsed.map(|p| p.items).unwrap_or_default(), &Window::default());
        // Only items that a window holds come without their texts, and the window is empty.
        let mut items: HashMap<EntryKey, (Item, u64)> =
            keyed.into_iter().filter_map(|one| Some((one.key, (one.item?, one.content)))).collect();
        let lines = self.by_seen.remove(&poll.at).unwrap_or_default();
        let new = lines.into_iter().map(|line| new_entry(line, &mut items)).collect();
        let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_vec());
        let mut body_hash = [0; 16];
        if let Some(body) = body {
            body_hash.copy_from_slice(&Sha256::digest(body)[..16]);
        }
        DocumentRecord {
            validators: StoredValidators {
                etag: bytes(&poll.etag),
                last_modified: bytes(&poll.last_modified),
                of: None,
            },
            body_hash,
            facts: FeedFacts {
                title: line.title.clone(),
                site: line.site.clone(),
                language: line.language.clone(),
                hub: line.hub.clone(),
                cloud: line.cloud.clone(),
                ..FeedFacts::default()
            },
            hints,
            entries: EntryChanges { new, edited: Vec::new(), window: None },
        }
    }
}

fn hints(line: &FeedLine) -> Hints {
    Hints {
        ttl: line.ttl.map(Duration::from_secs),
        update_every: line.update_period.map(Duration::from_secs),
        ..Hints::default()
    }
}

fn new_entry(line: StreamLine, items: &mut HashMap<EntryKey, (Item, u64)>) -> NewEntry {
    let key = EntryKey::from_bytes(key_bytes(&line.key));
    let (item, content) = items.remove(&key).unwrap_or_else(|| {
        let (title, link) = (line.title, line.link);
        (Item { title, link, published: line.claimed, ..Item::default() }, 0)
    });
    let published = Published { claim: line.claimed, at: line.published };
    // A data set has no language or topic of an entry.
    NewEntry { key, item, published, content, facts: EntryFacts::default() }
}

/// Reads a key. A text that is not one becomes its digest, so that keys stay different.
fn key_bytes(text: &str) -> [u8; 16] {
    let digits = |i: usize| text.get(2 * i..2 * i + 2);
    let byte = |i: usize| digits(i).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..16).map(byte).collect();
    let exact = bytes.filter(|_| text.len() == 32).and_then(|bytes| bytes.try_into().ok());
    exact.unwrap_or_else(|| {
        let digest = Sha256::digest(text);
        std::array::from_fn(|i| digest[i])
    })
}

fn answer(exchange: ArchivedExchange) -> RecordedAnswer {
    RecordedAnswer {
        url: exchange.url,
        hops: exchange.hops,
        answer: RawAnswer {
            request: exchange.request,
            head: exchange.head,
            remote: exchange.remote.and_then(|address| address.parse().ok()),
            body: exchange.body,
        },
    }
}

/// The head of an answer from the columns of its row, for data sets without an archive.
fn answer_of_row(poll: &PollLine, url: &str) -> RecordedAnswer {
    let mut head = Vec::new();
    if let Some(status) = poll.status {
        head.extend(format!("HTTP/1.1 {status}\r\n").into_bytes());
        let fields = [
            ("ETag", &poll.etag),
            ("Last-Modified", &poll.last_modified),
            ("Date", &poll.date),
            ("Expires", &poll.expires),
            ("Content-Type", &poll.content_type),
            ("Cache-Control", &poll.cache_control),
            ("Age", &poll.age),
            ("Retry-After", &poll.retry_after),
            ("Content-Encoding", &poll.content_encoding),
            ("Vary", &poll.vary),
        ];
        for (name, value) in fields {
            let plain = value.as_ref().map(|value| value.replace(['\r', '\n', '\0'], " "));
            head.extend(plain.map(|v| format!("{name}: {v}\r\n").into_bytes()).unwrap_or_default());
        }
    }
    let request = match poll.conditional {
        Some(true) => b"GET / HTTP/1.1\r\nIf-None-Match: *\r\n".to_vec(),
        _ => Vec::new(),
    };
    debug_assert!(http_head::fields(&head).count() <= 10);
    let answer = RawAnswer { request, head, ..RawAnswer::default() };
    RecordedAnswer { url: url.to_owned(), hops: 0, answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_or_replaced_by_digests() {
        assert_eq!(key_bytes("000102030405060708090a0b0c0d0e0f")[15], 15);
        assert_ne!(key_bytes("a"), key_bytes("b"));
        assert_ne!(key_bytes("é".repeat(16).as_str()), key_bytes(""));
    }

    #[test]
    fn a_failed_poll_keeps_its_error_and_a_row_becomes_a_head() {
        let at = Time::from_secs(100);
        let poll = PollLine {
            at,
            status: Some(503),
            outcome: "failed".to_owned(),
            error: Some("busy".to_owned()),
            retry_after: Some("60\r\nX: y".to_owned()),
            ..PollLine::default()
        };
        let mut records = FeedRecords::new(FeedToImport {
            id: FeedId(1),
            line: FeedLine::default(),
            polls: vec![poll],
            entries: Vec::new(),
            misses: Vec::new(),
            exchanges: Vec::new(),
        });
        let record = records.record(0, 0).unwrap();
        assert_eq!(record.problem.unwrap().error, "busy");
        let head = record.raw.unwrap().answer.head;
        assert_eq!(http_head::field(&head, "retry-after"), Some("60  X: y"));
        assert_eq!(records.record(1, 1), None);
    }
}

//! The sums over the polls of one feed.

use std::collections::BTreeMap;

use feed::Time;

use super::intervals::IntervalTotals;
use super::spread::LogSpread;
use crate::tables::PollLine;

/// The headers that are counted, each with its place in [`PollTally::headers`].
pub(crate) const HEADERS: [&str; 10] = [
    "ETag",
    "weak ETag",
    "Last-Modified",
    "Expires",
    "Date",
    "Cache-Control: max-age",
    "Age",
    "Retry-After",
    "Content-Encoding",
    "Vary",
];

/// The sums over the polls of one feed.
#[derive(Clone, Debug, Default)]
pub(crate) struct PollTally {
    pub polls: u64,
    /// Bytes on the wire, of all polls and of those with news.
    pub bytes: u64,
    pub bytes_with_news: u64,
    pub entries: u64,
    pub undated: u64,
    pub misses: u64,
    /// Later documents in which every entry is new: a miss by the code behind the dissertation.
    pub misses_by_code: u64,
    /// The publication times of the oldest and of the newest entry.
    pub published: Option<(Time, Time)>,
    /// The smallest digests of its entries' keys, sorted.
    pub keys: Vec<u64>,
    pub first_success: Option<Time>,
    /// Answers 429 (too many requests).
    pub blocked: u64,
    /// Polls with a warning of the parser.
    pub warned: u64,
    /// Polls with an answer.
    pub answered: u64,
    pub not_modified: u64,
    pub failed: u64,
    /// Polls whose document could not be read.
    pub unparsable: u64,
    pub with_news: u64,
    /// Polls with news after the first successful one.
    pub later_news: u64,
    pub succeeded: u64,
    /// Answers with each of [`HEADERS`].
    pub headers: [u64; HEADERS.len()],
    /// Conditional requests that were answered with the same document and status 200.
    pub same_with_200: u64,
    /// 304 followed by news under the validator of the 304.
    pub wrong_304: u64,
    /// The same document under a new validator.
    pub new_validator: u64,
    /// Other bytes that brought no new entry, such as a date of generation.
    pub empty_changes: u64,
    pub conditional: u64,
    pub head_bytes: Option<u64>,
    /// |Date − our clock| at the first answer with a date, in milliseconds.
    pub clock_difference: Option<i64>,
    pub elapsed_ms: u64,
    pub windows: WindowSizes,
    pub intervals: IntervalTotals,
    /// Milliseconds between plan and poll, summed, and the number of planned polls.
    pub late: (i64, u64),
    pub first_at: Option<Time>,
    pub last_at: Option<Time>,
    pub last_document: Option<String>,
    last_validators: (Option<String>, Option<String>),
    last_was_304: bool,
    pub errors: BTreeMap<String, u64>,
}

/// The sizes of a feed's windows, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct WindowSizes {
    pub last: Option<u64>,
    pub changes: u64,
    /// Changes back to a size that was there before the last change.
    returns: u64,
    distinct: Vec<u64>,
    falls: bool,
    /// A rise that differs from the number of new entries.
    uneven: bool,
}

/// How a window size varies (003, section 3.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowChange {
    Growing,
    Alternating,
    Swinging,
}

impl WindowSizes {
    /// Adds the window of a successful poll.
    pub fn add(&mut self, size: u64, n_new: u64) {
        let Some(before) = self.last.replace(size) else {
            self.distinct.push(size);
            return;
        };
        if before == size {
            // A window that grows must grow with every new entry.
            self.uneven |= n_new > 0;
            return;
        }
        self.changes += 1;
        self.falls |= size < before;
        self.uneven |= size.saturating_sub(before) != n_new;
        if self.distinct.contains(&size) {
            self.returns += 1;
        } else if self.distinct.len() < 8 {
            self.distinct.push(size);
        }
    }

    /// Returns the class of a window size that varies.
    pub fn change(&self) -> Option<WindowChange> {
        if self.changes == 0 {
            None
        } else if !self.falls && !self.uneven {
            Some(WindowChange::Growing)
        } else if self.distinct.len() == 2 && self.returns >= 2 {
            Some(WindowChange::Alternating)
        } else {
            Some(WindowChange::Swinging)
        }
    }
}

impl WindowChange {
    pub const fn word(self) -> &'static str {
        match self {
            WindowChange::Growing => "growing",
            WindowChange::Alternating => "alternating",
            WindowChange::Swinging => "swinging",
        }
    }
}

impl PollTally {
    /// Adds a poll. Returns the seconds since the one before.
    pub fn poll(&mut self, poll: &PollLine) -> Option<u32> {
        self.polls += 1;
        self.bytes += poll.bytes;
        self.first_at.get_or_insert(poll.at);
        self.elapsed_ms += poll.elapsed_ms;
        self.conditional += u64::from(poll.conditional == Some(true));
        let interval = self.last_at.replace(poll.at).map(|before| {
            let seconds = u32::try_from(poll.at.since(before).as_secs()).unwrap_or(u32::MAX);
            self.intervals.add(seconds);
            seconds
        });
        if let Some(planned) = poll.planned {
            self.late = (self.late.0 + poll.at.millis_since(planned).max(0), self.late.1 + 1);
        }
        let is_304 = poll.status == Some(304);
        self.answered += u64::from(poll.status.is_some());
        self.not_modified += u64::from(is_304);
        self.blocked += u64::from(poll.status == Some(429));
        self.warned += u64::from(poll.warnings.is_some());
        let n_new = poll.new.unwrap_or(0);
        match poll.outcome.as_str() {
            "seen" | "unchanged" => {
                self.later_news += u64::from(self.succeeded > 0 && n_new > 0);
                self.with_news += u64::from(n_new > 0);
                self.bytes_with_news += if n_new > 0 { poll.bytes } else { 0 };
                let is_all_new = poll.items.is_some_and(|items| items > 0 && n_new >= items);
                self.misses_by_code += u64::from(self.succeeded > 0 && is_all_new);
                self.first_success.get_or_insert(poll.at);
                self.succeeded += 1;
            }
            outcome => {
                self.failed += 1;
                let is_document = has_document(poll);
                self.unparsable += u64::from(is_document || outcome == "damaged");
                let class = poll.status.map_or(outcome.to_owned(), |status| status.to_string());
                *self.errors.entry(class).or_default() += 1;
            }
        }
        if let Some(items) = poll.items.filter(|_| poll.outcome == "seen") {
            self.windows.add(items, n_new);
        }
        if poll.status.is_some() {
            self.answer(poll, is_304);
        }
        interval
    }

    fn answer(&mut self, poll: &PollLine, is_304: bool) {
        let has_max_age = |value: &String| value.to_ascii_lowercase().contains("max-age");
        let found = [
            poll.etag.is_some(),
            poll.etag.as_deref().is_some_and(|etag| etag.starts_with("W/")),
            poll.last_modified.is_some(),
            poll.expires.is_some(),
            poll.date.is_some(),
            poll.cache_control.as_ref().is_some_and(has_max_age),
            poll.age.is_some(),
            poll.retry_after.is_some(),
            poll.content_encoding.is_some(),
            poll.vary.is_some(),
        ];
        self.headers.iter_mut().zip(found).for_each(|(n, found)| *n += u64::from(found));
        self.head_bytes = poll.head_bytes.or(self.head_bytes);
        if self.clock_difference.is_none()
            && let Some(date) = poll.date.as_deref().and_then(parse::date::parse)
        {
            self.clock_difference = Some(date.millis_since(poll.at).abs());
        }
        let validators = (poll.etag.clone(), poll.last_modified.clone());
        let has_validator = validators.0.is_some() || validators.1.is_some();
        if has_document(poll) && poll.document_sha256 == self.last_document && !is_304 {
            self.same_with_200 += u64::from(poll.conditional == Some(true));
            self.new_validator += u64::from(has_validator && validators != self.last_validators);
        }
        let is_other = has_document(poll) && poll.document_sha256 != self.last_document;
        self.empty_changes +=
            u64::from(is_other && self.last_document.is_some() && poll.new == Some(0));
        let is_old = has_validator && validators == self.last_validators;
        self.wrong_304 += u64::from(self.last_was_304 && is_old && poll.new.unwrap_or(0) > 0);
        self.last_was_304 = is_304;
        if has_document(poll) {
            self.last_document.clone_from(&poll.document_sha256);
        }
        if has_validator {
            self.last_validators = validators;
        }
    }
}

/// Whether a poll brought or confirmed a document. The page of an error is none.
fn has_document(poll: &PollLine) -> bool {
    poll.document_sha256.is_some() && poll.status.is_none_or(|status| status < 400)
}

/// The number of polls in each minute.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinuteCounts(BTreeMap<i64, u32>);

impl MinuteCounts {
    pub fn add(&mut self, at: Time) {
        *self.0.entry(at.secs().div_euclid(60)).or_default() += 1;
    }

    /// Returns mean, standard deviation and 99th percentile, minutes without polls included.
    pub fn summary(&self) -> Option<(f64, f64, f64)> {
        let (first, last) = (*self.0.first_key_value()?.0, *self.0.last_key_value()?.0);
        let n = (last - first + 1) as f64;
        let sum: f64 = self.0.values().map(|n| f64::from(*n)).sum();
        let squares: f64 = self.0.values().map(|n| f64::from(*n).powi(2)).sum();
        let mean = sum / n;
        let sd = (squares / n - mean * mean).max(0.0).sqrt();
        let mut spread = LogSpread::default();
        self.0.values().for_each(|n| spread.add(f64::from(*n)));
        (0..(n as u64).saturating_sub(self.0.len() as u64))
            .take(10_000_000)
            .for_each(|_| spread.add(0.0));
        Some((mean, sd, spread.quantile(0.99)?))
    }
}

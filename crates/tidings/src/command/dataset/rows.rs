//! Turns what the store recorded of a feed into the rows of a data set.

use dataset::attributes::{DocumentAttributes, attributes};
use dataset::http_head;
use dataset::sample::hex;
use dataset::statistics::patterns::pattern_by_code;
use dataset::statistics::window_change;
use dataset::tables::{FeedLine, MissLine, PollLine, StreamLine};
use feed::{Outcome, Time};
use lab::world::history::{self, RecordedEntry, RecordedPoll};
use polling::model::pattern::{UpdatePattern, pattern_of, pattern_of_window};
use sha1::{Digest, Sha1};
use store::{FeedRow, PollMessages, RecordedEntryRow, RecordedPollRow, Store};

use crate::args::dataset::MonthPeriod;
use crate::error::CliError;

/// The rows of one feed.
pub struct RecordedRows {
    pub feed: FeedLine,
    pub polls: Vec<PollLine>,
    pub entries: Vec<StreamLine>,
    pub misses: Vec<MissLine>,
    /// The polls as they were recorded, for the archive.
    pub recorded: Vec<RecordedPollRow>,
}

impl RecordedRows {
    /// Returns the header Cache-Control of the first recorded request that has one.
    pub fn cache_control(&self) -> Option<String> {
        let messages = self.recorded.iter().filter_map(|poll| poll.messages.as_ref());
        let mut found =
            messages.filter_map(|message| http_head::field(&message.request, "cache-control"));
        found.next().map(str::to_owned)
    }
}

/// Reads a feed, or one month of it. Its number in the data set is its number in the store.
pub fn read(
    store: &Store,
    row: &FeedRow,
    month: Option<&MonthPeriod>,
) -> Result<RecordedRows, CliError> {
    let is_in = |at: Time| month.is_none_or(|month| month.contains(at));
    let mut recorded = store.recorded_polls(row.id)?;
    let number = u64::from(row.id.0);
    let mut misses = misses(number, &recorded);
    // The polls before a month say when its first entries appeared.
    let mut entries = entry_lines(number, store.recorded_entries(row.id)?, &recorded);
    recorded.retain(|poll| is_in(poll.row.at));
    misses.retain(|miss| is_in(miss.at));
    entries.retain(|entry| is_in(entry.seen));
    let known = last_document(store, row, &recorded)?;
    let polls: Vec<PollLine> = recorded.iter().map(|poll| poll_line(number, poll)).collect();
    let feed = feed_line(number, row, &recorded, &entries, misses.len() as u64, known);
    Ok(RecordedRows { feed, polls, entries, misses, recorded })
}

/// The last document that is a feed, if documents were recorded.
struct LastDocument {
    attributes: DocumentAttributes,
    bytes: u64,
    /// By the rules of the text, and by those of the code.
    is_on_the_fly: (bool, bool),
}

fn last_document(
    store: &Store,
    row: &FeedRow,
    polls: &[RecordedPollRow],
) -> Result<Option<LastDocument>, CliError> {
    let seen = polls.iter().rev().filter(|poll| poll.row.outcome.is_success());
    let version = seen.filter_map(|poll| poll.messages.as_ref()).find_map(|m| m.version);
    let Some(version) = version else { return Ok(None) };
    let Some(body) = store.document_version(row.id, Some(version))? else { return Ok(None) };
    let is_bringer = |m: &PollMessages| m.version == Some(version) && m.is_first;
    let bringer = polls.iter().find(|poll| poll.messages.as_ref().is_some_and(is_bringer));
    let head = bringer.and_then(|poll| poll.messages.as_ref()).map_or(&[][..], |m| &m.head);
    let content_type = http_head::field(head, "content-type");
    let base = row.location.current().url();
    let found = attributes(&body, content_type, Some(base));
    let date = http_head::field(head, "date").and_then(parse::date::parse);
    let answered_at = date.or(bringer.map(|poll| poll.row.at)).unwrap_or_default();
    // Dates that were made on the fly are corrected in the entries, so the document decides.
    Ok(found.map(|attributes| LastDocument {
        is_on_the_fly: (
            pattern_of(&attributes.times, answered_at) == UpdatePattern::OnTheFly,
            pattern_by_code(&attributes.times, answered_at) == UpdatePattern::OnTheFly,
        ),
        attributes,
        bytes: body.len() as u64,
    }))
}

fn feed_line(
    number: u64,
    row: &FeedRow,
    polls: &[RecordedPollRow],
    entries: &[StreamLine],
    misses: u64,
    known: Option<LastDocument>,
) -> FeedLine {
    let seen: Vec<&RecordedPollRow> =
        polls.iter().filter(|poll| poll.row.outcome == Outcome::Seen).collect();
    let window = seen.last().map(|poll| poll.row.window_len);
    let last = polls.last().map(|poll| poll.row.at);
    let mut times: Vec<Time> = entries.iter().map(|entry| entry.published).collect();
    times.sort_unstable();
    let n_window = usize::try_from(window.unwrap_or(0)).unwrap_or(usize::MAX);
    let shown = &times[times.len().saturating_sub(n_window)..];
    let is_known = polls.iter().any(|poll| poll.row.outcome.is_success());
    let made = known.as_ref().map_or((false, false), |known| known.is_on_the_fly);
    let last_known = last.filter(|_| is_known);
    let on_the_fly = |is: bool| is.then_some(UpdatePattern::OnTheFly);
    let pattern =
        on_the_fly(made.0).or_else(|| last_known.map(|at| pattern_of_window(shown, &times, at)));
    let by_code = on_the_fly(made.1).or_else(|| last_known.map(|at| pattern_by_code(&times, at)));
    let bytes = known.as_ref().map(|known| known.bytes);
    let found = known.map(|known| known.attributes);
    let of = |value: fn(&DocumentAttributes) -> Option<bool>| found.as_ref().and_then(value);
    FeedLine {
        feed: number,
        url: row.location.url.masked(),
        site: row.facts.site.clone(),
        title: row.shown_title().map(str::to_owned),
        format: found.as_ref().map(|found| found.format.clone()),
        language: row.facts.language.clone(),
        window,
        ttl: row.hints.ttl.map(|ttl| ttl.as_secs()),
        first_poll: polls.first().map(|poll| poll.row.at),
        last_poll: last,
        polls: polls.len() as u64,
        entries: entries.len() as u64,
        misses,
        pattern: pattern.map(|pattern| pattern.word().to_owned()),
        pattern_by_code: by_code.map(|pattern| pattern.word().to_owned()),
        window_change: window_change(seen.iter().map(|poll| (poll.row.window_len, poll.row.n_new)))
            .map(str::to_owned),
        identifiers: of(|found| found.identifiers),
        dates: of(|found| found.dates),
        cloud: row.facts.cloud.clone(),
        hub: row.facts.hub.clone(),
        skip_hours: is_known.then_some(!row.hints.skip_hours.is_empty()),
        skip_days: is_known.then_some(!row.hints.skip_days.is_empty()),
        update_period: row.hints.update_every.map(|every| every.as_secs()),
        enclosures: of(|found| Some(found.enclosures)),
        categories: of(|found| Some(found.categories)),
        full_content: of(|found| Some(found.full_content)),
        charset: found.as_ref().and_then(|found| found.charset.clone()),
        time_zone: found.as_ref().and_then(|found| found.time_zone.clone()),
        well_formed: of(|found| Some(found.well_formed)),
        document_bytes: bytes,
    }
}

fn poll_line(number: u64, poll: &RecordedPollRow) -> PollLine {
    let messages = poll.messages.as_ref();
    let head = messages.map_or(&[][..], |messages| messages.head.as_slice());
    let field = |name| http_head::field(head, name).map(str::to_owned);
    let document = messages.and_then(|m| m.sha256.as_ref().or(m.document.as_ref()));
    let is_seen = poll.row.outcome == Outcome::Seen;
    PollLine {
        feed: number,
        at: poll.row.at,
        status: poll.row.status,
        outcome: poll.row.outcome.word().to_owned(),
        bytes: poll.row.bytes,
        elapsed_ms: u64::try_from(poll.row.elapsed.as_millis()).unwrap_or(u64::MAX),
        items: is_seen.then_some(poll.row.window_len),
        new: poll.row.outcome.is_success().then_some(poll.row.n_new),
        etag: field("etag"),
        last_modified: field("last-modified"),
        date: field("date"),
        expires: field("expires"),
        content_type: field("content-type"),
        document_sha256: document.map(|digest| hex(digest)),
        warnings: poll.row.warning_lines(),
        cache_control: field("cache-control"),
        age: field("age"),
        retry_after: field("retry-after"),
        content_encoding: field("content-encoding"),
        vary: field("vary"),
        conditional: messages.map(is_conditional),
        head_bytes: Some(head.len() as u64).filter(|n| *n > 0),
        planned: poll.planned,
        error: poll.row.error.clone(),
    }
}

fn is_conditional(messages: &PollMessages) -> bool {
    ["if-none-match", "if-modified-since"]
        .iter()
        .any(|name| http_head::field(&messages.request, name).is_some())
}

fn entry_lines(
    number: u64,
    entries: Vec<RecordedEntryRow>,
    polls: &[RecordedPollRow],
) -> Vec<StreamLine> {
    let looks: Vec<RecordedPoll> = polls
        .iter()
        .filter(|poll| poll.row.outcome.is_success())
        .map(|poll| RecordedPoll {
            at: poll.row.at,
            window: u32::try_from(poll.row.window_len).unwrap_or(u32::MAX),
            bytes: None,
        })
        .collect();
    let line = |entry: RecordedEntryRow| {
        let recorded = RecordedEntry { claim: entry.claim, seen_at: entry.seen_at };
        let row = history::rows(&[recorded], &looks).pop();
        let hash = {
            let mut sha = Sha1::new();
            for part in [&entry.title, &entry.link, &entry.guid] {
                sha.update(part.as_deref().unwrap_or_default());
            }
            hex(&sha.finalize())
        };
        StreamLine {
            feed: number,
            published: entry.published_at,
            claimed: entry.claim,
            // An undated entry of the first poll was there before; nobody knows since when.
            visible: row.as_ref().map_or(entry.seen_at, |row| row.visible),
            seen: entry.seen_at,
            key: hex(entry.key.bytes()),
            title: entry.title,
            link: entry.link.as_deref().map(feed::mask_address),
            window: row.and_then(|row| row.window).map(u64::from),
            hash: Some(hash),
        }
    };
    let mut lines: Vec<StreamLine> = entries.into_iter().map(line).collect();
    lines.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
    lines
}

fn misses(number: u64, polls: &[RecordedPollRow]) -> Vec<MissLine> {
    let mut previous = None;
    let mut misses = Vec::new();
    for poll in polls.iter().filter(|poll| poll.row.outcome.is_success()) {
        if poll.row.suspected_miss {
            misses.push(MissLine { feed: number, at: poll.row.at, previous_poll: previous });
        }
        previous = Some(poll.row.at);
    }
    misses
}

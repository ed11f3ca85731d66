//! Records many polls together (PostgreSQL): one flight of questions, decisions in memory, one
//! flight of writes. The rows are the same as those of [`apply`](super::apply), which records one
//! poll after the other.
//!
//! A set has at most one record of each feed, so that no record depends on another one. Records
//! that need more questions are not taken: those that move a feed, claim another source or belong
//! to a recording.

mod before;
mod rows;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::HashSet;
use std::sync::Arc;

use crate::db::postgres::PgConnection;
use crate::db::sql::Connection;
use feed::{EntryId, EntryKey, FeedId, Item};

use crate::db::writer::{AppliedJob, SetFn, SetJob};
use crate::error::DbError;
use crate::matching::MatcherSlot;
use crate::queries::matches::FoundMatches;
use crate::record::apply;
use crate::store::ReplyFn;
use crate::{NewEntry, PollRecord, RecordResult, StoreError};
use before::SetBefore;
use rows::SetRows;

/// Bytes of text in one set. Each is a few times in memory until the commit, and PostgreSQL takes
/// 1 GB in one statement.
const BYTES_MAX: usize = 16_000_000;

/// Settings for the plans of a set's statements. Each statement
/// finds a few hundred rows by their keys, so an index is always right. A plan that was made while
/// the tables were small would read whole tables.
const PLANS: &str = "set local plan_cache_mode = force_generic_plan; \
    set local enable_seqscan = off; set local enable_hashjoin = off; \
    set local enable_mergejoin = off";

/// Ends these settings, for the jobs that follow in the transaction.
const USUAL_PLANS: &str = "set local plan_cache_mode to default; \
    set local enable_seqscan to default; set local enable_hashjoin to default; \
    set local enable_mergejoin to default";

/// A poll to record, as a job of the writer.
pub(crate) struct RecordJob {
    record: PollRecord,
    slot: Arc<MatcherSlot>,
    file: Arc<str>,
    reply: ReplyFn<RecordResult>,
    /// The result, if the poll was recorded as part of a set.
    result: Option<Result<RecordResult, StoreError>>,
}

/// A record of a set that is not refused, and its new entries with their numbers.
struct Accepted<'a> {
    record: &'a PollRecord,
    /// The place of the record in the set.
    place: usize,
    new: Vec<(EntryId, &'a NewEntry)>,
    matches: Option<FoundMatches>,
}

impl RecordJob {
    pub(crate) fn new(
        record: PollRecord,
        slot: Arc<MatcherSlot>,
        file: Arc<str>,
        reply: ReplyFn<RecordResult>,
    ) -> RecordJob {
        RecordJob { record, slot, file, reply, result: None }
    }
}

impl SetJob for RecordJob {
    fn apply(self: Box<Self>, conn: Result<&Connection, StoreError>) -> AppliedJob {
        let RecordJob { record, slot, file, reply, result } = *self;
        let alone = |conn| {
            let recorded = apply::record_poll(conn, record, &slot, |_, _| Ok(()));
            recorded.map(|(recorded, ())| recorded).map_err(|fault| fault.at(&file))
        };
        AppliedJob::new(conn.and_then(|conn| result.unwrap_or_else(|| alone(conn))), reply)
    }

    fn set_fn(&self) -> SetFn {
        record_jobs
    }
}

/// Records the polls of these jobs as far as they form a set.
fn record_jobs(conn: &Connection, jobs: Vec<&mut dyn SetJob>) -> Result<usize, DbError> {
    let Some(postgres) = conn.postgres() else { return Ok(0) };
    let jobs = jobs.into_iter().map_while(|job| (job as &mut dyn Any).downcast_mut::<RecordJob>());
    let mut jobs: Vec<&mut RecordJob> = jobs.collect();
    let Some(slot) = jobs.first().map(|job| Arc::clone(&job.slot)) else { return Ok(0) };
    let records: Vec<&PollRecord> = jobs.iter().map(|job| &job.record).collect();
    let n = set_len(&records);
    if n == 0 {
        return Ok(0);
    }
    let results = record_set(conn, postgres, &slot, &records[..n])?;
    for (job, result) in jobs.iter_mut().zip(results) {
        job.result = Some(result);
    }
    Ok(n)
}

/// Returns how many records, from the first on, form a set.
fn set_len(records: &[&PollRecord]) -> usize {
    let (mut feeds, mut bytes) = (HashSet::new(), 0);
    let fits = |record: &&&PollRecord| {
        bytes += text_bytes(record);
        let small = feeds.is_empty() || bytes <= BYTES_MAX;
        is_plain(record) && small && feeds.insert(record.feed)
    };
    records.iter().take_while(fits).count()
}

/// Returns whether a record can be part of a set.
fn is_plain(record: &PollRecord) -> bool {
    if record.raw.is_some() {
        return false;
    }
    let Some(document) = record.document() else { return record.location.effective_url.is_none() };
    let is_claimed = |new: &NewEntry| new.item.source.as_ref().and_then(feed::passed_on).is_some();
    let mut edited = HashSet::new();
    record.location.effective_url.is_none()
        && !document.entries.new.iter().any(is_claimed)
        && document.entries.edited.iter().all(|edit| edited.insert(edit.key))
}

fn text_bytes(record: &PollRecord) -> usize {
    let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    let item = |item: &Item| {
        let categories: usize = item.categories.iter().map(String::len).sum();
        let enclosures: usize = item.enclosures.iter().map(|one| one.url.len()).sum();
        text(&item.title) + text(&item.summary) + text(&item.content) + categories + enclosures
    };
    let learned = record.decision.learned.as_ref().map_or(0, Vec::len);
    let Some(document) = record.document() else { return learned };
    let new: usize = document.entries.new.iter().map(|new| item(&new.item)).sum();
    let edited: usize = document.entries.edited.iter().map(|edited| item(&edited.item)).sum();
    learned + new + edited
}

/// Records a set. Returns the result of each record; a record that is refused changes nothing.
fn record_set(
    conn: &Connection,
    postgres: &PgConnection,
    slot: &MatcherSlot,
    records: &[&PollRecord],
) -> Result<Vec<Result<RecordResult, StoreError>>, DbError> {
    // PostgreSQL does not wait here: the first question follows at once.
    postgres.control(PLANS)?;
    let before = SetBefore::read(postgres, records)?;
    let mut results = Vec::with_capacity(records.len());
    let mut accepted = Vec::with_capacity(records.len());
    let mut last_entry = before.last_entry;
    for (place, record) in records.iter().enumerate() {
        if let Err(refused) = before.check(place, record) {
            results.push(Err(refused));
            continue;
        }
        let new = new_entries(record, &before.keys, &mut last_entry);
        let new_ids = new.iter().map(|(id, _)| *id).collect();
        results.push(Ok(RecordResult { new_ids, n_matches: 0 }));
        accepted.push(Accepted { record, place, new, matches: None });
    }
    find_matches(conn, slot, &before, &mut accepted)?;
    for one in &accepted {
        if let (Ok(result), Some(found)) = (&mut results[one.place], &one.matches) {
            result.n_matches = found.matches.len() as u64;
        }
    }
    let mut rows = SetRows::default();
    for one in accepted {
        rows.add(one, &before);
    }
    postgres.fly(&rows.into_flight(before.last_entry, last_entry))?;
    postgres.control(USUAL_PLANS)?;
    Ok(results)
}

/// Gives numbers to the entries of a record that are new to the store.
fn new_entries<'a>(
    record: &'a PollRecord,
    known: &HashSet<(FeedId, EntryKey)>,
    last_entry: &mut i64,
) -> Vec<(EntryId, &'a NewEntry)> {
    let mut shown = HashSet::new();
    let entries = record.document().map_or(&[][..], |document| &document.entries.new);
    let new = entries
        .iter()
        .filter(|new| !known.contains(&(record.feed, new.key)) && shown.insert(new.key));
    new.map(|new| {
        *last_entry += 1;
        (EntryId(*last_entry), new)
    })
    .collect()
}

/// Shows all new entries to the queries, in the order of the stream.
fn find_matches(
    conn: &Connection,
    slot: &MatcherSlot,
    before: &SetBefore,
    accepted: &mut [Accepted<'_>],
) -> Result<(), DbError> {
    if accepted.iter().all(|one| one.new.is_empty()) {
        return Ok(());
    }
    let shown = slot.with_matcher(conn, |matcher| {
        if matcher.is_empty() {
            return Ok(());
        }
        for one in accepted.iter_mut().filter(|one| !one.new.is_empty()) {
            let record = one.record;
            let view = before.view(record)?;
            let new: Vec<_> = one.new.iter().map(|(id, new)| new.arrival(*id)).collect();
            let share = || Ok(before.share(record.feed));
            let found = FoundMatches::find(matcher, record.feed, &view, record.at, &new, share)?;
            one.matches = Some(found);
        }
        Ok(())
    });
    shown.map(|_| ())
}

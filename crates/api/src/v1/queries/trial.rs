//! Tests statements on recent entries: the entries that they would have matched. Nothing is
//! changed, and the number of entries is limited.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use query::{Statement, Trial};
use store::{AccountId, EntryRow, Store};

use super::{StatementCheck, StatementFault, checked};
use crate::ServerContext;
use crate::auth::Person;
use crate::feed_rows::FeedRows;
use crate::search::ArticleTexts;
use crate::v1::blocking;
use crate::v1::error::ApiError;
use crate::v1::schema::{answer, request};

/// The newest entries that one trial tests: a second or two of work at most.
const ENTRIES_MAX: usize = 20_000;
/// Entries read at once.
const CHUNK: u32 = 500;
/// The bytes of their texts together; all are in memory during the trial.
const BYTES_MAX: usize = 64_000_000;
const PAST_MAX: u64 = 366 * 86_400;
const PAST: u64 = 7 * 86_400;
/// Matched entries of each query that are listed; the rest is counted.
const NAMED_MAX: usize = 20;

answer! {
    /// An entry that would have been matched.
    KeptEntry {
        /// Its number.
        id: i64,
        /// Its title.
        title: Option<String>,
        /// Its link.
        link: Option<String>,
        /// When it was seen.
        seen_at: String,
    }

    /// The result of one statement.
    QueryTried {
        /// The query's name.
        name: String,
        /// The number of matched entries.
        kept: u64,
        /// The latest matched entries, newest first.
        newest: Vec<KeptEntry>,
    }

    /// The result of a trial.
    QueriesTried {
        /// The results, statement by statement; empty if there are errors.
        queries: Vec<QueryTried>,
        /// The number of tested entries.
        entries: u64,
        /// The time from which entries were tested.
        since: String,
        /// The errors in the statements.
        faults: Vec<StatementFault>,
    }
}

request! {
    /// Statements to test.
    QueryTrial {
        /// The statements, as in a file.
        text: String,
        /// How far back to look. The default is a week.
        past_seconds: Option<u64>,
    }
}

impl From<EntryRow> for KeptEntry {
    fn from(entry: EntryRow) -> KeptEntry {
        KeptEntry {
            id: entry.id.0,
            title: entry.title,
            link: entry.link,
            seen_at: entry.seen_at.to_string(),
        }
    }
}

pub async fn test(
    State(context): State<ServerContext>,
    person: Person,
    JsonBody(body): JsonBody<QueryTrial>,
) -> Result<Json<QueriesTried>, ApiError> {
    let past = body.past_seconds.unwrap_or(PAST);
    if past > PAST_MAX {
        return Err(ApiError::BadRequest("past_seconds must be at most a year (31536000)"));
    }
    let since = (context.now)() - Duration::from_secs(past);
    blocking(move || {
        let store = &context.store;
        let checked = match checked(store, &person, &body.text)? {
            Ok(checked) => checked,
            Err(faults) => {
                let faults = faults.into_iter().map(StatementFault::from).collect();
                let (queries, since) = (Vec::new(), since.to_string());
                return Ok(Json(QueriesTried { queries, entries: 0, since, faults }));
            }
        };
        let entries = lately(store, person.account, since)?;
        let since = entries.first().map_or(since, |entry| entry.seen_at).to_string();
        let (queries, entries) = tried(store, person.account, &checked, &entries)?;
        Ok(Json(QueriesTried { queries, entries, since, faults: Vec::new() }))
    })
    .await
}

use crate::v1::extract::JsonBody;

/// Returns the entries seen since a time, oldest first. If there are too many, the newest of them.
fn lately(store: &Store, account: AccountId, since: feed::Time) -> Result<Vec<EntryRow>, ApiError> {
    let (mut found, mut before) = (Vec::new(), None);
    let mut n_bytes = 0;
    while found.len() < ENTRIES_MAX && n_bytes < BYTES_MAX {
        let rows = store.recorded_before(account, before, CHUNK)?;
        let rows: Vec<EntryRow> = rows.into_iter().map(|row| row.entry).collect();
        let Some(last) = rows.last() else { break };
        before = Some(last.id);
        let n_rows = rows.len();
        n_bytes += rows.iter().map(EntryRow::n_bytes).sum::<usize>();
        let n_before = found.len();
        found.extend(rows.into_iter().filter(|row| row.seen_at >= since));
        if found.len() - n_before < n_rows {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

fn tried(
    store: &Store,
    account: AccountId,
    checked: &StatementCheck,
    entries: &[EntryRow],
) -> Result<(Vec<QueryTried>, u64), ApiError> {
    let creates = checked.statements.iter().filter_map(Statement::created);
    let mut trial = Trial::new(&checked.existing, creates);
    let feeds = FeedRows::of_entries(store, account, entries.iter().map(|entry| entry.feed))?;
    let texts = ArticleTexts::read(store, entries.iter().map(|entry| entry.id))?;
    for entry in entries {
        // Entries of a feed that was removed meanwhile are skipped.
        if let Some(feed) = feeds.get(entry.feed) {
            trial.run(&texts.entry(entry, feed));
        }
    }
    let mut queries = Vec::new();
    for tried in trial.results() {
        let mut newest = Vec::new();
        for (id, _) in tried.newest.iter().rev().take(NAMED_MAX) {
            newest.extend(store.entry(*id)?.map(KeptEntry::from));
        }
        queries.push(QueryTried { name: tried.name.clone(), kept: tried.n_kept, newest });
    }
    Ok((queries, trial.n_entries()))
}

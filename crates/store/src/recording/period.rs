//! The periods of recordings: begins, finds and ends them, and counts what they store.

use feed::Time;

use crate::db::columns::{count, millis, time, time_or_none};
use crate::db::sql::{OptionalExtension, Row, params};
use crate::{Store, StoreError};

/// Excludes the polls of recordings from being folded into daily sums. The time of a poll is a
/// whole second, so the first polls of a recording may have a time just before its start.
pub(crate) const NOT_RECORDED: &str = "not exists (select 1 from recordings r \
    where r.started_at - 999 <= polls.at and polls.at <= coalesce(r.ended_at, polls.at))";

/// The settings of a new recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecording {
    pub started_at: Time,
    pub ends_at: Time,
    /// The rule that decides the polls, as it is written.
    pub policy: String,
    pub user_agent: String,
    /// Stored bytes of documents of one feed. Beyond it the feed's documents are not kept.
    pub feed_bytes_max: Option<u64>,
    /// Stored bytes in all.
    pub bytes_max: Option<u64>,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingRow {
    pub id: i64,
    pub settings: NewRecording,
    /// `None`: under way.
    pub ended_at: Option<Time>,
    pub n_polls: u64,
    /// Bytes of messages and documents, compressed.
    pub stored_bytes: u64,
}

const COLUMNS: &str = "id, started_at, ends_at, ended_at, policy, user_agent, feed_bytes_max, \
    bytes_max, n_polls, stored_bytes";

impl Store {
    /// Begins a recording. One that is under way continues and keeps its end and its limits.
    /// Returns the recording.
    pub fn begin_recording(&self, new: NewRecording) -> Result<RecordingRow, StoreError> {
        self.write(move |conn| {
            let sql = "insert into recordings (started_at, ends_at, policy, user_agent, \
                       feed_bytes_max, bytes_max) select $1, $2, $3, $4, $5, $6 \
                       where not exists (select 1 from recordings where ended_at is null)";
            let bytes = |max: Option<u64>| max.map(|max| i64::try_from(max).unwrap_or(i64::MAX));
            conn.prepare_cached(sql)?.execute(params![
                new.started_at.millis(),
                new.ends_at.millis(),
                new.policy,
                new.user_agent,
                bytes(new.feed_bytes_max),
                bytes(new.bytes_max),
            ])?;
            let sql = format!("select {COLUMNS} from recordings where ended_at is null");
            Ok(conn.prepare_cached(&sql)?.query_row([], recording_row)?)
        })
    }

    /// Ends the recording that is under way.
    pub fn end_recording(&self, at: Time) -> Result<(), StoreError> {
        self.write(move |conn| {
            let sql = "update recordings set ended_at = $1 where ended_at is null";
            conn.prepare_cached(sql)?.execute([millis(Some(at))])?;
            Ok(())
        })
    }

    /// Returns the recording that is under way.
    pub fn recording(&self) -> Result<Option<RecordingRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("select {COLUMNS} from recordings where ended_at is null");
            Ok(conn.prepare_cached(&sql)?.query_row([], recording_row).optional()?)
        })
    }

    /// Returns all recordings, the first one first.
    pub fn recordings(&self) -> Result<Vec<RecordingRow>, StoreError> {
        self.read(|conn| {
            let sql = format!("select {COLUMNS} from recordings order by id");
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([], recording_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

fn recording_row(row: &Row<'_>) -> crate::db::sql::Result<RecordingRow> {
    let limit = |column| -> crate::db::sql::Result<Option<u64>> {
        Ok(row.get::<_, Option<i64>>(column)?.map(i64::unsigned_abs))
    };
    Ok(RecordingRow {
        id: row.get(0)?,
        settings: NewRecording {
            started_at: time(row, 1)?,
            ends_at: time(row, 2)?,
            policy: row.get(4)?,
            user_agent: row.get(5)?,
            feed_bytes_max: limit(6)?,
            bytes_max: limit(7)?,
        },
        ended_at: time_or_none(row, 3)?,
        n_polls: count(row, 8)?,
        stored_bytes: count(row, 9)?,
    })
}

//! The history of polls: single rows for the last polls, daily sums for older ones.

use crate::db::postgres::{Flight, Lists};
use crate::db::sql::{Connection, Datum, from_lists, names, row, unnest};
use feed::{FeedId, Time};

use crate::db::columns::{count, duration_ms, millis, sql_count};
use crate::error::DbError;
use crate::poll_row::{POLL_COLUMNS, PollRow, poll_row};
use crate::recording::period::NOT_RECORDED;
use crate::{PollRecord, Store, StoreError};

/// Polls of a feed that are stored as single rows: three weeks at one poll an hour.
const POLLS_MAX: u32 = 500;

/// Polls that are summed up at a time, so that most polls need not do it.
const FOLD_EVERY: u32 = 50;

/// Bytes of warnings of one poll. There are 22 kinds, each a sentence of about 100 bytes. With 500
/// polls, the warnings of a feed that is always broken take 1 MB at most.
const WARNINGS_BYTES_MAX: usize = 2000;

/// Days for which daily sums are stored: three years.
const DAYS_MAX: u32 = 3 * 366;

/// The sums of all polls of one day (UTC).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollDay {
    /// The start of the day.
    pub day: Time,
    pub polls: u64,
    pub unchanged: u64,
    /// Failed, damaged, refused or gone.
    pub failed: u64,
    pub n_new: u64,
    pub misses: u64,
    pub bytes: u64,
}

const DAY_MS: i64 = 86_400_000;

/// The sums of polls by day. Times before 1970 do not occur.
const SUMS: &str = "select feed, at / 86400000, count(*), \
    sum(case when outcome = 'unchanged' then 1 else 0 end), \
    sum(case when outcome in ('failed', 'damaged', 'refused', 'gone') then 1 else 0 end), \
    sum(n_new), sum(suspected_miss), sum(bytes) from polls";

/// Adds sums of polls to the stored sums of their days.
const ADD_SUMS: &str = "on conflict (feed, day) do update set \
    polls = poll_days.polls + excluded.polls, \
    unchanged = poll_days.unchanged + excluded.unchanged, \
    failed = poll_days.failed + excluded.failed, n_new = poll_days.n_new + excluded.n_new, \
    misses = poll_days.misses + excluded.misses, bytes = poll_days.bytes + excluded.bytes";

impl Store {
    /// Returns the polls of a feed, the newest first, at most the last 500.
    pub fn polls(&self, feed: FeedId, limit: u32) -> Result<Vec<PollRow>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select {POLL_COLUMNS} from polls p where p.feed = $1 \
                 order by p.generation desc limit $2"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([feed.0, limit.min(POLLS_MAX)], poll_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the daily sums of a feed's polls, the oldest day first, for three years at most.
    pub fn poll_days(&self, feed: FeedId) -> Result<Vec<PollDay>, StoreError> {
        self.read(|conn| {
            let sql = format!(
                "select day, sum(polls), sum(unchanged), sum(failed), sum(n_new), sum(misses), \
                 sum(bytes) from (select feed, day, polls, unchanged, failed, n_new, misses, bytes \
                 from poll_days where feed = $1 union all {SUMS} where feed = $1 group by 1, 2) \
                 as days \
                 group by day order by day"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let rows = statement.query_map([feed.0], |row| {
                Ok(PollDay {
                    day: Time::from_millis(row.get::<_, i64>(0)?.saturating_mul(DAY_MS)),
                    polls: count(row, 1)?,
                    unchanged: count(row, 2)?,
                    failed: count(row, 3)?,
                    n_new: count(row, 4)?,
                    misses: count(row, 5)?,
                    bytes: count(row, 6)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

/// The columns of `polls` for [`values`].
pub(super) const COLUMNS: &str = "feed bigint, generation bigint, at bigint, outcome text, \
    status bigint, n_new bigint, window_len bigint, overlap bigint, suspected_miss smallint, \
    bytes bigint, elapsed_ms bigint, wanted_at bigint, next_at bigint, reason text, held text, \
    error text, warnings text";

/// The row of a poll.
pub(super) fn values(record: &PollRecord, n_new: u64) -> [Datum<'_>; 17] {
    let next = &record.decision.next;
    row![
        record.feed.0,
        record.generation,
        record.at.millis(),
        record.outcome.word(),
        record.exchange.status,
        sql_count(n_new),
        record.observed.len,
        record.observed.overlap,
        record.observed.suspected_miss,
        sql_count(record.exchange.bytes),
        duration_ms(record.exchange.elapsed),
        millis(next.wanted_at),
        next.at.millis(),
        &record.cause,
        &next.why.held,
        record.problem.as_ref().map(|problem| &problem.error),
        bounded(&record.warnings),
    ]
}

/// Returns the generation up to which a poll makes daily sums replace single rows, if it does.
pub(super) fn fold_up_to(record: &PollRecord) -> Option<u32> {
    let due = record.generation >= POLLS_MAX && record.generation.is_multiple_of(FOLD_EVERY);
    due.then(|| record.generation - POLLS_MAX)
}

pub(crate) fn write(conn: &Connection, record: &PollRecord, n_new: u64) -> Result<(), DbError> {
    let sql = "insert into polls (feed, generation, at, outcome, status, n_new, window_len, \
               overlap, suspected_miss, bytes, elapsed_ms, wanted_at, next_at, reason, held, \
               error, warnings) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
               $14, $15, $16, $17)";
    conn.prepare_cached(sql)?.execute(values(record, n_new).as_slice())?;
    if let Some(up_to) = fold_up_to(record) {
        fold(conn, record.feed, up_to)?;
    }
    Ok(())
}

/// Joins sentences to one text, a line each. Sentences beyond [`WARNINGS_BYTES_MAX`] are left out.
fn bounded(sentences: &[String]) -> Option<String> {
    let mut text = String::new();
    for sentence in sentences {
        let line = sentence.replace('\n', " ");
        if text.len() + 1 + line.len() > WARNINGS_BYTES_MAX {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&line);
    }
    (!text.is_empty()).then_some(text)
}

/// Replaces the polls up to a generation by daily sums.
fn fold(conn: &Connection, feed: FeedId, up_to: u32) -> Result<(), DbError> {
    let sql = format!(
        "insert into poll_days (feed, day, polls, unchanged, failed, n_new, misses, bytes) \
         {SUMS} where feed = $1 and generation <= $2 and {NOT_RECORDED} group by 1, 2 \
         {ADD_SUMS}"
    );
    conn.prepare_cached(&sql)?.execute([feed.0, up_to])?;
    let sql = format!("delete from polls where feed = $1 and generation <= $2 and {NOT_RECORDED}");
    conn.prepare_cached(&sql)?.execute([feed.0, up_to])?;
    let sql = "delete from poll_days where feed = $1 \
               and day < (select max(day) from poll_days where feed = $1) - $2";
    conn.prepare_cached(sql)?.execute([feed.0, DAYS_MAX])?;
    Ok(())
}

/// Adds the statements that write the rows of many polls, and fold the history of some feeds.
/// `folds` holds these feeds, each with a generation.
pub(super) fn write_set<'a>(flight: &mut Flight<'a>, polls: Lists<'a>, folds: Lists<'a>) {
    let sql = format!("insert into polls ({}) {}", names(COLUMNS), from_lists(COLUMNS));
    flight.add_exact(sql, polls);
    if folds.is_empty() {
        return;
    }
    let lists = unnest("fold bigint, up_to bigint");
    let sql = format!(
        "insert into poll_days (feed, day, polls, unchanged, failed, n_new, misses, bytes) \
         select found.* from {lists} cross join lateral \
         ({SUMS} where feed = u.fold and generation <= u.up_to and {NOT_RECORDED} group by 1, 2) \
         as found {ADD_SUMS}"
    );
    flight.add(sql, folds.clone());
    let sql = format!(
        "delete from polls using {lists} where polls.feed = u.fold \
         and polls.generation <= u.up_to and {NOT_RECORDED}"
    );
    flight.add(sql, folds.clone());
    let sql = format!(
        "delete from poll_days d using {lists} where d.feed = u.fold \
         and d.day < (select max(day) from poll_days where feed = u.fold) - {DAYS_MAX}"
    );
    flight.add(sql, folds);
}

//! Finds out whether a transaction was committed whose answer was lost.
//!
//! A server that was killed forgets the numbers of transactions that were not on its disk, and
//! gives them to others. So the number alone is not enough: with it goes the start of the server's
//! statistics, which begin again after such an end.

use std::time::Duration;

use super::seat::PREVIOUS_HOLDER_KEY;
use super::{PgAddress, connect};
use crate::db::sql::{Connection, OptionalExtension, params};
use crate::error::DbError;

/// SQL expression: the current transaction as a text, from which its outcome can be found out. It
/// contains the number, the process of the session, and the start of the server's statistics.
pub(crate) const TRANSACTION: &str = "concat_ws(' ', pg_current_xact_id(), pg_backend_pid(), \
    extract(epoch from pg_stat_get_bgwriter_stat_reset_time()))";

/// The parts of such a text.
struct TransactionMark<'a> {
    number: &'a str,
    process: i64,
    /// Equal as long as the server was not killed.
    server_life: &'a str,
}

impl TransactionMark<'_> {
    fn parse(text: &str) -> Option<TransactionMark<'_>> {
        let mut parts = text.split(' ');
        let (number, process) = (parts.next()?, parts.next()?.parse().ok()?);
        Some(TransactionMark { number, process, server_life: parts.next().unwrap_or_default() })
    }
}

/// The answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommitOutcome {
    Committed,
    Undone,
    /// The transaction is still open. Its session was ended.
    Open,
    /// The server was killed, and the number may belong to another transaction now.
    Unknown,
}

/// Asks until the server answers, for `patience` at most. `epoch` is that of a process that
/// records. `None`: the outcome cannot be known.
#[expect(clippy::disallowed_methods, reason = "waits for a server in real time")]
pub(crate) fn was_committed(
    address: &PgAddress,
    epoch: Option<i64>,
    transaction: &str,
    patience: Duration,
) -> Option<bool> {
    let mark = TransactionMark::parse(transaction)?;
    let begun = std::time::Instant::now();
    while begun.elapsed() < patience {
        let asked = connect::guest(address).map_err(DbError::from);
        match asked.and_then(|conn| ask(&conn, epoch, &mark)) {
            Ok(CommitOutcome::Committed) => return Some(true),
            Ok(CommitOutcome::Undone) => return Some(false),
            Ok(CommitOutcome::Unknown) => return None,
            Ok(CommitOutcome::Open) | Err(_) => std::thread::sleep(Duration::from_millis(200)),
        }
    }
    None
}

fn ask(
    conn: &Connection,
    epoch: Option<i64>,
    mark: &TransactionMark<'_>,
) -> Result<CommitOutcome, DbError> {
    let sql = "select case when $1::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) \
               then 'not begun' else pg_xact_status($1::text::xid8) end, \
               extract(epoch from pg_stat_get_bgwriter_stat_reset_time())::text";
    let (status, life): (Option<String>, Option<String>) =
        conn.query_row(sql, [mark.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let was_killed = life.unwrap_or_default() != mark.server_life;
    match status.as_deref() {
        Some("in progress") => end_session(conn, mark),
        Some("committed") if !was_killed => Ok(CommitOutcome::Committed),
        Some("committed") => by_seat(conn, epoch, mark),
        // Another transaction may have the number now, but this one was not committed.
        _ => Ok(CommitOutcome::Undone),
    }
}

/// Ends the session of the transaction. If another session has its number, it was undone.
fn end_session(conn: &Connection, mark: &TransactionMark<'_>) -> Result<CommitOutcome, DbError> {
    let sql = "select case when pid = $1 then pg_terminate_backend(pid) end \
               from pg_stat_activity where backend_xid = $2::text::xid8::xid";
    let ended: Option<Option<bool>> =
        conn.query_row(sql, params![mark.process, mark.number], |row| row.get(0)).optional()?;
    Ok(if ended == Some(None) { CommitOutcome::Undone } else { CommitOutcome::Open })
}

/// Decides by the row of the seat, or by what the next holder has noted of it. A process that
/// records changes it last in every transaction, and nobody else does within the same epoch.
fn by_seat(
    conn: &Connection,
    epoch: Option<i64>,
    mark: &TransactionMark<'_>,
) -> Result<CommitOutcome, DbError> {
    let sql = "select h.last = concat_ws(' ', $2::bigint, $1::text::xid8::xid) from \
               (select concat_ws(' ', epoch, xmin) as last from seat \
                union all select value from meta where key = $3) as h \
               where split_part(h.last, ' ', 1) = $2::bigint::text";
    let values = params![mark.number, epoch.unwrap_or(-1), PREVIOUS_HOLDER_KEY];
    let is_last: Option<bool> = conn.query_row(sql, values, |row| row.get(0)).optional()?;
    Ok(match is_last {
        Some(true) => CommitOutcome::Committed,
        Some(false) => CommitOutcome::Undone,
        None => CommitOutcome::Unknown,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, OpenMode, Store, testing};

    const PATIENCE: Duration = Duration::from_secs(30);

    /// Begins a transaction on a connection and returns its text.
    fn begin(conn: &Connection) -> String {
        conn.begin_writing().unwrap();
        let sql = format!("select {TRANSACTION}");
        conn.query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    /// The same transaction, as a text from before the server was killed.
    fn before_kill(text: &str) -> String {
        let (transaction, _) = text.rsplit_once(' ').unwrap();
        format!("{transaction} 1.5")
    }

    #[test]
    fn outcomes_are_found_out_and_never_guessed() {
        if !testing::is_postgres() {
            eprintln!("skipped: this test needs PostgreSQL; see `xtask postgres`");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let location = testing::location(folder.path());
        let Location::Postgres(address) = &location else { unreachable!("checked above") };
        let store = Store::open(location.clone(), OpenMode::ReadWrite).unwrap();
        let epoch = Some(store.epoch());
        let ask = |epoch, text: &str| was_committed(address, epoch, text, PATIENCE);
        let conn = connect::writing(address).unwrap();
        let mut ended = Vec::new();
        for end in ["commit", "rollback"] {
            let text = begin(&conn);
            conn.control(end).unwrap();
            assert_eq!(ask(None, &text), Some(end == "commit"), "{end}");
            ended.push(text);
        }
        let [committed, undone] = [&ended[0], &ended[1]].map(|text| before_kill(text));
        assert_eq!(ask(None, &committed), None, "the number may be that of another transaction");
        assert_eq!(ask(None, &undone), Some(false), "nobody has committed under this number");
        assert_eq!(ask(None, "900000000000 1 1.5"), Some(false), "the number was not given yet");
        // The last transaction of a process that records has changed the row of the seat.
        assert_eq!(ask(epoch, &committed), Some(false));
        drop(store);
        let sql = "select concat(xmin::text, ' 1 1.5') from seat";
        let last: String = conn.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(ask(epoch, &last), Some(true));
        assert_eq!(ask(Some(-7), &last), None, "another process has the seat");
        let next = Store::open(location.clone(), OpenMode::ReadWrite).unwrap();
        assert_eq!(ask(epoch, &last), Some(true), "the next holder has noted it");
        assert_eq!(ask(epoch, &committed), Some(false));
        assert_eq!(ask(Some(next.epoch() + 1), &last), None);
        drop(next);
        let open = begin(&conn);
        assert_eq!(ask(None, &open), Some(false), "its session is ended");
        let other = connect::writing(address).unwrap();
        let open = begin(&other);
        let number = open.split(' ').next().unwrap();
        assert_eq!(ask(None, &format!("{number} 1 1.5")), Some(false));
        other.control("commit").unwrap();
    }
}

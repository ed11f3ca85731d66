//! Commands that another process leaves for the daemon, and the answers. The store does not
//! interpret their texts.

use std::fmt;
use std::time::Duration;

use crate::db::sql::{OptionalExtension, Row, params};
use feed::Time;

use crate::db::columns::time;
use crate::db::postgres::signals::announce;
use crate::{Signal, Store, StoreError};

/// The number of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub i64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A command that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRequest {
    pub id: RequestId,
    pub kind: String,
    /// JSON.
    pub body: String,
    pub created_at: Time,
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAnswer {
    pub ok: bool,
    /// JSON.
    pub body: String,
}

/// How long an answer is stored. The other process reads it within a second.
const ANSWERS_KEPT: Duration = Duration::from_secs(86_400);

impl Store {
    /// Stores a command and deletes old answered ones: some contain a list of all feeds, and a
    /// daemon runs for months.
    pub fn leave_request(
        &self,
        kind: &str,
        body: &str,
        now: Time,
    ) -> Result<RequestId, StoreError> {
        let (kind, body) = (kind.to_owned(), body.to_owned());
        self.write_own(move |conn| {
            let old = (now - ANSWERS_KEPT).millis();
            conn.execute("delete from requests where answered_at < $1", [old])?;
            let sql = "insert into requests (kind, body, created_at) values ($1, $2, $3) \
                       returning id";
            let id = conn.query_row(sql, params![kind, body, now.millis()], |row| row.get(0))?;
            announce(conn, Signal::Requests)?;
            Ok(RequestId(id))
        })
    }

    /// Returns the commands without an answer, oldest first.
    pub fn pending_requests(&self) -> Result<Vec<CommandRequest>, StoreError> {
        self.read(|conn| {
            let sql = "select id, kind, body, created_at from requests \
                       where answered_at is null order by id";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([], request_row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Takes the commands that no process has taken yet, oldest first. A command with a lower
    /// number may be committed later than one with a higher number. So each row says who took it.
    pub fn take_requests(&self) -> Result<Vec<CommandRequest>, StoreError> {
        let untaken = "select 1 from requests where answered_at is null and taken_by is null";
        if !self.read(|conn| Ok(conn.prepare_cached(untaken)?.exists([])?))? {
            return Ok(Vec::new());
        }
        let epoch = self.epoch();
        self.write(move |conn| {
            let sql = "update requests set taken_by = $1 \
                       where answered_at is null and taken_by is null \
                       returning id, kind, body, created_at";
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([epoch], request_row)?;
            let mut taken: Vec<CommandRequest> = rows.collect::<Result<_, _>>()?;
            taken.sort_by_key(|request| request.id);
            Ok(taken)
        })
    }

    /// Stores an answer. A second answer to the same command is ignored.
    pub fn answer_request(
        &self,
        id: RequestId,
        ok: bool,
        body: &str,
        now: Time,
    ) -> Result<(), StoreError> {
        let body = body.to_owned();
        self.write(move |conn| {
            let sql = "update requests set answer = $1, ok = $2, answered_at = $3 \
                       where id = $4 and answered_at is null";
            conn.execute(sql, params![body, i64::from(ok), now.millis(), id.0])?;
            Ok(announce(conn, Signal::Answers)?)
        })
    }

    /// Returns the answer to a command, if there is one.
    pub fn request_answer(&self, id: RequestId) -> Result<Option<CommandAnswer>, StoreError> {
        self.read(|conn| {
            let sql = "select ok, answer from requests where id = $1 and answered_at is not null";
            let found = conn.prepare_cached(sql)?.query_row([id.0], |row| {
                Ok(CommandAnswer { ok: row.get::<_, i64>(0)? != 0, body: row.get(1)? })
            });
            Ok(found.optional()?)
        })
    }

    /// Answers the commands that an earlier process has taken and not answered with `taken`, and
    /// commands from before `before` that nobody took with `old`. Returns how many.
    pub fn refuse_requests(
        &self,
        before: Time,
        (taken, old): (&str, &str),
        now: Time,
    ) -> Result<usize, StoreError> {
        let (taken, old) = (taken.to_owned(), old.to_owned());
        self.write(move |conn| {
            let sql = "update requests set answer = $1, ok = 0, answered_at = $2 \
                       where answered_at is null and taken_by is not null";
            let n_taken = conn.execute(sql, params![taken, now.millis()])?;
            let sql = "update requests set answer = $1, ok = 0, answered_at = $2 \
                       where answered_at is null and created_at < $3";
            let n_old = conn.execute(sql, params![old, now.millis(), before.millis()])?;
            announce(conn, Signal::Answers)?;
            Ok(n_taken + n_old)
        })
    }
}

fn request_row(row: &Row<'_>) -> crate::db::sql::Result<CommandRequest> {
    Ok(CommandRequest {
        id: RequestId(row.get(0)?),
        kind: row.get(1)?,
        body: row.get(2)?,
        created_at: time(row, 3)?,
    })
}

//! One connection to PostgreSQL, used by one thread at a time. Each call blocks until the server
//! has answered.

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::TryStreamExt;
use futures_util::future::{join, join3, poll_immediate};
use tokio_postgres::{Client, Row, Statement};

use super::connect::ConnectionDriver;
use super::cursor::{OpenCursor, ScanSteps};
use super::outcome::TRANSACTION;
use super::runtime;
use super::values::Parameter;
use super::{PgAddress, PgRows};
use crate::ErrorKind;
use crate::db::sql::{Result, SqlError, Value};

/// Statements that stay prepared. All statements of the store together are fewer.
const STATEMENTS_MAX: usize = 1000;
/// The wait for an answer when a session ends.
const RELEASE_WITHIN: Duration = Duration::from_millis(500);

const BEGIN_READING: &str = "begin isolation level repeatable read read only";
const BEGIN_WRITING: &str = "begin isolation level read committed";

/// A connection and its prepared statements.
pub(crate) struct PgConnection {
    pub(super) client: Client,
    pub(super) driver: ConnectionDriver,
    /// The address, if the connection is given up when the server hangs.
    pub(super) watched: Option<PgAddress>,
    statements: RefCell<HashMap<Arc<str>, Arc<PgStatement>>>,
    cursors: RefCell<Cursors>,
    transaction: Cell<Transaction>,
    /// The name of the open transaction, as far as a statement has asked for it.
    name: RefCell<Option<String>>,
    /// The statement that asks for this name together with the first one of a transaction.
    naming: RefCell<Option<Arc<PgStatement>>>,
}

/// A prepared statement and its text.
pub(crate) struct PgStatement {
    sql: Arc<str>,
    pub(super) statement: Statement,
}

/// The names of cursors. A name belongs to one text, so that its `fetch` can stay prepared.
#[derive(Default)]
struct Cursors {
    numbers: HashMap<Arc<str>, usize>,
    open: HashSet<String>,
}

/// The transaction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transaction {
    None,
    /// To be begun together with the next statement, in one round trip.
    Due(&'static str),
    Open,
}

impl PgConnection {
    /// With an address, the connection is given up when the server hangs.
    pub(super) fn new(
        client: Client,
        driver: ConnectionDriver,
        watched: Option<PgAddress>,
    ) -> PgConnection {
        PgConnection {
            client,
            driver,
            watched,
            statements: RefCell::default(),
            cursors: RefCell::default(),
            transaction: Cell::new(Transaction::None),
            name: RefCell::default(),
            naming: RefCell::default(),
        }
    }

    /// Remembers the name by which the outcome of the open transaction can be found out.
    pub fn name_transaction(&self, name: String) {
        self.name.replace(Some(name));
    }

    /// Returns that name once.
    pub fn take_name(&self) -> Option<String> {
        self.name.take()
    }

    /// Returns a flag that is set as soon as the connection is lost, for other threads.
    pub fn ended_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.driver.is_ended)
    }

    /// Returns whether the connection is lost.
    pub fn is_closed(&self) -> bool {
        self.driver.is_ended.load(Ordering::Relaxed) || self.client.is_closed()
    }

    /// Gives up the locks of the session, so that the next process need not wait until the server
    /// notices its end. A server that does not answer in time ends the session later.
    pub fn release(&self) {
        if !self.is_closed() {
            let released = self.client.batch_execute("rollback; select pg_advisory_unlock_all()");
            // The session ends anyway.
            let _ = runtime::wait_at_most(RELEASE_WITHIN, released);
        }
    }

    pub fn is_in_transaction(&self) -> bool {
        self.transaction.get() != Transaction::None && !self.is_closed()
    }

    /// Prepares a statement once.
    pub fn prepare(&self, sql: &str) -> Result<Arc<PgStatement>> {
        if let Some(prepared) = self.statements.borrow().get(sql) {
            return Ok(Arc::clone(prepared));
        }
        let statement = self.ask(self.client.prepare(sql))?;
        let sql: Arc<str> = Arc::from(sql);
        let prepared = Arc::new(PgStatement { sql: Arc::clone(&sql), statement });
        let mut statements = self.statements.borrow_mut();
        if statements.len() >= STATEMENTS_MAX {
            statements.clear();
        }
        statements.insert(sql, Arc::clone(&prepared));
        Ok(prepared)
    }

    pub fn execute(&self, prepared: &PgStatement, values: &[Value<'_>]) -> Result<usize> {
        let changed = self.ask(self.client.execute_raw(&prepared.statement, values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    pub fn query(&self, prepared: &PgStatement, values: &[Value<'_>]) -> Result<PgRows<'_>> {
        self.ask(self.rows(prepared, values)).map(PgRows::all)
    }

    /// Runs a query through a cursor. A transaction must be open or due.
    pub fn scan(
        &self,
        prepared: &PgStatement,
        values: &[Value<'_>],
        steps: ScanSteps,
    ) -> Result<PgRows<'_>> {
        let name = self.cursors.borrow_mut().take_name(&prepared.sql);
        let cursor = OpenCursor { conn: self, name };
        let sql = format!("declare {} no scroll cursor for {}", cursor.name, prepared.sql);
        let declare = self.prepare(&sql)?;
        let fetch = fetch_text(&cursor.name, steps.first);
        let known = self.statements.borrow().get(fetch.as_str()).cloned();
        let rows = if let Some(fetch) = known {
            let both =
                join(self.client.execute_raw(&declare.statement, values), self.rows(&fetch, &[]));
            self.ask(async {
                let (declared, rows) = both.await;
                declared?;
                rows
            })?
        } else {
            // A `fetch` can be prepared only while its cursor is open.
            self.execute(&declare, values)?;
            let fetch = self.prepare(&fetch)?;
            self.ask(self.rows(&fetch, &[]))?
        };
        Ok(PgRows::begun(rows, cursor, steps))
    }

    /// Fetches the next rows of a cursor.
    pub(super) fn fetch(&self, cursor: &str, n: usize) -> Result<Vec<Row>> {
        let fetch = self.prepare(&fetch_text(cursor, n))?;
        self.ask(self.rows(&fetch, &[]))
    }

    pub(super) fn close_cursor(&self, name: &str) {
        let was_open = self.cursors.borrow_mut().open.remove(name);
        if was_open && self.transaction.get() == Transaction::Open {
            self.send(&format!("close {name}"));
        }
    }

    /// Runs a statement for a list of keys.
    pub fn query_each(
        &self,
        prepared: &PgStatement,
        lateral: fn(&str, &str) -> String,
        keys: &[Value<'_>],
        others: &[Value<'_>],
    ) -> Result<Vec<Row>> {
        let Some(first) = keys.first() else { return Ok(Vec::new()) };
        let array = match first {
            Value::Text(_) => "text[]",
            Value::Blob(_) => "bytea[]",
            _ => "bigint[]",
        };
        let prepared = self.prepare(&lateral(&prepared.sql, array))?;
        let mut all = vec![Parameter::List(keys)];
        all.extend(others.iter().map(|value| Parameter::One(*value)));
        self.query_lists(&prepared, &all)
    }

    /// Runs a query with parameters that may be lists.
    pub fn query_lists(
        &self,
        prepared: &PgStatement,
        values: &[Parameter<'_>],
    ) -> Result<Vec<Row>> {
        self.ask(async {
            self.client.query_raw(&prepared.statement, values).await?.try_collect().await
        })
    }

    /// Runs a statement with parameters that may be lists. Returns the number of changed rows.
    pub fn execute_lists(&self, sql: &str, values: &[Parameter<'_>]) -> Result<usize> {
        let prepared = self.prepare(sql)?;
        let changed = self.ask(self.client.execute_raw(&prepared.statement, values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    /// Runs several statements without parameters.
    pub fn batch(&self, sql: &str) -> Result<()> {
        self.ask(self.client.batch_execute(sql))
    }

    pub fn begin_reading(&self) {
        self.transaction.set(Transaction::Due(BEGIN_READING));
    }

    pub fn begin_writing(&self) -> Result<()> {
        if self.is_closed() {
            let text = "the connection to the database is lost";
            return Err(SqlError::of_kind(ErrorKind::Unreachable, text));
        }
        self.transaction.set(Transaction::Due(BEGIN_WRITING));
        self.name.take();
        self.naming.take();
        Ok(())
    }

    /// The same, and asks for the name of the transaction in the flight that begins it.
    pub fn begin_named(&self) -> Result<()> {
        self.transaction.set(Transaction::None);
        let naming = self.prepare(&format!("select {TRANSACTION}"))?;
        self.begin_writing()?;
        self.naming.replace(Some(naming));
        Ok(())
    }

    /// Begins a transaction that reads one moment of some tables, and keeps all other sessions from
    /// changing them until it ends.
    pub fn begin_frozen(&self, tables: &str) -> Result<()> {
        // The lock comes before the first question, which fixes the moment.
        let begun = self.batch(&format!(
            "begin isolation level repeatable read; set local lock_timeout = '10s'; \
             lock table {tables} in share mode; set local lock_timeout = 0"
        ));
        if begun.is_err() {
            self.send("rollback");
        } else {
            self.transaction.set(Transaction::Open);
        }
        begun
    }

    /// Ends a transaction that only read, without waiting for the answer.
    pub fn end_reading(&self) {
        let was_open = self.transaction.replace(Transaction::None) == Transaction::Open;
        self.cursors.borrow_mut().open.clear();
        if was_open {
            self.send("commit");
        }
    }

    /// Ends the transaction and waits for the answer; or acts on a savepoint and does not wait,
    /// because the next statement fails if the savepoint did.
    pub fn control(&self, sql: &str) -> Result<()> {
        let ends = sql == "commit" || sql == "rollback";
        if !ends {
            match self.transaction.get() {
                Transaction::Due(begin) => {
                    self.transaction.set(Transaction::Open);
                    self.send(&format!("{begin}; {sql}"));
                }
                Transaction::None | Transaction::Open => self.send(sql),
            }
            return Ok(());
        }
        // A commit of a failed transaction is a rollback for PostgreSQL, and an error for us. So a
        // question goes with it, which PostgreSQL refuses in a failed transaction.
        if sql == "commit" && self.transaction.get() == Transaction::Open {
            return self.commit_after("select 1", &[]).map(drop);
        }
        self.cursors.borrow_mut().open.clear();
        match self.transaction.replace(Transaction::None) {
            Transaction::Open => self.batch(sql),
            Transaction::None | Transaction::Due(_) => Ok(()),
        }
    }

    /// Runs a last statement, which must return a row, and commits in the same round trip. If the
    /// statement fails, PostgreSQL undoes the transaction instead.
    pub fn commit_after(&self, sql: &str, values: &[Value<'_>]) -> Result<Row> {
        let (last, commit) = (self.prepare(sql)?, self.prepare("commit")?);
        self.cursors.borrow_mut().open.clear();
        self.transaction.set(Transaction::None);
        let committed = self.client.execute_raw(&commit.statement, &[] as &[Value<'_>]);
        // `join` polls in order, so the statement is sent first.
        let (rows, committed) = self.wait(join(self.rows(&last, values), committed))?;
        let row = rows?.into_iter().next();
        committed?;
        row.ok_or(SqlError::NoRow)
    }

    async fn rows(
        &self,
        prepared: &PgStatement,
        values: &[Value<'_>],
    ) -> std::result::Result<Vec<Row>, tokio_postgres::Error> {
        self.client.query_raw(&prepared.statement, values).await?.try_collect().await
    }

    /// Waits for an answer. Begins the transaction in the same flight if that is due.
    pub(super) fn ask<T>(
        &self,
        question: impl Future<Output = std::result::Result<T, tokio_postgres::Error>>,
    ) -> Result<T> {
        let Transaction::Due(begin) = self.transaction.get() else {
            return Ok(self.wait(question)??);
        };
        self.transaction.set(Transaction::Open);
        let naming = self.naming.take();
        let name = async {
            match &naming {
                Some(naming) => self.rows(naming, &[]).await,
                None => Ok(Vec::new()),
            }
        };
        // `join3` polls in order, so `begin` is sent first.
        let begin = self.client.batch_execute(begin);
        let (begun, name, answer) = self.wait(join3(begin, name, question))?;
        begun?;
        if let Some(row) = name?.first() {
            self.name.replace(row.try_get(0)?);
        }
        Ok(answer?)
    }

    /// Sends a statement and does not wait for its answer.
    fn send(&self, sql: &str) {
        // The first poll sends it. The connection drops the answer.
        let sent = pin!(self.client.batch_execute(sql));
        let _ = runtime::wait(poll_immediate(sent));
    }
}

fn fetch_text(cursor: &str, n: usize) -> String {
    format!("fetch forward {n} from {cursor}")
}

impl Cursors {
    /// Returns a name that is free, the same as often as possible.
    fn take_name(&mut self, sql: &Arc<str>) -> String {
        let next = self.numbers.len();
        let number = *self.numbers.entry(Arc::clone(sql)).or_insert(next);
        let mut copy = 0;
        loop {
            let name = format!("scan_{number}_{copy}");
            if self.open.insert(name.clone()) {
                return name;
            }
            copy += 1;
        }
    }
}

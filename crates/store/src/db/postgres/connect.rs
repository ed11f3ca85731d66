//! Opens connections to PostgreSQL and sets up their sessions.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_postgres::Client;

use super::reach::{Stream, reach};
use super::signals::{self, Heard};
use super::{PgAddress, PgConnection, runtime};
use crate::ErrorKind;
use crate::db::sql::{Connection, Result, SqlError};

/// Settings of every session. Statements are short, so compiling them costs more than it saves.
/// A cursor is read to its end more often than not. Pages of the store are mostly in memory or on
/// an SSD: with the default cost, a list of two hundred feeds reads the whole table of feeds. A
/// change, such as a step of the schema, may take long, whatever limit the role has.
const SESSION: &str = "set jit = off; set cursor_tuple_fraction = 0.01; \
    set random_page_cost = 1.1; set client_min_messages = warning; \
    set statement_timeout = 0; set idle_in_transaction_session_timeout = '60s'";

/// A guest that hangs inside a transaction holds locks that the process that records may wait for.
const GUEST_LIMIT: &str = "set idle_in_transaction_session_timeout = '5s'";

/// A read that takes longer hangs, or asks for too much.
const READ_LIMIT: &str = "set statement_timeout = '120s'";

/// Opens a connection that writes. It waits for a server that hangs, because a process that records
/// loses its seat with the connection.
pub(crate) fn writing(address: &PgAddress) -> Result<Connection> {
    open(address, SESSION, false).map(Box::new).map(Connection::Postgres)
}

/// Opens a connection for the changes of a guest. It is given up if the server hangs.
pub(crate) fn guest(address: &PgAddress) -> Result<Connection> {
    let session = format!("{SESSION}; {GUEST_LIMIT}");
    open(address, &session, true).map(Box::new).map(Connection::Postgres)
}

/// Opens a connection that only reads. It is given up if the server hangs.
pub(crate) fn reading(address: &PgAddress) -> Result<Connection> {
    let session = format!("{SESSION}; {READ_LIMIT}");
    open(address, &session, true).map(Box::new).map(Connection::Postgres)
}

fn open(address: &PgAddress, session: &str, is_watched: bool) -> Result<PgConnection> {
    let to = address.clone();
    let opened = runtime::run(async move { connect(&to).await });
    let (client, driver) = match opened {
        Ok(opened) => opened?,
        Err(error) => return Err(SqlError::of_kind(ErrorKind::Other, error.to_string())),
    };
    // Another host of the address may answer while this one hangs.
    let watched = is_watched.then(|| address.only(driver.place));
    let conn = PgConnection::new(client, driver, watched);
    conn.batch(session)?;
    Ok(conn)
}

/// Opens a connection that listens for signals, and forwards them until it is lost.
pub(super) async fn listening(address: &PgAddress, sender: &watch::Sender<Heard>) -> Result<()> {
    match reach(address).await?.stream {
        Stream::Plain(client, connection) => {
            Ok(signals::follow(client, *connection, sender).await?)
        }
        Stream::Encrypted(client, connection) => {
            Ok(signals::follow(client, *connection, sender).await?)
        }
    }
}

/// Returns the client, and the task that drives its connection.
pub(super) async fn connect(address: &PgAddress) -> Result<(Client, ConnectionDriver)> {
    let reached = reach(address).await?;
    Ok(match reached.stream {
        Stream::Plain(client, connection) => (client, drive(reached.place, *connection)),
        Stream::Encrypted(client, connection) => (client, drive(reached.place, *connection)),
    })
}

/// The task that drives a connection.
pub(super) struct ConnectionDriver {
    /// The place of the host in its address.
    place: usize,
    /// Set when the connection has ended.
    pub is_ended: Arc<AtomicBool>,
    /// Set when the server hung.
    pub gave_up: AtomicBool,
    task: Option<AbortHandle>,
}

impl ConnectionDriver {
    /// Closes the connection, whatever the server does.
    pub fn give_up(&self) {
        self.gave_up.store(true, Ordering::Relaxed);
        self.is_ended.store(true, Ordering::Relaxed);
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Drives a connection until the client is dropped or the connection is lost.
fn drive<E>(
    place: usize,
    connection: impl Future<Output = std::result::Result<(), E>> + Send + 'static,
) -> ConnectionDriver {
    let is_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_ended);
    let task = runtime::spawn(async move {
        // The client's next call reports the reason.
        let _ = connection.await;
        ended.store(true, Ordering::Relaxed);
    });
    let task = task.map(|task| task.abort_handle());
    ConnectionDriver { place, is_ended, gave_up: AtomicBool::new(false), task }
}

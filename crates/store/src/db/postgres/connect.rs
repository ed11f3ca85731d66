//! Opens connections to PostgreSQL and sets up their sessions.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio_postgres::{Client, Config, NoTls};

use super::signals::{self, Heard};
use super::{PgAddress, PgConnection, runtime, tls};
use crate::ErrorKind;
use crate::db::sql::{Connection, Result, SqlError};

/// Settings of every session. Statements are short, so compiling them costs more than it saves.
/// A cursor is read to its end more often than not.
const SESSION: &str = "set jit = off; set cursor_tuple_fraction = 0.01; \
    set client_min_messages = warning; set idle_in_transaction_session_timeout = '60s'";

/// A read that takes longer hangs, or asks for too much.
const READ_LIMIT: &str = "set statement_timeout = '120s'";

/// After this time without an answer from the server's machine, the connection counts as lost.
/// tokio-postgres hands the number to the system in whole seconds.
const SILENCE: Duration = Duration::from_secs(5);
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Opens a connection that writes.
pub(crate) fn writing(address: &PgAddress) -> Result<Connection> {
    open(address, SESSION).map(Box::new).map(Connection::Postgres)
}

/// Opens a connection that only reads.
pub(crate) fn reading(address: &PgAddress) -> Result<Connection> {
    let session = format!("{SESSION}; {READ_LIMIT}");
    open(address, &session).map(Box::new).map(Connection::Postgres)
}

fn open(address: &PgAddress, session: &str) -> Result<PgConnection> {
    let address = address.clone();
    let opened =
        runtime::run(async move { tokio::time::timeout(CONNECT_LIMIT, connect(&address)).await });
    let (client, is_ended) = match opened {
        Ok(Ok(opened)) => opened?,
        Ok(Err(_)) => {
            let text = format!("no answer within {} s", CONNECT_LIMIT.as_secs());
            return Err(SqlError::of_kind(ErrorKind::Unreachable, text));
        }
        Err(error) => return Err(SqlError::of_kind(ErrorKind::Other, error.to_string())),
    };
    let conn = PgConnection::new(client, is_ended);
    conn.batch(session)?;
    Ok(conn)
}

/// Opens a connection that listens for signals, and forwards them until it is lost.
pub(super) async fn listening(address: &PgAddress, sender: &watch::Sender<Heard>) -> Result<()> {
    let config = config(address);
    match tls::connector(address)? {
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            Ok(signals::follow(client, connection, sender).await?)
        }
        Some(tls) => {
            let (client, connection) = config.connect(tls).await?;
            Ok(signals::follow(client, connection, sender).await?)
        }
    }
}

fn config(address: &PgAddress) -> Config {
    let mut config = address.config();
    config.connect_timeout(CONNECT_LIMIT);
    config.tcp_user_timeout(SILENCE);
    config.keepalives_idle(SILENCE);
    config
}

/// Returns the client, and a flag that is set when the connection has ended.
async fn connect(address: &PgAddress) -> Result<(Client, Arc<AtomicBool>)> {
    let config = config(address);
    let Some(tls) = tls::connector(address)? else {
        let (client, connection) = config.connect(NoTls).await?;
        return Ok((client, drive(connection)));
    };
    let (client, connection) = config.connect(tls).await?;
    Ok((client, drive(connection)))
}

/// Drives a connection until the client is dropped or the connection is lost.
fn drive<E>(
    connection: impl Future<Output = std::result::Result<(), E>> + Send + 'static,
) -> Arc<AtomicBool> {
    let is_ended = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&is_ended);
    runtime::start(async move {
        // The client's next call reports the reason.
        let _ = connection.await;
        ended.store(true, Ordering::Relaxed);
    });
    is_ended
}

//! Opens connections to PostgreSQL and sets up their sessions.

use std::time::Duration;

use tokio_postgres::{Client, NoTls};

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
    let client = match opened {
        Ok(Ok(client)) => client?,
        Ok(Err(_)) => {
            let text = format!("no answer within {} s", CONNECT_LIMIT.as_secs());
            return Err(SqlError::of_kind(ErrorKind::Unreachable, text));
        }
        Err(error) => return Err(SqlError::of_kind(ErrorKind::Other, error.to_string())),
    };
    let conn = PgConnection::new(client);
    conn.batch(session)?;
    Ok(conn)
}

async fn connect(address: &PgAddress) -> Result<Client> {
    let mut config = address.config();
    config.tcp_user_timeout(SILENCE);
    config.keepalives_idle(SILENCE);
    let Some(tls) = tls::connector(address)? else {
        let (client, connection) = config.connect(NoTls).await?;
        // The task ends with the client; the client's next call reports a lost connection.
        runtime::start(async move { drop(connection.await) });
        return Ok(client);
    };
    let (client, connection) = config.connect(tls).await?;
    runtime::start(async move { drop(connection.await) });
    Ok(client)
}

//! The session of the writer on a database server: its seat, its signs of life, and commits whose
//! answer was lost.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use crate::StoreError;
use crate::db::postgres::seat::{self, Beat};
use crate::db::postgres::signals::{self, Signal};
use crate::db::postgres::{PgAddress, connect, outcome};
use crate::db::sql::{Connection, SqlError};
use crate::error::DbError;

/// The session of the writer on a database server.
pub(crate) struct ServerSession {
    pub address: PgAddress,
    /// The epoch of the process that records; `None` for a guest.
    pub epoch: Option<i64>,
    /// The last entry of the stream that other processes have heard of.
    announced: Cell<Option<i64>>,
}

/// The least often that the process that records shows a sign of life.
pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the outcome of a commit is asked for whose answer was lost.
const OUTCOME_PATIENCE: Duration = Duration::from_secs(60);

impl ServerSession {
    pub fn new(address: PgAddress, epoch: Option<i64>) -> ServerSession {
        ServerSession { address, epoch, announced: Cell::new(None) }
    }

    /// Begins a transaction. That of a guest learns its name together with its first statement.
    pub fn begin(&self, conn: &Connection) -> Result<(), SqlError> {
        match conn.postgres() {
            Some(postgres) if self.epoch.is_none() => postgres.begin_named(),
            _ => conn.begin_writing(),
        }
    }

    /// Commits, after proving that this process still has the seat. If the answer is lost, the
    /// database says later whether the commit took effect.
    pub fn commit(&self, conn: &Connection, file: &Arc<str>) -> Result<(), StoreError> {
        let say = |source| StoreError::database(file, source);
        let named = conn.postgres().and_then(|pg| Some((pg, self.epoch?, pg.take_name()?)));
        if let Some((postgres, epoch, transaction)) = named {
            let committed = seat::beat_and_commit(postgres, epoch, self.announced.get());
            return match committed {
                Ok(last_entry) => {
                    self.announced.set(Some(last_entry));
                    Ok(())
                }
                Err(DbError::Sql(error)) => self.ended(Err(error), &transaction, file),
                Err(fault) => Err(fault.at(file)),
            };
        }
        let name = conn.postgres().and_then(|postgres| postgres.take_name());
        if let Some(transaction) = name.filter(|_| self.epoch.is_none()) {
            return self.ended(conn.control("commit"), &transaction, file);
        }
        let beat = seat::beat(conn, self.epoch).map_err(|fault| fault.at(file))?;
        let Beat { transaction, last_entry } = beat;
        if last_entry != self.announced.replace(last_entry) {
            signals::announce(conn, Signal::Entries).map_err(say)?;
        }
        self.ended(conn.control("commit"), &transaction, file)
    }

    /// The outcome of a commit. If its answer was lost, the database says what became of it.
    fn ended(
        &self,
        commit: Result<(), SqlError>,
        transaction: &str,
        file: &Arc<str>,
    ) -> Result<(), StoreError> {
        let say = |source| StoreError::database(file, source);
        match commit {
            Err(error) if error.is_disconnected() => {
                let (epoch, patience) = (self.epoch, OUTCOME_PATIENCE);
                match outcome::was_committed(&self.address, epoch, transaction, patience) {
                    Some(true) => Ok(()),
                    Some(false) => Err(say(error)),
                    None => Err(StoreError::OutcomeUnknown),
                }
            }
            ended => ended.map_err(say),
        }
    }

    /// Opens the connection of a guest again after it was lost. The process that records never
    /// does: with the session it has lost the seat.
    pub fn reconnect(&self, conn: &mut Connection) {
        if self.epoch.is_none()
            && conn.is_lost()
            && let Ok(opened) = connect::guest(&self.address)
        {
            *conn = opened;
        }
    }
}

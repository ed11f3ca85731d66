//! The session of the writer on a database server: its seat, its signs of life, and commits whose
//! answer was lost.

use std::sync::Arc;
use std::time::Duration;

use crate::StoreError;
use crate::db::postgres::{PgAddress, connect, seat};
use crate::db::sql::Connection;

/// The session of the writer on a database server.
pub(crate) struct ServerSession {
    pub address: PgAddress,
    /// The epoch of the process that records; `None` for a guest.
    pub epoch: Option<i64>,
}

/// The least often that the process that records shows a sign of life.
pub(crate) const BEAT_EVERY: Duration = Duration::from_secs(1);
/// How long the outcome of a commit is asked for whose answer was lost.
const OUTCOME_PATIENCE: Duration = Duration::from_secs(60);

impl ServerSession {
    /// Commits, after proving that this process still has the seat. If the answer is lost, the
    /// database says later whether the commit took effect.
    pub fn commit(&self, conn: &Connection, file: &Arc<str>) -> Result<(), StoreError> {
        let say = |source| StoreError::database(file, source);
        let transaction = seat::beat(conn, self.epoch).map_err(|fault| fault.at(file))?;
        match conn.control("commit") {
            Err(error) if error.is_disconnected() => {
                match seat::was_committed(&self.address, &transaction, OUTCOME_PATIENCE) {
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
            && let Ok(opened) = connect::writing(&self.address)
        {
            *conn = opened;
        }
    }
}

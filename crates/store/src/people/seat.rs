//! The process that records, as the other processes on the same database see it.

use std::time::Duration;

use crate::db::postgres::inspect::{self, ServerReport};
use crate::db::postgres::seat::{self, SeatRow};
use crate::db::postgres::{PgAddress, connect};
use crate::db::sql::{Connection, params};
use crate::error::DbError;
use crate::{Location, OpenMode, Store, StoreError};

/// Waits for the seat of a database. It asks on one connection of its own, so that a process that
/// waits does not open a new one for each try.
pub struct SeatWaiter {
    location: Location,
    /// After this silence, a holder of the seat counts as dead.
    silence: Duration,
    conn: Option<Connection>,
    has_ended_holder: bool,
}

impl SeatWaiter {
    pub fn new(location: Location, silence: Duration) -> SeatWaiter {
        SeatWaiter { location, silence, conn: None, has_ended_holder: false }
    }

    /// Opens the store to record, if the seat is free or its holder is dead.
    pub fn open(&mut self) -> Result<Store, StoreError> {
        if let Location::Postgres(address) = self.location.clone() {
            self.make_free(&address).map_err(|fault| fault.at(address.shown()))?;
        }
        Store::open(&self.location, OpenMode::ReadWrite)
    }

    /// Returns whether the last try has ended the session of a dead holder.
    pub fn has_ended_holder(&self) -> bool {
        self.has_ended_holder
    }

    fn make_free(&mut self, address: &PgAddress) -> Result<(), DbError> {
        self.has_ended_holder = false;
        let conn = match self.conn.take().filter(|conn| !conn.is_lost()) {
            Some(conn) => conn,
            None => connect::guest(address)?,
        };
        let free = seat::make_free(&conn, address.shown(), self.silence);
        self.has_ended_holder = matches!(free, Ok(true));
        // After any other error the next try asks on a new connection.
        if let Ok(_) | Err(DbError::Ours(StoreError::SeatTaken { .. })) = &free {
            self.conn = Some(conn);
        }
        free.map(|_| ())
    }
}

impl Store {
    /// Returns the holder of the seat; `None` for SQLite, where the folder has a lock.
    pub fn seat(&self) -> Result<Option<SeatRow>, StoreError> {
        self.read(|conn| match conn.is_postgres() {
            true => seat::row(conn, self.file()).map(Some),
            false => Ok(None),
        })
    }

    /// Stores the figures that other processes show, as JSON.
    pub fn store_figures(&self, figures: String) -> Result<(), StoreError> {
        self.write(move |conn| {
            conn.execute("update seat set figures = $1", params![figures])?;
            Ok(())
        })
    }

    /// Returns the facts about a database server; `None` for SQLite. Works with any schema.
    pub fn inspect_server(location: &Location) -> Result<Option<ServerReport>, StoreError> {
        match location {
            Location::Folder(_) => Ok(None),
            Location::Postgres(address) => inspect::inspect(address).map(Some),
        }
    }

    /// Removes everything from a database, for a new demonstration.
    pub fn wipe(location: &Location) -> Result<(), StoreError> {
        let Location::Postgres(address) = location else { return Ok(()) };
        seat::wipe(address, address.shown()).map_err(|fault| fault.at(address.shown()))
    }
}

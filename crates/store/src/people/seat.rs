//! The process that records, as the other processes on the same database see it.

use std::time::Duration;

use crate::db::postgres::inspect::{self, ServerReport};
use crate::db::postgres::seat::{self, SeatRow};
use crate::db::sql::params;
use crate::{Location, Store, StoreError};

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

    /// Ends the session of a process that holds the seat and has shown no sign of life for so long.
    /// Returns whether there was one.
    pub fn unseat(location: &Location, silence: Duration) -> Result<bool, StoreError> {
        let Location::Postgres(address) = location else { return Ok(false) };
        seat::unseat(address, silence).map_err(|fault| fault.at(address.shown()))
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

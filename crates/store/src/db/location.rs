//! The place of a store: in a data folder (SQLite), or in a PostgreSQL database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::db::FILE_NAME;
use crate::db::postgres::{DatabaseAddressError, PgAddress, is_postgres};
use crate::error::shown;

/// The place of a store.
#[derive(Clone, Debug)]
pub enum Location {
    Folder(PathBuf),
    Postgres(PgAddress),
}

impl Location {
    /// Reads a place that a person named: `postgres://…`, or else a folder. `variable` looks up a
    /// variable of the environment.
    pub fn parse(
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Location, DatabaseAddressError> {
        if is_postgres(text) {
            return PgAddress::parse(text, variable).map(Location::Postgres);
        }
        Ok(Location::Folder(PathBuf::from(text)))
    }

    /// The name for errors: the database file, or the address without its password.
    pub fn shown(&self) -> Arc<str> {
        match self {
            Location::Folder(folder) => shown(&folder.join(FILE_NAME)),
            Location::Postgres(address) => Arc::clone(address.shown()),
        }
    }
}

impl From<&Path> for Location {
    fn from(folder: &Path) -> Location {
        Location::Folder(folder.to_owned())
    }
}

impl From<&PathBuf> for Location {
    fn from(folder: &PathBuf) -> Location {
        Location::Folder(folder.clone())
    }
}

impl From<&Location> for Location {
    fn from(location: &Location) -> Location {
        location.clone()
    }
}

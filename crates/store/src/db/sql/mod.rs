//! The interface through which all modules of the store run SQL. It looks like the part of rusqlite
//! that the store uses, and has two implementations: SQLite and PostgreSQL.
//!
//! Modules outside `db` know only these types. One SQL text serves both databases; `dialect` holds
//! the few texts that must differ.

mod connection;
mod datum;
mod keyed;
mod params;
mod statement;
mod value;

pub(crate) use crate::error::SqlError;
pub(crate) use connection::Connection;
pub(crate) use datum::{Datum, row};
pub(crate) use keyed::{from_lists, lateral, names, unnest};
pub(crate) use params::{Params, params};
pub(crate) use statement::{DbStatement, Row, Rows};
pub(crate) use value::{FromValue, ToValue, Value};

/// The result of an SQL statement.
pub(crate) type Result<T> = std::result::Result<T, SqlError>;

/// Turns "no row" into `None`.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(SqlError::NoRow) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

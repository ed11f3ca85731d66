//! PostgreSQL: a blocking connection over tokio-postgres, and the values on its wire.
//!
//! The connections run on a background runtime of their own. A caller may block on any thread,
//! also on a worker of another runtime.

mod address;
pub(crate) mod connect;
mod connection;
mod copying;
mod cursor;
mod flight;
pub(crate) mod inspect;
pub(crate) mod outcome;
mod passfile;
mod reach;
mod runtime;
pub(crate) mod seat;
pub(crate) mod signals;
mod tls;
mod values;
mod watch;

pub(crate) use address::is_postgres;
pub use address::{DatabaseAddressError, PgAddress};
pub(crate) use connection::{PgConnection, PgStatement};
pub(crate) use copying::PgCopy;
pub(crate) use cursor::{PgRows, ScanSteps};
pub(crate) use flight::{Flight, Lists};
pub(crate) use values::{Parameter, column_value};

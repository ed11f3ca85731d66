//! An error of a statement, and what kind of fault it is. No type of a database leaves `db`.

use std::fmt;
use std::sync::Arc;

use rusqlite::ErrorCode;
use tokio_postgres::error::SqlState;

use super::ErrorKind;

/// An error of a statement.
#[derive(Clone, Debug)]
pub(crate) enum SqlError {
    /// The statement found no row where one was expected.
    NoRow,
    /// The database refused the statement, or could not be asked.
    Refused(SqlFault),
    /// A stored value that this program never writes.
    Value(Arc<str>),
}

/// The answer of a database that refused a statement.
#[derive(Clone, Debug)]
pub(crate) struct SqlFault {
    pub kind: ErrorKind,
    /// The connection is lost. PostgreSQL only.
    pub is_disconnected: bool,
    /// The name of the fault in the database's own list.
    code: Option<String>,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl SqlError {
    pub fn value(what: impl Into<String>) -> SqlError {
        SqlError::Value(Arc::from(what.into()))
    }

    /// A fault that this program found itself.
    pub fn of_kind(kind: ErrorKind, what: impl Into<String>) -> SqlError {
        let source: Box<dyn std::error::Error + Send + Sync> = what.into().into();
        let is_disconnected = kind == ErrorKind::Unreachable;
        let source = Arc::from(source);
        SqlError::Refused(SqlFault { kind, is_disconnected, code: None, source })
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            SqlError::NoRow => ErrorKind::Other,
            SqlError::Refused(fault) => fault.kind,
            SqlError::Value(_) => ErrorKind::Corrupt,
        }
    }

    /// Returns whether the table that the statement names does not exist.
    pub fn is_missing_table(&self) -> bool {
        let SqlError::Refused(fault) = self else { return false };
        fault.code.as_deref() == Some(SqlState::UNDEFINED_TABLE.code())
            || fault.code.as_deref() == Some(SQLITE_UNKNOWN)
    }

    /// Returns whether a statement divided by zero.
    pub fn is_division_by_zero(&self) -> bool {
        let SqlError::Refused(fault) = self else { return false };
        fault.code.as_deref() == Some(SqlState::DIVISION_BY_ZERO.code())
    }

    /// Returns whether this is the answer of a server, which therefore works.
    pub fn is_answer(&self) -> bool {
        matches!(self, SqlError::Refused(fault) if fault.code.is_some())
    }

    pub fn is_disconnected(&self) -> bool {
        matches!(self, SqlError::Refused(fault) if fault.is_disconnected)
    }
}

/// The code of SQLite's general error, such as a table that does not exist.
const SQLITE_UNKNOWN: &str = "1";

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SqlError::NoRow => f.write_str("the statement returned no row"),
            SqlError::Refused(fault) => fault.source.fmt(f),
            SqlError::Value(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for SqlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SqlError::Refused(fault) => fault.source.source(),
            SqlError::NoRow | SqlError::Value(_) => None,
        }
    }
}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
            return SqlError::NoRow;
        }
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => ErrorKind::DiskFull,
            // SQLite reports the same if it may read the file but not create its journal.
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                ErrorKind::ReadOnly
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                ErrorKind::Value
            }
            _ => ErrorKind::Other,
        };
        let code = error.sqlite_error().map(|e| (e.extended_code & 0xff).to_string());
        let is_disconnected = false;
        SqlError::Refused(SqlFault { kind, is_disconnected, code, source: Arc::new(error) })
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> SqlError {
        let state = error.code().cloned();
        let kind = match &state {
            Some(state) if *state == SqlState::DISK_FULL => ErrorKind::DiskFull,
            Some(state)
                if *state == SqlState::READ_ONLY_SQL_TRANSACTION
                    || *state == SqlState::INSUFFICIENT_PRIVILEGE =>
            {
                ErrorKind::ReadOnly
            }
            Some(state)
                if *state == SqlState::DATA_CORRUPTED || *state == SqlState::INDEX_CORRUPTED =>
            {
                ErrorKind::Corrupt
            }
            Some(state)
                if *state == SqlState::LOCK_NOT_AVAILABLE
                    || *state == SqlState::T_R_DEADLOCK_DETECTED
                    || *state == SqlState::T_R_SERIALIZATION_FAILURE =>
            {
                ErrorKind::Busy
            }
            Some(state) if ends_session(state) => ErrorKind::Unreachable,
            Some(state) if refuses_login(state) => ErrorKind::LoginRefused,
            Some(state) if refuses_value(state) => ErrorKind::Value,
            Some(_) => ErrorKind::Other,
            None if error.to_string().starts_with(HANDSHAKE) => ErrorKind::NotEncrypted,
            None if error.to_string().starts_with(LOGIN) => ErrorKind::LoginRefused,
            None if error.to_string().starts_with(AUTHENTICATION) => ErrorKind::LoginRefused,
            None if is_lost_connection(&error) => ErrorKind::Unreachable,
            None => ErrorKind::Other,
        };
        let is_disconnected = error.is_closed() || kind == ErrorKind::Unreachable;
        let code = state.map(|state| state.code().to_owned());
        SqlError::Refused(SqlFault { kind, is_disconnected, code, source: Arc::new(error) })
    }
}

/// The beginnings of messages of tokio-postgres. It does not export the kinds of its errors.
const HANDSHAKE: &str = "error performing TLS handshake";
const LOGIN: &str = "invalid configuration";
const AUTHENTICATION: &str = "authentication error";
const NETWORK: &str = "error communicating with the server";
const CONNECT: &str = "error connecting to server";
const TIMEOUT: &str = "timeout waiting for server";
/// The answers of the server do not fit the questions any more.
const OUT_OF_STEP: &str = "unexpected message from server";

/// Returns whether the server could not be reached, or the connection to it has ended. Other errors
/// without a code are those of this program, such as a value of the wrong type.
fn is_lost_connection(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    error.is_closed()
        || [NETWORK, CONNECT, TIMEOUT, OUT_OF_STEP].iter().any(|begins| text.starts_with(begins))
}

/// Returns whether a statement failed for its values: by their form, a rule of the table, or the
/// size of a row.
fn refuses_value(state: &SqlState) -> bool {
    ["22", "23", "54"].iter().any(|class| state.code().starts_with(class))
}

/// Class 28 are refused logins, 3D000 is a database that does not exist.
fn refuses_login(state: &SqlState) -> bool {
    state.code().starts_with("28") || *state == SqlState::INVALID_CATALOG_NAME
}

/// Class 08 are connection faults, and 57P is the end of the server or of the session. Too many
/// connections count too, and so does the end of a session that hung within a transaction.
fn ends_session(state: &SqlState) -> bool {
    let code = state.code();
    code.starts_with("08")
        || code.starts_with("57P")
        || *state == SqlState::TOO_MANY_CONNECTIONS
        || *state == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
}

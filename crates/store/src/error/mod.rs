//! Errors of the store. Each names the file, the problem and the remedy. The store does not retry:
//! the caller's next turn does.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use feed::FeedId;

use crate::AccountId;

mod sql;

pub(crate) use sql::SqlError;

/// An error of the store. Cheap to clone: all polls of a lost group get the same error.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "poll {generation} of feed {feed} is stale: another poll was recorded since; \
         discard this one"
    )]
    Stale { feed: FeedId, generation: u32 },
    #[error("feed {0} does not exist; `tidings feed list` shows all feeds")]
    NoFeed(FeedId),
    #[error(
        "these are too many feeds for one change (at most {most}); choose fewer, for example by \
         tag or state"
    )]
    TooManyFeeds { most: usize },
    #[error("this account has too many {what} (at most {most}); remove some first")]
    TooMany { what: &'static str, most: u64 },
    #[error("this was a change for everybody; only administrators undo it")]
    NeedsAdmin,
    #[error("account {0} does not exist; `tidings user list` shows all accounts")]
    NoAccount(AccountId),
    #[error(
        "{file} was written by a newer Tidings (schema version {found}, this program supports \
         {known}); start the newer program, or restore a backup"
    )]
    Newer { file: Arc<str>, found: i64, known: i64 },
    #[error(
        "{file} was written by an older Tidings (schema version {found}); start `tidings run` once"
    )]
    Older { file: Arc<str>, found: i64 },
    #[error("{file} {}", missing(file))]
    Missing { file: Arc<str> },
    #[error("{file} cannot be used: {what}")]
    Unfit { file: Arc<str>, what: String },
    #[error("{file} is in use by {holder}; stop it first, or use another database (--database)")]
    SeatTaken { file: Arc<str>, holder: Arc<str> },
    #[error(
        "{file} holds an unfinished migration from {from}; run the same `tidings migrate` again to \
         complete it"
    )]
    Unfinished { file: Arc<str>, from: Arc<str> },
    #[error(
        "{file} holds an unfinished migration of another store, from {from}; complete that \
         migration, or choose an empty place for this one"
    )]
    OtherMigration { file: Arc<str>, from: Arc<str> },
    #[error(
        "{file} holds data already ({what}); a migration needs an empty place: a new folder, or a \
         new database or schema"
    )]
    NotEmpty { file: Arc<str>, what: String },
    #[error(
        "{file}: the copy of table {table} differs from the source: {what}. Run `tidings migrate` \
         again, which copies everything again. If this happens twice, check the disk and the memory"
    )]
    CopyDiffers { file: Arc<str>, table: String, what: String },
    #[error(
        "{file} has texts that are too long for the indexes of PostgreSQL ({rows}). Nothing was \
         copied. Start this version with the old store, give these feeds a shorter address \
         (`tidings feed move`) or remove such rows, stop it, and run `tidings migrate` again"
    )]
    TooLongToIndex { file: Arc<str>, rows: String },
    #[error("a recorded document or message cannot be read: {why}; run `tidings doctor`")]
    Frame { why: String },
    #[error("{file}: only the process that records may make this change; send it a command")]
    Guest { file: Arc<str> },
    #[error("another process records now (epoch {epoch} has ended); this one waits for its turn")]
    SeatLost { epoch: i64 },
    #[error(
        "the connection was lost during a commit, and the database did not say within a minute \
         whether it took effect; the next poll of each feed finds out"
    )]
    OutcomeUnknown,
    #[error("{file} is not a Tidings database; choose another data folder or database")]
    Foreign { file: Arc<str> },
    #[error("{file} has an unexpected schema: {what}; use a copy that `tidings backup` made")]
    Altered { file: Arc<str>, what: String },
    #[error("{file} exists already; choose another name, or replace it with --force")]
    Exists { file: Arc<str> },
    #[error(
        "{file} was removed or moved while the program runs. Nothing can be recorded. Move it \
         back, or stop the program, restore a backup and start again"
    )]
    Removed { file: Arc<str> },
    #[error(
        "{file} was replaced by another file while the program runs. Nothing can be recorded. \
         Stop the program, restore the right file or a backup, and start again"
    )]
    Replaced { file: Arc<str> },
    #[error("{file}: {detail}")]
    File { file: Arc<str>, detail: Arc<str> },
    #[error("cannot create the data folder {folder}: {detail}; choose another one with --data")]
    Folder { folder: Arc<str>, detail: Arc<str> },
    #[error("the store is closing and accepts no more changes")]
    Closed,
    #[error(
        "internal error while queries were matched or the next poll was decided; please report it"
    )]
    Matching,
    #[error("{file}: {}", said(file, *kind))]
    Database { file: Arc<str>, kind: ErrorKind, source: Arc<dyn std::error::Error + Send + Sync> },
}

/// Says that there is no store, for a file or for a database.
fn missing(file: &str) -> &'static str {
    if file.starts_with("postgres://") {
        "holds no store yet; start `tidings run` or add a feed first, or check the database and \
         the schema that --database names"
    } else {
        "does not exist; add a feed first, or choose the data folder with --data"
    }
}

/// Says what failed and what to do, for a file or for a database.
fn said(file: &str, kind: ErrorKind) -> String {
    let on_server = file.starts_with("postgres://");
    match kind {
        ErrorKind::ReadOnly if on_server => {
            "this role may not write there, or the server is a replica; log in as the owner of the \
             schema, on the primary"
                .to_owned()
        }
        ErrorKind::Corrupt if on_server => {
            "the database is damaged, or another program has changed it; restore a backup"
                .to_owned()
        }
        kind => kind.to_string(),
    }
}

/// The kind of a database error, for callers that must decide what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    DiskFull,
    ReadOnly,
    Busy,
    Corrupt,
    /// The database server does not answer.
    Unreachable,
    /// The database server does not let this program in.
    LoginRefused,
    /// The server cannot be trusted, or does not encrypt.
    NotEncrypted,
    /// The database does not take a value of the change. The same change fails again.
    Value,
    Other,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::DiskFull => {
                "the disk is full and nothing was written; free some space to continue"
            }
            ErrorKind::ReadOnly => {
                "it cannot be written; check the owner and the mode of the file and its folder"
            }
            ErrorKind::Busy => {
                "another program has locked it; try again, or stop that program first"
            }
            ErrorKind::Corrupt => {
                "the file is damaged; move it away and restore a backup, or start with no data"
            }
            ErrorKind::Unreachable => {
                "the database server does not answer; polling pauses and resumes by itself"
            }
            ErrorKind::LoginRefused => {
                "the database server refuses the login; check user, password, database name and \
                 pg_hba.conf"
            }
            ErrorKind::NotEncrypted => {
                "the encrypted connection failed; check sslmode, sslrootcert and the certificate \
                 of the server"
            }
            ErrorKind::Value => "the database does not take a value of this change",
            ErrorKind::Other => "the database reported an error; run `tidings doctor`",
        })
    }
}

impl StoreError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            StoreError::Database { kind, .. } => *kind,
            StoreError::Foreign { .. } => ErrorKind::Corrupt,
            _ => ErrorKind::Other,
        }
    }

    /// Returns whether the database server is away for now. The same call may succeed soon.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, StoreError::SeatLost { .. } | StoreError::OutcomeUnknown)
            || self.kind() == ErrorKind::Unreachable
    }

    pub(crate) fn database(file: &Arc<str>, source: SqlError) -> StoreError {
        let kind = source.kind();
        StoreError::Database { file: Arc::clone(file), kind, source: Arc::new(source) }
    }

    pub(crate) fn file(path: &Path, error: &std::io::Error) -> StoreError {
        StoreError::File { file: shown(path), detail: Arc::from(error.to_string()) }
    }

    pub(crate) fn damaged(file: &Arc<str>, said: String) -> StoreError {
        StoreError::database(file, SqlError::of_kind(ErrorKind::Corrupt, said))
    }

    pub(crate) fn read_only(file: &Arc<str>) -> StoreError {
        StoreError::database(file, SqlError::of_kind(ErrorKind::ReadOnly, "opened for reading"))
    }
}

/// An error inside the crate: an error of a statement that does not name the database yet, or a
/// [`StoreError`].
pub(crate) enum DbError {
    Sql(SqlError),
    Ours(StoreError),
}

impl DbError {
    pub(crate) fn at(self, file: &Arc<str>) -> StoreError {
        match self {
            DbError::Sql(source) => StoreError::database(file, source),
            DbError::Ours(error) => error,
        }
    }
}

impl From<SqlError> for DbError {
    fn from(error: SqlError) -> DbError {
        DbError::Sql(error)
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> DbError {
        DbError::Sql(error.into())
    }
}

impl From<StoreError> for DbError {
    fn from(error: StoreError) -> DbError {
        DbError::Ours(error)
    }
}

pub(crate) fn shown(path: &Path) -> Arc<str> {
    Arc::from(path.display().to_string())
}

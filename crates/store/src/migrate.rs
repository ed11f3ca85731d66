//! Moves a store to another place, which may be another kind of database.

use crate::Location;
use crate::db::transfer::{self, MigrationError, MigrationProgress, MigrationSummary};
use crate::report::check;

/// Copies the store at `from` to the empty place `to`, verifies the copy, and checks it.
///
/// Numbers, cursors, tokens, sessions, marks and learned state stay the same. The index of words
/// is not copied: the engine builds it again behind the polls. If the copy is interrupted, the same
/// call continues it.
pub fn migrate(
    from: &Location,
    to: &Location,
    progress: &mut dyn FnMut(&MigrationProgress<'_>),
) -> Result<MigrationSummary, MigrationError> {
    transfer::run(from, to, progress, &check::check_rows)
}

//! The number of a query, and its hash for tables.

use crate::hash::hash;

pub use feed::QueryId;

/// Returns the hash of a number.
pub(crate) fn id_hash(id: QueryId) -> u64 {
    hash(0, &id.0.to_le_bytes())
}

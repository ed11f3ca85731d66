//! The number of a query.

use std::fmt;

use crate::hash::hash;

/// The number of a query. The caller that stores the query chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

impl QueryId {
    pub(crate) fn hash(self) -> u64 {
        hash(0, &self.0.to_le_bytes())
    }
}

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

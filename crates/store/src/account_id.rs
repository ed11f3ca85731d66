//! The number of an account.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(transparent)]
pub struct AccountId(pub i64);

impl AccountId {
    /// The person at this machine while there are no accounts.
    pub const LOCAL: AccountId = AccountId(0);
    /// Owner of the read marks of deleted entries.
    pub(crate) const GONE: AccountId = AccountId(-1);
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

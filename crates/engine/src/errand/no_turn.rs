//! Why a request got no turn.

use crate::terminals::TerminalLack;

/// Why a request got no turn. Nothing was sent, so nobody is to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTurn {
    /// Also if the engine ends.
    #[error("the site asked us to wait")]
    AskedToWait,
    /// The region of the request has no terminal that takes it now.
    #[error(transparent)]
    NoTerminal(#[from] TerminalLack),
    #[error("the store could not note the request")]
    NotNoted,
}

//! The result of an exchange: its outcome, and the facts that callers need for their decisions.

use std::fmt;

use feed::{ExchangeFacts, RawAnswer, Validators};
use url::Url;

/// One exchange: its outcome and the facts about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub fetched: Fetched,
    pub facts: ExchangeFacts,
    /// The heads of both messages, if the settings say so, and the beginning of an error's body.
    /// Other bodies are in `fetched`.
    pub raw: Option<Box<RawAnswer>>,
}

/// The outcome of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// Status 304, with the validators in the answer. If a field is `None`, the validator that was
    /// sent stays valid.
    NotModified {
        validators: Validators,
    },
    /// A document, decompressed.
    Body {
        bytes: Vec<u8>,
        content_type: Option<String>,
        validators: Validators,
        /// Status 226: the body has only what changed.
        partial: bool,
    },
    /// A redirect that was not followed. User and password are passed on to the same origin only.
    Moved {
        to: Url,
        /// Whether the status was 301 or 308.
        permanent: bool,
    },
    /// Status 410.
    Gone,
    /// The server refused: 401, 403, 429 or 451.
    Refused {
        status: u16,
    },
    /// The guard refused: the address is not public.
    Blocked {
        reason: String,
    },
    Failed(Failure),
}

/// An exchange that brought nothing: the kind of failure, and the cause in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The name could not be looked up: no name server answered, or it reported an error.
    Dns,
    /// The name was looked up, and the host does not exist.
    NoSuchHost,
    /// The connection failed or took too long.
    Connect,
    Tls,
    /// Connected, but the answer or its body did not arrive in time.
    Timeout,
    /// A status without a document: 404, 5xx and unusual ones.
    Status(u16),
    /// The body exceeds our limit.
    TooLarge,
    /// The body is not encoded as the server says.
    Encoding,
    /// The answer is not HTTP, or was cut off.
    Protocol,
    /// A redirect without a valid target.
    Redirect,
}

impl FailureKind {
    /// Whether the cause may be on our side. Many of these at once mean that our network is down.
    /// "No such host" does not count, because a name server was reached.
    pub fn may_be_our_network(self) -> bool {
        matches!(self, FailureKind::Dns | FailureKind::Connect)
    }
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, detail: impl Into<String>) -> Failure {
        Failure { kind, detail: detail.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

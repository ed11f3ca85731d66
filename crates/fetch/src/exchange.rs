//! The result of an exchange: its outcome, and the facts that callers need for their decisions.

use std::fmt;

use feed::{ExchangeFacts, Validators};
use url::Url;

/// One exchange: its outcome and the facts about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub fetched: Fetched,
    pub facts: ExchangeFacts,
}

/// The outcome of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// Status 304. The validators are those that it carries; a field it does not carry is `None`,
    /// and then the one that was sent stays valid.
    NotModified {
        validators: Validators,
    },
    /// A document, decompressed.
    Body {
        bytes: Vec<u8>,
        content_type: Option<String>,
        validators: Validators,
        /// 226: only what changed.
        partial: bool,
    },
    /// A redirect that was not followed. User and password go along to the same origin only.
    Moved {
        to: Url,
        /// 301 and 308.
        permanent: bool,
    },
    /// Status 410.
    Gone,
    /// The server refused: 401, 403, 429 or 451.
    Refused {
        status: u16,
    },
    /// The guard forbids it: the address is not public.
    Blocked {
        reason: String,
    },
    Failed(Failure),
}

/// An exchange that brought nothing: what kind of failure, and the cause in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The name could not be looked up: no server answered, or it said that it cannot.
    Dns,
    /// The name was looked up, and there is no such host.
    NoSuchHost,
    /// No connection, or none in time.
    Connect,
    Tls,
    /// Connected, but the answer or its body did not come in time.
    Timeout,
    /// A status that brings no document: 404, 5xx and the odd ones.
    Status(u16),
    /// The body is longer than we take.
    TooLarge,
    /// The body is not encoded as the server says.
    Encoding,
    /// The answer is not HTTP, or was cut off.
    Protocol,
    /// A redirect that leads nowhere.
    Redirect,
}

impl FailureKind {
    /// Whether the cause may be on our side. Many of these at once mean that the network is down.
    /// "No such host" is not one of them: a name server had to be reached to say it.
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

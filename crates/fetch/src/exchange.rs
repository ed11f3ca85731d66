//! The result of an exchange: its outcome, and the facts that callers need for their decisions.

use std::fmt;
use std::time::Duration;

use feed::Time;
use url::Url;

use crate::Links;

/// One exchange: its outcome and the facts about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub fetched: Fetched,
    pub facts: Facts,
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

/// The validators of a document, sent back byte for byte: some servers compare them as texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<Vec<u8>>,
    pub last_modified: Option<Vec<u8>>,
}

impl Validators {
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// Facts about an exchange, whatever its outcome. A missing one was not sent by the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    pub status: Option<u16>,
    pub http_version: Option<HttpVersion>,
    pub date: Option<Time>,
    /// For how long from now on the answer is fresh, by `max-age`: the time that it lay in a cache
    /// is over.
    pub max_age: Option<Duration>,
    pub expires: Option<Time>,
    pub retry_after: Option<RetryAfter>,
    pub links: Links,
    /// The answer's head as HTTP/1 spells it, plus the body as it came (compressed). TLS, chunk
    /// marks and HPACK are not counted.
    pub wire_bytes: u64,
    pub elapsed: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpVersion {
    Http10,
    Http11,
    Http2,
}

/// The time until which a server asks for no requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAfter {
    After(Duration),
    At(Time),
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
    /// Whether the cause may be on our side: many of these at once mean that the network is
    /// down. "No such host" is not one of them by itself: a name server had to be reached to say
    /// it.
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

//! The vocabulary of one HTTP exchange, shared by the code that makes it, passes it on and judges
//! it. It holds values only: nothing here sends a request or interprets an answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::Time;

/// The values by which a server recognises its document. They are sent back byte for byte, because
/// some servers compare them as text.
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

/// The facts about an exchange, for any outcome. `None` means that the server did not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct ExchangeFacts {
    pub status: Option<u16>,
    pub http_version: Option<HttpVersion>,
    pub date: Option<Time>,
    /// How long the answer is still fresh by `max-age`. The time it spent in a cache is
    /// subtracted.
    pub max_age: Option<Duration>,
    pub expires: Option<Time>,
    pub retry_after: Option<RetryAfter>,
    pub links: Links,
    /// `X-Robots-Tag` asks that copies of the answer are not shown elsewhere.
    #[serde(default)]
    pub noarchive: bool,
    /// The answer's head as HTTP/1 spells it, plus the body as it came (compressed). TLS, chunk
    /// marks and HPACK are not counted.
    pub wire_bytes: u64,
    pub elapsed: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub enum HttpVersion {
    Http10,
    Http11,
    Http2,
}

/// The value of a `Retry-After` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum RetryAfter {
    After(Duration),
    At(Time),
}

/// The addresses that the `Link` headers of an answer name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Links {
    /// The first `rel="hub"`.
    #[serde(with = "url_text")]
    pub hub: Option<Url>,
    /// The first `rel="self"`.
    #[serde(with = "url_text")]
    pub own: Option<Url>,
}

/// The serialised form of an address: its text.
mod url_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use url::Url;

    pub fn serialize<S: Serializer>(url: &Option<Url>, to: S) -> Result<S::Ok, S::Error> {
        url.as_ref().map(Url::as_str).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Url>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| Url::parse(&text)).transpose().map_err(de::Error::custom)
    }
}

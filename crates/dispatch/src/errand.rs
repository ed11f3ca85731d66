//! An errand: one request that is not a poll, such as a page behind an entry or a request to a hub.
//! It goes to a terminal as polls do, and its answer comes back as it is.

use std::time::Duration;

use feed::{ExchangeFacts, RequestSettings, RetryAfter, Trouble, Validators};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fields;
use crate::job::GrantId;

/// The order to send one request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ErrandJob {
    pub grant: GrantId,
    #[serde(with = "fields::url")]
    pub url: Url,
    pub request: ErrandRequest,
    /// The latest moment to send it, by the controller's [`Stopwatch`](crate::Stopwatch).
    pub send_by: Duration,
}

/// The request of an errand.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ErrandRequest {
    /// A web page.
    Page {
        #[serde(with = "fields::validators")]
        validators: Validators,
        /// The settings of the feed that the page belongs to, for its own site.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<Box<RequestSettings>>,
    },
    /// A file of any type and of at most so many bytes.
    File {
        #[serde(with = "fields::validators")]
        validators: Validators,
        bytes_max: usize,
        /// Only so many bytes are wanted; a longer file is cut. A terminal that does not know this
        /// brings the whole file, or fails if it is longer than `bytes_max`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first_bytes: Option<usize>,
        /// The time for the whole exchange, if it is shorter than usual.
        within: Option<Duration>,
    },
    /// Sends a body, once.
    Post {
        content_type: String,
        headers: Vec<(String, String)>,
        #[serde(with = "fields::bytes")]
        body: Vec<u8>,
    },
}

impl ErrandRequest {
    /// A file of at most so many bytes, whether it changed or not.
    pub fn file(bytes_max: usize) -> ErrandRequest {
        let validators = Validators::default();
        ErrandRequest::File { validators, bytes_max, first_bytes: None, within: None }
    }

    /// The first bytes of a file. At most `bytes_max` bytes are received for this.
    pub fn beginning(first_bytes: usize, bytes_max: usize) -> ErrandRequest {
        let (validators, first_bytes) = (Validators::default(), Some(first_bytes));
        ErrandRequest::File { validators, bytes_max, first_bytes, within: None }
    }
}

/// The answer to an [`ErrandJob`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct ErrandResult {
    pub grant: GrantId,
    pub facts: ExchangeFacts,
    pub reading: ErrandReading,
}

/// The outcome of an errand.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ErrandReading {
    /// The terminal did not send the request.
    NotSent,
    /// Status 304.
    NotModified {
        #[serde(with = "fields::validators")]
        validators: Validators,
    },
    Body {
        #[serde(with = "fields::bytes")]
        bytes: Vec<u8>,
        content_type: Option<String>,
        #[serde(with = "fields::validators")]
        validators: Validators,
        partial: bool,
    },
    /// A redirect that was not followed.
    Moved {
        #[serde(with = "fields::url")]
        to: Url,
        permanent: bool,
    },
    /// Status 410.
    Gone,
    /// Status 401, 403, 429 or 451.
    Refused {
        status: u16,
    },
    /// The answer to a body that was sent.
    Posted {
        status: u16,
        retry_after: Option<RetryAfter>,
        #[serde(with = "fields::optional_url", default, skip_serializing_if = "Option::is_none")]
        to: Option<Url>,
    },
    /// The address is not public.
    Blocked {
        reason: String,
    },
    Failed {
        trouble: Trouble,
        detail: String,
    },
}

impl ErrandResult {
    /// A result without the facts of an exchange.
    pub fn bare(grant: GrantId, reading: ErrandReading) -> ErrandResult {
        ErrandResult { grant, facts: ExchangeFacts::default(), reading }
    }
}

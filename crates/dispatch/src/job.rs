//! A poll job: everything that a worker needs for one request of a poll. The controller fills it
//! from the store; the worker needs neither store nor plan.

use std::sync::Arc;
use std::time::Duration;

use feed::{Domain, FeedId, RequestSettings, Time, Validators, Window};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::fields;

/// The number of a grant. Numbers ascend and are never used twice by one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(transparent)]
pub struct GrantId(pub u64);

/// The order to make one request of a poll.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PollJob {
    pub grant: GrantId,
    pub feed: FeedId,
    /// The feed's poll counter. A result with an older one is not recorded.
    pub generation: u32,
    #[serde(with = "fields::url")]
    pub url: Url,
    /// The validators that this URL gave.
    #[serde(with = "fields::validators")]
    pub validators: Validators,
    /// The hash of the last document.
    #[serde(with = "fields::optional_hash")]
    pub body_hash: Option<[u8; 16]>,
    /// The last window of the feed. The local channel shares it.
    #[serde(with = "fields::window")]
    pub window: Arc<Window>,
    /// Names the window where it does not travel with the job. The local channel leaves it empty.
    #[serde(with = "fields::optional_hash", default)]
    pub window_digest: Option<[u8; 16]>,
    /// The latest moment to send the request, by the controller's [`Stopwatch`](crate::Stopwatch).
    pub send_by: Duration,
    pub so_far: SoFar,
    /// Compare neither hash nor window: every item comes back.
    pub whole: bool,
    /// Settings of the feed for requests to this origin, with their secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<RequestSettings>>,
}

/// The part of a poll before this request. It goes out with the job and comes back with the
/// result, so that any controller can grant the next redirect. Times are by the controller's
/// clock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct SoFar {
    /// The number of redirects followed.
    pub n_hops: u32,
    /// Every redirect so far was permanent.
    pub permanent: bool,
    /// The domains that redirected the poll.
    pub passed: Vec<PassedDomain>,
    /// Bytes on the wire, over all requests.
    pub bytes: u64,
    /// Duration of all exchanges.
    pub elapsed: Duration,
    /// The time of parsing, over all answers.
    #[serde(default)]
    pub parse: Duration,
    /// When the controller handed over the first request, in whole seconds.
    pub first_sent_at: Option<Time>,
    /// The address of this request, if a redirect led there.
    #[serde(with = "fields::optional_url", default, skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<Url>,
}

/// A domain that redirected a poll, and when its answer arrived.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PassedDomain {
    #[serde(with = "fields::domain")]
    pub domain: Domain,
    pub at: Time,
}

impl Default for SoFar {
    /// A poll that has made no request.
    fn default() -> SoFar {
        SoFar {
            n_hops: 0,
            permanent: true,
            passed: Vec::new(),
            bytes: 0,
            elapsed: Duration::ZERO,
            parse: Duration::ZERO,
            first_sent_at: None,
            redirected_to: None,
        }
    }
}

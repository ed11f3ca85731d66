//! The settings that all HTTP clients of a fetcher share.

use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Client, ClientBuilder};

use crate::lease::IDLE_TIMEOUT;
use crate::names::Names;

/// More headers than any honest server sends.
const HEADERS_MAX: usize = 128;
/// The bytes of all headers together over HTTP/2. Over HTTP/1 the library has a limit of about 400
/// KB.
const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// The system sends bytes that nobody confirmed again for so long at most.
const UNCONFIRMED_MAX: Duration = Duration::from_secs(30);

/// How long the parts of a connection may take.
#[derive(Clone, Copy)]
pub(crate) struct ConnectionTimes {
    connect: Duration,
    unconfirmed: Duration,
}

impl ConnectionTimes {
    /// `exchange` is the longest duration of an exchange. The system sends a request again that
    /// was lost on the way, even after the connection was closed. It must not arrive long after
    /// its exchange: other requests are under way then.
    pub(crate) fn new(connect: Duration, exchange: Duration) -> ConnectionTimes {
        ConnectionTimes { connect, unconfirmed: exchange.min(UNCONFIRMED_MAX) }
    }
}

/// Begins a client that follows no redirect, uses no proxy and resolves names through the guard.
pub(crate) fn client_builder(
    names: Names,
    tls: rustls::ClientConfig,
    user_agent: &HeaderValue,
    times: ConnectionTimes,
) -> ClientBuilder {
    let builder = Client::builder();
    #[cfg(target_os = "linux")]
    let builder = builder.tcp_user_timeout(times.unconfirmed);
    builder
        .connect_timeout(times.connect)
        .user_agent(user_agent)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .no_proxy()
        .dns_resolver(names)
        .tls_backend_preconfigured(tls)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .http1_max_headers(HEADERS_MAX)
        .http1_ignore_invalid_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http2_max_header_list_size(HEADER_BYTES_MAX)
}

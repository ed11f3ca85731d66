//! The settings of exchanges, with their defaults and reasons. It reads neither files nor the
//! environment.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// The settings of exchanges. [`Settings::new`] returns the defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sent with every request, so that the operator of a server knows whom to ask.
    pub user_agent: String,
    /// Whether loopback, private and other addresses that are not public may be reached.
    pub allow_private: bool,
    /// Whether requests go to this machine only: to loopback addresses, and to names that `resolve`
    /// leads there. The clock of a demonstration runs fast, so its pace would flood other servers.
    pub loopback_only: bool,
    /// Whether to send `Cache-Control: no-cache`, so that no cache on the way sends an outdated
    /// answer.
    pub no_cache: bool,
    /// From the lookup of the name to the end of the TLS handshake. A host that takes longer than
    /// 10 s hardly ever answers.
    pub connect_timeout: Duration,
    /// From the start of the exchange to the last header. Slow feeds are generated at request time,
    /// which rarely takes longer than 20 s.
    pub header_timeout: Duration,
    /// From the last header to the last byte of the body. It cuts off a server that sends byte by
    /// byte.
    pub body_timeout: Duration,
    /// Bytes of the body after decompression. The largest honest feeds seen have about 3 MB.
    pub body_bytes_max: usize,
    /// Connections that may stay open while unused, over all hosts. Each needs about 20 KB and one
    /// file descriptor.
    pub idle_connections_max: usize,
    /// Names with fixed addresses that replace DNS, for tests and split DNS. The guard checks these
    /// addresses too.
    pub resolve: HashMap<String, Vec<IpAddr>>,
    /// Whether an exchange keeps the heads of its messages, for recordings.
    pub keep_heads: bool,
    /// Proxies for which the operator vouches. They may have an address that is not public, and
    /// they look up the names of feeds themselves.
    pub outgoing_proxies: Vec<String>,
    /// Certificate authorities in PEM, trusted in addition to those of the machine.
    pub authorities_pem: Vec<u8>,
}

impl Settings {
    /// Returns the defaults. `contact` is the URL in the User-Agent.
    pub fn new(contact: &str) -> Settings {
        Settings {
            user_agent: format!("Tidings/{} (+{contact})", env!("CARGO_PKG_VERSION")),
            allow_private: false,
            loopback_only: false,
            no_cache: true,
            connect_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(20),
            body_timeout: Duration::from_secs(60),
            body_bytes_max: 4_000_000,
            idle_connections_max: 256,
            resolve: HashMap::new(),
            keep_heads: false,
            outgoing_proxies: Vec::new(),
            authorities_pem: Vec::new(),
        }
    }
}

/// The reason why a fetcher could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(
        "the User-Agent `{0}` cannot be sent; write the contact as a URL in plain ASCII, such as \
         https://example.org/about"
    )]
    UserAgent(String),
    #[error("the extra certificate authorities cannot be read: {0}; they must be PEM certificates")]
    Authorities(String),
    #[error("the HTTP client cannot be set up")]
    Client(#[source] reqwest::Error),
}

//! The settings of exchanges, with the documented defaults and their reasons. It reads no file and
//! no environment.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

/// How exchanges are made. [`Settings::new`] gives the documented defaults.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Sent with every request, so that an operator of a server knows whom to ask.
    pub user_agent: String,
    /// Loopback, private and otherwise not public addresses may be reached.
    pub allow_private: bool,
    /// Requests go to this machine only: to loopback addresses, and to names that `resolve` leads
    /// there. The clock of a demonstration runs fast; its pace would be a flood to others.
    pub loopback_only: bool,
    /// Sends `Cache-Control: no-cache`, so that no cache on the way answers stale.
    pub no_cache: bool,
    /// From the lookup of the name to the end of the TLS handshake. A host that takes longer
    /// than 10 s is not one that answers.
    pub connect_timeout: Duration,
    /// From the start of the exchange to the last header. Slow feeds are generated at request
    /// time, rarely for longer than 20 s.
    pub header_timeout: Duration,
    /// From the last header to the last byte of the body. It cuts off a server that drips.
    pub body_timeout: Duration,
    /// Bytes of the body after decompression; the largest honest feeds seen are about 3 MB.
    pub body_bytes_max: usize,
    /// Connections that may stay open while unused, over all hosts: about 20 KB and one
    /// descriptor each.
    pub idle_connections_max: usize,
    /// Names that are not asked of DNS but lead to these addresses, for tests and split DNS. The
    /// addresses are judged like any other.
    pub resolve: HashMap<String, Vec<IpAddr>>,
    /// Certificate authorities in PEM, trusted in addition to those of the machine.
    pub authorities_pem: Vec<u8>,
}

impl Settings {
    /// The defaults; `contact` is the URL that the User-Agent names.
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

//! The limits of one exchange, as every part of it applies them.

use std::time::Duration;

/// The limits of one exchange.
#[derive(Clone, Copy)]
pub(crate) struct ExchangeLimits {
    pub connect_timeout: Duration,
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    pub body_bytes_max: usize,
    /// Only so many bytes of a body are wanted; the rest of a longer one is not read.
    pub first_bytes: Option<usize>,
    pub has_authorities: bool,
}

//! An answer as it came, for recordings. It holds values only.

use std::net::IpAddr;

/// The longest body of an error that a recording keeps. One that reaches it counts as cut.
pub const ERROR_BYTES_MAX: usize = 64 * 1024;

/// The messages of the last exchange of a poll.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawAnswer {
    /// The request line and the headers of the request, without credentials. Empty: nothing was
    /// sent.
    pub request: Vec<u8>,
    /// The status line and the headers of the answer. Empty: there was no answer.
    pub head: Vec<u8>,
    /// The machine that answered.
    pub remote: Option<IpAddr>,
    /// The body, decompressed; `None`: there was none, or it is the same as before. The body of an
    /// error is cut after [`ERROR_BYTES_MAX`] bytes.
    pub body: Option<Vec<u8>>,
}

//! HTTP around the routes: the server, headers of every answer, one spelling of a path, form
//! fields up to a limit, validators, and counts of requests. It knows neither people nor feeds.

pub mod etag;
pub mod guard;
pub mod pairs;
pub mod paths;
pub mod server;
pub mod traffic;

use feed::Time;

use crate::words;
use crate::zone::Zone;

/// Formats a time for an HTTP header.
pub fn date(time: Time) -> String {
    words::strftime(time, "%a, %d %b %Y %H:%M:%S GMT", Zone::UTC)
}

//! What a page's address asks for. Lenient: what is not understood is as if it were not said.

use url::form_urlencoded;

/// A number given in the address, if it is one.
pub fn number(query: Option<&str>, name: &str) -> Option<u32> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or("").as_bytes());
    pairs.find(|(n, _)| n == name).and_then(|(_, value)| value.parse().ok())
}

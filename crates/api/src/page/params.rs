//! Values in the query string of a page. Values that cannot be read are ignored.

use url::form_urlencoded;

/// Returns the number under a name, if there is one.
pub fn number(query: Option<&str>, name: &str) -> Option<u32> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or("").as_bytes());
    pairs.find(|(n, _)| n == name).and_then(|(_, value)| value.parse().ok())
}

/// Returns the text under a name, if there is one.
pub fn text(query: Option<&str>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or("").as_bytes());
    pairs.find(|(n, _)| n == name).map(|(_, value)| value.into_owned())
}

//! Feed URLs as they are subscribed, and the registrable domain, which has one pace.

mod secrets;

use std::fmt;
use std::net::IpAddr;

use url::Url;

pub use secrets::{mask_address, mask_secrets, mask_text};

/// Bytes of an address that the store looks up: that of a feed, a site, a receiver or an enclosure.
/// PostgreSQL has room for about 2,700 bytes in a row of an index.
pub const INDEXED_ADDRESS_MAX: usize = 2000;

/// The longest name of a host (RFC 1035).
const HOST_BYTES_MAX: usize = 253;

/// A feed's URL as subscribed: scheme and host in lower case, no default port, no fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FeedUrl(Url);

/// The reason why a text is not a feed URL.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    #[error("`{0}` is not a URL: {1}; write it as https://example.org/feed.xml")]
    Syntax(String, String),
    #[error("`{0}` has the scheme `{1}`; feeds are polled by http and https only")]
    Scheme(String, String),
    #[error("`{0}` names no host; write it as https://example.org/feed.xml")]
    Host(String),
    #[error("the URL has {0} bytes, and the limit is {INDEXED_ADDRESS_MAX}; use a shorter one")]
    TooLong(usize),
}

impl FeedUrl {
    /// Reads a URL as a person or a subscription list writes it. A missing scheme means https;
    /// `feed:` is an old spelling of http.
    pub fn parse(text: &str) -> Result<FeedUrl, AddressError> {
        let url = FeedUrl::from_stored(text.trim())?;
        // Escapes make a text longer.
        match url.as_str().len() {
            0..=INDEXED_ADDRESS_MAX => Ok(url),
            n => Err(AddressError::TooLong(n)),
        }
    }

    /// Reads a URL that was stored before, perhaps under another limit.
    pub fn from_stored(text: &str) -> Result<FeedUrl, AddressError> {
        let spelled = if let Some(rest) = text.strip_prefix("feed://") {
            format!("http://{rest}")
        } else if let Some(rest) = text.strip_prefix("feed:") {
            rest.to_owned()
        } else if looks_like_bare_host(text) {
            format!("https://{text}")
        } else {
            text.to_owned()
        };
        let mut url =
            Url::parse(&spelled).map_err(|e| AddressError::Syntax(mask_text(text), fault_of(e)))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme(mask_text(text), url.scheme().to_owned()));
        }
        if url.host_str().is_none_or(str::is_empty) {
            return Err(AddressError::Host(mask_text(text)));
        }
        url.set_fragment(None);
        Ok(FeedUrl(url))
    }

    pub fn url(&self) -> &Url {
        &self.0
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the URL with user, password and secret query values masked, for display.
    pub fn masked(&self) -> String {
        mask_secrets(&self.0)
    }

    /// Returns a text that a person wrote as a feed's address, masked for display.
    pub fn mask(text: &str) -> String {
        FeedUrl::parse(text).map_or_else(|_| mask_text(text), |url| url.masked())
    }

    pub fn domain(&self) -> Domain {
        Domain::of(&self.0)
    }

    /// Returns the same address with http and https swapped, for a warning about duplicates.
    pub fn twin(&self) -> FeedUrl {
        let mut url = self.0.clone();
        let other = if url.scheme() == "http" { "https" } else { "http" };
        let changed = url.set_scheme(other);
        debug_assert!(changed.is_ok(), "http and https are both special schemes");
        FeedUrl(url)
    }
}

impl fmt::Display for FeedUrl {
    /// Masks secrets, so that no message shows one by accident.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked())
    }
}

fn fault_of(error: url::ParseError) -> String {
    match error {
        url::ParseError::RelativeUrlWithoutBase => {
            "it begins with neither https:// nor http://".to_owned()
        }
        other => other.to_string(),
    }
}

fn looks_like_bare_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#']).next().unwrap_or("");
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "0"));
    !text.contains("://")
        && name.contains('.')
        && port.bytes().all(|b| b.is_ascii_digit())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_') || b >= 0x80)
}

/// The unit of pace: the registrable domain (`example.co.uk`), or else the bare address or
/// single-label host. The port does not count.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(String);

impl Domain {
    pub fn of(url: &Url) -> Domain {
        match url.host() {
            Some(url::Host::Domain(name)) => Domain::of_name(name),
            Some(url::Host::Ipv4(ip)) => Domain(IpAddr::V4(ip).to_string()),
            Some(url::Host::Ipv6(ip)) => Domain(IpAddr::V6(ip).to_string()),
            None => Domain(String::new()),
        }
    }

    fn of_name(name: &str) -> Domain {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        // A publisher may link to a host that cannot exist. The store looks domains up by name.
        let extra = name.len().saturating_sub(HOST_BYTES_MAX);
        let name = name[name.ceil_char_boundary(extra)..].to_owned();
        let registrable = psl::domain_str(&name).map(str::to_owned);
        Domain(registrable.unwrap_or(name))
    }

    /// Returns a domain as it was stored or configured.
    pub fn from_stored(name: &str) -> Domain {
        Domain(name.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(FeedUrl::parse(text).map(|u| u.as_str().to_owned()).unwrap_or_default(), expect);
    }

    #[test]
    fn urls_are_normalised_and_nothing_else_is_touched() {
        check("HTTP://Example.ORG:80/Feed?b=2&a=1#top", "http://example.org/Feed?b=2&a=1");
        check("https://example.org:8443/", "https://example.org:8443/");
        check("example.org/feed", "https://example.org/feed");
        check("feed://example.org/x", "http://example.org/x");
        check("feed:https://example.org/x", "https://example.org/x");
        check("ftp://example.org/x", "");
        check("not a url", "");
    }

    #[test]
    fn an_address_that_no_index_can_hold_is_refused_but_still_read() {
        let long = format!("https://example.org/{}", "a".repeat(INDEXED_ADDRESS_MAX - 20));
        check(&long, &long);
        for text in [format!("{long}a"), format!("https://example.org/{}", "ä".repeat(400))] {
            let error = FeedUrl::parse(&text).unwrap_err().to_string();
            assert!(error.contains("the limit is 2000; use a shorter one"), "{error}");
            assert!(FeedUrl::from_stored(&text).is_ok());
        }
        let host = format!("https://{}.example.org/", vec!["x".repeat(60); 50].join("."));
        assert_eq!(Domain::of(&Url::parse(&host).unwrap()).as_str(), "example.org");
        let host = format!("https://{}/", "x".repeat(3000));
        assert_eq!(Domain::of(&Url::parse(&host).unwrap()).as_str().len(), HOST_BYTES_MAX);
    }

    #[test]
    fn pace_is_kept_for_the_registrable_domain() {
        let domain = |s: &str| FeedUrl::parse(s).unwrap().domain().as_str().to_owned();
        assert_eq!(domain("https://user.tumblr.com/rss"), "tumblr.com");
        assert_eq!(domain("https://feeds.bbc.co.uk/x"), "bbc.co.uk");
        assert_eq!(domain("http://127.0.3.4:8080/x"), "127.0.3.4");
        assert_eq!(domain("http://localhost:1/x"), "localhost");
        assert_eq!(domain("http://[::1]:1/x"), "::1");
    }
}

//! Settings for the requests of one feed: headers, cookies, User-Agent, login, proxy, and whether
//! certificates are checked. This module checks and shows values. It sends and stores nothing.

use std::fmt;

use serde::{Deserialize, Serialize};
use url::Url;

/// Bytes of one value. Servers accept about 8 KB of headers.
const VALUE_BYTES_MAX: usize = 4096;
/// Bytes of the name of a header.
const NAME_BYTES_MAX: usize = 64;
/// Headers of one feed, and the bytes of all its settings together.
const HEADERS_MAX: usize = 16;
const TOTAL_BYTES_MAX: usize = 8192;

/// Headers that the exchange itself decides. A person who sets one of them could smuggle a second
/// request, reach another host, or break conditional requests.
const RESERVED: [&str; 26] = [
    "a-im",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "max-forwards",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
];

/// One setting of a feed's requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FetchSetting {
    /// An extra header, by its name in lower case.
    Header(String),
    Cookie,
    UserAgent,
    /// User and password of basic authentication.
    Login,
    Proxy,
    /// Accept any certificate.
    InsecureTls,
}

/// The reason why a setting is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchSettingError {
    #[error("`{0}` is not the name of a header; names have letters, digits and -")]
    HeaderName(String),
    #[error("the header {0} cannot be set: every request decides it itself")]
    Reserved(String),
    #[error("set the header {0} with its own setting: {1}")]
    OwnSetting(&'static str, &'static str),
    #[error("the value of {0} is empty; remove the setting instead")]
    Empty(String),
    #[error("the value of {0} has more than {VALUE_BYTES_MAX} bytes")]
    TooLong(String),
    #[error("the value of {0} has a line break or a sign that cannot stand in a header")]
    Sign(String),
    #[error("a login is written as user:password")]
    Login,
    #[error(
        "`{0}` is not a proxy; write http://HOST:PORT, https://HOST:PORT, socks5://HOST:PORT or \
         socks5h://HOST:PORT, with user:password@ before the host if it needs a login"
    )]
    Proxy(String),
    #[error("a feed can have {HEADERS_MAX} extra headers and {TOTAL_BYTES_MAX} bytes of settings")]
    TooMany,
}

impl FetchSetting {
    /// Returns the name under which the setting is stored and travels.
    pub fn name(&self) -> String {
        match self {
            FetchSetting::Header(name) => format!("header {name}"),
            other => other.word().to_owned(),
        }
    }

    /// Returns the setting with a stored name.
    pub fn from_name(name: &str) -> Option<FetchSetting> {
        Some(match name {
            "cookie" => FetchSetting::Cookie,
            "user-agent" => FetchSetting::UserAgent,
            "login" => FetchSetting::Login,
            "proxy" => FetchSetting::Proxy,
            "insecure-tls" => FetchSetting::InsecureTls,
            _ => FetchSetting::header(name.strip_prefix("header ")?).ok()?,
        })
    }

    /// Returns the setting for an extra header. Refuses names that a request decides itself.
    pub fn header(name: &str) -> Result<FetchSetting, FetchSettingError> {
        let name = name.trim().to_ascii_lowercase();
        let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_');
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.bytes().all(is_name) {
            let shown = name.chars().take(NAME_BYTES_MAX).collect();
            return Err(FetchSettingError::HeaderName(shown));
        }
        match name.as_str() {
            "cookie" => return Err(FetchSettingError::OwnSetting("Cookie", "cookie")),
            "user-agent" => return Err(FetchSettingError::OwnSetting("User-Agent", "user agent")),
            _ => {}
        }
        if RESERVED.contains(&name.as_str()) {
            return Err(FetchSettingError::Reserved(name));
        }
        Ok(FetchSetting::Header(name))
    }

    fn word(&self) -> &'static str {
        match self {
            FetchSetting::Header(_) => "header",
            FetchSetting::Cookie => "cookie",
            FetchSetting::UserAgent => "user-agent",
            FetchSetting::Login => "login",
            FetchSetting::Proxy => "proxy",
            FetchSetting::InsecureTls => "insecure-tls",
        }
    }

    /// Whether the value must be encrypted and is never shown again.
    pub fn is_secret(&self) -> bool {
        !matches!(self, FetchSetting::UserAgent | FetchSetting::InsecureTls)
    }

    /// Whether only administrators may set it: it decides which machines are reached and trusted.
    pub fn needs_admin(&self) -> bool {
        matches!(self, FetchSetting::Proxy | FetchSetting::InsecureTls)
    }

    /// Whether it opens the door of a site for one person. A feed with it is private.
    pub fn is_credential(&self) -> bool {
        self.is_secret() && !self.needs_admin()
    }

    /// Returns the part of a value that may be shown.
    pub fn shown(&self, value: &str) -> Option<String> {
        match self {
            FetchSetting::UserAgent => Some(value.to_owned()),
            FetchSetting::InsecureTls => Some("not checked".to_owned()),
            FetchSetting::Proxy => Url::parse(value).ok().map(|url| crate::mask_secrets(&url)),
            FetchSetting::Header(_) | FetchSetting::Cookie | FetchSetting::Login => None,
        }
    }

    /// Checks a value. Returns it without spaces at its ends.
    pub fn check(&self, value: &str) -> Result<String, FetchSettingError> {
        let value = value.trim();
        let name = || self.name();
        if value.is_empty() {
            return Err(FetchSettingError::Empty(name()));
        }
        if value.len() > VALUE_BYTES_MAX {
            return Err(FetchSettingError::TooLong(name()));
        }
        // The password of a login is encoded, so it may have any sign.
        let is_sent_as_it_is = !matches!(self, FetchSetting::Login);
        let is_plain = |c: u8| (0x20..0x7f).contains(&c);
        if value.chars().any(char::is_control) || is_sent_as_it_is && !value.bytes().all(is_plain) {
            return Err(FetchSettingError::Sign(name()));
        }
        match self {
            FetchSetting::Login if !value.contains(':') => Err(FetchSettingError::Login),
            FetchSetting::Proxy if !is_proxy(value) => {
                Err(FetchSettingError::Proxy(crate::mask_text(value)))
            }
            _ => Ok(value.to_owned()),
        }
    }
}

fn is_proxy(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return false };
    matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h")
        && url.host_str().is_some_and(|host| !host.is_empty())
        && matches!(url.path(), "" | "/")
        && url.query().is_none()
        && url.fragment().is_none()
}

/// Returns the origin of a URL as text: settings are bound to it.
pub fn origin_text(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The settings of a request as values. `Debug` does not show them.
#[derive(Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct RequestSettings {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// As user:password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    pub insecure_tls: bool,
    /// Why the settings cannot be used. Then no request is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl fmt::Debug for RequestSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("RequestSettings")
            .field("headers", &names)
            .field("cookie", &self.cookie.is_some())
            .field("user_agent", &self.user_agent)
            .field("login", &self.login.is_some())
            .field("proxy", &self.proxy.is_some())
            .field("insecure_tls", &self.insecure_tls)
            .field("fault", &self.fault)
            .finish()
    }
}

impl RequestSettings {
    /// Adds a checked value.
    pub fn put(&mut self, setting: &FetchSetting, value: String) {
        match setting {
            FetchSetting::Header(name) => self.headers.push((name.clone(), value)),
            FetchSetting::Cookie => self.cookie = Some(value),
            FetchSetting::UserAgent => self.user_agent = Some(value),
            FetchSetting::Login => self.login = Some(value),
            FetchSetting::Proxy => self.proxy = Some(value),
            FetchSetting::InsecureTls => self.insecure_tls = true,
        }
    }

    /// Refuses more settings than a request can carry.
    pub fn check_size(&self) -> Result<(), FetchSettingError> {
        let of_headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        let others = [&self.cookie, &self.user_agent, &self.login, &self.proxy];
        let bytes = of_headers.sum::<usize>()
            + others.iter().filter_map(|value| value.as_ref().map(String::len)).sum::<usize>();
        match self.headers.len() > HEADERS_MAX || bytes > TOTAL_BYTES_MAX {
            true => Err(FetchSettingError::TooMany),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_a_request_decides_itself_are_refused() {
        for name in ["Host", "content-length", " Transfer-Encoding ", "Connection", "TE", "Via"] {
            let refused = FetchSetting::header(name);
            assert!(matches!(refused, Err(FetchSettingError::Reserved(_))), "{name}");
        }
        for name in ["", "a b", "x:y", "x\r\ny", "ü", "x\0", &"x".repeat(65)] {
            let refused = FetchSetting::header(name);
            assert!(matches!(refused, Err(FetchSettingError::HeaderName(_))), "{name:?}");
        }
        for name in ["Cookie", "user-agent"] {
            assert!(matches!(FetchSetting::header(name), Err(FetchSettingError::OwnSetting(..))));
        }
        assert_eq!(FetchSetting::header("X-Api-Key").unwrap().name(), "header x-api-key");
        assert!(FetchSetting::header("Authorization").is_ok());
    }

    #[test]
    fn a_value_cannot_begin_another_header() {
        let header = FetchSetting::header("x").unwrap();
        for value in ["a\r\nHost: b", "a\nb", "a\0b", "a\tb", "ü", "\u{7f}"] {
            assert!(matches!(header.check(value), Err(FetchSettingError::Sign(_))), "{value:?}");
            assert!(FetchSetting::Cookie.check(value).is_err(), "{value:?}");
        }
        assert_eq!(header.check(" a b ").as_deref(), Ok("a b"));
        assert!(matches!(header.check("  "), Err(FetchSettingError::Empty(_))));
        let long = "x".repeat(VALUE_BYTES_MAX + 1);
        assert!(matches!(header.check(&long), Err(FetchSettingError::TooLong(_))));
        assert!(FetchSetting::Login.check("anna:grün").is_ok());
        assert!(FetchSetting::Login.check("anna:a\nb").is_err());
        assert_eq!(FetchSetting::Login.check("anna"), Err(FetchSettingError::Login));
    }

    #[test]
    fn a_proxy_is_an_address_without_a_path() {
        for proxy in ["http://127.0.0.1:3128", "socks5h://u:p@proxy.example:1080/"] {
            assert!(FetchSetting::Proxy.check(proxy).is_ok(), "{proxy}");
        }
        for wrong in ["127.0.0.1:3128", "ftp://x:1", "http://x:1/path", "http://x?y", "file:///x"] {
            assert!(FetchSetting::Proxy.check(wrong).is_err(), "{wrong}");
        }
        let shown = FetchSetting::Proxy.shown("http://u:secret@p.example:1/").unwrap();
        assert!(!shown.contains("secret") && shown.contains("p.example"), "{shown}");
    }

    #[test]
    fn every_name_is_read_back_and_debug_shows_no_secret() {
        let all = [
            FetchSetting::Header("x-key".to_owned()),
            FetchSetting::Cookie,
            FetchSetting::UserAgent,
            FetchSetting::Login,
            FetchSetting::Proxy,
            FetchSetting::InsecureTls,
        ];
        let mut settings = RequestSettings::default();
        for setting in &all {
            assert_eq!(FetchSetting::from_name(&setting.name()).as_ref(), Some(setting));
            settings.put(setting, "hunter2".to_owned());
        }
        settings.user_agent = None;
        assert!(!format!("{settings:?}").contains("hunter2"));
        assert_eq!(FetchSetting::from_name("header host"), None, "also if a row says so");
        settings.headers = vec![("x".to_owned(), "y".to_owned()); HEADERS_MAX + 1];
        assert_eq!(settings.check_size(), Err(FetchSettingError::TooMany));
    }
}

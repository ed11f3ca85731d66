//! Which kinds of login there are, and the names that a trusted proxy sends.

use std::net::IpAddr;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName};
use store::{AccountRow, NO_PASSWORD};

use super::Proxies;
use super::provider::Provider;

/// The longest name of an account.
const NAME_CHARS_MAX: usize = 64;

/// The kinds of login.
#[derive(Clone, Default)]
pub struct LoginRules {
    /// Whether nobody can log in by name and password. Tokens always work.
    pub without_passwords: bool,
    /// Whether people whom the provider or the proxy knows get an account at their first login.
    pub creates_accounts: bool,
    pub proxy: Option<ProxyLogin>,
    pub provider: Option<Arc<Provider>>,
}

/// Login by a proxy in front of us that has authenticated the visitor.
#[derive(Clone, Debug)]
pub struct ProxyLogin {
    /// The header with the name, such as `Remote-User`.
    pub header: HeaderName,
    /// The proxies that may send it.
    pub from: Proxies,
}

impl ProxyLogin {
    /// Returns `None` if the text is not the name of a header.
    pub fn new(header: &str, from: Proxies) -> Option<ProxyLogin> {
        HeaderName::try_from(header).ok().map(|header| ProxyLogin { header, from })
    }
}

impl LoginRules {
    /// Returns whether an account can log in with a password.
    pub fn has_password(&self, row: &AccountRow) -> bool {
        !self.without_passwords && row.password != NO_PASSWORD
    }

    /// Returns the name that a trusted proxy sent. It is empty if the header does not hold exactly
    /// one name: then the proxy passes on what the visitor wrote, and nobody is logged in.
    pub fn proxied_name(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<String> {
        let proxy = self.proxy.as_ref()?;
        if !proxy.from.contains(peer?) {
            return None;
        }
        let mut values = headers.get_all(&proxy.header).iter();
        let first = values.next()?;
        let one = values.next().is_none().then(|| first.to_str().ok()).flatten();
        Some(one.and_then(account_name).unwrap_or_default())
    }
}

/// Returns a text as the name of an account, in lower case, if it can be one.
pub fn account_name(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let is_name = (1..=NAME_CHARS_MAX).contains(&text.len()) && text.chars().all(fits);
    is_name.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> LoginRules {
        let from = Proxies::read(&["10.0.0.0/8".to_owned()]).unwrap();
        LoginRules { proxy: ProxyLogin::new("Remote-User", from), ..LoginRules::default() }
    }

    fn named(peer: &str, lines: &[(&'static str, &str)]) -> Option<String> {
        let headers = lines.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()));
        rules().proxied_name(Some(peer.parse().unwrap()), &headers.collect())
    }

    #[test]
    fn only_a_listed_proxy_names_a_person() {
        let anna = Some("anna".to_owned());
        assert_eq!(named("10.1.2.3", &[("remote-user", "Anna")]), anna);
        assert_eq!(named("::ffff:10.1.2.3", &[("remote-user", "anna")]), anna);
        for peer in ["192.0.2.1", "127.0.0.1", "::1"] {
            assert_eq!(named(peer, &[("remote-user", "anna")]), None, "{peer}");
        }
        assert_eq!(named("10.1.2.3", &[("remote_user", "anna")]), None);
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static("remote-user"),
            "anna".parse().unwrap(),
        )]);
        assert_eq!(rules().proxied_name(None, &headers), None, "the peer is unknown");
        assert_eq!(LoginRules::default().proxied_name("10.1.2.3".parse().ok(), &headers), None);
    }

    #[test]
    fn a_header_that_is_not_one_name_names_nobody() {
        let nobody = Some(String::new());
        let two = [("remote-user", "evil"), ("remote-user", "anna")];
        assert_eq!(named("10.1.2.3", &two), nobody);
        for value in ["anna, bert", "", "a b", "annä", &"x".repeat(65)] {
            assert_eq!(named("10.1.2.3", &[("remote-user", value)]), nobody, "{value}");
        }
    }
}

//! The settings of deliveries, as values, and the check whether a query's receivers fit them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use query::{Create, Deliver};

/// Settings of deliveries.
#[derive(Clone, Debug, Default)]
pub struct DeliverySettings {
    /// The keys that statements name by `SIGNED BY`.
    pub keys: BTreeMap<String, String>,
    /// The mail server for digests; `None` if there is none.
    pub mail: Option<Mail>,
    /// The folder of delivered files; `None` if there is none.
    pub folder: Option<PathBuf>,
    /// The address on which this program listens.
    pub own: Option<SocketAddr>,
    /// The address at which others reach this program.
    pub own_url: Option<url::Url>,
}

/// The mail server that takes digests.
#[derive(Clone)]
pub struct Mail {
    pub server: String,
    pub port: u16,
    pub security: MailSecurity,
    pub user: Option<String>,
    pub password: Option<String>,
    pub from: String,
}

/// The password stays out of every log.
impl std::fmt::Debug for Mail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mail {{ server: {}:{}, from: {} }}", self.server, self.port, self.from)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailSecurity {
    /// TLS from the first byte (port 465).
    Tls,
    /// Plain text first, then TLS; without TLS nothing is sent (port 587).
    StartTls,
    /// For a server on this machine.
    None,
}

impl DeliverySettings {
    /// Checks that every receiver of a query can be served. The error says why not.
    pub fn check(&self, create: &Create) -> Result<(), String> {
        let name = &create.name.text;
        for deliver in &create.query.deliveries {
            match deliver {
                Deliver::Webhook { signed_by: Some(key), .. } if !self.keys.contains_key(key) => {
                    return Err(format!(
                        "{name}: there is no key `{key}`; add it to [keys] in the configuration"
                    ));
                }
                Deliver::Webhook { url, .. } if self.is_own(url.url()) => {
                    return Err(format!("{name}: {} is this program itself", url.masked()));
                }
                Deliver::Email { .. } if self.mail.is_none() => {
                    return Err(format!(
                        "{name}: no mail server is configured; add [mail] to the configuration"
                    ));
                }
                Deliver::File { .. } if self.folder.is_none() => {
                    return Err(format!(
                        "{name}: on PostgreSQL another machine may take over, so files need a \
                         folder of your choice; add [delivery] folder to the configuration"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_own(&self, url: &url::Url) -> bool {
        if self.own_url.as_ref().is_some_and(|own| own.origin() == url.origin()) {
            return true;
        }
        let Some(own) = self.own else { return false };
        let port = url.port_or_known_default();
        let here = match url.host() {
            Some(url::Host::Ipv4(v4)) => v4.is_loopback() || own.ip() == v4,
            Some(url::Host::Ipv6(v6)) => v6.is_loopback() || own.ip() == v6,
            Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            None => false,
        };
        here && port == Some(own.port())
    }
}

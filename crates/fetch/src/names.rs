//! Resolves names to addresses that may be reached. The client connects to exactly the addresses
//! that were checked here. So an attacker gains nothing by changing the answer between two lookups
//! (DNS rebinding).

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, ResolverOpts};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::guard::{NotPublic, is_public, literal};

/// Enough for the names of all feeds that one machine polls within an hour.
const CACHE_NAMES_MAX: u64 = 16_384;
/// Hosts move, so an older address is looked up again, whatever its TTL.
const TTL_MAX: Duration = Duration::from_secs(3600);
/// "No such host" is believed for a minute: a name that was just registered should not wait long.
const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(60);
/// Two attempts of 3 s stay below the connect timeout, so that the error names the dead name server
/// and not the host.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);
/// More addresses are an attack or a mistake. The first ones are enough.
const ADDRESSES_MAX: usize = 16;

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("no such host: {0}")]
    NoSuchHost(String),
    #[error("the name {0} cannot be looked up: {1}")]
    Unanswered(String, String),
}

/// The lookup for the HTTP client: overrides, hosts file, DNS, and then the guard.
#[derive(Clone)]
pub(crate) struct Names(Arc<NameTable>);

struct NameTable {
    overrides: HashMap<String, Vec<IpAddr>>,
    allow_private: bool,
    dns: Result<TokioResolver, String>,
}

impl Names {
    pub fn new(overrides: HashMap<String, Vec<IpAddr>>, allow_private: bool) -> Names {
        Names::with_dns(overrides, allow_private, system_resolver())
    }

    fn with_dns(
        overrides: HashMap<String, Vec<IpAddr>>,
        allow_private: bool,
        dns: Result<TokioResolver, String>,
    ) -> Names {
        let overrides = overrides.into_iter().map(|(name, found)| (plain(&name), found)).collect();
        Names(Arc::new(NameTable { overrides, allow_private, dns }))
    }

    /// Returns the addresses of a name, before the guard.
    pub async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let name = plain(name);
        match self.0.overrides.get(&name) {
            Some(addresses) => Ok(addresses.clone()),
            None => self.0.look_up(&name).await,
        }
    }

    /// Whether a URL leads to this machine. Sends no query.
    pub fn is_loopback(&self, url: &Url) -> bool {
        if let Some(address) = literal(url) {
            return address.is_loopback();
        }
        let name = plain(url.host_str().unwrap_or_default());
        let to = self.0.overrides.get(&name);
        to.map_or(name == "localhost", |to| to.iter().all(IpAddr::is_loopback))
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let name = plain(name.as_str());
            let found = Names(Arc::clone(&inner)).addresses(&name).await?;
            Ok(inner.guarded(name, found)?)
        })
    }
}

impl NameTable {
    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, LookupError> {
        let unanswered = |why: String| LookupError::Unanswered(name.to_owned(), why);
        let dns = self.dns.as_ref().map_err(|why| unanswered(why.clone()))?;
        // The final dot excludes the machine's search domains, where a wildcard would answer for
        // names that do not exist. Names without a dot are meant to be local.
        let absolute = if name.contains('.') { format!("{name}.") } else { name.to_owned() };
        match dns.lookup_ip(absolute).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(e) if e.is_no_records_found() => Err(LookupError::NoSuchHost(name.to_owned())),
            Err(e) => Err(unanswered(e.to_string())),
        }
    }

    fn guarded(&self, host: String, found: Vec<IpAddr>) -> Result<Addrs, NotPublic> {
        let refused = found.iter().copied().find(|address| !is_public(*address));
        let mut allowed = found;
        allowed.retain(|address| self.allow_private || is_public(*address));
        allowed.truncate(ADDRESSES_MAX);
        match refused {
            Some(address) if allowed.is_empty() => Err(NotPublic { host, address }),
            // The client replaces port 0 by the port of the URL.
            _ => Ok(Box::new(allowed.into_iter().map(|address| SocketAddr::new(address, 0)))),
        }
    }
}

fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Creates the resolver as the machine is configured. A machine without a name server can still
/// reach addresses and overridden names, so the program starts without one.
fn system_resolver() -> Result<TokioResolver, String> {
    let unreadable = |e: &dyn std::fmt::Display| format!("this machine has no usable DNS: {e}");
    let mut builder = TokioResolver::builder_tokio().map_err(|e| unreadable(&e))?;
    limit(builder.options_mut());
    builder.build().map_err(|e| unreadable(&e))
}

fn limit(options: &mut ResolverOpts) {
    options.cache_size = CACHE_NAMES_MAX;
    options.positive_max_ttl = Some(TTL_MAX);
    options.negative_max_ttl = Some(NEGATIVE_TTL_MAX);
    options.timeout = options.timeout.min(LOOKUP_TIMEOUT);
    options.attempts = 2;
    // Broken IPv6 is more common than broken IPv4. The client falls back in both directions.
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

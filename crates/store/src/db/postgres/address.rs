//! The address of a PostgreSQL database: a URL, completed by the usual `PG*` variables and a
//! password file.

mod complete;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

pub(super) use complete::{host_name, is_default_socket};

/// How far the certificate of the server is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TlsCheck {
    /// Encrypted, but anybody may answer.
    None,
    /// The certificate must come from a trusted authority and name the host.
    Full,
}

/// The address of a database. Its text form names no password.
#[derive(Clone)]
pub struct PgAddress {
    parts: Arc<AddressParts>,
    readers_max: usize,
}

/// The port of PostgreSQL if the address names none.
const PORT: u16 = 5432;

/// Connections for reading. Reads of PostgreSQL wait for the network most of the time.
const READERS_MAX: usize = 8;

struct AddressParts {
    /// One for each host, in the order of the address.
    hosts: Vec<Config>,
    /// The place of the host that was reached last.
    reached: AtomicUsize,
    tls_check: TlsCheck,
    tls_authority: Option<PathBuf>,
    shown: Arc<str>,
}

/// The reason why a text is not the address of a database.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text} is not a database address: {why}; write postgres://user@host/database")]
pub struct DatabaseAddressError {
    text: String,
    why: String,
}

impl PgAddress {
    /// Parses `postgres://…`. `variable` looks up a variable of the environment.
    pub fn parse(
        text: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<PgAddress, DatabaseAddressError> {
        let fail = |why: String| DatabaseAddressError { text: without_password(text), why };
        if !is_postgres(text) {
            return Err(fail("it does not begin with postgres://".to_owned()));
        }
        let (plain, options) = take_options(text);
        let config: Config = plain.parse().map_err(|e: tokio_postgres::Error| {
            let cause = std::error::Error::source(&e).map(ToString::to_string);
            fail(cause.unwrap_or_else(|| e.to_string()))
        })?;
        let mut hosts = complete::hosts(&config, &options, variable).map_err(fail)?;
        let mode = options.mode.or_else(|| variable("PGSSLMODE"));
        let authority = options.authority.or_else(|| variable("PGSSLROOTCERT"));
        let (ssl_mode, tls_check) =
            tls(mode.as_deref(), authority.is_some(), hosts.iter().any(is_remote)).map_err(fail)?;
        for host in &mut hosts {
            host.ssl_mode(ssl_mode);
        }
        // As with libpq, this word means the authorities that the system trusts.
        let tls_authority = authority.filter(|path| path != "system").map(PathBuf::from);
        let shown = Arc::from(shown(&hosts));
        let reached = AtomicUsize::new(0);
        let parts = Arc::new(AddressParts { hosts, reached, tls_check, tls_authority, shown });
        Ok(PgAddress { parts, readers_max: READERS_MAX })
    }

    /// Sets the number of connections that each store opens for reading at most.
    #[must_use]
    pub fn with_readers(self, readers_max: usize) -> PgAddress {
        PgAddress { readers_max, ..self }
    }

    /// The number of connections that each store opens for reading at most.
    pub fn readers_max(&self) -> usize {
        self.readers_max
    }

    /// The settings of a connection to each host.
    pub(crate) fn hosts(&self) -> &[Config] {
        &self.parts.hosts
    }

    /// The places of the hosts in the order in which to try them: the one that was reached last
    /// comes first.
    pub(super) fn order(&self) -> Vec<usize> {
        let reached = self.parts.reached.load(Ordering::Relaxed);
        let others = (0..self.parts.hosts.len()).filter(|&place| place != reached);
        std::iter::once(reached).chain(others).collect()
    }

    /// Returns the address of the host at this place only.
    pub(super) fn only(&self, place: usize) -> PgAddress {
        let AddressParts { hosts, tls_check, tls_authority, shown, .. } = &*self.parts;
        let parts = Arc::new(AddressParts {
            hosts: hosts[place..=place].to_vec(),
            reached: AtomicUsize::new(0),
            tls_check: *tls_check,
            tls_authority: tls_authority.clone(),
            shown: Arc::clone(shown),
        });
        PgAddress { parts, readers_max: self.readers_max }
    }

    /// Notes that the host at this place was reached.
    pub(super) fn note_reached(&self, place: usize) {
        self.parts.reached.store(place, Ordering::Relaxed);
    }

    pub(crate) fn tls_check(&self) -> TlsCheck {
        self.parts.tls_check
    }

    pub(crate) fn tls_authority(&self) -> Option<&PathBuf> {
        self.parts.tls_authority.as_ref()
    }

    /// The text for errors and logs: user, hosts and database.
    pub fn shown(&self) -> &Arc<str> {
        &self.parts.shown
    }
}

impl fmt::Debug for PgAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.parts.shown)
    }
}

pub(crate) fn is_postgres(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

/// Removes the password from a URL that may not even be one.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    format!("{scheme}://{}", host.split('?').next().unwrap_or_default())
}

/// Returns whether to encrypt, and how far to check the certificate. A named authority is there to
/// be checked.
fn tls(
    mode: Option<&str>,
    has_authority: bool,
    is_remote: bool,
) -> Result<(SslMode, TlsCheck), String> {
    match mode {
        None | Some("prefer" | "allow") if has_authority && is_remote => {
            let mode = mode.unwrap_or("prefer");
            Err(format!(
                "sslrootcert names an authority, but sslmode is {mode}, which checks no \
                 certificate; use sslmode=verify-full"
            ))
        }
        None | Some("prefer" | "allow") => Ok((SslMode::Prefer, TlsCheck::None)),
        Some("disable") => Ok((SslMode::Disable, TlsCheck::None)),
        Some("require") if !has_authority => Ok((SslMode::Require, TlsCheck::None)),
        Some("require" | "verify-ca" | "verify-full") => Ok((SslMode::Require, TlsCheck::Full)),
        Some(other) => {
            Err(format!("sslmode is {other}; it may be disable, prefer, require or verify-full"))
        }
    }
}

/// Returns whether a host is not a socket of this machine.
fn is_remote(host: &Config) -> bool {
    !host.get_hostaddrs().is_empty() || matches!(host.get_hosts(), [Host::Tcp(_)])
}

/// The options of an address that tokio-postgres does not know, or does not tell apart from its
/// defaults.
#[derive(Default)]
struct UrlOptions {
    mode: Option<String>,
    authority: Option<String>,
    names_session_attrs: bool,
}

/// Takes `sslmode` and `sslrootcert` out of the URL.
fn take_options(text: &str) -> (String, UrlOptions) {
    let mut options = UrlOptions::default();
    let Some((base, query)) = text.split_once('?') else { return (text.to_owned(), options) };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => options.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => {
                options.authority = Some(percent_decode_str(path).decode_utf8_lossy().into_owned());
            }
            name => {
                options.names_session_attrs |=
                    name.is_some_and(|(name, _)| name == "target_session_attrs");
                rest.push(pair);
            }
        }
    }
    let query = rest.join("&");
    (if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") }, options)
}

fn shown(hosts: &[Config]) -> String {
    let names: Vec<String> = hosts.iter().map(host_name).collect();
    let ports: BTreeSet<u16> = hosts.iter().flat_map(Config::get_ports).copied().collect();
    let port = match ports.iter().collect::<Vec<_>>()[..] {
        [port] if *port != PORT => format!(":{port}"),
        _ => String::new(),
    };
    let first = hosts.first();
    format!(
        "postgres://{}@{}{port}/{}",
        first.and_then(Config::get_user).unwrap_or_default(),
        names.join(","),
        first.and_then(Config::get_dbname).unwrap_or_default()
    )
}

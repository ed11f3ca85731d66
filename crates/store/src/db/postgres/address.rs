//! The address of a PostgreSQL database: a URL, completed by the usual `PG*` variables and a
//! password file.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

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
    config: Config,
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
        let (plain, options) = take_tls_options(text);
        let mut config: Config = plain.parse().map_err(|e: tokio_postgres::Error| {
            let cause = std::error::Error::source(&e).map(ToString::to_string);
            fail(cause.unwrap_or_else(|| e.to_string()))
        })?;
        complete(&mut config, variable).map_err(fail)?;
        let mode = options.mode.or_else(|| variable("PGSSLMODE"));
        let tls_check = match mode.as_deref() {
            None | Some("prefer" | "allow") => {
                config.ssl_mode(SslMode::Prefer);
                TlsCheck::None
            }
            Some("disable") => {
                config.ssl_mode(SslMode::Disable);
                TlsCheck::None
            }
            Some("require") => {
                config.ssl_mode(SslMode::Require);
                TlsCheck::None
            }
            Some("verify-ca" | "verify-full") => {
                config.ssl_mode(SslMode::Require);
                TlsCheck::Full
            }
            Some(other) => {
                return Err(fail(format!(
                    "sslmode is {other}; it may be disable, prefer, require or verify-full"
                )));
            }
        };
        let authority = options.authority.or_else(|| variable("PGSSLROOTCERT"));
        let tls_authority = authority.map(PathBuf::from);
        let shown = Arc::from(shown(&config));
        let parts = Arc::new(AddressParts { config, tls_check, tls_authority, shown });
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

    pub(crate) fn config(&self) -> Config {
        self.parts.config.clone()
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

/// The options of TLS that tokio-postgres does not know.
#[derive(Default)]
struct TlsOptions {
    mode: Option<String>,
    authority: Option<String>,
}

/// Takes `sslmode` and `sslrootcert` out of the URL.
fn take_tls_options(text: &str) -> (String, TlsOptions) {
    let mut options = TlsOptions::default();
    let Some((base, query)) = text.split_once('?') else { return (text.to_owned(), options) };
    let mut rest = Vec::new();
    for pair in query.split('&') {
        match pair.split_once('=') {
            Some(("sslmode", mode)) => options.mode = Some(mode.to_owned()),
            Some(("sslrootcert", path)) => options.authority = Some(path.replace("%2F", "/")),
            _ => rest.push(pair),
        }
    }
    let query = rest.join("&");
    (if query.is_empty() { base.to_owned() } else { format!("{base}?{query}") }, options)
}

/// Fills in what the URL leaves out.
fn complete(config: &mut Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
    if config.get_hosts().is_empty() {
        let hosts = variable("PGHOST").unwrap_or_else(|| "/var/run/postgresql".to_owned());
        for host in hosts.split(',') {
            config.host(host);
        }
    }
    if config.get_ports().is_empty()
        && let Some(ports) = variable("PGPORT")
    {
        for port in ports.split(',') {
            config.port(port.parse().map_err(|_| format!("PGPORT is {port}, not a port"))?);
        }
    }
    if config.get_user().is_none() {
        let user = variable("PGUSER").or_else(|| variable("USER"));
        config.user(user.unwrap_or_else(|| "postgres".to_owned()));
    }
    if config.get_dbname().is_none()
        && let Some(name) = variable("PGDATABASE").or_else(|| config.get_user().map(Into::into))
    {
        config.dbname(name);
    }
    if config.get_password().is_none()
        && let Some(password) = variable("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_password().is_none()
        && let Some(password) = super::passfile::password(config, variable)
    {
        config.password(password);
    }
    if config.get_application_name().is_none() {
        config.application_name("tidings");
    }
    Ok(())
}

fn shown(config: &Config) -> String {
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .map(|host| match host {
            Host::Tcp(name) => name.clone(),
            Host::Unix(path) => path.display().to_string(),
        })
        .collect();
    let port = match config.get_ports() {
        [port] if *port != PORT => format!(":{port}"),
        _ => String::new(),
    };
    format!(
        "postgres://{}@{}{port}/{}",
        config.get_user().unwrap_or_default(),
        hosts.join(","),
        config.get_dbname().unwrap_or_default()
    )
}

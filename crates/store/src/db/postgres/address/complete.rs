//! Fills in what an address leaves out, from the variables and the password file, and makes the
//! settings of a connection to each of its hosts.

use std::path::Path;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};

use super::{PORT, UrlOptions};
use crate::db::postgres::passfile::PasswordFile;

/// The folder with the sockets of a server on this machine.
const SOCKETS: &str = "/var/run/postgresql";

/// Looks up a variable of the environment.
type VariableFn<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Returns the settings of a connection to each host.
pub(super) fn hosts(
    given: &Config,
    options: &UrlOptions,
    variable: VariableFn<'_>,
) -> Result<Vec<Config>, String> {
    let mut given = given.clone();
    if given.get_hosts().is_empty() && given.get_hostaddrs().is_empty() {
        let hosts = variable("PGHOST").unwrap_or_else(|| SOCKETS.to_owned());
        for host in hosts.split(',') {
            given.host(host);
        }
    }
    if given.get_ports().is_empty()
        && let Some(ports) = variable("PGPORT")
    {
        for port in ports.split(',') {
            given.port(port.parse().map_err(|_| format!("PGPORT is {port}, not a port"))?);
        }
    }
    let (names, addresses) = (given.get_hosts(), given.get_hostaddrs());
    let ports = given.get_ports();
    let n = names.len().max(addresses.len());
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() {
        return Err(format!("it has {} hosts, but {} hostaddr", names.len(), addresses.len()));
    }
    if ports.len() > 1 && ports.len() != n {
        return Err(format!("it has {n} hosts, but {} ports", ports.len()));
    }
    let mut settings = Config::new();
    complete(&mut settings, &given, options, variable)?;
    let file = PasswordFile::read(variable);
    let one = |place: usize| {
        let mut host = settings.clone();
        match names.get(place) {
            Some(Host::Tcp(name)) => _ = host.host(name),
            Some(Host::Unix(path)) => _ = host.host_path(path),
            None => {}
        }
        if let Some(address) = addresses.get(place) {
            host.hostaddr(*address);
        }
        host.port(ports.get(place).or(ports.first()).copied().unwrap_or(PORT));
        if host.get_password().is_none()
            && let Some(password) = file.password(&host)
        {
            host.password(password);
        }
        host
    };
    Ok((0..n).map(one).collect())
}

/// Copies the settings that all hosts share, and completes them.
fn complete(
    config: &mut Config,
    given: &Config,
    options: &UrlOptions,
    variable: VariableFn<'_>,
) -> Result<(), String> {
    let or = |text: Option<&str>, name: &str| text.map(str::to_owned).or_else(|| variable(name));
    let user = or(given.get_user(), "PGUSER").or_else(|| variable("USER"));
    let user = user.unwrap_or_else(|| "postgres".to_owned());
    config.dbname(or(given.get_dbname(), "PGDATABASE").unwrap_or_else(|| user.clone()));
    config.user(user);
    config.application_name(given.get_application_name().unwrap_or("tidings"));
    if let Some(text) = or(given.get_options(), "PGOPTIONS") {
        config.options(text);
    }
    if let Some(password) = given.get_password() {
        config.password(password);
    } else if let Some(password) = variable("PGPASSWORD") {
        config.password(password);
    }
    config.channel_binding(given.get_channel_binding());
    config.ssl_negotiation(given.get_ssl_negotiation());
    let named = match options.names_session_attrs {
        true => None,
        false => variable("PGTARGETSESSIONATTRS"),
    };
    config.target_session_attrs(match named.as_deref() {
        None => given.get_target_session_attrs(),
        Some("any") => TargetSessionAttrs::Any,
        Some("read-write") => TargetSessionAttrs::ReadWrite,
        Some("read-only") => TargetSessionAttrs::ReadOnly,
        Some(other) => {
            return Err(format!(
                "PGTARGETSESSIONATTRS is {other}; it may be any, read-write or read-only"
            ));
        }
    });
    Ok(())
}

/// Returns the name of the host that a connection goes to, as people and password files write it.
pub(in crate::db::postgres) fn host_name(host: &Config) -> String {
    match (host.get_hosts().first(), host.get_hostaddrs().first()) {
        (Some(Host::Tcp(name)), _) => name.clone(),
        (Some(Host::Unix(path)), _) => path.display().to_string(),
        (None, Some(address)) => address.to_string(),
        (None, None) => String::new(),
    }
}

/// Returns whether a connection goes to the usual socket of this machine.
pub(in crate::db::postgres) fn is_default_socket(host: &Config) -> bool {
    matches!(host.get_hosts(), [Host::Unix(path)] if path == Path::new(SOCKETS))
}

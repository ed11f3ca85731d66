//! The tables `[bus]` and `[terminal]`: the road between machines, and the size of a terminal.

use std::path::PathBuf;

use dispatch::BusSettings;
use dispatch::wire::WIRE_VERSION;
use serde::Deserialize;
use url::{Host, Url};

use super::source::ConfigSource;
use crate::error::{CliError, input_error};

/// The beginning of all subjects.
pub const BUS_NAME: &str = "tidings";
/// Requests of a terminal under way at once.
pub const ROOM: usize = 100;
/// Megabytes of windows that a terminal remembers.
pub const CACHE_MB: usize = 64;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusTable {
    url: Option<String>,
    name: Option<String>,
    key: Option<PathBuf>,
    ca: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalTable {
    room: Option<usize>,
    cache: Option<String>,
}

/// The settings of the bus, and of a terminal on it.
#[derive(Clone, Debug)]
pub struct BusConfig {
    url: Option<String>,
    name: String,
    key: Option<PathBuf>,
    ca: Option<PathBuf>,
    pub room: usize,
    pub cache_bytes: usize,
}

/// Reads both tables.
pub fn bus(
    bus: BusTable,
    terminal: &TerminalTable,
    source: &ConfigSource,
) -> Result<BusConfig, CliError> {
    let room = terminal.room.unwrap_or(ROOM);
    if room == 0 {
        return Err(source.fault("terminal", "room", "0 would never poll; give 1 or more"));
    }
    let cache_bytes = match terminal.cache.as_deref() {
        None => CACHE_MB * 1_000_000,
        Some(text) => megabytes(text).map_err(|why| source.fault("terminal", "cache", why))?,
    };
    let name = bus.name.unwrap_or_else(|| BUS_NAME.to_owned());
    if !feed::is_machine_word(&name) {
        let why = format!("`{name}` is not a word of letters, digits, `-` and `_`");
        return Err(source.fault("bus", "name", why));
    }
    if let Some(url) = &bus.url {
        servers(url, bus.ca.is_some()).map_err(|why| source.fault("bus", "url", why))?;
    }
    Ok(BusConfig { url: bus.url, name, key: bus.key, ca: bus.ca, room, cache_bytes })
}

fn megabytes(text: &str) -> Result<usize, String> {
    let number = text.strip_suffix("MB").and_then(|n| n.trim().parse::<usize>().ok());
    let bytes = number.and_then(|n| n.checked_mul(1_000_000));
    bytes.ok_or_else(|| format!("`{text}` is not a size; for example: \"64MB\""))
}

/// Splits and checks the addresses. Addresses of feeds hold passwords, so the bus needs TLS beyond
/// this machine.
fn servers(text: &str, has_authorities: bool) -> Result<Vec<String>, String> {
    let servers: Vec<String> = text.split(',').map(|one| one.trim().to_owned()).collect();
    for server in &servers {
        let url = Url::parse(server).map_err(|error| format!("`{server}`: {error}"))?;
        if !matches!(url.scheme(), "nats" | "tls") || url.host().is_none() {
            return Err(format!("`{server}` is not an address such as nats://127.0.0.1:4222"));
        }
        let is_here = match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            // The parser does not know the scheme, so addresses arrive as names.
            Some(Host::Domain(name)) => {
                let ip = name.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
                name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
            }
            None => false,
        };
        if url.scheme() == "nats" && !is_here && !has_authorities {
            return Err(format!(
                "`{server}` would carry addresses and passwords of feeds in plain text; use \
                 tls://, or name the authority of the servers in `[bus] ca`"
            ));
        }
    }
    Ok(servers)
}

impl BusConfig {
    /// Returns whether a bus is configured.
    pub fn is_set(&self) -> bool {
        self.url.is_some()
    }

    /// Replaces the address by that of the flag.
    pub fn with_url(&mut self, url: Option<&String>) -> Result<(), CliError> {
        let Some(url) = url else { return Ok(()) };
        servers(url, self.ca.is_some()).map_err(|why| input_error(format!("--bus: {why}")))?;
        self.url = Some(url.clone());
        Ok(())
    }

    /// Returns the settings of the connection, if a bus is configured.
    pub fn settings(&self, process: &str) -> Result<Option<BusSettings>, CliError> {
        let Some(url) = &self.url else { return Ok(None) };
        let servers = servers(url, self.ca.is_some()).map_err(input_error)?;
        let seed = match &self.key {
            None => None,
            Some(file) => {
                let seed = std::fs::read_to_string(file).map_err(|error| {
                    let file = file.display();
                    input_error(format!("[bus] key: cannot read the NKey seed {file}: {error}"))
                })?;
                Some(seed.trim().to_owned())
            }
        };
        Ok(Some(BusSettings {
            servers,
            name: self.name.clone(),
            seed,
            authorities: self.ca.clone(),
            process: process.to_owned(),
            wire: wire(),
        }))
    }
}

/// The version of the messages. Tests run a process that speaks an older one.
fn wire() -> u32 {
    let asked = std::env::var("TIDINGS_TEST_WIRE").ok().and_then(|text| text.parse().ok());
    asked.map_or(WIRE_VERSION, |wire: u32| wire.min(WIRE_VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_on_this_machine() {
        for good in [
            "nats://127.0.0.1:4222",
            "nats://localhost",
            "nats://[::1]:4222",
            "tls://bus.example.org, tls://bus-2.example.org:4222",
        ] {
            assert!(servers(good, false).is_ok(), "{good}");
        }
        for bad in ["nats://bus.example.org", "http://127.0.0.1", "bus", "nats://10.0.0.7:4222"] {
            assert!(servers(bad, false).is_err(), "{bad}");
        }
        assert!(servers("nats://bus.example.org", true).is_ok(), "with an authority it is TLS");
        assert_eq!(megabytes("64MB"), Ok(64_000_000));
        assert_eq!(megabytes("0MB"), Ok(0));
        assert!(megabytes("64").is_err() && megabytes("-1MB").is_err());
    }
}

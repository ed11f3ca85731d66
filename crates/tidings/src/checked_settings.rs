//! The settings that `tidings doctor` checks. A daemon stores its own when it starts, because
//! another call knows neither its flags nor its configuration file.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use store::{LockError, Store};

use crate::config::Config;
use crate::error::CliError;

/// The key in the store for the daemon's settings.
const KEY: &str = "daemon-settings";

/// The settings that the checks need. Secrets are masked.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CheckedSettings {
    /// The process with these settings; `None` for this call.
    pub pid: Option<u32>,
    /// The origin of the settings, in words.
    pub origin: String,
    pub has_contact: bool,
    pub gap_ms: u64,
    pub listen: SocketAddr,
    pub public_url: Option<String>,
    /// Whether hubs can reach the program to push.
    pub takes_pushes: bool,
    /// Names with configured addresses, for which no name server is needed.
    pub resolved: Vec<String>,
    pub resolve_fault: Option<String>,
}

impl CheckedSettings {
    pub fn of(config: &Config) -> CheckedSettings {
        CheckedSettings {
            pid: None,
            origin: config.origin.clone(),
            has_contact: config.has_contact,
            gap_ms: u64::try_from(config.engine.gaps.default.as_millis()).unwrap_or(u64::MAX),
            listen: config.listen,
            public_url: config.public_url.as_ref().map(feed::mask_secrets),
            takes_pushes: config.engine.push.public_url.is_some(),
            resolved: config.fetch.resolve.keys().cloned().collect(),
            resolve_fault: config.resolve_fault(),
        }
    }

    /// Stores the settings of this process, which is the daemon.
    pub fn keep(config: &Config, store: &Store) -> Result<(), CliError> {
        let own = CheckedSettings { pid: Some(std::process::id()), ..CheckedSettings::of(config) };
        store.set_setting(KEY, Some(&serde_json::to_string(&own)?))?;
        Ok(())
    }

    /// Returns the settings of the daemon that holds the folder. `None` if none runs, or if the
    /// stored settings are from another process or version.
    pub fn of_daemon(
        store: &Store,
        held: Option<&LockError>,
    ) -> Result<Option<CheckedSettings>, CliError> {
        let Some(pid) = held.and_then(LockError::pid) else { return Ok(None) };
        Ok(CheckedSettings::kept(store)?.filter(|kept| kept.pid == Some(pid)))
    }

    /// Returns the settings that the last daemon stored.
    pub fn kept(store: &Store) -> Result<Option<CheckedSettings>, CliError> {
        let kept = store.setting(KEY)?;
        Ok(kept.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

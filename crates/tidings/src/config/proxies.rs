//! `trusted_proxies`: whose `X-Forwarded-For` is believed.

use api::auth::Proxies;

use super::source::ConfigSource;
use crate::error::CliError;

/// The proxies in front of this program.
pub fn trusted(texts: &[String], source: &ConfigSource) -> Result<Proxies, CliError> {
    Proxies::read(texts).map_err(|text| {
        let reason = format!("`{text}` is neither an address nor a range of addresses");
        source.fault("", "trusted_proxies", reason)
    })
}

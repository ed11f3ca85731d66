//! `trusted_proxies`: the proxies whose `X-Forwarded-For` is trusted.

use api::auth::Proxies;

use super::source::ConfigSource;
use crate::error::CliError;

/// Reads the list of trusted proxies.
pub fn trusted(texts: &[String], source: &ConfigSource) -> Result<Proxies, CliError> {
    Proxies::read(texts).map_err(|text| {
        let reason = format!("`{text}` is neither an address nor a range of addresses");
        source.fault("", "trusted_proxies", reason)
    })
}

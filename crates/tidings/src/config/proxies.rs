//! `trusted_proxies`: the proxies whose `X-Forwarded-For` is trusted. `outgoing_proxies`: those
//! through which feeds may be fetched although they stand on private addresses.

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

/// Reads the proxies for which the operator vouches.
pub fn outgoing(texts: &[String], source: &ConfigSource) -> Result<Vec<String>, CliError> {
    for text in texts {
        let checked = feed::FetchSetting::Proxy.check(text);
        checked.map_err(|error| source.fault("", "outgoing_proxies", error.to_string()))?;
    }
    Ok(texts.to_vec())
}

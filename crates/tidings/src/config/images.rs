//! `images`: whether the pictures of entries are shown.

use super::source::ConfigSource;
use crate::error::CliError;

pub const DEFAULT: &str = "proxy";

/// Returns whether pictures are shown, through our own proxy.
pub fn shown(choice: Option<&str>, source: &ConfigSource) -> Result<bool, CliError> {
    match choice.unwrap_or(DEFAULT) {
        "proxy" => Ok(true),
        "off" => Ok(false),
        other => {
            let reason = format!("`{other}` is neither `proxy` nor `off`");
            Err(source.fault("", "images", reason))
        }
    }
}

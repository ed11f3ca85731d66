//! `images`: what becomes of the pictures in entries.

use super::source::ConfigSource;
use crate::error::CliError;

pub const DEFAULT: &str = "proxy";

/// Whether pictures are shown, through our own proxy.
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

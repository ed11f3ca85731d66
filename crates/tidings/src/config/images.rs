//! `images` and `media`: whether the pictures of entries are shown, and how recordings are played.

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

pub const MEDIA_DEFAULT: &str = "direct";

/// Returns whether recordings come through our own proxy.
pub fn media_passed_on(choice: Option<&str>, source: &ConfigSource) -> Result<bool, CliError> {
    match choice.unwrap_or(MEDIA_DEFAULT) {
        "proxy" => Ok(true),
        "direct" => Ok(false),
        other => {
            let reason = format!("`{other}` is neither `direct` nor `proxy`");
            Err(source.fault("", "media", reason))
        }
    }
}

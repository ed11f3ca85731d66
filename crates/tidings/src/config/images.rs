//! `images`: what becomes of the pictures in entries.

use super::source::Source;
use crate::failure::Failure;

pub const DEFAULT: &str = "proxy";

/// Whether pictures are shown, through our own proxy.
pub fn shown(choice: Option<&str>, source: &Source) -> Result<bool, Failure> {
    match choice.unwrap_or(DEFAULT) {
        "proxy" => Ok(true),
        "off" => Ok(false),
        other => {
            let reason = format!("`{other}` is neither `proxy` nor `off`");
            Err(source.fault("", "images", reason))
        }
    }
}

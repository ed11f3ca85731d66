//! `images`: what becomes of the pictures in entries.

use crate::failure::{Failure, input_error};

pub const DEFAULT: &str = "proxy";

/// Whether pictures are shown, through our own proxy.
pub fn shown(choice: Option<&str>, origin: &str) -> Result<bool, Failure> {
    match choice.unwrap_or(DEFAULT) {
        "proxy" => Ok(true),
        "off" => Ok(false),
        other => {
            Err(input_error(format!("{origin}: images: `{other}` is neither `proxy` nor `off`")))
        }
    }
}

//! The wire form of jobs and results: JSON with a version. Both ends refuse a version that they do
//! not know and a message that is too long. It sends nothing.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the wire form. It rises with every change that an older program would misread.
pub const WIRE_VERSION: u32 = 1;

/// The longest message in bytes: four times the longest document, because JSON escapes markup and
/// a job carries a window.
pub const MESSAGE_BYTES_MAX: usize = 16_000_000;

/// An error in a message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the message has {0} bytes; at most {MESSAGE_BYTES_MAX} are allowed")]
    TooLong(usize),
    #[error(
        "the message has version {0} and this program knows version {WIRE_VERSION}; \
         run the same release of tidings on all machines"
    )]
    UnknownVersion(u32),
    #[error("the message cannot be read")]
    Malformed(#[from] serde_json::Error),
}

#[derive(Serialize)]
struct Outgoing<'a, T> {
    wire: u32,
    body: &'a T,
}

#[derive(Deserialize)]
struct Incoming<T> {
    body: T,
}

/// The one field that every version has.
#[derive(Deserialize)]
struct Versioned {
    wire: u32,
}

/// Encodes a job or a result.
pub fn encode<T: Serialize>(body: &T) -> Result<Vec<u8>, WireError> {
    let bytes = serde_json::to_vec(&Outgoing { wire: WIRE_VERSION, body })?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(bytes.len()));
    }
    Ok(bytes)
}

/// Decodes a job or a result.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(bytes.len()));
    }
    let Versioned { wire } = serde_json::from_slice(bytes)?;
    if wire != WIRE_VERSION {
        return Err(WireError::UnknownVersion(wire));
    }
    Ok(serde_json::from_slice::<Incoming<T>>(bytes)?.body)
}

#[cfg(test)]
mod tests;

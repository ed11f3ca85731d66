//! The wire form of messages: JSON with a version. Both ends refuse a version that they do not know
//! and a message that is too long. It sends nothing.

use std::io::{self, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The version of the wire form. It rises with every change that an older program would misread.
pub const WIRE_VERSION: u32 = 3;

/// The oldest version that this program reads and writes. Version 2 has the same messages, but its
/// jobs have no settings of requests.
pub const WIRE_OLDEST: u32 = oldest(WIRE_VERSION);

/// The first version whose terminals know the settings of requests.
pub const WIRE_REQUEST_SETTINGS: u32 = 3;

/// The oldest version of an end that knows the versions up to `newest`: machines may be one release
/// apart.
pub const fn oldest(newest: u32) -> u32 {
    newest.saturating_sub(1)
}

/// Returns the version that two ends use with each other, if they are close enough.
pub fn common(one: u32, other: u32) -> Option<u32> {
    (one.abs_diff(other) <= 1).then(|| one.min(other))
}

/// The longest message in bytes: four times the longest document, because JSON escapes markup and
/// a job carries a window.
pub const MESSAGE_BYTES_MAX: usize = 16_000_000;

/// An error in a message.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    #[error("the message has {0} bytes; at most {MESSAGE_BYTES_MAX} are allowed")]
    TooLong(usize),
    #[error(
        "the message has version {0} and this program knows {WIRE_OLDEST} to {WIRE_VERSION}; \
         run the same release of tidings on all machines"
    )]
    UnknownVersion(u32),
    #[error("these bytes are not a message of tidings")]
    NotAFrame,
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

/// Encodes a message in the newest form.
pub fn encode<T: Serialize>(body: &T) -> Result<Vec<u8>, WireError> {
    encode_as(WIRE_VERSION, body)
}

/// Encodes a message in the form of a version.
pub fn encode_as<T: Serialize>(wire: u32, body: &T) -> Result<Vec<u8>, WireError> {
    if wire > WIRE_VERSION {
        return Err(WireError::UnknownVersion(wire));
    }
    let bytes = serde_json::to_vec(&Outgoing { wire, body })?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(bytes.len()));
    }
    Ok(bytes)
}

/// Returns the length of a value within a message, in bytes.
pub fn encoded_len<T: Serialize>(value: &T) -> Result<usize, WireError> {
    let mut counter = ByteCounter(0);
    serde_json::to_writer(&mut counter, value)?;
    Ok(counter.0)
}

/// Counts the bytes that are written to it.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a message.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    decode_up_to(WIRE_VERSION, bytes)
}

/// Decodes a message for an end that knows the versions up to `wire_max`.
pub fn decode_up_to<T: DeserializeOwned>(wire_max: u32, bytes: &[u8]) -> Result<T, WireError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(bytes.len()));
    }
    let Versioned { wire } = serde_json::from_slice(bytes)?;
    if !(oldest(wire_max)..=wire_max).contains(&wire) {
        return Err(WireError::UnknownVersion(wire));
    }
    Ok(serde_json::from_slice::<Incoming<T>>(bytes)?.body)
}

/// Decodes a message whose form is the same in every version.
pub fn decode_any<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, WireError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(WireError::TooLong(bytes.len()));
    }
    Ok(serde_json::from_slice::<Incoming<T>>(bytes)?.body)
}

#[cfg(test)]
mod tests;

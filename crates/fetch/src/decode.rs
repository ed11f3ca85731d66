//! Removes content encodings while the body arrives, under one limit, so that a compression bomb is
//! refused after its first kilobytes. Labels are checked against the bytes, because some servers
//! send wrong ones. It does not guess character sets.

use crate::decode::layer::Layer;
use crate::{Failure, FailureKind};

mod layer;

/// Honest answers have one encoding. Two come from a script behind a compressing proxy.
const LABELS_MAX: usize = 3;

/// A content encoding that we remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    /// Zlib, or the bare deflate that some servers send under this name.
    Deflate,
    Brotli,
    Zstd,
    /// A label that does not name an encoding (`utf-8`, `none`). It is accepted if the body is
    /// plain.
    Unknown,
}

/// Why a body could not be decoded.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodeError {
    TooLarge,
    Garbage(String),
}

/// A body while it arrives. The decoder counts the bytes that arrive and the bytes of every layer
/// against `bytes_max`. Otherwise a stream of empty members or blocks would never end.
pub(crate) struct Decoder {
    layers: Vec<Layer>,
    body: Vec<u8>,
    bytes_max: usize,
    wire_bytes: usize,
}

impl Decoder {
    /// Creates a decoder for a body with this `Content-Encoding` (several headers joined by
    /// commas).
    pub fn new(content_encoding: &str, bytes_max: usize) -> Result<Decoder, DecodeError> {
        let labels: Vec<Coding> = content_encoding
            .split(',')
            .map(str::trim)
            .filter(|label| !label.is_empty() && !label.eq_ignore_ascii_case("identity"))
            .map(Coding::of_label)
            .collect();
        if labels.len() > LABELS_MAX {
            let why = format!("the body has {} encodings, one over another", labels.len());
            return Err(DecodeError::Garbage(why));
        }
        // The last encoding was applied last. One more layer without a label follows: it removes a
        // gzip that was not declared (a file feed.xml.gz, or a body compressed twice).
        let layers = labels.into_iter().rev().map(Some).chain([None]);
        let layers = layers.map(|label| Layer::new(label, bytes_max)).collect();
        Ok(Decoder { layers, body: Vec::new(), bytes_max, wire_bytes: 0 })
    }

    /// Takes the next bytes from the wire. A piece counts as at least one byte, because HTTP/2 can
    /// deliver any number of empty frames.
    pub fn push(&mut self, wire: &[u8]) -> Result<(), DecodeError> {
        self.wire_bytes = self.wire_bytes.saturating_add(wire.len().max(1));
        if self.wire_bytes > self.bytes_max {
            return Err(DecodeError::TooLarge);
        }
        self.push_from(0, wire.to_vec())
    }

    /// Returns what is decoded so far.
    pub fn so_far(&self) -> &[u8] {
        &self.body
    }

    /// Returns the whole body, after the last bytes were pushed.
    pub fn finish(mut self) -> Result<Vec<u8>, DecodeError> {
        for at in 0..self.layers.len() {
            let tail = self.layers[at].finish()?;
            self.push_from(at + 1, tail)?;
        }
        Ok(self.body)
    }

    fn push_from(&mut self, first: usize, mut bytes: Vec<u8>) -> Result<(), DecodeError> {
        for layer in &mut self.layers[first..] {
            if bytes.is_empty() {
                return Ok(());
            }
            bytes = layer.push(bytes)?;
        }
        if self.body.len() + bytes.len() > self.bytes_max {
            return Err(DecodeError::TooLarge);
        }
        if self.body.is_empty() {
            self.body = bytes;
        } else {
            self.body.append(&mut bytes);
        }
        Ok(())
    }
}

impl Coding {
    fn of_label(label: &str) -> Coding {
        match label.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Coding::Gzip,
            "deflate" => Coding::Deflate,
            "br" => Coding::Brotli,
            "zstd" => Coding::Zstd,
            _ => Coding::Unknown,
        }
    }

    pub const fn word(self) -> &'static str {
        match self {
            Coding::Gzip => "gzip",
            Coding::Deflate => "deflate",
            Coding::Brotli => "brotli",
            Coding::Zstd => "zstd",
            Coding::Unknown => "an encoding we do not know",
        }
    }
}

impl DecodeError {
    pub fn failure(self, bytes_max: usize) -> Failure {
        match self {
            DecodeError::TooLarge => Failure::new(
                FailureKind::TooLarge,
                format!("the body is longer than {bytes_max} bytes, the limit for a feed"),
            ),
            DecodeError::Garbage(why) => Failure::new(FailureKind::Encoding, why),
        }
    }
}

#[cfg(test)]
mod tests;

//! One encoding that is being removed. It examines the first bytes, chooses a decoder, then
//! streams.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder};
use zstd::stream::zio;

use super::{Coding, DecodeError};

/// The bytes that are needed to recognise the encoding of a body.
const SNIFFED_BYTES: usize = 4;
/// The bytes that are decompressed between two checks of the limit.
const STEP_BYTES: usize = 16 * 1024;
/// The window that RFC 9659 allows a server to require: 8 MB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Some servers flush a gzip stream as many small members. Each needs a new decoder of 40 KB, so a
/// body with more members is refused.
const GZIP_MEMBERS_MAX: u32 = 10_000;
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub(super) struct Layer {
    label: Option<Coding>,
    bytes_max: usize,
    state: LayerState,
}

enum LayerState {
    Sniffing(Vec<u8>),
    Plain,
    Gzip {
        decoder: Box<GzDecoder<BoundedBuffer>>,
        n_members: u32,
    },
    Inflate {
        decoder: Decompress,
        bytes_left: usize,
        ended: bool,
    },
    Brotli(Box<DecompressorWriter<BoundedBuffer>>),
    Zstd(Box<zio::Writer<BoundedBuffer, ZstdDecoder<'static>>>),
    /// The stream is complete. The rest is padding.
    Ended,
}

impl Layer {
    pub fn new(label: Option<Coding>, bytes_max: usize) -> Layer {
        Layer { label, bytes_max, state: LayerState::Sniffing(Vec::new()) }
    }

    pub fn push(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, DecodeError> {
        let LayerState::Sniffing(seen) = &mut self.state else {
            return self.run(bytes);
        };
        seen.extend(bytes);
        if seen.len() < SNIFFED_BYTES {
            return Ok(Vec::new());
        }
        self.choose()
    }

    pub fn finish(&mut self) -> Result<Vec<u8>, DecodeError> {
        let mut out = match self.state {
            LayerState::Sniffing(_) => self.choose()?,
            _ => Vec::new(),
        };
        let ended = match &mut self.state {
            LayerState::Sniffing(_) | LayerState::Plain | LayerState::Ended => Ok(()),
            LayerState::Gzip { decoder, .. } => decoder.try_finish(),
            LayerState::Inflate { ended: true, .. } => Ok(()),
            LayerState::Inflate { .. } => Err(io::ErrorKind::UnexpectedEof.into()),
            LayerState::Brotli(decoder) => decoder.close(),
            LayerState::Zstd(decoder) => decoder.finish(),
        };
        out.append(&mut self.drain(ended.is_err())?);
        match ended {
            Ok(()) => Ok(out),
            Err(_) => Err(DecodeError::Garbage(format!(
                "the body is cut off or damaged: its {} stream has no proper end",
                self.word()
            ))),
        }
    }

    /// Chooses the decoder by the first bytes, with the label as a hint, and decodes these bytes.
    fn choose(&mut self) -> Result<Vec<u8>, DecodeError> {
        let LayerState::Sniffing(seen) = std::mem::replace(&mut self.state, LayerState::Plain)
        else {
            return Ok(Vec::new());
        };
        let coding = if seen.is_empty() {
            // An empty body is empty, whatever its label.
            None
        } else if seen.starts_with(&GZIP_MAGIC) && self.label != Some(Coding::Brotli) {
            Some(Coding::Gzip)
        } else if looks_plain(&seen) || self.label.is_none() {
            None
        } else {
            self.label
        };
        let sink =
            BoundedBuffer { bytes: Vec::new(), bytes_left: self.bytes_max, overflowed: false };
        self.state = match coding {
            None => LayerState::Plain,
            Some(Coding::Gzip) if seen.starts_with(&GZIP_MAGIC) => {
                LayerState::Gzip { decoder: Box::new(GzDecoder::new(sink)), n_members: 1 }
            }
            Some(Coding::Deflate) => LayerState::Inflate {
                decoder: Decompress::new(is_zlib(&seen)),
                bytes_left: self.bytes_max,
                ended: false,
            },
            Some(Coding::Brotli) => {
                LayerState::Brotli(Box::new(DecompressorWriter::new(sink, STEP_BYTES)))
            }
            Some(Coding::Zstd) if seen.starts_with(&ZSTD_MAGIC) => {
                let mut decoder = ZstdDecoder::new().map_err(|e| garbage(&e))?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
                decoder.set_parameter(window).map_err(|e| garbage(&e))?;
                LayerState::Zstd(Box::new(zio::Writer::new(sink, decoder)))
            }
            Some(coding) => {
                return Err(DecodeError::Garbage(format!(
                    "the server says that the body is {}, but it is not",
                    coding.word()
                )));
            }
        };
        self.run(seen)
    }

    fn run(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let taken = match &mut self.state {
                LayerState::Sniffing(_) | LayerState::Plain => return Ok(bytes),
                LayerState::Ended => return Ok(out),
                LayerState::Gzip { decoder, .. } => decoder.write(rest),
                LayerState::Brotli(decoder) => decoder.write(rest),
                LayerState::Zstd(decoder) => decoder.write(rest),
                LayerState::Inflate { decoder, bytes_left, ended } => {
                    return inflate(decoder, rest, bytes_left, ended);
                }
            };
            match taken {
                Ok(0) => {
                    out.append(&mut self.finish()?);
                    self.go_on_after_the_end(rest)?;
                }
                Ok(n) => rest = &rest[n..],
                Err(e) => {
                    self.drain(true)?;
                    return Err(garbage(&format!("its {} stream is damaged ({e})", self.word())));
                }
            }
        }
        out.append(&mut self.drain(false)?);
        Ok(out)
    }

    /// Handles bytes after the end of a stream. Only gzip may continue, with another member.
    fn go_on_after_the_end(&mut self, rest: &[u8]) -> Result<(), DecodeError> {
        self.state = match std::mem::replace(&mut self.state, LayerState::Ended) {
            LayerState::Gzip { n_members: GZIP_MEMBERS_MAX.., .. } => {
                let why = format!("it has more than {GZIP_MEMBERS_MAX} gzip members");
                return Err(garbage(&why));
            }
            LayerState::Gzip { decoder, n_members }
                if rest.starts_with(&GZIP_MAGIC[..rest.len().min(2)]) =>
            {
                let bytes_left = decoder.get_ref().bytes_left;
                let sink = BoundedBuffer { bytes: Vec::new(), bytes_left, overflowed: false };
                let decoder = Box::new(GzDecoder::new(sink));
                LayerState::Gzip { decoder, n_members: n_members + 1 }
            }
            _ => LayerState::Ended,
        };
        Ok(())
    }

    /// Returns the output so far. `failing` distinguishes an overflow from a damaged stream.
    fn drain(&mut self, failing: bool) -> Result<Vec<u8>, DecodeError> {
        let sink = match &mut self.state {
            LayerState::Gzip { decoder, .. } => decoder.get_mut(),
            LayerState::Brotli(decoder) => decoder.get_mut(),
            LayerState::Zstd(decoder) => decoder.writer_mut(),
            LayerState::Sniffing(_)
            | LayerState::Plain
            | LayerState::Inflate { .. }
            | LayerState::Ended => {
                return Ok(Vec::new());
            }
        };
        if failing && sink.overflowed {
            return Err(DecodeError::TooLarge);
        }
        Ok(std::mem::take(&mut sink.bytes))
    }

    fn word(&self) -> &'static str {
        match self.state {
            LayerState::Gzip { .. } => Coding::Gzip.word(),
            LayerState::Inflate { .. } => Coding::Deflate.word(),
            LayerState::Brotli(_) => Coding::Brotli.word(),
            LayerState::Zstd(_) => Coding::Zstd.word(),
            LayerState::Sniffing(_) | LayerState::Plain | LayerState::Ended => "plain",
        }
    }
}

fn inflate(
    decoder: &mut Decompress,
    mut input: &[u8],
    bytes_left: &mut usize,
    ended: &mut bool,
) -> Result<Vec<u8>, DecodeError> {
    let mut out = Vec::new();
    let mut step = vec![0; STEP_BYTES];
    while !*ended {
        let (taken, given) = (decoder.total_in(), decoder.total_out());
        let status = decoder
            .decompress(input, &mut step, FlushDecompress::None)
            .map_err(|e| garbage(&format!("its deflate stream is damaged ({e})")))?;
        // Both are at most the lengths of the slices just passed in.
        let taken = (decoder.total_in() - taken) as usize;
        let given = (decoder.total_out() - given) as usize;
        input = &input[taken..];
        *bytes_left = bytes_left.checked_sub(given).ok_or(DecodeError::TooLarge)?;
        out.extend_from_slice(&step[..given]);
        *ended = status == Status::StreamEnd;
        if taken == 0 && given == 0 || input.is_empty() && given < step.len() {
            break;
        }
    }
    Ok(out)
}

/// The output of a decoder: a buffer that does not grow beyond the rest of the limit.
struct BoundedBuffer {
    bytes: Vec<u8>,
    bytes_left: usize,
    overflowed: bool,
}

impl Write for BoundedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.bytes_left.checked_sub(bytes.len()) else {
            self.overflowed = true;
            return Err(io::Error::other("over the limit"));
        };
        self.bytes_left = left;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a body is plain text in spite of its label: markup or JSON, after a byte order mark and
/// white space. Compressed data hardly ever begins like this by chance.
fn looks_plain(seen: &[u8]) -> bool {
    let text = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(seen).trim_ascii_start();
    let text = &text[..text.len().min(SNIFFED_BYTES)];
    let Some((first, rest)) = text.split_first() else {
        // White space or a byte order mark only. Compressed data does not begin like this.
        return true;
    };
    let printable = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    matches!(first, b'<' | b'{' | b'[') && rest.iter().all(printable)
}

/// Whether a body begins like zlib: with two bytes that name the method and are divisible by 31.
fn is_zlib(seen: &[u8]) -> bool {
    matches!(seen, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

fn garbage(why: &dyn std::fmt::Display) -> DecodeError {
    DecodeError::Garbage(format!("the body cannot be decompressed: {why}"))
}

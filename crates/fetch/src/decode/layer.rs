//! One encoding being undone: look at the first bytes, choose, then stream.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::GzDecoder;
use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder};
use zstd::stream::zio;

use super::{Coding, DecodeError};

/// What must have come before the kind of a body can be told.
const SNIFFED_BYTES: usize = 4;
/// How much is inflated between two looks at the limit.
const STEP_BYTES: usize = 16 * 1024;
/// The window that RFC 9659 allows a server to demand: 8 MB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Some servers flush a gzip stream as many small members. Each costs a fresh decoder of 40 KB, so
/// a body of more members than this is refused.
const GZIP_MEMBERS_MAX: u32 = 10_000;
const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

pub(super) struct Layer {
    label: Option<Coding>,
    bytes_max: usize,
    state: State,
}

enum State {
    Sniffing(Vec<u8>),
    Plain,
    Gzip {
        decoder: Box<GzDecoder<Bounded>>,
        n_members: u32,
    },
    Inflate {
        decoder: Decompress,
        bytes_left: usize,
        ended: bool,
    },
    Brotli(Box<DecompressorWriter<Bounded>>),
    Zstd(Box<zio::Writer<Bounded, ZstdDecoder<'static>>>),
    /// The stream said that it is complete. What follows is padding.
    Ended,
}

impl Layer {
    pub fn new(label: Option<Coding>, bytes_max: usize) -> Layer {
        Layer { label, bytes_max, state: State::Sniffing(Vec::new()) }
    }

    pub fn push(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, DecodeError> {
        let State::Sniffing(seen) = &mut self.state else {
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
            State::Sniffing(_) => self.choose()?,
            _ => Vec::new(),
        };
        let ended = match &mut self.state {
            State::Sniffing(_) | State::Plain | State::Ended => Ok(()),
            State::Gzip { decoder, .. } => decoder.try_finish(),
            State::Inflate { ended: true, .. } => Ok(()),
            State::Inflate { .. } => Err(io::ErrorKind::UnexpectedEof.into()),
            State::Brotli(decoder) => decoder.close(),
            State::Zstd(decoder) => decoder.finish(),
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

    /// Decides by what came first, with the label as a hint, and runs what came.
    fn choose(&mut self) -> Result<Vec<u8>, DecodeError> {
        let State::Sniffing(seen) = std::mem::replace(&mut self.state, State::Plain) else {
            return Ok(Vec::new());
        };
        let coding = if seen.is_empty() {
            // An empty body is empty, however it is labelled.
            None
        } else if seen.starts_with(&GZIP_MAGIC) && self.label != Some(Coding::Brotli) {
            Some(Coding::Gzip)
        } else if looks_plain(&seen) || self.label.is_none() {
            None
        } else {
            self.label
        };
        let sink = Bounded { bytes: Vec::new(), bytes_left: self.bytes_max, overflowed: false };
        self.state = match coding {
            None => State::Plain,
            Some(Coding::Gzip) if seen.starts_with(&GZIP_MAGIC) => {
                State::Gzip { decoder: Box::new(GzDecoder::new(sink)), n_members: 1 }
            }
            Some(Coding::Deflate) => State::Inflate {
                decoder: Decompress::new(is_zlib(&seen)),
                bytes_left: self.bytes_max,
                ended: false,
            },
            Some(Coding::Brotli) => {
                State::Brotli(Box::new(DecompressorWriter::new(sink, STEP_BYTES)))
            }
            Some(Coding::Zstd) if seen.starts_with(&ZSTD_MAGIC) => {
                let mut decoder = ZstdDecoder::new().map_err(|e| garbage(&e))?;
                let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
                decoder.set_parameter(window).map_err(|e| garbage(&e))?;
                State::Zstd(Box::new(zio::Writer::new(sink, decoder)))
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
                State::Sniffing(_) | State::Plain => return Ok(bytes),
                State::Ended => return Ok(out),
                State::Gzip { decoder, .. } => decoder.write(rest),
                State::Brotli(decoder) => decoder.write(rest),
                State::Zstd(decoder) => decoder.write(rest),
                State::Inflate { decoder, bytes_left, ended } => {
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

    /// A stream that takes no more is complete. Only gzip may go on, with another member.
    fn go_on_after_the_end(&mut self, rest: &[u8]) -> Result<(), DecodeError> {
        self.state = match std::mem::replace(&mut self.state, State::Ended) {
            State::Gzip { n_members: GZIP_MEMBERS_MAX.., .. } => {
                let why = format!("it has more than {GZIP_MEMBERS_MAX} gzip members");
                return Err(garbage(&why));
            }
            State::Gzip { decoder, n_members }
                if rest.starts_with(&GZIP_MAGIC[..rest.len().min(2)]) =>
            {
                let bytes_left = decoder.get_ref().bytes_left;
                let sink = Bounded { bytes: Vec::new(), bytes_left, overflowed: false };
                let decoder = Box::new(GzDecoder::new(sink));
                State::Gzip { decoder, n_members: n_members + 1 }
            }
            _ => State::Ended,
        };
        Ok(())
    }

    /// Takes what the stream gave so far. `failing` tells an overflow from a damaged stream.
    fn drain(&mut self, failing: bool) -> Result<Vec<u8>, DecodeError> {
        let sink = match &mut self.state {
            State::Gzip { decoder, .. } => decoder.get_mut(),
            State::Brotli(decoder) => decoder.get_mut(),
            State::Zstd(decoder) => decoder.writer_mut(),
            State::Sniffing(_) | State::Plain | State::Inflate { .. } | State::Ended => {
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
            State::Gzip { .. } => Coding::Gzip.word(),
            State::Inflate { .. } => Coding::Deflate.word(),
            State::Brotli(_) => Coding::Brotli.word(),
            State::Zstd(_) => Coding::Zstd.word(),
            State::Sniffing(_) | State::Plain | State::Ended => "plain",
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

/// Where a decoder writes: a buffer that refuses to grow beyond what is left of the limit.
struct Bounded {
    bytes: Vec<u8>,
    bytes_left: usize,
    overflowed: bool,
}

impl Write for Bounded {
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

/// Whether a body is plainly text in spite of its label: markup or JSON, after a byte order mark
/// and white space. Four bytes that are compressed data by chance hardly pass for it.
fn looks_plain(seen: &[u8]) -> bool {
    let text = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(seen).trim_ascii_start();
    let text = &text[..text.len().min(SNIFFED_BYTES)];
    let Some((first, rest)) = text.split_first() else {
        // White space only, or a mark: nothing that a compressor would begin with.
        return true;
    };
    let printable = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    matches!(first, b'<' | b'{' | b'[') && rest.iter().all(printable)
}

/// Zlib begins with two bytes that name the method and are divisible by 31.
fn is_zlib(seen: &[u8]) -> bool {
    matches!(seen, [method, flags, ..]
        if method & 0x0f == 8 && (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0)
}

fn garbage(why: &dyn std::fmt::Display) -> DecodeError {
    DecodeError::Garbage(format!("the body cannot be decompressed: {why}"))
}

//! Files of the lab: reads traces and writes tables. A name ending in `.gz` is gzip, `-` a standard
//! stream.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use lab::{World, WorldBuilder};

use crate::args::lab::TraceArgs;
use crate::error::{CliError, failed, input_error};
use crate::output::spinner;

/// Bytes read at once. With this many, decompression costs far more than the system calls.
pub const BUFFER_BYTES: usize = 1 << 16;

/// Reads all traces into one world.
pub fn read_world(traces: &TraceArgs, window: u32) -> Result<World, CliError> {
    let mut builder = WorldBuilder::default();
    let waiting = spinner("reading");
    for file in &traces.files {
        let shown = file.display().to_string();
        let reader = BufReader::with_capacity(BUFFER_BYTES, open(file)?);
        lab::world::trace::read(&shown, reader, &mut builder)
            .map_err(|e| input_error(e.to_string()))?;
    }
    waiting.finish_and_clear();
    finish(builder, traces, window)
}

/// Finishes a world that must have entries.
pub fn finish(builder: WorldBuilder, traces: &TraceArgs, window: u32) -> Result<World, CliError> {
    let world = builder.finish(window);
    if world.span().is_none() {
        let file = traces.files.first().map_or(String::new(), |f| f.display().to_string());
        let message = "the trace has no entries; add rows below its header";
        return Err(input_error(format!("{file}:1:1: {message}")));
    }
    Ok(world)
}

pub fn open(file: &Path) -> Result<Box<dyn Read>, CliError> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let opened = File::open(file)
        .map_err(|e| input_error(format!("{}: cannot be opened: {e}", file.display())))?;
    Ok(if is_gzip(file) { Box::new(MultiGzDecoder::new(opened)) } else { Box::new(opened) })
}

/// A file that is being written. The caller must call [`Output::finish`].
pub enum Output {
    Plain(BufWriter<File>),
    Gzip(BufWriter<GzEncoder<File>>),
    Standard(io::Stdout),
}

impl Output {
    pub fn create(file: &Path) -> Result<Output, CliError> {
        if file == Path::new("-") {
            return Ok(Output::Standard(io::stdout()));
        }
        let created = File::create(file)
            .map_err(|e| input_error(format!("{}: cannot be written: {e}", file.display())))?;
        Ok(match is_gzip(file) {
            true => Output::Gzip(BufWriter::new(GzEncoder::new(created, Compression::default()))),
            false => Output::Plain(BufWriter::new(created)),
        })
    }

    /// Writes the rest. Without this call the end of the file may be missing.
    pub fn finish(self, file: &Path) -> Result<(), CliError> {
        let ended = match self {
            Output::Plain(mut out) => out.flush(),
            Output::Standard(mut out) => out.flush(),
            Output::Gzip(out) => match out.into_inner() {
                Ok(packer) => packer.finish().map(drop),
                Err(e) => Err(e.into_error()),
            },
        };
        ended.map_err(|e| failed(format!("{}: cannot be written: {e}", file.display())))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Plain(out) => out.write(bytes),
            Output::Gzip(out) => out.write(bytes),
            Output::Standard(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Plain(out) => out.flush(),
            Output::Gzip(out) => out.flush(),
            Output::Standard(out) => out.flush(),
        }
    }
}

fn is_gzip(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "gz")
}

/// Returns a field of a CSV row, quoted if necessary.
pub fn csv_field(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

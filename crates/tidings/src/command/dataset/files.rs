//! The files of a data set: compressed tables whose bytes are counted and hashed, and plain files.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use dataset::package::{HashedFile, PackagedFile, PackagedTable};
use dataset::tables::TableWriter;
use dataset::tables::schema::TableSchema;
use flate2::{Compression, GzBuilder};
use serde::Serialize;

use crate::args::dataset::TableFormat;
use crate::error::{CliError, failed};

/// A file whose bytes are hashed on their way.
type Hashed = HashedFile<BufWriter<File>>;

/// Compresses what is written.
pub enum Packer {
    Gzip(flate2::write::GzEncoder<Hashed>),
    Zstd(zstd::Encoder<'static, Hashed>),
}

impl Packer {
    fn finish(self) -> io::Result<Hashed> {
        match self {
            Packer::Gzip(packer) => packer.finish(),
            Packer::Zstd(packer) => packer.finish(),
        }
    }
}

impl Write for Packer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packer::Gzip(packer) => packer.write(bytes),
            Packer::Zstd(packer) => packer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packer::Gzip(packer) => packer.flush(),
            Packer::Zstd(packer) => packer.flush(),
        }
    }
}

/// A table that is being written.
pub struct TableFile {
    table: &'static TableSchema,
    writer: TableWriter<Packer>,
    path: String,
    rows: u64,
}

impl TableFile {
    pub fn create(
        folder: &Path,
        table: &'static TableSchema,
        format: TableFormat,
    ) -> Result<TableFile, CliError> {
        let path = format!("{}.{}", table.name, format.ending());
        let hashed = create(&folder.join(&path))?;
        let packer = match format {
            // Without a time in its head, the same table gives the same bytes.
            TableFormat::Gzip => {
                Packer::Gzip(GzBuilder::new().mtime(0).write(hashed, Compression::default()))
            }
            TableFormat::Zstd => Packer::Zstd(zstd::Encoder::new(hashed, ZSTD_LEVEL)?),
        };
        Ok(TableFile { table, writer: TableWriter::new(table, packer)?, path, rows: 0 })
    }

    pub fn write(&mut self, row: &impl Serialize) -> Result<(), CliError> {
        self.rows += 1;
        Ok(self.writer.write(row)?)
    }

    pub fn finish(self) -> Result<PackagedTable, CliError> {
        let (file, _) = self.writer.finish()?.finish()?.finish(&self.path)?;
        Ok(PackagedTable { file, table: self.table, rows: self.rows })
    }
}

/// A good ratio for tables that are written once and read often.
const ZSTD_LEVEL: i32 = 12;

/// Creates a file whose bytes are hashed.
pub fn create(path: &Path) -> Result<Hashed, CliError> {
    let file = File::create(path)
        .map_err(|e| failed(format!("{}: cannot be written: {e}", path.display())))?;
    Ok(HashedFile::new(BufWriter::new(file)))
}

/// Writes a whole file.
pub fn write(folder: &Path, path: &str, text: &str) -> Result<PackagedFile, CliError> {
    let mut file = create(&folder.join(path))?;
    file.write_all(text.as_bytes())?;
    Ok(file.finish(path)?.0)
}

/// Opens a table of a data set, in any of the compressions; `None` if it has none.
pub fn open(folder: &Path, table: &TableSchema) -> Result<Option<Box<dyn Read>>, CliError> {
    let path = |ending: &str| -> PathBuf { folder.join(format!("{}.{ending}", table.name)) };
    let opened = |path: PathBuf| {
        File::open(&path).map_err(|e| failed(format!("{}: cannot be opened: {e}", path.display())))
    };
    let found = ["csv.gz", "csv.zst", "csv"].into_iter().find(|ending| path(ending).exists());
    Ok(match found {
        Some("csv.gz") => {
            Some(Box::new(flate2::read::MultiGzDecoder::new(opened(path("csv.gz"))?)))
        }
        Some("csv.zst") => Some(Box::new(zstd::Decoder::new(opened(path("csv.zst"))?)?)),
        Some(_) => Some(Box::new(opened(path("csv"))?)),
        None => None,
    })
}

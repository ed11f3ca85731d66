//! Reads the rows of a CSV file with the `csv` crate, one at a time into one buffer.
//!
//! Adds a limit on the bytes of a row, and an error for a quote that is never closed. Also computes
//! the position of each field for error messages. Does not know any columns.

use std::io::{self, Chain, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

/// A longer row means that the file is not CSV.
const ROW_BYTES_MAX: u64 = 64 * 1024;

/// Follows the last byte of the file. The `csv` crate reads a quoted field without its closing
/// quote up to the end of the file, so such a field ends with this mark.
const END_MARK: &[u8] = b"\n\0";

/// The rows of one file.
pub(super) struct CsvRows<R> {
    reader: Reader<BoundedInput<Chain<R, &'static [u8]>>>,
    row: CsvRow,
}

/// One row.
#[derive(Default)]
pub(super) struct CsvRow {
    record: ByteRecord,
    /// The line on which the row begins, from 1.
    pub(super) line: u64,
}

/// The reason why a row could not be read.
pub(super) enum RowError {
    Io { line: u64, error: io::Error },
    TooLong { line: u64 },
    Unclosed { line: u64, column: usize },
}

impl<R: Read> CsvRows<R> {
    pub(super) fn new(reader: R) -> CsvRows<R> {
        let input = BoundedInput { reader: reader.chain(END_MARK), n_read: 0, n_max: 0 };
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            // One byte, so that the line of a row is exact; callers trim the `\r` before it.
            .terminator(Terminator::Any(b'\n'))
            .from_reader(input);
        CsvRows { reader, row: CsvRow::default() }
    }

    /// Returns the next row that is not empty.
    pub(super) fn next(&mut self) -> Result<Option<&CsvRow>, RowError> {
        loop {
            let (line, start) = (self.reader.position().line(), self.reader.position().byte());
            self.reader.get_mut().n_max = start + ROW_BYTES_MAX;
            let read = self.reader.read_byte_record(&mut self.row.record);
            let found = read.map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    RowError::TooLong { line }
                }
                csv::ErrorKind::Io(error) => RowError::Io { line, error },
                other => RowError::Io { line, error: io::Error::other(format!("{other:?}")) },
            })?;
            if self.reader.position().byte() - start > ROW_BYTES_MAX {
                return Err(RowError::TooLong { line });
            }
            if !found || self.row.is(&END_MARK[1..]) {
                return Ok(None);
            }
            let is_unclosed = self.row.last().ends_with(END_MARK);
            let n_terminators = u64::from(!is_unclosed);
            self.row.line = self.reader.position().line() - self.row.n_breaks() - n_terminators;
            if is_unclosed {
                let column = self.row.column(self.row.len() - 1);
                return Err(RowError::Unclosed { line: self.row.line, column });
            }
            if !self.row.is(b"\r") {
                return Ok(Some(&self.row));
            }
        }
    }
}

impl CsvRow {
    pub(super) fn len(&self) -> usize {
        self.record.len()
    }

    /// Returns the text of a field without its quotes; empty if the row is too short.
    pub(super) fn field(&self, number: usize) -> &[u8] {
        self.record.get(number).unwrap_or_default()
    }

    /// Returns the column where a field begins, from 1 in bytes. The `csv` crate does not keep
    /// it, so this assumes quotes around the fields that need them and around no others.
    pub(super) fn column(&self, number: usize) -> usize {
        let written = |field: &[u8]| {
            let n_quotes = field.iter().filter(|byte| **byte == b'"').count();
            let is_quoted = field.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n'));
            field.len() + n_quotes + if is_quoted { 2 } else { 0 }
        };
        1 + self.record.iter().take(number).map(|field| written(field) + 1).sum::<usize>()
    }

    fn is(&self, text: &[u8]) -> bool {
        self.len() == 1 && self.field(0) == text
    }

    fn last(&self) -> &[u8] {
        self.field(self.len().saturating_sub(1))
    }

    /// Counts the line breaks inside quoted fields.
    fn n_breaks(&self) -> u64 {
        self.record.as_slice().iter().filter(|byte| **byte == b'\n').count() as u64
    }
}

/// A reader that fails once a row is too long. The caller moves `n_max` before each row.
struct BoundedInput<R> {
    reader: R,
    n_read: u64,
    n_max: u64,
}

impl<R: Read> Read for BoundedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.n_read > self.n_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let n = self.reader.read(buffer)?;
        self.n_read += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Vec<String>> {
        let mut rows = CsvRows::new(text.as_bytes());
        let mut all = Vec::new();
        while let Ok(Some(row)) = rows.next() {
            let field = |i| String::from_utf8(row.field(i).trim_ascii().to_vec()).unwrap();
            all.push((0..row.len()).map(field).collect());
        }
        all
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        assert_eq!(read("a,b\r\n\r\nc,\n"), [["a", "b"], ["c", ""]]);
        assert_eq!(read("\u{feff}\"a,1\",\"say \"\"so\"\"\"\n"), [["a,1", "say \"so\""]]);
        assert_eq!(read("x,\"two\nlines\"\ny,z"), [["x", "two\nlines"], ["y", "z"]]);
        assert_eq!(read("\"\",\"\"\"\""), [["", "\""]]);
        assert_eq!(read("\"a\",\"b\"\r\n"), [["a", "b"]]);
    }

    #[test]
    fn rows_know_the_line_on_which_they_begin() {
        let mut rows = CsvRows::new(&b"\n\r\na,\"b\n\nc\"\r\n\nd,e\nf"[..]);
        for line in [3, 7, 8] {
            assert!(matches!(rows.next(), Ok(Some(row)) if row.line == line));
        }
        assert!(matches!(rows.next(), Ok(None)));
    }

    #[test]
    fn fields_know_their_column() {
        let mut rows = CsvRows::new(&b"a,\"b,c\",\"d\"\"\",e"[..]);
        let Ok(Some(row)) = rows.next() else { panic!("one row") };
        assert_eq!([0, 1, 2, 3].map(|i| row.column(i)), [1, 3, 9, 15]);
    }

    #[test]
    fn a_file_that_is_not_csv_is_refused_where_the_row_begins() {
        let mut rows = CsvRows::new(&b"a,b\n1,\"2\n3\n"[..]);
        assert!(rows.next().is_ok());
        assert!(matches!(rows.next(), Err(RowError::Unclosed { line: 2, column: 3 })));
        let long = "x".repeat(70_000);
        let mut rows = CsvRows::new(long.as_bytes());
        assert!(matches!(rows.next(), Err(RowError::TooLong { line: 1 })));
        let endless = format!("a,b\n\"{}", "x\n".repeat(100_000));
        let mut rows = CsvRows::new(endless.as_bytes());
        assert!(rows.next().is_ok());
        assert!(matches!(rows.next(), Err(RowError::TooLong { line: 2 })));
    }
}

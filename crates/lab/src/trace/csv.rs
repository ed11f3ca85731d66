//! Comma-separated rows, read one at a time into a buffer that is used again. Fields may be
//! quoted, and a quoted one may hold commas, doubled quotes and line ends. It knows no columns.

use std::io::{self, BufRead, Read};

/// A longer row is a file of another kind.
const ROW_BYTES_MAX: u64 = 64 * 1024;

/// The rows of one file.
pub(super) struct Rows<R> {
    reader: R,
    row: Row,
    /// Lines read so far.
    lines: u64,
}

/// One row: its text, and where its fields lie in it.
#[derive(Default)]
pub(super) struct Row {
    text: Vec<u8>,
    fields: Vec<Field>,
    /// The line on which it began, from 1.
    pub(super) line: u64,
    unquoted: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    /// Holds doubled quotes: it is read through `unquoted`.
    doubled: bool,
}

/// Why a row could not be read.
pub(super) enum RowError {
    Io { line: u64, error: io::Error },
    TooLong { line: u64 },
    Unclosed { line: u64, column: usize },
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(reader: R) -> Rows<R> {
        Rows { reader, row: Row::default(), lines: 0 }
    }

    /// The next row that is not empty.
    pub(super) fn next(&mut self) -> Result<Option<&mut Row>, RowError> {
        loop {
            self.row.text.clear();
            self.row.line = self.lines + 1;
            if !self.line()? {
                return Ok(None);
            }
            // An odd number of quotes: the field goes on in the next line.
            while !is_closed(&self.row.text) {
                if !self.line()? {
                    let quote = self.row.text.iter().rposition(|b| *b == b'"').unwrap_or(0);
                    return Err(RowError::Unclosed { line: self.row.line, column: quote + 1 });
                }
            }
            self.row.split();
            if !self.row.text.is_empty() {
                return Ok(Some(&mut self.row));
            }
        }
    }

    /// Adds one line to the row; false at the end of the file.
    fn line(&mut self) -> Result<bool, RowError> {
        let line = self.lines + 1;
        let room = (ROW_BYTES_MAX + 1).saturating_sub(self.row.text.len() as u64);
        let mut limited = (&mut self.reader).take(room);
        let read = limited.read_until(b'\n', &mut self.row.text);
        let n = read.map_err(|error| RowError::Io { line, error })?;
        if self.row.text.len() as u64 > ROW_BYTES_MAX {
            return Err(RowError::TooLong { line });
        }
        self.lines = line;
        Ok(n > 0)
    }
}

/// Whether every quote is closed.
fn is_closed(text: &[u8]) -> bool {
    text.iter().filter(|b| **b == b'"').count().is_multiple_of(2)
}

impl Row {
    fn split(&mut self) {
        while matches!(self.text.last(), Some(b'\n' | b'\r')) {
            self.text.pop();
        }
        if self.line == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
            self.text.drain(..3);
        }
        self.fields.clear();
        let (text, mut at) = (&self.text, 0);
        loop {
            let (field, end) = field_at(text, at);
            self.fields.push(field);
            if end >= text.len() {
                return;
            }
            at = end + 1;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Where a field begins, counted from 1 in bytes.
    pub(super) fn column(&self, field: usize) -> usize {
        self.fields.get(field).map_or(self.text.len(), |f| f.start) + 1
    }

    /// The text of a field without its quotes; empty where the row is too short.
    pub(super) fn field(&mut self, number: usize) -> &[u8] {
        let Some(&field) = self.fields.get(number) else { return &[] };
        let text = &self.text[field.start..field.end];
        if !field.doubled {
            return text;
        }
        self.unquoted.clear();
        let mut quote_before = false;
        for &byte in text {
            quote_before = byte == b'"' && !quote_before;
            if !quote_before {
                self.unquoted.push(byte);
            }
        }
        &self.unquoted
    }
}

/// The field that begins at `start`, and where the comma after it (or the end) lies.
fn field_at(text: &[u8], start: usize) -> (Field, usize) {
    let find = |byte: u8, from: usize| {
        text[from..].iter().position(|b| *b == byte).map_or(text.len(), |i| from + i)
    };
    if text.get(start) != Some(&b'"') {
        let end = find(b',', start);
        return (Field { start, end, doubled: false }, end);
    }
    let (mut quote, mut doubled) = (find(b'"', start + 1), false);
    while text.get(quote + 1) == Some(&b'"') {
        doubled = true;
        quote = find(b'"', quote + 2);
    }
    let end = quote.min(text.len());
    (Field { start: start + 1, end, doubled }, find(b',', end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Vec<String>> {
        let mut rows = Rows::new(text.as_bytes());
        let mut all = Vec::new();
        while let Ok(Some(row)) = rows.next() {
            let n = row.len();
            let field = |i| String::from_utf8(row.field(i).to_vec()).unwrap();
            all.push((0..n).map(field).collect());
        }
        all
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        assert_eq!(read("a,b\r\n\r\nc,\n"), [["a", "b"], ["c", ""]]);
        assert_eq!(read("\u{feff}\"a,1\",\"say \"\"so\"\"\"\n"), [["a,1", "say \"so\""]]);
        assert_eq!(read("x,\"two\nlines\"\ny,z"), [["x", "two\nlines"], ["y", "z"]]);
        assert_eq!(read("\"\",\"\"\"\""), [["", "\""]]);
    }

    #[test]
    fn what_is_no_table_is_refused_where_it_begins() {
        let unclosed = "a,b\n1,\"2\n3\n";
        let mut rows = Rows::new(unclosed.as_bytes());
        assert!(rows.next().is_ok());
        assert!(matches!(rows.next(), Err(RowError::Unclosed { line: 2, column: 3 })));
        let long = "x".repeat(70_000);
        let mut rows = Rows::new(long.as_bytes());
        assert!(matches!(rows.next(), Err(RowError::TooLong { line: 1 })));
    }
}

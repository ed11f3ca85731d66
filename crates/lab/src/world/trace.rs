//! Traces: publication histories as CSV, read into a [`World`](crate::World).
//!
//! A header names the columns. `feed` and `published` are required; `visible`, `window`, `bytes`,
//! `ttl`, `domain`, `weight`, `title` and `relevant` are optional, and others are ignored. Rows
//! come in any order. A feed may be in several files. An entry with `visible` but without
//! `published` is undated. [`read_judged`] also hands out the texts of rows.
//!
//! Input: a reader with the decompressed text. This module does not open files.
//!
//! ```
//! let mut builder = lab::WorldBuilder::default();
//! let csv = "feed,published\nnews,2011-07-16T05:00:00Z\nnews,1310796000\n";
//! lab::world::trace::read("news.csv", csv.as_bytes(), &mut builder).unwrap();
//! let world = builder.finish(20);
//! assert_eq!(world.feeds[0].visible().len(), 2);
//! ```

mod measured;
mod moment;
mod rows;
mod texts;

use std::io::BufRead;
use std::time::Duration;

use feed::Time;

use crate::WorldBuilder;
use crate::world::TraceRow;
pub use measured::{AverageMode, MeasuredPolicy, read_measured};
use rows::{CsvRow, CsvRows, RowError};
use texts::TextColumns;
pub use texts::{RowText, RowVisitor};

/// A fault in a trace: the file, the position, the problem and its remedy.
#[derive(Debug, thiserror::Error)]
#[error("{file}:{line}:{column}: {problem}")]
pub struct TraceError {
    pub file: String,
    pub line: u64,
    pub column: usize,
    pub problem: Problem,
}

/// The problem of a trace.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("cannot read on: {0}; is the file complete?")]
    Io(String),
    #[error("the row is longer than 64 KB; is this a CSV file?")]
    TooLong,
    #[error("a quote is never closed; close it, or double it inside a quoted field")]
    Unclosed,
    #[error("no header; the first line names the columns: feed,published")]
    NoHeader,
    #[error("no column `{0}`; the header must name feed and published")]
    NoColumn(&'static str),
    #[error(
        "no column `{0}`; the header must name policy, delay_seconds, polls_per_entry and recall"
    )]
    NoMeasure(&'static str),
    #[error("no row; below the header each row measures one policy")]
    NoPolicies,
    #[error("{found} fields where the header names {expected}; quote fields that hold a comma")]
    Fields { found: usize, expected: usize },
    #[error("the row names no feed; its name belongs in the column feed")]
    NoFeed,
    #[error(
        "`{0}` is not a time; write 2011-07-16T05:00:00Z, or seconds or milliseconds since 1970"
    )]
    NoTime(String),
    #[error("neither published nor visible is given; an entry needs one of them")]
    NoMoment,
    #[error("`{text}` is not a valid {what}; {remedy}")]
    NoValue { what: &'static str, text: String, remedy: &'static str },
}

/// The value of the column `dates` for feeds whose dates are those of the request.
const ON_THE_FLY: &[u8] = b"on-the-fly";

/// The columns of the file.
#[derive(Clone, Copy, Debug, Default)]
struct Columns {
    n: usize,
    feed: usize,
    published: usize,
    visible: Option<usize>,
    window: Option<usize>,
    bytes: Option<usize>,
    ttl: Option<usize>,
    domain: Option<usize>,
    weight: Option<usize>,
    title: Option<usize>,
    dates: Option<usize>,
    relevant: Option<usize>,
}

/// Reads one trace into `builder`. `file` is the name for messages. Returns the number of rows.
pub fn read(
    file: &str,
    reader: impl BufRead,
    builder: &mut WorldBuilder,
) -> Result<u64, TraceError> {
    read_judged(file, reader, builder, None)
}

/// As [`read`]. `visit` gets the texts of every row and the place of its entry, so that the caller
/// can judge it later ([`WorldBuilder::judge`]).
pub fn read_judged(
    file: &str,
    reader: impl BufRead,
    builder: &mut WorldBuilder,
    mut visit: Option<RowVisitor<'_>>,
) -> Result<u64, TraceError> {
    let mut rows = CsvRows::new(reader);
    let header = rows.next().map_err(|e| broken(file, e))?;
    let header = header.ok_or_else(|| wrong(file, 1, 1, Problem::NoHeader))?;
    let columns = Columns::read(header).map_err(|p| wrong(file, 1, 1, p))?;
    let texts = TextColumns::read(header);
    let mut n_rows = 0;
    while let Some(row) = rows.next().map_err(|e| broken(file, e))? {
        let added = columns.entry(row, builder);
        let visited = added.and_then(|added| match &mut visit {
            Some(visit) => texts.visit(row, added, visit),
            None => Ok(()),
        });
        if let Err((field, problem)) = visited {
            return Err(wrong(file, row.line, row.column(field), problem));
        }
        n_rows += 1;
    }
    Ok(n_rows)
}

/// Returns the time that a text means in a trace.
pub fn moment(text: &str) -> Option<Time> {
    moment::moment(text.trim().as_bytes())
}

fn wrong(file: &str, line: u64, column: usize, problem: Problem) -> TraceError {
    TraceError { file: file.to_owned(), line, column, problem }
}

fn broken(file: &str, error: RowError) -> TraceError {
    match error {
        RowError::Io { line, error } => wrong(file, line, 1, Problem::Io(error.to_string())),
        RowError::TooLong { line } => wrong(file, line, 1, Problem::TooLong),
        RowError::Unclosed { line, column } => wrong(file, line, column, Problem::Unclosed),
    }
}

type FieldProblem = (usize, Problem);

/// The place of an entry in the world, and its times.
#[derive(Clone, Copy, Debug)]
struct AddedEntry {
    feed: usize,
    entry: usize,
    at: Time,
    claim: Option<Time>,
}

impl Columns {
    fn read(header: &CsvRow) -> Result<Columns, Problem> {
        let mut found = Columns { n: header.len(), ..Columns::default() };
        let (mut feed, mut published) = (None, None);
        for i in 0..header.len() {
            match header.field(i).trim_ascii() {
                b"feed" => feed = Some(i),
                b"published" => published = Some(i),
                b"visible" => found.visible = Some(i),
                b"window" => found.window = Some(i),
                b"bytes" => found.bytes = Some(i),
                b"ttl" => found.ttl = Some(i),
                b"domain" => found.domain = Some(i),
                b"weight" => found.weight = Some(i),
                b"title" => found.title = Some(i),
                b"dates" => found.dates = Some(i),
                b"relevant" => found.relevant = Some(i),
                _ => {}
            }
        }
        found.feed = feed.ok_or(Problem::NoColumn("feed"))?;
        found.published = published.ok_or(Problem::NoColumn("published"))?;
        Ok(found)
    }

    /// Adds one row to the world.
    fn entry(&self, row: &CsvRow, builder: &mut WorldBuilder) -> Result<AddedEntry, FieldProblem> {
        if row.len() != self.n {
            return Err((0, Problem::Fields { found: row.len(), expected: self.n }));
        }
        let claim = time(row, self.published)?;
        let visible = self.visible.map_or(Ok(None), |i| time(row, i))?;
        let entry = TraceRow {
            visible: visible.or(claim).ok_or((self.published, Problem::NoMoment))?,
            claim,
            window: number(row, self.window, "window size")?,
            bytes: number(row, self.bytes, "document size")?,
        };
        let name = text(row, self.feed)?;
        if name.is_empty() {
            return Err((self.feed, Problem::NoFeed));
        }
        let feed = builder.feed(name);
        let number = builder.entry(feed, entry);
        if let Some(i) = self.relevant {
            builder.judge(feed, number, relevant(row, i)?);
        }
        self.facts(row, feed, builder)?;
        Ok(AddedEntry { feed, entry: number, at: entry.visible, claim })
    }

    /// Sets the values of a row that belong to its feed.
    fn facts(
        &self,
        row: &CsvRow,
        number: usize,
        builder: &mut WorldBuilder,
    ) -> Result<(), FieldProblem> {
        if let Some(i) = self.ttl
            && let Some(ttl) = ttl(row, i)?
        {
            builder.ttl(number, ttl);
        }
        if let Some(i) = self.weight
            && let Some(weight) = weight(row, i)?
        {
            builder.weight(number, weight);
        }
        if let Some(i) = self.domain {
            builder.domain(number, text(row, i)?);
        }
        if let Some(i) = self.title {
            builder.title(number, text(row, i)?);
        }
        if self.dates.is_some_and(|i| row.field(i).trim_ascii() == ON_THE_FLY) {
            builder.dated_on_request(number);
        }
        Ok(())
    }
}

fn text(row: &CsvRow, i: usize) -> Result<&str, FieldProblem> {
    let problem = || {
        let (what, remedy) = ("text in UTF-8", "convert the file to UTF-8");
        (i, Problem::NoValue { what, text: "…".to_owned(), remedy })
    };
    std::str::from_utf8(row.field(i).trim_ascii()).map_err(|_| problem())
}

fn time(row: &CsvRow, i: usize) -> Result<Option<Time>, FieldProblem> {
    let field = row.field(i).trim_ascii();
    if field.is_empty() {
        return Ok(None);
    }
    moment::moment(field).map(Some).ok_or_else(|| (i, Problem::NoTime(shortened(field))))
}

fn number(
    row: &CsvRow,
    column: Option<usize>,
    what: &'static str,
) -> Result<Option<u32>, FieldProblem> {
    let Some(i) = column else { return Ok(None) };
    let field = row.field(i).trim_ascii();
    if field.is_empty() {
        return Ok(None);
    }
    let read = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    let remedy = "write a whole number from 0 on, or leave it empty";
    read.filter(|n| *n != u32::MAX)
        .map(Some)
        .ok_or_else(|| (i, Problem::NoValue { what, text: shortened(field), remedy }))
}

/// Reads seconds, or a duration such as `10m`.
fn ttl(row: &CsvRow, i: usize) -> Result<Option<Duration>, FieldProblem> {
    let field = row.field(i).trim_ascii();
    if field.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(field);
    let seconds = text.parse::<u32>().ok().map(|s| Duration::from_secs(s.into()));
    let duration = seconds.or_else(|| polling::parse_duration(&text).ok());
    let remedy = "write seconds, or a duration such as 10m";
    let (what, text) = ("ttl", shortened(field));
    duration.map(Some).ok_or((i, Problem::NoValue { what, text, remedy }))
}

fn weight(row: &CsvRow, i: usize) -> Result<Option<f64>, FieldProblem> {
    let field = row.field(i).trim_ascii();
    if field.is_empty() {
        return Ok(None);
    }
    let read: Option<f64> = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
    let valid = read.filter(|w| w.is_finite() && *w >= 0.0);
    let (what, remedy) = ("weight", "write a number from 0 on; 1 is ordinary");
    valid.map(Some).ok_or_else(|| (i, Problem::NoValue { what, text: shortened(field), remedy }))
}

/// Reads whether somebody wants an entry. An empty field means no.
fn relevant(row: &CsvRow, i: usize) -> Result<bool, FieldProblem> {
    let field = row.field(i).trim_ascii();
    match field.to_ascii_lowercase().as_slice() {
        b"1" | b"true" | b"yes" => Ok(true),
        b"" | b"0" | b"false" | b"no" => Ok(false),
        _ => {
            let (what, remedy) = ("relevance", "write 1 for a wanted entry and 0 for another");
            Err((i, Problem::NoValue { what, text: shortened(field), remedy }))
        }
    }
}

fn shortened(field: &[u8]) -> String {
    String::from_utf8_lossy(field).chars().take(40).collect()
}

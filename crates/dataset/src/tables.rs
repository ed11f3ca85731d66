//! The tables of a data set: one row type for each, written and read as CSV (RFC 4180, UTF-8, with
//! a header). Times are RFC 3339 in UTC with milliseconds; an absent value is empty.
//!
//! [`schema`] describes every column; a test compares it with the rows.

pub mod schema;
mod times;

use std::io::{Read, Write};

use feed::Time;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use times::{file_stamp, stamp};

/// A feed of the data set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct FeedLine {
    pub feed: u64,
    pub url: String,
    pub site: Option<String>,
    pub title: Option<String>,
    pub format: Option<String>,
    pub language: Option<String>,
    pub window: Option<u64>,
    pub ttl: Option<u64>,
    #[serde(with = "times::optional")]
    pub first_poll: Option<Time>,
    #[serde(with = "times::optional")]
    pub last_poll: Option<Time>,
    pub polls: u64,
    pub entries: u64,
    pub misses: u64,
    pub pattern: Option<String>,
    pub pattern_by_code: Option<String>,
    pub window_change: Option<String>,
    pub identifiers: Option<bool>,
    pub dates: Option<bool>,
    pub cloud: Option<String>,
    pub hub: Option<String>,
    pub skip_hours: Option<bool>,
    pub skip_days: Option<bool>,
    pub update_period: Option<u64>,
    pub enclosures: Option<bool>,
    pub categories: Option<bool>,
    pub full_content: Option<bool>,
    pub charset: Option<String>,
    pub time_zone: Option<String>,
    pub well_formed: Option<bool>,
    pub document_bytes: Option<u64>,
}

/// A poll.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct PollLine {
    pub feed: u64,
    #[serde(with = "times::required")]
    pub at: Time,
    pub status: Option<u16>,
    pub outcome: String,
    pub bytes: u64,
    pub elapsed_ms: u64,
    pub items: Option<u64>,
    pub new: Option<u64>,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    pub date: Option<String>,
    pub expires: Option<String>,
    pub content_type: Option<String>,
    pub document_sha256: Option<String>,
    pub warnings: Option<String>,
    pub cache_control: Option<String>,
    pub age: Option<String>,
    pub retry_after: Option<String>,
    pub content_encoding: Option<String>,
    pub vary: Option<String>,
    /// Whether the request carried a validator.
    pub conditional: Option<bool>,
    pub head_bytes: Option<u64>,
    #[serde(with = "times::optional")]
    pub planned: Option<Time>,
    pub error: Option<String>,
}

/// An entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct StreamLine {
    pub feed: u64,
    #[serde(with = "times::required")]
    pub published: Time,
    #[serde(with = "times::optional")]
    pub claimed: Option<Time>,
    #[serde(with = "times::required")]
    pub visible: Time,
    #[serde(with = "times::required")]
    pub seen: Time,
    pub key: String,
    pub title: Option<String>,
    pub link: Option<String>,
    pub window: Option<u64>,
    pub hash: Option<String>,
}

/// A suspected miss: two successive windows without a common entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct MissLine {
    pub feed: u64,
    #[serde(with = "times::required")]
    pub at: Time,
    #[serde(with = "times::optional")]
    pub previous_poll: Option<Time>,
}

/// A document in the archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct DocumentLine {
    pub sha256: String,
    pub feed: u64,
    #[serde(with = "times::required")]
    pub first_seen: Time,
    pub bytes: u64,
    pub file: String,
    pub offset: u64,
    pub length: u64,
}

/// A fault in a table.
#[derive(Debug, thiserror::Error)]
#[error("{table}: {source}")]
pub struct TableError {
    table: String,
    #[source]
    source: csv::Error,
}

/// Writes the rows of a table. The header comes first, also if there is no row.
pub struct TableWriter<W: Write> {
    table: &'static schema::TableSchema,
    writer: csv::Writer<W>,
}

impl<W: Write> TableWriter<W> {
    pub fn new(table: &'static schema::TableSchema, out: W) -> Result<TableWriter<W>, TableError> {
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .terminator(csv::Terminator::CRLF)
            .from_writer(out);
        let names = table.columns.iter().map(|column| column.name);
        writer.write_record(names).map_err(|source| fault(table.name, source))?;
        Ok(TableWriter { table, writer })
    }

    pub fn write(&mut self, row: &impl Serialize) -> Result<(), TableError> {
        self.writer.serialize(row).map_err(|source| fault(self.table.name, source))
    }

    /// Writes the rest and returns the writer below.
    pub fn finish(self) -> Result<W, TableError> {
        let name = self.table.name;
        self.writer.into_inner().map_err(|error| fault(name, csv::Error::from(error.into_error())))
    }
}

/// Reads the rows of a table. Columns may be missing or unknown, and come in any order.
pub fn read<T: DeserializeOwned>(
    name: &str,
    reader: impl Read,
    mut each: impl FnMut(T),
) -> Result<(), TableError> {
    let mut reader = csv::ReaderBuilder::new().from_reader(reader);
    for row in reader.deserialize() {
        each(row.map_err(|source| fault(name, source))?);
    }
    Ok(())
}

/// Returns the rows of a table one by one.
pub fn rows<T: DeserializeOwned, R: Read>(
    name: &str,
    reader: R,
) -> impl Iterator<Item = Result<T, TableError>> + use<T, R> {
    let name = name.to_owned();
    let reader = csv::ReaderBuilder::new().from_reader(reader);
    reader.into_deserialize().map(move |row| row.map_err(|source| fault(&name, source)))
}

fn fault(table: &str, source: csv::Error) -> TableError {
    TableError { table: table.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(
        table: &'static schema::TableSchema,
        row: &T,
    ) -> String {
        let mut writer = TableWriter::new(table, Vec::new()).unwrap();
        writer.write(row).unwrap();
        let bytes = writer.finish().unwrap();
        let mut rows: Vec<T> = Vec::new();
        read(table.name, &bytes[..], |row| rows.push(row)).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(&rows[0], row);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn rows_survive_their_text() {
        let at = Time::from_millis(1_310_792_400_123);
        let entry = StreamLine {
            feed: 3,
            published: at,
            claimed: None,
            visible: at,
            seen: at,
            key: "k".to_owned(),
            title: Some("a \"b\", c\nd".to_owned()),
            link: Some("http://example.org/?a=1,2".to_owned()),
            window: Some(10),
            hash: None,
        };
        let text = round_trip(&schema::ENTRIES, &entry);
        assert!(text.starts_with("feed,published,claimed,visible,seen,key,title,link,window,hash"));
        assert!(text.contains("3,2011-07-16T05:00:00.123Z,,2011-07-16T05:00:00.123Z,"));
        let poll = PollLine { status: Some(304), conditional: Some(true), ..PollLine::default() };
        round_trip(&schema::POLLS, &poll);
        round_trip(&schema::FEEDS, &FeedLine { identifiers: Some(false), ..FeedLine::default() });
        round_trip(&schema::MISSES, &MissLine { previous_poll: Some(at), ..MissLine::default() });
        round_trip(&schema::DOCUMENTS, &DocumentLine { offset: 7, ..DocumentLine::default() });
    }

    /// The header names the columns in the order in which rows have them.
    #[test]
    fn the_description_names_the_fields_of_the_rows() {
        fn names(row: &impl Serialize) -> String {
            let mut writer = csv::Writer::from_writer(Vec::new());
            writer.serialize(row).unwrap();
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            text.lines().next().unwrap().to_owned()
        }
        let described = |table: &schema::TableSchema| {
            table.columns.iter().map(|c| c.name).collect::<Vec<_>>().join(",")
        };
        assert_eq!(names(&FeedLine::default()), described(&schema::FEEDS));
        assert_eq!(names(&PollLine::default()), described(&schema::POLLS));
        assert_eq!(names(&StreamLine::default()), described(&schema::ENTRIES));
        assert_eq!(names(&MissLine::default()), described(&schema::MISSES));
        assert_eq!(names(&DocumentLine::default()), described(&schema::DOCUMENTS));
    }

    #[test]
    fn columns_may_be_missing_and_faults_name_the_table() {
        let mut rows: Vec<StreamLine> = Vec::new();
        let text = "published,feed,other\n2011-07-16T05:00:00Z,4,x\n";
        read("entries", text.as_bytes(), |row| rows.push(row)).unwrap();
        assert_eq!((rows[0].feed, rows[0].published.secs()), (4, 1_310_792_400));
        let broken = read::<StreamLine>("entries", "feed\nx\n".as_bytes(), |_| ());
        assert!(broken.unwrap_err().to_string().starts_with("entries: "));
    }
}

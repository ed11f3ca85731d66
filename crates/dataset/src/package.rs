//! The files that make a folder a data set: `datapackage.json` (Frictionless Data Package),
//! `datacite.json`, `CITATION.cff`, `README.md` and `SHA256SUMS`. All are texts, made from values:
//! the same values give the same bytes.

mod citation;
mod readme;

use std::io::{self, Write};

use feed::Time;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::sample::hex;
use crate::tables::schema::{ColumnSchema, ColumnType, TableSchema};
use crate::tables::stamp;

pub use citation::{citation_cff, datacite};
pub use readme::readme;

/// The facts about a data set.
#[derive(Clone, Debug)]
pub struct PackageFacts {
    /// A name for programs: lower case, digits and hyphens.
    pub name: String,
    pub title: String,
    /// The person or institution that recorded it.
    pub creator: String,
    pub version: String,
    /// The program and its version.
    pub software: String,
    pub user_agent: String,
    /// The header Cache-Control of the requests.
    pub cache_control: Option<String>,
    /// The rule that decided the polls.
    pub policy: String,
    pub first_poll: Option<Time>,
    pub last_poll: Option<Time>,
    pub feeds: u64,
    pub polls: u64,
    pub entries: u64,
    pub has_documents: bool,
    pub is_pseudonymised: bool,
    /// Settings and known faults, one sentence each.
    pub remarks: Vec<String>,
}

impl PackageFacts {
    /// Returns the data set in one sentence.
    fn summary(&self) -> String {
        let feeds = if self.feeds == 1 { "web feed" } else { "web feeds" };
        format!("Polls and entries of {} {feeds}, recorded by {}.", self.feeds, self.software)
    }
}

/// A file of the data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagedFile {
    /// Its path within the data set.
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

/// A table of the data set, and its file.
#[derive(Clone, Debug)]
pub struct PackagedTable {
    pub file: PackagedFile,
    pub table: &'static TableSchema,
    pub rows: u64,
}

/// Facts and counts are free; the texts of publishers are not part of a data set by default.
const LICENCE: (&str, &str, &str) =
    ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/", "Creative Commons Zero 1.0");

/// Returns `datapackage.json`.
pub fn datapackage(
    facts: &PackageFacts,
    tables: &[PackagedTable],
    others: &[PackagedFile],
) -> String {
    let resources: Vec<Value> = tables
        .iter()
        .map(resource)
        .chain(others.iter().map(|file| {
            json!({
                "name": resource_name(&file.path), "path": file.path, "bytes": file.bytes,
                "hash": format!("sha256:{}", file.sha256), "mediatype": media_type(&file.path),
            })
        }))
        .collect();
    let (licence, address, title) = LICENCE;
    let package = json!({
        "profile": "data-package",
        "name": facts.name,
        "title": facts.title,
        "version": facts.version,
        "created": facts.last_poll.map(stamp),
        "description": format!("{} feeds, {} polls and {} entries. README.md says how they were \
            recorded.", facts.feeds, facts.polls, facts.entries),
        "licenses": [{ "name": licence, "path": address, "title": title }],
        "contributors": [{ "title": facts.creator, "role": "author" }],
        "sources": [{ "title": format!("Web feeds, polled by {}", facts.software) }],
        "userAgent": facts.user_agent,
        "policy": facts.policy,
        "resources": resources,
    });
    pretty(&package)
}

fn resource(packaged: &PackagedTable) -> Value {
    let fields: Vec<Value> = packaged.table.columns.iter().map(field).collect();
    let mut schema = Map::new();
    schema.insert("fields".to_owned(), fields.into());
    schema.insert("missingValues".to_owned(), json!([""]));
    if !packaged.table.primary_key.is_empty() {
        schema.insert("primaryKey".to_owned(), json!(packaged.table.primary_key));
    }
    json!({
        "profile": "tabular-data-resource",
        "name": packaged.table.name,
        "title": packaged.table.title,
        "path": packaged.file.path,
        "format": "csv",
        "encoding": "utf-8",
        "bytes": packaged.file.bytes,
        "hash": format!("sha256:{}", packaged.file.sha256),
        "rows": packaged.rows,
        "schema": schema,
    })
}

fn field(column: &ColumnSchema) -> Value {
    let mut field = json!({
        "name": column.name,
        "type": column.kind.word(),
        "description": column.meaning,
    });
    if let ColumnType::Whole(unit) = column.kind {
        field["unit"] = unit.into();
    }
    if column.required {
        field["constraints"] = json!({ "required": true });
    }
    field
}

/// Returns a name for programs from a path.
fn resource_name(path: &str) -> String {
    path.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn media_type(path: &str) -> &'static str {
    match path {
        path if path.ends_with(".warc.gz") => "application/warc",
        path if path.ends_with(".json") => "application/json",
        path if path.ends_with(".html") => "text/html",
        _ => "application/octet-stream",
    }
}

/// Returns `SHA256SUMS`, in the form that `sha256sum --check` reads.
pub fn checksums(files: &[PackagedFile]) -> String {
    let mut sorted: Vec<&PackagedFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    sorted.iter().map(|file| format!("{}  {}\n", file.sha256, file.path)).collect()
}

pub(crate) fn pretty(value: &Value) -> String {
    // A value of texts and numbers can always be written.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Counts and hashes the bytes of a file on their way.
pub struct HashedFile<W> {
    out: W,
    sha: Sha256,
    n_bytes: u64,
}

impl<W: Write> HashedFile<W> {
    pub fn new(out: W) -> HashedFile<W> {
        HashedFile { out, sha: Sha256::new(), n_bytes: 0 }
    }

    /// Ends the file. Returns its description and the writer below.
    pub fn finish(mut self, path: &str) -> io::Result<(PackagedFile, W)> {
        self.out.flush()?;
        let sha256 = hex(&self.sha.finalize());
        Ok((PackagedFile { path: path.to_owned(), bytes: self.n_bytes, sha256 }, self.out))
    }
}

impl<W: Write> Write for HashedFile<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.out.write(bytes)?;
        self.sha.update(&bytes[..n]);
        self.n_bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::schema;

    pub(super) fn facts() -> PackageFacts {
        PackageFacts {
            name: "feeds-2026".to_owned(),
            title: "Feeds \"of\" 2026".to_owned(),
            creator: "A. Researcher".to_owned(),
            version: "1.0".to_owned(),
            software: "Tidings 0.1.0".to_owned(),
            user_agent: "Tidings/0.1.0 (+https://example.org/)".to_owned(),
            cache_control: Some("no-cache".to_owned()),
            policy: "recording".to_owned(),
            first_poll: Some(Time::from_secs(1_310_792_400)),
            last_poll: Some(Time::from_secs(1_313_211_600)),
            feeds: 2,
            polls: 10,
            entries: 7,
            has_documents: true,
            is_pseudonymised: false,
            remarks: vec!["Bodies over 4 MB are not read.".to_owned()],
        }
    }

    #[test]
    fn the_package_describes_every_column_and_file() {
        let mut file = HashedFile::new(Vec::new());
        file.write_all(b"abc").unwrap();
        let (file, _) = file.finish("feeds.csv.gz").unwrap();
        assert_eq!(file.bytes, 3);
        assert!(file.sha256.starts_with("ba7816bf"));
        let table = PackagedTable { file: file.clone(), table: &schema::FEEDS, rows: 2 };
        let text = datapackage(&facts(), &[table], &[]);
        let package: Value = serde_json::from_str(&text).unwrap();
        let fields = package["resources"][0]["schema"]["fields"].as_array().unwrap();
        assert_eq!(fields.len(), schema::FEEDS.columns.len());
        assert_eq!(fields[7]["unit"], "s");
        assert_eq!(package["resources"][0]["hash"], format!("sha256:{}", file.sha256));
        assert_eq!(checksums(&[file]).lines().count(), 1);
    }

    #[test]
    fn descriptions_repeat_byte_for_byte_and_are_valid() {
        assert_eq!(datacite(&facts()), datacite(&facts()));
        let cite: Value = serde_json::from_str(&datacite(&facts())).unwrap();
        assert_eq!(cite["types"]["resourceTypeGeneral"], "Dataset");
        assert_eq!(cite["publicationYear"], 2011);
        let cff = citation_cff(&facts());
        assert!(cff.contains("title: \"Feeds \\\"of\\\" 2026\"\n"), "{cff}");
        let readme = readme(&facts(), &[]);
        assert!(readme.contains("Bodies over 4 MB") && readme.contains("recording"));
    }
}

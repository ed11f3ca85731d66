//! `tidings dataset import`: reads a data set of others into the store. It asks nobody: all feeds
//! are paused. The tables are read as streams, feed by feed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::iter::Peekable;
use std::path::{Path, PathBuf};

use api::plural;
use dataset::sample::hex;
use dataset::tables::schema::{self, TableSchema};
use dataset::tables::{self, FeedLine, MissLine, PollLine, StreamLine, TableError};
use dataset::warc::{ArchiveReader, ArchivedExchange};
use engine::Clock;
use feed::{FeedId, FeedUrl, Time};
use flate2::read::MultiGzDecoder;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use store::{Location, NewFeed, NewRecording, OpenMode, SettingsChange, Store};
use tokio::task::JoinSet;

use super::files;
use super::imported_poll::{FeedRecords, FeedToImport};
use crate::args::dataset::DatasetImportArgs;
use crate::config;
use crate::error::{CliError, failed, input_error};
use crate::output;

/// Feeds that are written at the same time, so that they share commits.
const FEEDS_AT_ONCE: usize = 16;
/// Feeds that are added in one transaction.
const ADDED_AT_ONCE: usize = 1000;

pub async fn run(args: &DatasetImportArgs) -> Result<(), CliError> {
    let folder = &args.folder;
    let package = package(folder)?;
    let n_checked = check_sums(folder)?;
    let feeds: Vec<FeedLine> = table(folder, &schema::FEEDS)?.collect::<Result<_, _>>()?;
    let config = config::read_offline(&args.place)?;
    let lock = match &config.store {
        Location::Folder(_) => Some(store::lock(&config.data)?),
        Location::Postgres(_) => None,
    };
    let store = Store::open(&config.store, OpenMode::ReadWrite)?;
    let ids = add(&store, folder, &feeds)?;
    begin(&store, &package, &feeds)?;
    let counts = write(&store, folder, feeds.clone(), &ids).await?;
    store.end_recording(last_poll(&feeds))?;
    drop(lock);
    let (n_polls, n_entries) = counts;
    eprintln!(
        "{}: {}, {} and {}; {} checked. All feeds are paused.",
        folder.display(),
        plural(feeds.len() as u64, "feed", "feeds"),
        plural(n_polls, "poll", "polls"),
        plural(n_entries, "entry", "entries"),
        plural(n_checked, "file", "files"),
    );
    Ok(())
}

/// Reads `datapackage.json`, which says that the folder is a data set.
fn package(folder: &Path) -> Result<Value, CliError> {
    let file = folder.join("datapackage.json");
    let shown = file.display();
    let text = std::fs::read_to_string(&file).map_err(|e| {
        input_error(format!(
            "{shown}: {e}; name the folder of a data set, as `dataset export` writes it"
        ))
    })?;
    serde_json::from_str(&text).map_err(|e| input_error(format!("{shown}: {e}")))
}

/// Compares all files with `SHA256SUMS`. Returns their number.
fn check_sums(folder: &Path) -> Result<u64, CliError> {
    let file = folder.join("SHA256SUMS");
    let Ok(text) = std::fs::read_to_string(&file) else {
        output::complain("tidings: the data set has no SHA256SUMS; its files are not checked");
        return Ok(0);
    };
    let mut n_files = 0;
    for line in text.lines() {
        let wrong = |why: &str| input_error(format!("{}: {line}: {why}", file.display()));
        let (sum, name) = line.split_once("  ").ok_or_else(|| wrong("is not a checksum"))?;
        let is_inside =
            Path::new(name).components().all(|c| matches!(c, std::path::Component::Normal(_)));
        if !is_inside {
            return Err(wrong("names a file outside of the data set"));
        }
        let opened = File::open(folder.join(name)).map_err(|e| wrong(&e.to_string()))?;
        if hex(&digest(opened)?) != sum {
            return Err(wrong("the file has another checksum; copy the data set again"));
        }
        n_files += 1;
    }
    Ok(n_files)
}

fn digest(mut file: File) -> Result<Vec<u8>, CliError> {
    let (mut sha, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(sha.finalize().to_vec()),
            n => sha.update(&chunk[..n]),
        }
    }
}

/// The rows of a table, one by one.
type TableRows<T> = Box<dyn Iterator<Item = Result<T, TableError>>>;

fn table<T: DeserializeOwned + 'static>(
    folder: &Path,
    table: &TableSchema,
) -> Result<TableRows<T>, CliError> {
    let shown = folder.display();
    let found = files::open(folder, table)?;
    let missing = || input_error(format!("{shown}: the data set has no table `{}`", table.name));
    Ok(Box::new(tables::rows(table.name, found.ok_or_else(missing)?)))
}

/// Adds the feeds, paused. A feed that exists is refused: its history would be mixed with another.
fn add(store: &Store, folder: &Path, feeds: &[FeedLine]) -> Result<HashMap<u64, FeedId>, CliError> {
    let now = Clock::System.now();
    let mut ids = HashMap::new();
    for some in feeds.chunks(ADDED_AT_ONCE) {
        let new: Vec<NewFeed> = some.iter().map(new_feed).collect::<Result<_, _>>()?;
        for one in &new {
            if store.find_feed(one.url.as_str())?.is_some() {
                return Err(input_error(format!(
                    "{}: the feed {} is in the store already; import into an empty data folder: \
                     --data DIR",
                    folder.display(),
                    one.url.masked()
                )));
            }
        }
        let added = store.add_feeds(&new, now)?;
        for (line, added) in some.iter().zip(added) {
            let paused = SettingsChange { paused: Some(Some(true)), ..SettingsChange::default() };
            store.set_feed(added.id, &paused)?;
            ids.insert(line.feed, added.id);
        }
    }
    Ok(ids)
}

/// The address of a feed. A pseudonym becomes a name that nobody can have.
fn new_feed(line: &FeedLine) -> Result<NewFeed, CliError> {
    let is_address = line.url.contains("://");
    let text = if is_address { line.url.clone() } else { format!("https://{}.invalid/", line.url) };
    let url = FeedUrl::parse(&text)
        .map_err(|e| input_error(format!("feeds: feed {}: {}: {e}", line.feed, line.url)))?;
    Ok(NewFeed { url, title: None, site: None, tags: Vec::new() })
}

fn last_poll(feeds: &[FeedLine]) -> Time {
    feeds.iter().filter_map(|feed| feed.last_poll).max().unwrap_or_default()
}

/// Begins the recording that the polls belong to. It keeps them from being folded into sums.
fn begin(store: &Store, package: &Value, feeds: &[FeedLine]) -> Result<(), CliError> {
    if store.recording()?.is_some() {
        return Err(input_error(
            "a recording is under way in this store; import into an empty data folder: --data DIR"
                .to_owned(),
        ));
    }
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    store.begin_recording(NewRecording {
        started_at: feeds.iter().filter_map(|feed| feed.first_poll).min().unwrap_or_default(),
        ends_at: last_poll(feeds),
        policy: text("policy"),
        user_agent: text("userAgent"),
        feed_bytes_max: None,
        bytes_max: None,
    })?;
    Ok(())
}

/// Writes all polls. Returns the numbers of polls and entries.
async fn write(
    store: &Store,
    folder: &Path,
    feeds: Vec<FeedLine>,
    ids: &HashMap<u64, FeedId>,
) -> Result<(u64, u64), CliError> {
    let mut polls = table::<PollLine>(folder, &schema::POLLS)?.peekable();
    let mut entries = table::<StreamLine>(folder, &schema::ENTRIES)?.peekable();
    let mut misses = table::<MissLine>(folder, &schema::MISSES)?.peekable();
    let mut archive = Archives::open(folder)?;
    let bar = output::bar("importing", feeds.len() as u64);
    let (mut n_polls, mut n_entries) = (0, 0);
    let mut writing: JoinSet<Result<(), CliError>> = JoinSet::new();
    for line in feeds {
        let number = line.feed;
        let Some(id) = ids.get(&number).copied() else { continue };
        let feed = FeedToImport {
            id,
            line,
            polls: of_feed(&mut polls, number, |row| row.feed)?,
            entries: of_feed(&mut entries, number, |row| row.feed)?,
            misses: of_feed(&mut misses, number, |row| row.feed)?.iter().map(|m| m.at).collect(),
            exchanges: archive.of_feed(number)?,
        };
        n_polls += feed.polls.len() as u64;
        n_entries += feed.entries.len() as u64;
        while writing.len() >= FEEDS_AT_ONCE {
            finished(writing.join_next().await)?;
        }
        writing.spawn(write_feed(store.clone(), feed));
        bar.inc(1);
    }
    while !writing.is_empty() {
        finished(writing.join_next().await)?;
    }
    bar.finish_and_clear();
    let is_over = polls.next().is_none() && entries.next().is_none() && misses.next().is_none();
    if !is_over {
        return Err(input_error(format!(
            "{}: rows of polls, entries or misses are not in the order of the table `feeds`; the \
             import is incomplete: remove the data folder and sort the tables by feed",
            folder.display()
        )));
    }
    Ok((n_polls, n_entries))
}

fn finished(
    ended: Option<Result<Result<(), CliError>, tokio::task::JoinError>>,
) -> Result<(), CliError> {
    match ended {
        None => Ok(()),
        Some(Ok(ended)) => ended,
        Some(Err(error)) => Err(failed(format!("internal error; please report it: {error}"))),
    }
}

async fn write_feed(store: Store, feed: FeedToImport) -> Result<(), CliError> {
    let first = store.feed(feed.id)?.generation;
    let mut records = FeedRecords::new(feed);
    for place in 0..records.n_polls() {
        let generation = first + u32::try_from(place).unwrap_or(u32::MAX);
        if let Some(record) = records.record(place, generation) {
            store.record(record).await?;
        }
    }
    Ok(())
}

/// Takes the rows of a feed, which come together.
fn of_feed<T>(
    rows: &mut Peekable<TableRows<T>>,
    feed: u64,
    number: impl Fn(&T) -> u64,
) -> Result<Vec<T>, CliError> {
    let mut found = Vec::new();
    let is_next =
        |row: &Result<T, TableError>| row.as_ref().map_or(true, |row| number(row) == feed);
    while let Some(row) = rows.next_if(is_next) {
        found.push(row.map_err(|e| input_error(e.to_string()))?);
    }
    Ok(found)
}

/// The archives of a data set, one after the other.
struct Archives {
    files: std::vec::IntoIter<PathBuf>,
    current: Option<ArchiveReader<BufReader<MultiGzDecoder<BufReader<File>>>>>,
    /// The first poll of the next feed.
    next: Option<ArchivedExchange>,
}

impl Archives {
    fn open(folder: &Path) -> Result<Archives, CliError> {
        let place = folder.join(super::archive::FOLDER);
        let mut files: Vec<PathBuf> = match std::fs::read_dir(&place) {
            Ok(inside) => inside.map(|file| Ok(file?.path())).collect::<std::io::Result<_>>()?,
            Err(_) => Vec::new(),
        };
        files.retain(|file| file.to_string_lossy().ends_with(".warc.gz"));
        files.sort();
        Ok(Archives { files: files.into_iter(), current: None, next: None })
    }

    fn of_feed(&mut self, feed: u64) -> Result<Vec<ArchivedExchange>, CliError> {
        let mut found = Vec::new();
        loop {
            let next = match self.next.take() {
                Some(next) => Some(next),
                None => self.read()?,
            };
            match next {
                Some(exchange) if exchange.feed == feed => found.push(exchange),
                next => {
                    self.next = next;
                    return Ok(found);
                }
            }
        }
    }

    fn read(&mut self) -> Result<Option<ArchivedExchange>, CliError> {
        loop {
            if let Some(reader) = &mut self.current {
                let read = reader.next_exchange();
                let read = read.map_err(|e| input_error(format!("an archive is damaged: {e}")))?;
                if read.is_some() {
                    return Ok(read);
                }
            }
            let Some(file) = self.files.next() else { return Ok(None) };
            let opened = BufReader::new(File::open(file)?);
            self.current = Some(ArchiveReader::new(BufReader::new(MultiGzDecoder::new(opened))));
        }
    }
}

//! `tidings dataset export`: writes the tables, the archive and the files that describe them.

use std::fs;
use std::path::Path;

use api::plural;
use dataset::discovery::DroppedAddress;
use dataset::package::{
    self, PackageFacts, PackagedFile, PackagedTable, checksums, citation_cff, datacite, datapackage,
};
use dataset::pseudonym::Pseudonyms;
use dataset::report;
use dataset::statistics::{PopulationBuilder, PopulationStats};
use dataset::tables::{self, TableError, file_stamp, schema};
use feed::Time;
use store::{FeedFilter, FeedRow, Store};

use super::archive::{self, Archive};
use super::files::{self, TableFile};
use super::rows::{self, RecordedRows};
use super::{stats, streams};
use crate::args::dataset::{DatasetExportArgs, MonthPeriod};
use crate::command::lab::files::open;
use crate::config::{self, Config};
use crate::error::{CliError, failed, input_error};
use crate::{access, output};

/// The setting that holds the salt of pseudonyms. It never leaves the store.
const SALT: &str = "pseudonym_salt";

/// The tables of a data set.
struct Tables {
    feeds: TableFile,
    polls: TableFile,
    entries: TableFile,
    misses: TableFile,
    documents: Option<TableFile>,
}

pub fn run(args: &DatasetExportArgs) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    let store = access::read(&config)?;
    let pseudonyms = args.pseudonymise.then(|| salt(&config, &store)).transpose()?;
    make_folder(&args.out)?;
    let facts = write(args, &store, pseudonyms.as_ref())?;
    let (feeds, polls) =
        (plural(facts.feeds, "feed", "feeds"), plural(facts.polls, "poll", "polls"));
    let entries = plural(facts.entries, "entry", "entries");
    eprintln!("{}: {feeds}, {polls} and {entries}.", args.out.display());
    Ok(())
}

/// Returns whether a feed may be part of a data set for others.
pub fn is_exported(row: &FeedRow) -> bool {
    !row.paused && archive::is_public(&row.location.url)
}

/// Writes a data set into an empty folder.
pub fn write(
    args: &DatasetExportArgs,
    store: &Store,
    pseudonyms: Option<&Pseudonyms>,
) -> Result<PackageFacts, CliError> {
    let feeds = store.feeds(&FeedFilter::default())?;
    let n_all = feeds.len();
    let feeds: Vec<FeedRow> = feeds.into_iter().filter(is_exported).collect();
    let mut export = Export::begin(args, store, n_all - feeds.len())?;
    let bar = output::bar("exporting", feeds.len() as u64);
    for row in &feeds {
        export.feed(store, row, pseudonyms)?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    export.finish(args, store)
}

/// An export under way.
struct Export<'a> {
    folder: &'a Path,
    month: Option<&'a MonthPeriod>,
    tables: Tables,
    archive: Option<Archive<'a>>,
    streams: Option<Vec<PackagedFile>>,
    population: PopulationBuilder,
    facts: PackageFacts,
}

impl<'a> Export<'a> {
    fn begin(
        args: &'a DatasetExportArgs,
        store: &Store,
        n_left_out: usize,
    ) -> Result<Export<'a>, CliError> {
        let folder = args.out.as_path();
        let table = |table| TableFile::create(folder, table, args.format);
        let tables = Tables {
            feeds: table(&schema::FEEDS)?,
            polls: table(&schema::POLLS)?,
            entries: table(&schema::ENTRIES)?,
            misses: table(&schema::MISSES)?,
            documents: args.raw.then(|| table(&schema::DOCUMENTS)).transpose()?,
        };
        let facts = facts(args, store, n_left_out)?;
        let started_at = store
            .recordings()?
            .first()
            .map_or(Time::from_secs(0), |recording| recording.settings.started_at);
        let info = vec![
            ("software", facts.software.clone()),
            ("format", "WARC File Format 1.1".to_owned()),
            ("conformsTo", CONFORMS_TO.to_owned()),
            ("operator", facts.creator.clone()),
            ("http-header-user-agent", facts.user_agent.clone()),
            ("robots", "not consulted: feeds are published to be polled".to_owned()),
        ];
        let archive = args.raw.then(|| Archive::new(folder, info, started_at)).transpose()?;
        if args.streams {
            fs::create_dir_all(folder.join(streams::FOLDER))?;
        }
        let streams = args.streams.then(Vec::new);
        let population = PopulationBuilder::default();
        let month = args.month.as_ref();
        Ok(Export { folder, month, tables, archive, streams, population, facts })
    }

    fn feed(
        &mut self,
        store: &Store,
        row: &FeedRow,
        pseudonyms: Option<&Pseudonyms>,
    ) -> Result<(), CliError> {
        let mut rows = rows::read(store, row, self.month)?;
        if self.month.is_some() && rows.polls.is_empty() {
            return Ok(());
        }
        // Figures hold no text, and pseudonyms would hide which addresses have one host.
        stats::add(&mut self.population, &rows);
        if let Some(pseudonyms) = pseudonyms {
            pseudonymise(&mut rows, pseudonyms);
        }
        self.tables.feeds.write(&rows.feed)?;
        rows.polls.iter().try_for_each(|poll| self.tables.polls.write(poll))?;
        rows.entries.iter().try_for_each(|entry| self.tables.entries.write(entry))?;
        rows.misses.iter().try_for_each(|miss| self.tables.misses.write(miss))?;
        if let (Some(archive), Some(table)) = (&mut self.archive, &mut self.tables.documents) {
            for document in archive.feed(store, row.id, &rows.recorded)? {
                table.write(&document)?;
            }
        }
        if let Some(streams) = &mut self.streams {
            streams.push(streams::write(self.folder, &rows)?);
        }
        let facts = &mut self.facts;
        if facts.cache_control.is_none() {
            facts.cache_control = rows.cache_control();
        }
        facts.feeds += 1;
        facts.polls += rows.feed.polls;
        facts.entries += rows.feed.entries;
        facts.first_poll = [facts.first_poll, rows.feed.first_poll].into_iter().flatten().min();
        facts.last_poll = facts.last_poll.max(rows.feed.last_poll);
        Ok(())
    }

    fn finish(mut self, args: &DatasetExportArgs, store: &Store) -> Result<PackageFacts, CliError> {
        let Tables { feeds, polls, entries, misses, documents } = self.tables;
        let mut tables =
            vec![feeds.finish()?, polls.finish()?, entries.finish()?, misses.finish()?];
        tables.extend(documents.map(TableFile::finish).transpose()?);
        let dropped = args.discovery.as_deref().map(|file| dropped(args, file)).transpose()?;
        tables.extend(dropped);
        let mut others = self.archive.map(Archive::finish).transpose()?.unwrap_or_default();
        self.facts.version = format!(
            "{}.{}",
            file_stamp(self.facts.last_poll.unwrap_or_default()),
            store.recordings()?.len()
        );
        let population = self.population.finish();
        others.extend(statistics(self.folder, &population, &args.title)?);
        let streams = self.streams.unwrap_or_default();
        describe(self.folder, &self.facts, &tables, others, streams)?;
        Ok(self.facts)
    }
}

/// Writes the addresses that discovery dropped as a table.
fn dropped(args: &DatasetExportArgs, file: &Path) -> Result<PackagedTable, CliError> {
    let wrong = |e: TableError| input_error(format!("{}: {e}", file.display()));
    let mut table = TableFile::create(&args.out, &schema::DISCOVERY, args.format)?;
    for row in tables::rows::<DroppedAddress, _>("dropped addresses", open(file)?) {
        let row = row.map_err(wrong)?;
        let address = feed::mask_address(&row.address);
        table.write(&DroppedAddress { address, detail: feed::mask_text(&row.detail), ..row })?;
    }
    table.finish()
}

const CONFORMS_TO: &str =
    "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/";

/// Writes the statistics as JSON and as a page.
fn statistics(
    folder: &Path,
    population: &PopulationStats,
    title: &str,
) -> Result<Vec<PackagedFile>, CliError> {
    let json = serde_json::to_string_pretty(population)? + "\n";
    let page = report::page(population, title, "tidings dataset export", env!("CARGO_PKG_VERSION"));
    Ok(vec![
        files::write(folder, "statistics.json", &json)?,
        files::write(folder, "report.html", &page.html())?,
    ])
}

/// Writes the files that describe the others.
fn describe(
    folder: &Path,
    facts: &PackageFacts,
    tables: &[PackagedTable],
    mut others: Vec<PackagedFile>,
    streams: Vec<PackagedFile>,
) -> Result<(), CliError> {
    others.push(files::write(folder, "datapackage.json", &datapackage(facts, tables, &others))?);
    others.push(files::write(folder, "datacite.json", &datacite(facts))?);
    others.push(files::write(folder, "CITATION.cff", &citation_cff(facts))?);
    others.push(files::write(folder, "README.md", &package::readme(facts, tables))?);
    // Streams have no header, and a feed without entries has an empty one: they are not tables.
    others.extend(streams);
    others.extend(tables.iter().map(|table| table.file.clone()));
    files::write(folder, "SHA256SUMS", &checksums(&others))?;
    Ok(())
}

fn facts(
    args: &DatasetExportArgs,
    store: &Store,
    n_left_out: usize,
) -> Result<PackageFacts, CliError> {
    let last = store.recordings()?.pop();
    let settings = last.map(|recording| recording.settings);
    let mut remarks = vec![
        "Of the body of an error (status 400 and above) the first 64 kB are kept. Documents that \
         cannot be read are kept whole. Bodies over the limit, and bodies that broke off, are not \
         kept."
            .to_owned(),
        "A poll's time is that of its first request, in whole seconds.".to_owned(),
    ];
    if n_left_out > 0 {
        remarks.push(format!(
            "{n_left_out} feeds are left out: they are paused, or their address holds a secret."
        ));
    }
    let name: String = args
        .title
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    Ok(PackageFacts {
        name,
        title: args.title.clone(),
        creator: args.creator.clone(),
        version: String::new(),
        software: format!("Tidings {}", env!("CARGO_PKG_VERSION")),
        user_agent: settings.as_ref().map(|s| s.user_agent.clone()).unwrap_or_default(),
        cache_control: None,
        policy: settings.map_or("as configured".to_owned(), |s| s.policy),
        first_poll: None,
        last_poll: None,
        feeds: 0,
        polls: 0,
        entries: 0,
        has_documents: args.raw,
        is_pseudonymised: args.pseudonymise,
        remarks,
    })
}

fn pseudonymise(rows: &mut RecordedRows, pseudonyms: &Pseudonyms) {
    pseudonyms.feed(&mut rows.feed);
    rows.entries.iter_mut().for_each(|entry| pseudonyms.entry(entry));
    // Errors and warnings may quote addresses; a digest of a document could be looked up.
    for poll in &mut rows.polls {
        (poll.error, poll.warnings) = (None, None);
        poll.document_sha256 = poll.document_sha256.as_deref().map(|d| pseudonyms.of(d));
        (poll.etag, poll.last_modified) = (
            poll.etag.as_deref().map(|value| pseudonyms.of(value)),
            poll.last_modified.as_deref().map(|value| pseudonyms.of(value)),
        );
    }
}

/// Returns the salt of this store. The first call makes it.
fn salt(config: &Config, store: &Store) -> Result<Pseudonyms, CliError> {
    match store.setting(SALT)? {
        Some(known) => Ok(Pseudonyms::new(known.as_bytes())),
        None => salt_of(&access::write(config)?),
    }
}

/// Returns the salt of a store that this process may write to. The first call makes it.
pub fn salt_of(store: &Store) -> Result<Pseudonyms, CliError> {
    if let Some(known) = store.setting(SALT)? {
        return Ok(Pseudonyms::new(known.as_bytes()));
    }
    let made = api::auth::fresh()?.secret;
    store.set_own_setting(SALT, Some(&made))?;
    Ok(Pseudonyms::new(made.as_bytes()))
}

/// Makes the folder. One that holds something is refused.
fn make_folder(folder: &Path) -> Result<(), CliError> {
    let shown = folder.display();
    let is_taken = fs::read_dir(folder).is_ok_and(|mut inside| inside.next().is_some());
    if is_taken || folder.is_file() {
        return Err(input_error(format!("--out {shown}: it exists and is not an empty folder")));
    }
    fs::create_dir_all(folder).map_err(|e| failed(format!("{shown}: cannot be made: {e}")))
}

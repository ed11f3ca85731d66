//! `tidings lab trace-documents`: recorded documents as a trace with the texts of their entries.
//!
//! A folder holds the documents of one feed, each named by the time of its poll. An entry appears
//! at its own date if that lies between two polls, else at the poll that first showed it.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use feed::{EntryKey, Item, Time, Window, identify};
use parse::Limits;

use super::files::{Output, csv_field};
use crate::args::lab::TraceDocumentsArgs;
use crate::error::{CliError, failed, input_error};
use crate::output::read_input;

/// A row of a trace has at most 64 KB; its texts are cut to these bytes.
const SHORT_BYTES_MAX: usize = 2000;
const LONG_BYTES_MAX: usize = 12_000;
/// Documents of one folder; a year of polls every ten minutes.
const DOCUMENTS_MAX: usize = 53_000;

pub fn run(args: &TraceDocumentsArgs) -> Result<(), CliError> {
    let mut out = Output::create(&args.out)?;
    let columns = "feed,published,visible,window,bytes,title,summary,content,author,categories,\
                   link,language";
    writeln!(out, "{columns}")?;
    let (mut n_entries, mut n_documents) = (0_u64, 0_u64);
    for folder in &args.folders {
        let mut feed = RecordedFeed::new(folder);
        for (at, file) in documents(folder)? {
            n_entries += feed.document(at, &file, &mut out)?;
            n_documents += 1;
        }
    }
    out.finish(&args.out)?;
    eprintln!(
        "{} of {}.",
        api::plural(n_entries, "entry", "entries"),
        api::plural(n_documents, "document", "documents")
    );
    Ok(())
}

/// Returns the documents of a folder with their times, oldest first.
fn documents(folder: &Path) -> Result<Vec<(Time, PathBuf)>, CliError> {
    let unreadable = |e: std::io::Error| input_error(format!("{}: {e}", folder.display()));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let seconds = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(seconds) = seconds {
            found.push((Time::from_secs(seconds), path));
        }
        if found.len() > DOCUMENTS_MAX {
            let message = format!("more than {DOCUMENTS_MAX} documents; use a part of them");
            return Err(input_error(format!("{}: {message}", folder.display())));
        }
    }
    if found.is_empty() {
        let message = "no file is named by the seconds of its poll, as 1774444925.xml";
        return Err(input_error(format!("{}: {message}", folder.display())));
    }
    found.sort();
    Ok(found)
}

/// A feed, as far as its documents were read.
struct RecordedFeed {
    name: String,
    known: HashSet<EntryKey>,
    last: Option<Time>,
}

impl RecordedFeed {
    fn new(folder: &Path) -> RecordedFeed {
        let name = folder.file_name().map_or_else(
            || folder.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
        RecordedFeed { name, known: HashSet::new(), last: None }
    }

    /// Writes the entries that a document shows for the first time. Returns their number.
    fn document(&mut self, at: Time, file: &Path, out: &mut Output) -> Result<u64, CliError> {
        let bytes = read_input(file)?;
        let document = parse::document(&bytes, None, None, &Limits::default())
            .map_err(|e| failed(format!("{}: {e}", file.display())))?;
        let last = self.last.replace(at);
        let (window, language) = (document.items.len(), document.language);
        let mut n_new = 0;
        for keyed in identify(document.items, &Window::default()) {
            let Some(item) = keyed.item else { continue };
            if !self.known.insert(keyed.key) {
                continue;
            }
            n_new += 1;
            let claim = item.published.or(item.updated);
            // Entries of the first document appeared before it.
            let is_plausible = |claim: &Time| *claim <= at && last.is_none_or(|last| *claim > last);
            let visible = claim.filter(is_plausible).unwrap_or(at);
            let published = claim.map_or(String::new(), |claim| claim.to_string());
            let texts = texts(&item, language.as_deref());
            let name = csv_field(&self.name);
            writeln!(out, "{name},{published},{visible},{window},{},{texts}", bytes.len())?;
        }
        Ok(n_new)
    }
}

/// The texts of an entry as the last fields of a row.
fn texts(item: &Item, language: Option<&str>) -> String {
    let field = |text: Option<&str>, bytes_max: usize| {
        let text = text.unwrap_or("");
        let cut = &text[..text.floor_char_boundary(bytes_max)];
        csv_field(&cut.replace(['\n', '\r', '\0'], " ")).into_owned()
    };
    let categories = item.categories.join(";");
    let fields = [
        field(item.title.as_deref(), SHORT_BYTES_MAX),
        field(item.summary.as_deref(), LONG_BYTES_MAX),
        field(item.content.as_deref(), LONG_BYTES_MAX),
        field(item.author.as_deref(), SHORT_BYTES_MAX),
        field(Some(&categories), SHORT_BYTES_MAX),
        field(item.link.as_deref(), SHORT_BYTES_MAX),
        field(item.language.as_deref().or(language), SHORT_BYTES_MAX),
    ];
    fields.join(",")
}

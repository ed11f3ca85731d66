//! `tidings restore`: replaces the store of a data folder by a copy.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::json;
use store::{ErrorKind, Location, StoreError};

use crate::args::operate::Restore;
use crate::config;
use crate::error::{CliError, input_error};
use crate::output::{self, print_json, print_line};

pub fn run(args: &Restore) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    if let Location::Postgres(_) = config.store {
        return Err(input_error(super::backup::pointer("restore")));
    }
    let (from, length) = open(&args.file)?;
    let lock = store::lock(&config.data)?;
    let had = config.data.join("tidings.db").exists();
    let bar = output::bytes_bar("restoring", length);
    let restored = store::restore(&config.data, from, args.force, &lock, &mut |done| {
        bar.set_position(done);
    });
    bar.finish_and_clear();
    let restored = restored.map_err(|error| match error {
        StoreError::Exists { .. } | StoreError::Newer { .. } => input_error(error.to_string()),
        StoreError::Altered { what, .. } => input_error(format!(
            "{} differs from a copy made by `tidings backup`: {what}; choose another file",
            args.file.display()
        )),
        // Up to here only the copy was read.
        error if error.kind() == ErrorKind::Corrupt => input_error(format!(
            "{} is not a complete copy made by tidings backup; choose another file",
            args.file.display()
        )),
        error => error.into(),
    })?;
    let kept = had.then(|| config.data.join("tidings.db.replaced"));
    if args.json {
        return print_json(&json!({
            "data": config.data, "feeds": restored.feeds, "entries": restored.entries,
            "replaced": kept,
        }));
    }
    let data = config.data.display();
    print_line(&format!("{data}: {} feeds, {} entries", restored.feeds, restored.entries))?;
    if restored.is_older {
        print_line("An older version of Tidings wrote it. The next tidings run updates it.")?;
    }
    kept.map_or(Ok(()), |kept| {
        print_line(&format!("The old store was kept as {}.", kept.display()))
    })
}

fn open(file: &Path) -> Result<(Box<dyn Read>, u64), CliError> {
    if file == Path::new("-") {
        return Ok((Box::new(std::io::stdin().lock()), 0));
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(PathBuf::from(log)).is_ok_and(|meta| meta.len() > 0) {
        return Err(input_error(format!(
            "{} is a store in use, not a copy: part of its data is in the log file next to it; \
             make a copy with tidings backup",
            file.display()
        )));
    }
    let opened = File::open(file).and_then(|f| f.metadata().map(|meta| (f, meta.len())));
    let (opened, length) =
        opened.map_err(|e| input_error(format!("cannot read {}: {e}", file.display())))?;
    Ok((Box::new(opened), length))
}

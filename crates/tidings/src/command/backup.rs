//! `tidings backup`: copies everything to one file while the daemon continues.

use std::io::Write;
use std::path::Path;

use api::plural;
use serde_json::json;
use store::{BackupSummary, Location, StoreError};

use crate::args::operate::Backup;
use crate::error::{CliError, failed, input_error};
use crate::output::{self, print_json, print_line};
use crate::{access, config};

/// The files of the store and of its lock.
const OWN_FILES: [&str; 4] = ["tidings.db", "tidings.db-wal", "tidings.db-shm", "lock"];

pub fn run(args: &Backup) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    if let Location::Postgres(_) = config.store {
        return Err(input_error(pointer("backup")));
    }
    access::refuse_lost(&config)?;
    if args.file == Path::new("-") {
        return to_standard_output(&config.data);
    }
    refuse_own_files(&config.data, &args.file)?;
    let copied = copy(&config.data, &args.file, args.force)?;
    let (bytes, file) = (copied.bytes, args.file.display());
    if args.json {
        let shown = file.to_string();
        return print_json(&json!({
            "file": shown, "feeds": copied.feeds, "entries": copied.entries, "bytes": bytes,
        }));
    }
    let mb = bytes as f64 / 1e6;
    let feeds = plural(copied.feeds, "feed", "feeds");
    let entries = plural(copied.entries, "entry", "entries");
    print_line(&format!("{file}: {feeds}, {entries}, {mb:.1} MB; checked"))
}

/// Says how a PostgreSQL database is copied and restored.
pub fn pointer(command: &str) -> String {
    format!(
        "`tidings {command}` works with SQLite files. For PostgreSQL use its own tools: pg_dump \
         --format=custom makes a copy while the daemon runs, and pg_restore loads it into a new \
         database. After a restore let the numbers of entries leap: psql --single-transaction \
         --file=operating/postgres-leap.sql; docs/how-to/use-postgresql.md explains the steps"
    )
}

/// Refuses to overwrite the store itself, even with `--force`. A process that has the store open
/// would continue to write into a deleted file with a log that no longer fits.
fn refuse_own_files(data: &Path, to: &Path) -> Result<(), CliError> {
    let Ok(to) = to.canonicalize() else { return Ok(()) };
    let is_own = |name: &str| data.join(name).canonicalize().is_ok_and(|own| own == to);
    if OWN_FILES.into_iter().any(is_own) {
        return Err(input_error(format!(
            "{} belongs to the store that is copied; choose another name",
            to.display()
        )));
    }
    Ok(())
}

/// A stream cannot be checked or taken back, so the whole copy is made first.
fn to_standard_output(data: &Path) -> Result<(), CliError> {
    let folder = tempfile::tempdir_in(data)
        .map_err(|e| failed(format!("cannot create a folder in {}: {e}", data.display())))?;
    let file = folder.path().join("copy.db");
    copy(data, &file, false)?;
    let mut out = std::io::stdout().lock();
    std::io::copy(&mut std::fs::File::open(&file)?, &mut out)
        .and_then(|_| out.flush())
        .map_err(|e| failed(format!("cannot write to standard output: {e}")))
}

fn copy(data: &Path, to: &Path, force: bool) -> Result<BackupSummary, CliError> {
    let bar = output::bytes_bar("copying", 0);
    let copied = store::backup(data, to, force, &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    copied.map_err(|error| match error {
        StoreError::Exists { .. } => input_error(error.to_string()),
        error => error.into(),
    })
}

//! `tidings migrate`: copies the store to another place, for example from SQLite to PostgreSQL.

use std::io::IsTerminal;
use std::path::Path;

use api::plural;
use indicatif::ProgressBar;
use serde_json::json;
use store::{
    Location, MigrationError, MigrationPhase, MigrationProgress, MigrationSummary, StoreError,
};

use crate::args::operate::Migrate;
use crate::error::{CliError, input_error};
use crate::output::{self, complain, print_json, print_line};

pub fn run(args: &Migrate) -> Result<(), CliError> {
    let (from, to) = (place(&args.from)?, place(&args.to)?);
    refuse_same(&from, &to)?;
    let mut shown = ShownProgress::default();
    let moved = store::migrate(&from, &to, &mut |progress| shown.show(progress));
    shown.clear();
    let moved = moved.map_err(|error| explain(error, &from, &to))?;
    if args.json {
        print_summary_json(&from, &to, &moved)
    } else {
        print_summary(&from, &to, &moved)
    }
}

fn place(text: &str) -> Result<Location, CliError> {
    let variable = |name: &str| std::env::var(name).ok();
    Location::parse(text, &variable).map_err(|e| input_error(e.to_string()))
}

fn refuse_same(from: &Location, to: &Location) -> Result<(), CliError> {
    let (Location::Folder(from), Location::Folder(to)) = (from, to) else { return Ok(()) };
    let real = |folder: &Path| folder.canonicalize().ok();
    if real(from).is_some() && real(from) == real(to) {
        let text = format!("--from and --to are the same folder, {}", from.display());
        return Err(input_error(format!("{text}; choose another place for the copy")));
    }
    Ok(())
}

/// Adds what the operator can do here. The errors of the store do not know this command.
fn explain(error: MigrationError, from: &Location, to: &Location) -> CliError {
    match error {
        MigrationError::Lock(held) if held.is_held() => {
            let folder = match (from, to) {
                (Location::Folder(folder), Location::Postgres(_))
                | (Location::Postgres(_), Location::Folder(folder)) => folder.display().to_string(),
                _ => "one of the folders".to_owned(),
            };
            let pid = held.pid().map(|pid| format!(" by process {pid}")).unwrap_or_default();
            crate::error::failed(format!(
                "{folder} is in use{pid}; stop the daemon first, then run `tidings migrate` again"
            ))
        }
        MigrationError::Lock(held) => held.into(),
        MigrationError::Store(StoreError::SeatTaken { file, holder }) => {
            crate::error::failed(format!(
                "{file} is in use by {holder}; stop all Tidings processes that use it, then run \
                 `tidings migrate` again. Check also that --from and --to are two places"
            ))
        }
        MigrationError::Store(
            error @ (StoreError::NotEmpty { .. }
            | StoreError::OtherMigration { .. }
            | StoreError::Newer { .. }
            | StoreError::Foreign { .. }
            | StoreError::Unfit { .. }),
        ) => input_error(error.to_string()),
        MigrationError::Store(error) => error.into(),
    }
}

fn print_summary_json(
    from: &Location,
    to: &Location,
    moved: &MigrationSummary,
) -> Result<(), CliError> {
    let tables: Vec<_> = moved
        .tables
        .iter()
        .map(|table| json!({ "name": table.name, "rows": table.rows, "hash": table.hash }))
        .collect();
    let findings: Vec<_> = moved
        .findings
        .iter()
        .map(|finding| {
            json!({
                "feed": finding.feed.map(|feed| feed.0), "what": finding.what,
                "remedy": finding.remedy, "harmless": finding.harmless,
            })
        })
        .collect();
    print_json(&json!({
        "from": &*from.shown(), "to": &*to.shown(), "tables": tables, "findings": findings,
        "tables_resumed": moved.n_resumed, "started_over": moved.is_started_over,
        "older_version": moved.older_version,
    }))
}

fn print_summary(from: &Location, to: &Location, moved: &MigrationSummary) -> Result<(), CliError> {
    let mut table = output::table(["table", "rows", "hash of both sides"]);
    for row in moved.tables.iter().filter(|table| table.rows > 0) {
        table.add_row([row.name.clone(), row.rows.to_string(), row.hash.clone()]);
    }
    print_line(&table.to_string())?;
    if let Some(version) = moved.older_version {
        print_line(&format!(
            "An older Tidings wrote the source (schema version {version}). The copy has the \
             schema of this program. The source is unchanged."
        ))?;
    }
    if moved.is_started_over {
        print_line(
            "The source had changed since the interrupted migration. Everything was copied again.",
        )?;
    } else if moved.n_resumed > 0 {
        let tables = plural(moved.n_resumed as u64, "table", "tables");
        print_line(&format!("An interrupted migration had copied {tables} already."))?;
    }
    let rows = moved.tables.iter().map(|table| table.rows).sum::<u64>();
    let rows = plural(rows, "row", "rows");
    let (from, to) = (from.shown(), to.shown());
    print_line(&format!("{from} -> {to}: {rows}; counts and hashes are equal on both sides."))?;
    for finding in &moved.findings {
        let feed = finding.feed.map(|feed| format!("feed {feed}: ")).unwrap_or_default();
        let (what, remedy) = (&finding.what, &finding.remedy);
        print_line(&format!("The check found, here as in the source: {feed}{what}; {remedy}."))?;
    }
    print_line(
        "The search index was not copied. `tidings run` builds it again in the background; \
         until then a search misses entries.",
    )?;
    print_line(
        "Start `tidings run` with the new place only. The source is unchanged; keep it until all \
         is well.",
    )
}

/// A bar on a terminal; else a line for each table on standard error.
#[derive(Default)]
struct ShownProgress {
    bar: Option<ProgressBar>,
    last: Option<(MigrationPhase, String)>,
}

impl ShownProgress {
    fn show(&mut self, progress: &MigrationProgress<'_>) {
        let verb = match progress.phase {
            MigrationPhase::Comparing => "comparing",
            MigrationPhase::Copying => "copying",
            MigrationPhase::Verifying => "verifying",
        };
        let is_new = !self
            .last
            .as_ref()
            .is_some_and(|(phase, table)| *phase == progress.phase && table == progress.table);
        if is_new {
            self.clear();
            self.last = Some((progress.phase, progress.table.to_owned()));
            let message = format!("{verb} {}", progress.table);
            if std::io::stderr().is_terminal() {
                self.bar = Some(output::bar(&message, progress.rows_total));
            } else if progress.rows_total > 0 {
                complain(&format!("{message}: {} rows", progress.rows_total));
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_position(progress.rows);
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

//! `tidings lab experiment`: runs a definition, checks its expectation and writes the record.

use std::fs;
use std::path::{Path, PathBuf};

use lab::experiment::{Definition, ExperimentResult, WorldSource, perform};
use lab::report::{ReportPage, ReportSection};
use lab::{World, WorldBuilder};

use super::files::{csv_field, read_world};
use super::report;
use crate::args::lab::{ExperimentArgs, TraceArgs};
use crate::error::{CliError, failed, failed_silently, input_error};
use crate::output::{say, spinner};

pub fn run(args: &ExperimentArgs) -> Result<(), CliError> {
    let shown = args.file.display();
    let text = fs::read_to_string(&args.file)
        .map_err(|e| input_error(format!("{shown}: cannot be read: {e}")))?;
    let definition = Definition::read(&text).map_err(|e| input_error(format!("{shown}:{e}")))?;
    let (world, sampled) = world(&definition, args)?;
    let waiting = spinner("performing");
    let performed = perform(&definition, &world, super::threads());
    let performed = performed.map_err(|e| input_error(format!("{shown}: {e}")))?;
    waiting.finish_and_clear();
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.file));
    report::write(&folder, &page(&definition, &performed, sampled))?;
    write_values(&folder, &performed)?;
    say!("{} ({})", definition.title, definition.source)?;
    for judged in &performed.judged {
        let side = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.4}"));
        say!(
            "  {}  {}    ({} and {})",
            if judged.holds { "holds        " } else { "DOES NOT HOLD" },
            judged.text,
            side(judged.left),
            side(judged.right),
        )?;
    }
    if performed.judged.iter().all(|judged| judged.holds) { Ok(()) } else { Err(failed_silently()) }
}

/// The first sentence of a report that used a sample instead of the trace in the definition.
const SAMPLED: &str = "Performed on a small sample: the trace that the definition names was not \
                       there. The recorded figures are those of the whole trace.";

/// Returns the world that a definition names, and whether it is only a sample.
fn world(definition: &Definition, args: &ExperimentArgs) -> Result<(World, bool), CliError> {
    let window = definition.window();
    if !args.traces.is_empty() {
        return Ok((read_world(&TraceArgs { files: args.traces.clone() }, window)?, false));
    }
    match definition.world() {
        None => Ok((World::default(), false)),
        Some(WorldSource::Traces { files, sample, origin }) => {
            let folder = args.file.parent().unwrap_or(Path::new("."));
            let named = |files: &[PathBuf]| files.iter().map(|f| folder.join(f)).collect();
            let (files, sample): (Vec<PathBuf>, Vec<PathBuf>) = (named(&files), named(&sample));
            let Some(absent) = files.iter().find(|file| !file.exists()) else {
                return Ok((read_world(&TraceArgs { files }, window)?, false));
            };
            if sample.is_empty() {
                return Err(absent_trace(&args.file, absent, origin.as_deref()));
            }
            eprintln!("tidings: {} is not there; using the sample instead", absent.display());
            Ok((read_world(&TraceArgs { files: sample }, window)?, true))
        }
        Some(WorldSource::Synth(spec)) => {
            let mut csv = Vec::new();
            lab::world::synth::Population::draw(&spec).write_csv(&mut csv)?;
            let mut builder = WorldBuilder::default();
            lab::world::trace::read("synthetic", &csv[..], &mut builder)
                .map_err(|e| failed(e.to_string()))?;
            Ok((builder.finish(window), false))
        }
    }
}

fn absent_trace(definition: &Path, trace: &Path, origin: Option<&str>) -> CliError {
    let holds = origin.map_or(String::new(), |origin| format!(" ({origin})"));
    input_error(format!(
        "{}: the trace {} is not there{holds}; pass a CSV with the columns feed and published: \
         --trace FILE",
        definition.display(),
        trace.display(),
    ))
}

fn page(definition: &Definition, performed: &ExperimentResult, sampled: bool) -> ReportPage {
    let mut sections = performed.sections.clone();
    if sampled {
        sections.insert(0, ReportSection::Prose(SAMPLED.to_owned()));
    }
    ReportPage {
        title: definition.title.clone(),
        lead: format!("After {}.", definition.source),
        sections,
        command: report::command_line(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: report::limits(),
    }
}

/// Returns `experiments/records/<date>/<name>` for `experiments/definitions/<name>.toml`.
fn default_folder(file: &Path) -> PathBuf {
    let today = engine::Clock::System.now().to_string();
    let root = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let name = file.file_stem().unwrap_or_default();
    root.join("records").join(&today[..10]).join(name)
}

/// Writes every figure with its name, so that two records can be compared.
fn write_values(folder: &Path, performed: &ExperimentResult) -> Result<(), CliError> {
    let mut csv = "figure,value\n".to_owned();
    for (name, value) in performed.values.iter() {
        csv.push_str(&format!("{},{value}\n", csv_field(name)));
    }
    let file = folder.join("values.csv");
    fs::write(&file, csv).map_err(|e| failed(format!("{}: cannot be written: {e}", file.display())))
}

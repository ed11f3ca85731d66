//! `tidings lab experiment`: a definition performed, its expectation judged, its record written.

use std::fs;
use std::path::{Path, PathBuf};

use lab::experiment::{Definition, Performed, WorldSource, perform};
use lab::report::Page;
use lab::{World, WorldBuilder};

use super::files::{csv_field, read_world};
use super::report;
use crate::args::lab::{Experiment, Traces};
use crate::failure::{Failure, failed, failed_silently, input_error};
use crate::output::{say, spinner};

pub fn run(args: &Experiment) -> Result<(), Failure> {
    let shown = args.file.display();
    let text = fs::read_to_string(&args.file)
        .map_err(|e| input_error(format!("{shown}: cannot be read: {e}")))?;
    let definition = Definition::read(&text).map_err(|e| input_error(format!("{shown}:{e}")))?;
    let world = world(&definition, &args.file)?;
    let waiting = spinner("performing");
    let performed = perform(&definition, &world, super::threads());
    let performed = performed.map_err(|e| input_error(format!("{shown}: {e}")))?;
    waiting.finish_and_clear();
    let folder = args.out.clone().unwrap_or_else(|| default_folder(&args.file));
    report::write(&folder, &page(&definition, &performed))?;
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

/// The world that a definition names; its files are named relative to itself.
fn world(definition: &Definition, file: &Path) -> Result<World, Failure> {
    match definition.world() {
        None => Ok(World::default()),
        Some(WorldSource::Traces(files)) => {
            let beside = file.parent().unwrap_or(Path::new("."));
            let files = files.iter().map(|name| beside.join(name)).collect();
            read_world(&Traces { files }, definition.window())
        }
        Some(WorldSource::Synth(spec)) => {
            let mut csv = Vec::new();
            lab::synth::Population::draw(&spec).write_csv(&mut csv)?;
            let mut builder = WorldBuilder::default();
            lab::trace::read("synthetic", &csv[..], &mut builder)
                .map_err(|e| failed(e.to_string()))?;
            Ok(builder.finish(definition.window()))
        }
    }
}

fn page(definition: &Definition, performed: &Performed) -> Page {
    Page {
        title: definition.title.clone(),
        lead: format!("After {}.", definition.source),
        sections: performed.sections.clone(),
        command: report::command_line(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        limits: report::limits(),
    }
}

/// `experiments/records/<date>/<name>` for `experiments/definitions/<name>.toml`.
fn default_folder(file: &Path) -> PathBuf {
    let today = engine::Clock::System.now().to_string();
    let beside = file.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let name = file.file_stem().unwrap_or_default();
    beside.join("records").join(&today[..10]).join(name)
}

/// Every figure by name, for whoever wants to compare two records.
fn write_values(folder: &Path, performed: &Performed) -> Result<(), Failure> {
    let mut csv = "figure,value\n".to_owned();
    for (name, value) in performed.values.iter() {
        csv.push_str(&format!("{},{value}\n", csv_field(name)));
    }
    let file = folder.join("values.csv");
    fs::write(&file, csv).map_err(|e| failed(format!("{}: cannot be written: {e}", file.display())))
}

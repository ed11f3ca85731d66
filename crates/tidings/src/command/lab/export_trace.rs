//! `tidings lab export-trace`: writes the instance's own recorded history as a trace.

use super::files::Output;
use super::history;
use crate::args::lab::ExportTraceArgs;
use crate::error::{CliError, failed};
use crate::{access, config};

pub fn run(args: &ExportTraceArgs) -> Result<(), CliError> {
    let config = config::read_offline(&args.place)?;
    let out = &args.out;
    let mut feeds = history::read(&access::read(&config)?)?;
    if args.evaluation {
        eprintln!("{}", history::keep_evaluated(&mut feeds));
    }
    let n_entries: usize = feeds.iter().map(|own| own.rows.len()).sum();
    if n_entries == 0 {
        let what = "nothing was recorded yet; poll some feeds first (`tidings run`)";
        return Err(failed(what.to_owned()));
    }
    let mut file = Output::create(out)?;
    let written = history::write(&feeds, &mut file);
    written.map_err(|e| failed(format!("{}: cannot be written: {e}", out.display())))?;
    file.finish(out)?;
    let entries = api::plural(n_entries as u64, "entry", "entries");
    let of = api::plural(feeds.len() as u64, "feed", "feeds");
    eprintln!("{entries} of {of}. {}", history::blind_spots(&feeds));
    Ok(())
}

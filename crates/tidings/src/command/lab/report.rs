//! Writes reports as files: the page, its figures as SVG, their numbers as CSV.

use std::fs;
use std::path::Path;

use lab::report::ReportPage;

use crate::error::{CliError, failed, input_error};

/// Refuses a folder that is not empty, unless `force` is set.
pub fn check_folder(folder: &Path, force: bool) -> Result<(), CliError> {
    let is_taken = match fs::read_dir(folder) {
        Ok(mut inside) => inside.next().is_some(),
        Err(_) => folder.exists(),
    };
    if !is_taken || force {
        return Ok(());
    }
    let shown = folder.display();
    Err(input_error(format!(
        "--report {shown}: the folder is not empty; name another one, or add --force to write \
         into it"
    )))
}

/// Writes `index.html` and every figure into the folder. Prints the folder on standard error.
pub fn write(folder: &Path, page: &ReportPage) -> Result<(), CliError> {
    fs::create_dir_all(folder)
        .map_err(|e| failed(format!("{}: cannot be made: {e}", folder.display())))?;
    let save = |name: String, text: &str| {
        let file = folder.join(name);
        fs::write(&file, text)
            .map_err(|e| failed(format!("{}: cannot be written: {e}", file.display())))
    };
    save("index.html".to_owned(), &page.html())?;
    for figure in page.figures() {
        save(format!("{}.svg", figure.name), &figure.svg)?;
        save(format!("{}.csv", figure.name), &figure.csv)?;
    }
    for (name, table) in page.tables() {
        save(name, &table.csv())?;
    }
    eprintln!("report: {}", folder.join("index.html").display());
    Ok(())
}

/// Returns the call as it was made, with the program's own name first.
pub fn command_line() -> String {
    let quoted = |arg: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
        if arg.chars().all(plain) && !arg.is_empty() { arg } else { format!("'{arg}'") }
    };
    let args = std::env::args().skip(1).map(quoted);
    std::iter::once("tidings".to_owned()).chain(args).collect::<Vec<_>>().join(" ")
}

/// Returns the limits of traces; `experiments/BIAS.md` has more.
pub fn limits() -> Vec<String> {
    [
        "Traces stand in for feeds: what was published is known, what the server would have \
         answered at that moment is not.",
        "Unless the trace has a column visible, an entry is taken to appear at its claimed time; \
         real feeds are often later.",
        "No request fails here, no site slows down, no answer comes late.",
        "An average over feeds is led by slow feeds, an average over entries by a few busy ones.",
        "Trained policies know the whole history before the test, which live they would \
         have had to see.",
    ]
    .map(str::to_owned)
    .to_vec()
}

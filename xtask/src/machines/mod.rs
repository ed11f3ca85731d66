//! Measures an instance on several machines, with real processes on this one: PostgreSQL, NATS,
//! controller and terminals against a web server with delays. `figure-3` repeats figure 3 of the
//! advaRSS paper. `scale` measures polls a second with 1, 2, 4 and 8 terminals.

mod figure_3;
mod house;
mod scale;
mod web;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Runs one of the measurements.
pub fn command(root: &Path, args: &[String]) -> Result<bool> {
    let number = |name: &str, default: usize| -> Result<usize> {
        let at = args.iter().position(|arg| arg == name);
        let value = at.and_then(|at| args.get(at + 1));
        Ok(value.map(|text| text.parse()).transpose()?.unwrap_or(default))
    };
    match args.first().map(String::as_str) {
        Some("figure-3") => figure_3::run(&program(root)?, number("--rounds", 10)?)?,
        Some("scale") => scale::run(&program(root)?, number("--seconds", 30)?)?,
        Some("feeds") => feeds(args.get(1).map(Path::new), number("--feeds", 300)?)?,
        _ => bail!("say figure-3, scale or feeds FILE.opml"),
    }
    Ok(true)
}

/// Serves feeds for the tutorial until it is killed. Writes their subscription list.
fn feeds(list: Option<&Path>, n: usize) -> Result<()> {
    let list = list.context("name the file of the subscription list")?;
    let web = web::Web::start(n, web::Delays::Real)?;
    std::fs::write(list, web.opml())?;
    println!("serving {n} feeds; their list is {}", list.display());
    for round in 0.. {
        std::thread::sleep(Duration::from_secs(3));
        web.change_some(round);
    }
    Ok(())
}

/// The program under measurement: `TIDINGS`, or the release build.
fn program(root: &Path) -> Result<PathBuf> {
    let named = std::env::var_os("TIDINGS").map(PathBuf::from);
    let built = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    let program = named.unwrap_or_else(|| built.join("release/tidings"));
    ensure!(program.exists(), "{} is missing: cargo build --release", program.display());
    Ok(program)
}

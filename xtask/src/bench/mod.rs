//! Compares Tidings with other programs on one local nginx: cold load, unchanged reload, memory.
//!
//! It measures processes from outside, as an operator would. It reports the figures of this run on
//! this machine and does not judge them.

mod idle;
pub mod measure;
mod nginx;
mod peers;
mod report;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use nginx::Nginx;
use peers::{Competitor, Scene};
use report::{ComparisonRow, ComparisonTable};

const NOTE: &str = "docs/notes/benchmarks.md";

/// The options of `xtask bench`.
struct BenchArgs {
    /// Sizes of the comparison.
    feeds: Vec<usize>,
    /// Feeds for the measurement of memory and restart; 0 leaves it out.
    idle: usize,
    peers: Vec<Competitor>,
    write: bool,
}

pub fn command(root: &Path, args: &[String]) -> Result<bool> {
    let options = parse_args(args)?;
    let tidings = program()?;
    install_missing(&options.peers)?;
    let folder = tempfile::tempdir().context("making a folder for the run")?;
    let python = if options.peers.contains(&Competitor::Reader) {
        peers::python_with_reader(folder.path())
            .inspect_err(|e| eprintln!("reader is left out: {e:#}"))
            .ok()
    } else {
        None
    };
    let mut text = report::preface();
    for n_feeds in &options.feeds {
        eprintln!("{n_feeds} feeds:");
        let place = folder.path().join(format!("n{n_feeds}"));
        let nginx = Nginx::start(&place, *n_feeds)?;
        let scene = Scene { place, nginx, tidings: tidings.clone(), python: python.clone() };
        let comparison = compare(&scene, *n_feeds, &options.peers)?;
        text += &report::comparison(&comparison);
    }
    if options.idle > 0 {
        let place = folder.path().join("idle");
        text += &report::idle(&idle::measure(&place, &tidings, options.idle)?);
    }
    println!("{text}");
    if options.write {
        std::fs::write(root.join(NOTE), &text).with_context(|| format!("writing {NOTE}"))?;
    }
    Ok(true)
}

fn compare(scene: &Scene, n_feeds: usize, peers: &[Competitor]) -> Result<ComparisonTable> {
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for peer in peers {
        if *peer == Competitor::Reader && scene.python.is_none() {
            continue;
        }
        eprintln!("  {}", peer.name());
        rows.push(scene.run(*peer).with_context(|| format!("measuring {}", peer.name()))?);
    }
    Ok(ComparisonTable { n_feeds, rows })
}

fn parse_args(args: &[String]) -> Result<BenchArgs> {
    let peers = vec![Competitor::Tidings, Competitor::Newsboat, Competitor::Reader];
    let mut options = BenchArgs { feeds: vec![1000, 10_000], idle: 200_000, peers, write: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--write" => options.write = true,
            "--idle" => options.idle = value()?.parse().context("--idle takes a number")?,
            "--feeds" => {
                let numbers: Result<Vec<usize>, _> = value()?.split(',').map(str::parse).collect();
                options.feeds = numbers.context("--feeds takes numbers, e.g. 1000,10000")?;
            }
            "--only" => match value()?.as_str() {
                "tidings" => options.peers = vec![Competitor::Tidings],
                other => bail!("--only {other}: only `tidings` can be measured alone"),
            },
            other => {
                bail!("`{other}` is not an option of bench; use --write, --feeds, --idle, --only")
            }
        }
    }
    Ok(options)
}

/// Returns the release binary in the folder of this program.
fn program() -> Result<PathBuf> {
    let own = std::env::current_exe()?.with_file_name("tidings");
    if cfg!(debug_assertions) || !own.exists() {
        bail!("there is no release binary to measure; run `make bench`");
    }
    Ok(own)
}

/// Installs the Debian packages of the other programs, if they are missing.
fn install_missing(peers: &[Competitor]) -> Result<()> {
    let mut packages = Vec::new();
    let is_missing = |program: &str| {
        Command::new("sh")
            .args(["-c", &format!("PATH=$PATH:/usr/sbin command -v {program}")])
            .output()
            .map_or(true, |o| !o.status.success())
    };
    if is_missing("nginx") {
        packages.push("nginx-light");
    }
    if peers.contains(&Competitor::Newsboat) && is_missing("newsboat") {
        packages.push("newsboat");
    }
    if peers.contains(&Competitor::Reader) && is_missing("python3") {
        packages.extend(["python3", "python3-venv"]);
    }
    if packages.is_empty() {
        return Ok(());
    }
    eprintln!("installing {}", packages.join(", "));
    let line = format!(
        "apt-get update -q && apt-get install -q -y --no-install-recommends {}",
        packages.join(" ")
    );
    let status = Command::new("sh").args(["-c", &line]).status()?;
    if !status.success() {
        bail!("cannot install {}; install them by hand", packages.join(", "));
    }
    Ok(())
}

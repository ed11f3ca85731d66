//! Asks whether `tide` gains from clusters of feeds as the prior of the hours of young feeds.
//!
//! The clusters (k-means, K = 12; source 002, section 4.3.1) come from one half of the feeds of a
//! case, from the 90 days before it. They replace the shapes of days as the prior for the other
//! half, from a cold start. The delay is compared at equal polls, as in `cross_validation`.
//!
//! Expected before the first run: a gain below 1 % in the geometric mean. The shapes of days were
//! fitted on a thousand feeds and have 24 shifts, where twelve profiles must hold both. Posts,
//! whose feeds are alike, should gain. News pages are few, so they should lose. The clusters become
//! part of the program only if they gain 1 % or more on both halves.
//!
//! `cargo run --release -p lab --features tuning --example tide_cluster_prior -- TRACES [PRICES]`

#[path = "../cross_validation/cell.rs"]
mod cell;

use std::path::Path;

use cell::{Cell, Era};
use polling::model::profile::{K, Profiles};
use polling::model::tide::cluster_prior;

/// The number of prices of a line.
const PRICES: usize = 5;
const PRICES_MAX: usize = 21;
/// The days from which the clusters are found.
const DAYS: u32 = 90;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (traces, prices) = match args.as_slice() {
        [traces] => (traces, PRICES),
        [traces, prices] => (traces, prices.parse::<usize>()?.clamp(2, PRICES_MAX)),
        _ => return Err("usage: tide_cluster_prior TRACES [PRICES]".into()),
    };
    let cells = cell::all(Path::new(traces))?;
    println!("| case | feeds | shapes of days | clusters | change | recall |");
    println!("|---|---|---|---|---|---|");
    let mut changes = Vec::new();
    for cell in &cells {
        let other = cells.iter().find(|other| other.case == cell.case && other.odd != cell.odd);
        let hours = other.map(|other| other.hours_before(DAYS)).unwrap_or_default();
        let plain = cell.measure(None, prices);
        cluster_prior::set_clusters(Profiles::fit(&hours, K));
        let clustered = cell.measure(Some(plain.price), prices);
        cluster_prior::set_clusters(None);
        let change = clustered.ln_ratio - plain.ln_ratio;
        println!(
            "| {} | {} | {:.4} | {:.4} | {:+.2} % | {:+.4} |",
            cell.case,
            if cell.odd { "odd" } else { "even" },
            plain.ln_ratio.exp(),
            clustered.ln_ratio.exp(),
            100.0 * change.exp_m1(),
            clustered.recall - plain.recall
        );
        changes.push((cell, change));
    }
    say("all", &changes, |_| true);
    say("even feeds", &changes, |cell| !cell.odd);
    say("odd feeds", &changes, |cell| cell.odd);
    for kind in ["posts", "commits", "releases", "news"] {
        say(kind, &changes, |cell| cell.is_of(kind));
    }
    say("earlier cases", &changes, |cell| cell.era == Era::Earlier);
    say("later cases", &changes, |cell| cell.era == Era::Later);
    Ok(())
}

/// Prints the geometric mean of the change over some cells.
fn say(name: &str, changes: &[(&Cell, f64)], of: impl Fn(&Cell) -> bool) {
    let held: Vec<f64> =
        changes.iter().filter(|(cell, _)| of(cell)).map(|(_, change)| *change).collect();
    let mean = held.iter().sum::<f64>() / held.len() as f64;
    println!("{name}: {:+.2} %", 100.0 * mean.exp_m1());
}

//! Fits a correction of `tide` and judges it on feeds that took no part in the fit.
//!
//! The correction is a small network with sixteen hidden units
//! ([`polling::model::tide::correction`]). Its inputs are the level, the counts of the last hours
//! and days compared with their expectation, and the gaps between the newest entries. It multiplies
//! the expected entries of every step that the plan looks ahead.
//!
//! The program fits it on simulated polls of the traces, by the likelihood of the entries that came
//! ([`network`]). It then measures the delay at equal polls, as `cross_validation` does. It judges
//! kinds of feeds without a sample in the fit, the other half of the feeds, and later times. A
//! last fit uses all samples and is judged on all cells: what it gains is the most that can be
//! hoped for. Each is judged on the six cases, and on other times too. It changes no default, and
//! it stores no weights.
//!
//! `cargo run --release -p lab --features tuning --example tide_correction -- TRACES [PRICES]`

#[path = "../cross_validation/cell.rs"]
mod cell;
mod network;
mod samples;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cell::{Cell, Era, Measured};
use feed::Time;
use polling::model::tide::correction::{WEIGHTS, set_correction};
use samples::{KINDS, Sample};

const SEED: u64 = 21;
const THREADS: usize = 2;
/// The number of prices of a line.
const PRICES: usize = 5;
const PRICES_MAX: usize = 21;
/// The kinds with cases; blogs and uploads only take part in the fit.
const JUDGED_KINDS: usize = 4;
/// The start of the first of the later cases.
const LATER: Time = Time::from_secs(1_566_691_200);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The samples of a fit, and the cells that judge it.
struct Fold {
    name: String,
    fits: Box<dyn Fn(&Sample) -> bool + Sync>,
    judges: Box<dyn Fn(&Cell) -> bool + Sync>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (traces, prices) = match args.as_slice() {
        [traces] => (traces, PRICES),
        [traces, prices] => (traces, prices.parse::<usize>()?.clamp(2, PRICES_MAX)),
        _ => return Err("usage: tide_correction TRACES [PRICES]".into()),
    };
    let traces = Path::new(traces);
    let samples = samples::all(traces)?;
    let mut cells = cell::all(traces)?;
    let n_cases = cells.len();
    cells.extend(cell::some(traces, &cell::OTHER_TIMES)?);
    let all: Vec<usize> = (0..cells.len()).collect();
    let folds = folds();
    let networks = in_parallel(folds.len(), |i| fitted(&samples, &folds[i].fits));
    let plain = measure(&cells, &all, None, prices);
    println!("| judged on | case | feeds | plain | corrected | change | recall |");
    println!("|---|---|---|---|---|---|---|");
    let mut gains = Vec::new();
    for (fold, weights) in folds.iter().zip(networks) {
        let judged: Vec<usize> =
            all.iter().copied().filter(|i| (fold.judges)(&cells[*i])).collect();
        set_correction(Some(weights));
        let measured = measure(&cells, &judged, Some(&plain), prices);
        set_correction(None);
        report(&fold.name, &cells, &judged, &measured, &plain);
        let changes =
            judged.iter().zip(&measured).map(|(i, m)| (*i, m.ln_ratio - plain[*i].ln_ratio));
        let mean = |of: &dyn Fn(usize) -> bool| {
            let of: Vec<f64> = changes.clone().filter(|(i, _)| of(*i)).map(|(_, ln)| ln).collect();
            100.0 * (of.iter().sum::<f64>() / of.len() as f64).exp_m1()
        };
        let (cases, with_others) = (mean(&|i| i < n_cases), mean(&|_| true));
        let unused: Vec<&Sample> = samples.iter().filter(|s| !(fold.fits)(s)).collect();
        let used: Vec<&Sample> = samples.iter().filter(|s| (fold.fits)(s)).collect();
        gains.push(format!(
            "{}: delay {cases:+.2} %, with other times {with_others:+.2} %; likelihood {:+.4} nats \
             an entry, {:+.4} in the fit",
            fold.name,
            network::gain(&weights, &unused),
            network::gain(&weights, &used)
        ));
    }
    println!("\n{}", gains.join("\n"));
    Ok(())
}

fn folds() -> Vec<Fold> {
    let mut folds = Vec::new();
    for (kind, name) in KINDS.into_iter().enumerate().take(JUDGED_KINDS) {
        folds.push(Fold {
            name: format!("{name}, unseen"),
            fits: Box::new(move |sample| sample.kind != kind),
            judges: Box::new(move |cell| cell.is_of(name)),
        });
    }
    for (odd, name) in [(false, "even feeds"), (true, "odd feeds")] {
        folds.push(Fold {
            name: name.to_owned(),
            fits: Box::new(move |sample| sample.odd != odd),
            judges: Box::new(move |cell| cell.odd == odd),
        });
    }
    folds.push(Fold {
        name: "everything".to_owned(),
        fits: Box::new(|_| true),
        judges: Box::new(|_| true),
    });
    folds.push(Fold {
        name: "later times".to_owned(),
        fits: Box::new(|sample| sample.at < LATER),
        judges: Box::new(|cell| cell.era == Era::Later),
    });
    folds
}

/// Fits a network to some samples. Each kind has the same weight.
fn fitted(samples: &[Sample], of: impl Fn(&Sample) -> bool) -> [f32; WEIGHTS] {
    let chosen: Vec<&Sample> = samples.iter().filter(|s| of(s)).collect();
    let mut entries = [0.0_f64; KINDS.len()];
    for sample in &chosen {
        let came: f32 = sample.steps.iter().map(|step| step.came.min(10.0) * step.weight).sum();
        entries[sample.kind] += f64::from(came);
    }
    let mean = chosen.len() as f64 / entries.iter().filter(|n| **n > 0.0).count() as f64;
    let weighted: Vec<(&Sample, f32)> = chosen
        .into_iter()
        .map(|sample| (sample, (mean / entries[sample.kind].max(1.0)) as f32))
        .collect();
    network::fit(&weighted, SEED)
}

/// Prints the cells of a fold.
fn report(name: &str, cells: &[Cell], judged: &[usize], measured: &[Measured], plain: &[Measured]) {
    for (m, i) in measured.iter().zip(judged) {
        let change = m.ln_ratio - plain[*i].ln_ratio;
        println!(
            "| {name} | {} | {} | {:.4} | {:.4} | {:+.2} % | {:+.4} |",
            cells[*i].case,
            if cells[*i].odd { "odd" } else { "even" },
            plain[*i].ln_ratio.exp(),
            m.ln_ratio.exp(),
            100.0 * change.exp_m1(),
            m.recall - plain[*i].recall
        );
    }
}

/// Measures some cells under the current correction.
fn measure(
    cells: &[Cell],
    judged: &[usize],
    near: Option<&[Measured]>,
    prices: usize,
) -> Vec<Measured> {
    in_parallel(judged.len(), |i| {
        let number = judged[i];
        cells[number].measure(near.map(|near| near[number].price), prices)
    })
}

/// Calls `of` for each number below `n`, on all threads. Returns the results in order.
fn in_parallel<T: Send>(n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= n {
                        break;
                    }
                    let result = of(i);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

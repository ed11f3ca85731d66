//! Tries explicit factors that correct the rate of `tide`, and judges them on kinds of feeds that
//! took no part in the choice.
//!
//! The factors are recent activity over its expectation with a fade, quarter hours of the day, and
//! hours and weekdays that are shrunk by how little is known
//! ([`polling::model::tide::recent_factors`]). The program measures each variant as
//! `cross_validation` does: the delay at the polls of `mavsync@1m..1d`, on both halves of the feeds
//! of six cases. One column shows other times. It then combines the best recent factor with the
//! best rhythm factor. For each kind it chooses the variant that is best on the three other kinds,
//! and shows what the choice gains on the kind that was left out. It does the same for halves of
//! the feeds. It changes no default.
//!
//! `cargo run --release -p lab --features tuning --example tide_factors -- TRACES [PRICES]`

#[path = "../cross_validation/cell.rs"]
mod cell;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cell::{Cell, Era, Measured};
use polling::model::tide::recent_factors::{RecentFactors, set_factors};

const THREADS: usize = 2;
const PRICES: usize = 3;
const PRICES_MAX: usize = 21;
const KINDS: [&str; 4] = ["posts", "commits", "releases", "news"];

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A variant and its result in each cell.
struct Variant {
    name: String,
    factors: RecentFactors,
    measured: Vec<Measured>,
}

/// The variants that are tried first; the names say what is on.
fn first() -> Vec<(String, RecentFactors)> {
    let plain = RecentFactors::default();
    let mut variants = Vec::new();
    for (span, name) in ["2 h", "8 h", "30 h"].into_iter().enumerate() {
        for strength in [0.15, 0.3, 0.6] {
            let mut recent = [0.0; 3];
            recent[span] = strength;
            let factors = RecentFactors { recent, ..plain };
            variants.push((format!("recent {name} × {strength}"), factors));
        }
    }
    for (fade, prior) in [(3.0, 1.0), (1.0, 3.0)] {
        let factors = RecentFactors { recent: [0.0, 0.3, 0.0], fade, prior, ..plain };
        variants.push((format!("recent 8 h × 0.3, fade {fade}, prior {prior}"), factors));
    }
    let factors = RecentFactors { recent: [0.15; 3], ..plain };
    variants.push(("recent, all three × 0.15".to_owned(), factors));
    for lack in [0.5, 1.5] {
        let factors = RecentFactors { recent: [0.0, 0.3, 0.0], lack, ..plain };
        variants.push((format!("recent 8 h × 0.3, a lack counts {lack}"), factors));
    }
    for quarters in [1.0, 3.0, 8.0] {
        let factors = RecentFactors { quarters, ..plain };
        variants.push((format!("quarter hours, prior {quarters}"), factors));
    }
    for (rhythm, known) in [(0.2, 30.0), (0.5, 30.0), (0.3, 100.0), (-0.2, 30.0)] {
        let factors = RecentFactors { rhythm, known, ..plain };
        let name = format!("rhythm {rhythm} of the unknown, half at {known} entries");
        variants.push((name, factors));
    }
    variants
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (traces, prices) = match args.as_slice() {
        [traces] => (traces, PRICES),
        [traces, prices] => (traces, prices.parse::<usize>()?.clamp(2, PRICES_MAX)),
        _ => return Err("usage: tide_factors TRACES [PRICES]".into()),
    };
    let mut cells = cell::all(Path::new(traces))?;
    let n_cases = cells.len();
    cells.extend(cell::some(Path::new(traces), &cell::OTHER_TIMES)?);
    let plain = measure(&cells, None, prices);
    heading();
    let mut variants: Vec<Variant> = Vec::new();
    for (name, factors) in first() {
        variants.push(tried(name, factors, (&cells, n_cases), &plain, prices));
    }
    let all: Vec<usize> = (0..n_cases).collect();
    let is_rhythm = |variant: &Variant| variant.factors.rhythm != 0.0;
    let best = |of: &dyn Fn(&Variant) -> bool| {
        let of = variants.iter().filter(|v| of(v));
        of.min_by(|a, b| change(a, &plain, &all).total_cmp(&change(b, &plain, &all)))
    };
    if let (Some(recent), Some(rhythm)) = (best(&|v| !is_rhythm(v)), best(&is_rhythm)) {
        let RecentFactors { rhythm: part, known, .. } = rhythm.factors;
        let factors = RecentFactors { rhythm: part, known, ..recent.factors };
        let name = format!("{}; {}", recent.name, rhythm.name);
        variants.push(tried(name, factors, (&cells, n_cases), &plain, prices));
    }
    judge(&variants, &cells[..n_cases], &plain);
    Ok(())
}

fn heading() {
    println!("| variant | posts | commits | releases | news | all | lowest recall | other times |");
    println!("|---|---|---|---|---|---|---|---|");
}

/// Measures a variant and prints its row. The first `n_cases` cells are those of the cases.
fn tried(
    name: String,
    factors: RecentFactors,
    (cells, n_cases): (&[Cell], usize),
    plain: &[Measured],
    prices: usize,
) -> Variant {
    set_factors(Some(factors));
    let measured = measure(cells, Some(plain), prices);
    set_factors(None);
    let variant = Variant { name, factors, measured };
    let kinds = KINDS
        .map(|kind| format!("{:+.2} %", change(&variant, plain, &of(&cells[..n_cases], kind))));
    let all: Vec<usize> = (0..n_cases).collect();
    let others: Vec<usize> = (n_cases..cells.len()).collect();
    let recalls =
        variant.measured.iter().zip(plain).take(n_cases).map(|(m, p)| m.recall - p.recall);
    println!(
        "| {} | {} | {:+.2} % | {:+.4} | {:+.2} % |",
        variant.name,
        kinds.join(" | "),
        change(&variant, plain, &all),
        recalls.fold(0.0, f64::min),
        change(&variant, plain, &others)
    );
    variant
}

/// Returns the numbers of the cells of a kind.
fn of(cells: &[Cell], kind: &str) -> Vec<usize> {
    (0..cells.len()).filter(|i| cells[*i].is_of(kind)).collect()
}

/// Returns the change of the delay on some cells in per cent, as a geometric mean over kinds with
/// the same weight for each cell.
fn change(variant: &Variant, plain: &[Measured], on: &[usize]) -> f64 {
    let sum: f64 = on.iter().map(|i| variant.measured[*i].ln_ratio - plain[*i].ln_ratio).sum();
    100.0 * (sum / on.len() as f64).exp_m1()
}

/// Chooses by some cells and judges by the others.
fn judge(variants: &[Variant], cells: &[Cell], plain: &[Measured]) {
    println!("\n| left out | chosen on the others | there | on what was left out |");
    println!("|---|---|---|---|");
    let mut folds: Vec<(String, Vec<usize>)> =
        KINDS.map(|kind| (kind.to_owned(), of(cells, kind))).into();
    let mut half = |name: &str, is: &dyn Fn(&Cell) -> bool| {
        folds.push((name.to_owned(), (0..cells.len()).filter(|i| is(&cells[*i])).collect()));
    };
    half("even feeds", &|cell| !cell.odd);
    half("odd feeds", &|cell| cell.odd);
    half("later times", &|cell| cell.era == Era::Later);
    let (mut sum, mut n) = (0.0, 0);
    for (name, left_out) in folds {
        let others: Vec<usize> = (0..cells.len()).filter(|i| !left_out.contains(i)).collect();
        let chosen = variants
            .iter()
            .min_by(|a, b| change(a, plain, &others).total_cmp(&change(b, plain, &others)));
        // Without a gain on the others nothing is chosen.
        let chosen = chosen.filter(|v| change(v, plain, &others) < 0.0);
        let Some(variant) = chosen else {
            println!("| {name} | none | | +0.00 % |");
            n += if KINDS.contains(&name.as_str()) { left_out.len() } else { 0 };
            continue;
        };
        let gain = change(variant, plain, &left_out);
        let there = change(variant, plain, &others);
        println!("| {name} | {} | {there:+.2} % | {gain:+.2} % |", variant.name);
        if KINDS.contains(&name.as_str()) {
            sum += (gain / 100.0).ln_1p() * left_out.len() as f64;
            n += left_out.len();
        }
    }
    println!("\nkinds that took no part: {:+.2} %", 100.0 * (sum / n as f64).exp_m1());
}

/// Measures all cells under the current factors.
fn measure(cells: &[Cell], near: Option<&[Measured]>, prices: usize) -> Vec<Measured> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(vec![Measured::default(); cells.len()]);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(i) else { break };
                    let measured = cell.measure(near.map(|near| near[i].price), prices);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[i] = measured;
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

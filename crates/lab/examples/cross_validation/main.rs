//! Measures how much the constants of `tide` depend on the feeds and times on which they were
//! chosen.
//!
//! The program halves and doubles each constant. It measures the delay of entries compared with
//! `mavsync@1m..1d` at equal polls, on each half of the feeds of six cases. It chooses the best
//! variant on one half of the feeds and judges it on the other. It does the same for earlier and
//! later cases, and for three kinds of feeds and the fourth. It changes no default. It does not
//! test the shapes of days, which are not scaled.
//!
//! `cargo run --release -p lab --features tuning --example cross_validation -- TRACES OUT [PRICES]`

mod cell;
mod table;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use cell::{Cell, Measured};
use polling::tuning::{self, Constant};
use table::{Row, Table};

const FACTORS: [f64; 2] = [0.5, 2.0];
const THREADS: usize = 2;
/// The number of prices of a line, and its maximum: the lowest price is half that of equal polls.
const PRICES: usize = 5;
const PRICES_MAX: usize = 21;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (traces, out, prices) = match args.as_slice() {
        [traces, out] => (traces, out, PRICES),
        [traces, out, prices] => (traces, out, prices.parse::<usize>()?.clamp(2, PRICES_MAX)),
        _ => return Err("usage: cross_validation TRACES OUT [PRICES]".into()),
    };
    let cells = cell::all(Path::new(traces))?;
    let plain = measure(&cells, None, prices);
    let mut rows = Vec::new();
    for constant in Constant::ALL {
        for factor in FACTORS {
            tuning::scale(constant, factor);
            let measured = measure(&cells, Some(&plain), prices);
            tuning::reset();
            let row = Row { name: constant.name(), factor, measured };
            eprintln!("{:38} × {factor:<4} {}", row.name, table::shares(&row, &plain, &cells));
            rows.push(row);
        }
    }
    let table = Table { cells: &cells, plain: &plain, rows: &rows };
    std::fs::create_dir_all(out)?;
    std::fs::write(Path::new(out).join("cells.csv"), table.csv())?;
    print!("{}", table.markdown());
    Ok(())
}

/// Measures all cells under the current factors. The search for equal polls starts at an earlier
/// result.
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

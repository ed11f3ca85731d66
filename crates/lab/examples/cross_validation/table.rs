//! The combined results of the cells. Compares each variant with the plain constants, on each half
//! of the feeds and at each of two times. Also judges the best variant of one side on the other.
//! The other side is the other half, the other time, or an unused kind of feed.

use std::fmt::Write;

use crate::cell::{Cell, Era, Measured};

/// One variant: a constant times a factor.
pub struct Row {
    pub name: &'static str,
    pub factor: f64,
    /// One result per cell.
    pub measured: Vec<Measured>,
}

pub struct Table<'a> {
    pub cells: &'a [Cell],
    /// The results of the plain constants.
    pub plain: &'a [Measured],
    pub rows: &'a [Row],
}

/// A part of the cells.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    holds: fn(&Cell) -> bool,
}

const EVEN: Side = Side { name: "even feeds", holds: |cell| !cell.odd };
const ODD: Side = Side { name: "odd feeds", holds: |cell| cell.odd };
const EARLIER: Side = Side { name: "earlier", holds: |cell| cell.era == Era::Earlier };
const LATER: Side = Side { name: "later", holds: |cell| cell.era == Era::Later };
const ALL: Side = Side { name: "all", holds: |_| true };
const SIDES: [Side; 5] = [EVEN, ODD, EARLIER, LATER, ALL];
/// Pairs of sides: chosen on the first, judged on the second.
const PAIRS: [(Side, Side); 8] = [
    (EVEN, ODD),
    (ODD, EVEN),
    (EARLIER, LATER),
    (LATER, EARLIER),
    (
        Side { name: "all but posts", holds: |cell| !cell.is_of("posts") },
        Side { name: "posts", holds: |cell| cell.is_of("posts") },
    ),
    (
        Side { name: "all but commits", holds: |cell| !cell.is_of("commits") },
        Side { name: "commits", holds: |cell| cell.is_of("commits") },
    ),
    (
        Side { name: "all but releases", holds: |cell| !cell.is_of("releases") },
        Side { name: "releases", holds: |cell| cell.is_of("releases") },
    ),
    (
        Side { name: "all but news", holds: |cell| !cell.is_of("news") },
        Side { name: "news", holds: |cell| cell.is_of("news") },
    ),
];

/// Returns the mean over the cells of a side.
fn mean(cells: &[Cell], side: Side, of: impl Fn(usize) -> f64) -> f64 {
    let held: Vec<usize> = (0..cells.len()).filter(|i| (side.holds)(&cells[*i])).collect();
    held.iter().map(|i| of(*i)).sum::<f64>() / held.len() as f64
}

/// Returns by how many per cent the delay is longer than with the plain constants: geometric mean.
fn change(row: &Row, plain: &[Measured], cells: &[Cell], side: Side) -> f64 {
    let ln = mean(cells, side, |i| row.measured[i].ln_ratio - plain[i].ln_ratio);
    100.0 * ln.exp_m1()
}

/// Returns the changes on all sides in a line.
pub fn shares(row: &Row, plain: &[Measured], cells: &[Cell]) -> String {
    let shares = SIDES.map(|side| format!("{:+.2}", change(row, plain, cells, side)));
    shares.join(" ")
}

impl Table<'_> {
    fn change(&self, row: &Row, side: Side) -> f64 {
        change(row, self.plain, self.cells, side)
    }

    fn ratio(&self, measured: &[Measured], side: Side) -> f64 {
        mean(self.cells, side, |i| measured[i].ln_ratio).exp()
    }

    /// Returns every cell of every variant as CSV.
    pub fn csv(&self) -> String {
        let mut csv = String::from("constant,factor,case,feeds,delay_ratio,recall_gain,price_s\n");
        let plain = ("plain", 1.0, self.plain);
        let rows = self.rows.iter().map(|row| (row.name, row.factor, row.measured.as_slice()));
        for (name, factor, measured) in std::iter::once(plain).chain(rows) {
            for (cell, Measured { ln_ratio, recall, price }) in self.cells.iter().zip(measured) {
                let feeds = if cell.odd { "odd" } else { "even" };
                let (case, ratio) = (cell.case, ln_ratio.exp());
                // Writing to a string cannot fail.
                let _ = writeln!(
                    csv,
                    "\"{name}\",{factor},{case},{feeds},{ratio:.4},{recall:+.5},{price:.0}"
                );
            }
        }
        csv
    }

    pub fn markdown(&self) -> String {
        let mut text = String::from("| constant | factor |");
        SIDES.iter().for_each(|side| text += &format!(" {} |", side.name));
        text +=
            " recall |\n|---|---|---|---|---|---|---|---|\n| as they are: ratio to the rival | 1 |";
        SIDES.iter().for_each(|side| text += &format!(" {:.4} |", self.ratio(self.plain, *side)));
        text += &format!(" {:+.4} |\n", mean(self.cells, ALL, |i| self.plain[i].recall));
        for row in self.rows {
            text += &format!("| {} | {} |", row.name, row.factor);
            SIDES.iter().for_each(|side| text += &format!(" {:+.2} % |", self.change(row, *side)));
            let recall = |i: usize| row.measured[i].recall - self.plain[i].recall;
            text += &format!(" {:+.4} |\n", mean(self.cells, ALL, recall));
        }
        text + "\n" + &self.chosen()
    }

    /// Returns the best variant of each side, and its result on the other.
    fn chosen(&self) -> String {
        let mut text = String::from("| chosen on | best variant | there | judged on | there |\n");
        text += "|---|---|---|---|---|\n";
        for (here, there) in PAIRS {
            let by_change =
                |a: &&Row, b: &&Row| self.change(a, here).total_cmp(&self.change(b, here));
            // If no variant is better, the constants stay as they are, on the other side too.
            let better = self.rows.iter().filter(|row| self.change(row, here) < 0.0);
            let (best, won, holds) = better.min_by(by_change).map_or_else(
                || ("as they are".into(), 0.0, 0.0),
                |row| {
                    let name = format!("{} × {}", row.name, row.factor);
                    (name, self.change(row, here), self.change(row, there))
                },
            );
            text += &format!("| {} | {best} | {won:+.2} % |", here.name);
            text += &format!(" {} | {holds:+.2} % |\n", there.name);
        }
        text
    }
}

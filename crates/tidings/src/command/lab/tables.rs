//! Tables of figures for a terminal, the best of each column marked.

use crate::failure::Failure;
use crate::output::{self, say};

/// What is good in a column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Good {
    Small,
    Large,
    /// Nothing is to be marked.
    Neither,
}

/// A column of figures, how to show them, and what is good in it.
pub struct Column<'a> {
    pub name: &'a str,
    pub good: Good,
    pub values: Vec<Option<f64>>,
    pub show: fn(f64) -> String,
}

/// Prints rows with a name each; the best value of a column carries a `*`.
pub fn print(names: &str, rows: &[String], columns: &[Column<'_>]) -> Result<(), Failure> {
    let mut table = output::table([names]);
    let mut header = vec![names.to_owned()];
    header.extend(columns.iter().map(|column| column.name.to_owned()));
    table.set_header(header);
    for (i, name) in rows.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cell(i));
        table.add_row(std::iter::once(name.clone()).chain(cells));
    }
    say!("{table}")
}

impl Column<'_> {
    fn cell(&self, row: usize) -> String {
        let Some(value) = self.values[row] else { return "-".to_owned() };
        let shown = (self.show)(value);
        // What looks alike is marked alike.
        let best = self.best().map(|best| (self.show)(best));
        if self.values.len() > 1 && best.as_deref() == Some(&shown) { shown + " *" } else { shown }
    }

    fn best(&self) -> Option<f64> {
        let defined = self.values.iter().copied().flatten();
        match self.good {
            Good::Small => defined.reduce(f64::min),
            Good::Large => defined.reduce(f64::max),
            Good::Neither => None,
        }
    }
}

/// Seconds for people: `12 h 5 min`.
pub fn spoken(seconds: f64) -> String {
    let whole = std::time::Duration::from_secs_f64(seconds.max(0.0).round());
    polling::spoken(whole)
}

pub fn share(value: f64) -> String {
    format!("{value:.3}")
}

pub fn count(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut shown = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Bytes in the unit that fits.
pub fn bytes(value: f64) -> String {
    match value {
        v if v >= 1e9 => format!("{:.2} GB", v / 1e9),
        v if v >= 1e6 => format!("{:.1} MB", v / 1e6),
        v => format!("{:.0} kB", v / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_column_is_marked_and_what_is_undefined_is_a_dash() {
        let values = vec![Some(0.5), None, Some(0.9), Some(0.9001)];
        let column = Column { name: "Recall", good: Good::Large, values, show: share };
        let cells: Vec<String> = (0..4).map(|row| column.cell(row)).collect();
        assert_eq!(cells, ["0.500", "-", "0.900 *", "0.900 *"]);
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 1_234_567.0].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}

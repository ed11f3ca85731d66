//! Tables of figures for a terminal. The best value of each column is marked.

pub use lab::report::{BestValue, count, share, spoken};

use crate::error::CliError;
use crate::output::{self, say};

/// A column of figures, their format, and which value is best.
pub struct FigureColumn<'a> {
    pub name: &'a str,
    pub good: BestValue,
    pub values: Vec<Option<f64>>,
    pub show: fn(f64) -> String,
}

/// Prints rows, each with a name. The best value of a column has a `*`.
pub fn print(names: &str, rows: &[String], columns: &[FigureColumn<'_>]) -> Result<(), CliError> {
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

impl FigureColumn<'_> {
    fn cell(&self, row: usize) -> String {
        let Some(value) = self.values[row] else { return "-".to_owned() };
        let shown = (self.show)(value);
        // Values that look equal are marked equally.
        let best = self.good.of(&self.values).map(|best| (self.show)(best));
        if self.values.len() > 1 && best.as_deref() == Some(&shown) { shown + " *" } else { shown }
    }
}

/// Prints a table of a report. The best value of a column has a `*`.
pub fn print_table(shown: &lab::report::ReportTable) -> Result<(), CliError> {
    let mut table = output::table(shown.header.iter().map(String::as_str));
    for (i, row) in shown.rows.iter().enumerate() {
        let cell = |(j, cell): (usize, &String)| match shown.marked.contains(&(i, j)) {
            true => format!("{cell} *"),
            false => cell.clone(),
        };
        table.add_row(row.iter().enumerate().map(cell));
    }
    say!("{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_column_is_marked_and_what_is_undefined_is_a_dash() {
        let values = vec![Some(0.5), None, Some(0.9), Some(0.9001)];
        let column = FigureColumn { name: "Recall", good: BestValue::Large, values, show: share };
        let cells: Vec<String> = (0..4).map(|row| column.cell(row)).collect();
        assert_eq!(cells, ["0.500", "-", "0.900 *", "0.900 *"]);
    }
}

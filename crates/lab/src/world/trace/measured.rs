//! Tables of measured policies: `policy,delay_seconds,polls_per_entry,recall`, optionally `mode`.

use std::io::BufRead;

use super::rows::{CsvRow, CsvRows};
use super::{FieldProblem, Problem, TraceError, broken, shortened, text, wrong};
use crate::Averages;

/// The mode in which the averages of a row were computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AverageMode {
    Feeds,
    Entries,
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredPolicy {
    pub policy: String,
    pub mode: AverageMode,
    pub averages: Averages,
}

/// Reads such a table. Without a column `mode`, all rows have the mode feeds. An empty field is an
/// undefined value.
pub fn read_measured(file: &str, reader: impl BufRead) -> Result<Vec<MeasuredPolicy>, TraceError> {
    let mut rows = CsvRows::new(reader);
    let header = rows.next().map_err(|e| broken(file, e))?;
    let header = header.ok_or_else(|| wrong(file, 1, 1, Problem::NoPolicies))?;
    let position = |name: &'static str| {
        (0..header.len()).find(|i| header.field(*i).trim_ascii() == name.as_bytes())
    };
    let mode = position("mode");
    let required = |name: &'static str| {
        position(name).ok_or_else(|| wrong(file, 1, 1, Problem::NoMeasure(name)))
    };
    let policy = required("policy")?;
    let values = [required("delay_seconds")?, required("polls_per_entry")?, required("recall")?];
    let n = header.len();
    let mut all = Vec::new();
    while let Some(row) = rows.next().map_err(|e| broken(file, e))? {
        if row.len() != n {
            let problem = Problem::Fields { found: row.len(), expected: n };
            return Err(wrong(file, row.line, 1, problem));
        }
        match measured(row, policy, mode, values) {
            Ok(measured) => all.push(measured),
            Err((field, problem)) => return Err(wrong(file, row.line, row.column(field), problem)),
        }
    }
    if all.is_empty() {
        return Err(wrong(file, 1, 1, Problem::NoPolicies));
    }
    Ok(all)
}

fn measured(
    row: &CsvRow,
    policy: usize,
    mode: Option<usize>,
    values: [usize; 3],
) -> Result<MeasuredPolicy, FieldProblem> {
    let mode = match mode {
        None => AverageMode::Feeds,
        Some(i) => match text(row, i)? {
            "feeds" => AverageMode::Feeds,
            "entries" => AverageMode::Entries,
            other => {
                let text = shortened(other.as_bytes());
                let (what, remedy) = ("mode", "write feeds or entries");
                return Err((i, Problem::NoValue { what, text, remedy }));
            }
        },
    };
    let [delay, polls_per_entry, recall] = values;
    let averages = Averages {
        delay: value(row, delay, "delay in seconds")?,
        polls_per_entry: value(row, polls_per_entry, "number of polls per entry")?,
        recall: value(row, recall, "recall")?,
    };
    Ok(MeasuredPolicy { policy: text(row, policy)?.to_owned(), mode, averages })
}

fn value(row: &CsvRow, i: usize, what: &'static str) -> Result<Option<f64>, FieldProblem> {
    let field = text(row, i)?;
    if field.is_empty() {
        return Ok(None);
    }
    let read: Option<f64> = field.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
    let text = shortened(field.as_bytes());
    let remedy = "write a number from 0 on, or nothing where it is undefined";
    read.map(Some).ok_or((i, Problem::NoValue { what, text, remedy }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_and_without_a_mode() {
        let csv =
            "recall,policy,mode,delay_seconds,polls_per_entry\n.9,a,entries,60,2\n,b,feeds,,1\n";
        let rows = read_measured("m.csv", csv.as_bytes()).unwrap();
        assert_eq!((rows[0].mode, rows[0].averages.recall), (AverageMode::Entries, Some(0.9)));
        assert_eq!((rows[1].policy.as_str(), rows[1].averages.delay), ("b", None));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_position() {
        let error = |csv: &str| read_measured("m.csv", csv.as_bytes()).unwrap_err().to_string();
        let header = "policy,delay_seconds,polls_per_entry,recall\n";
        assert!(error("policy,recall\n").starts_with("m.csv:1:1: no column `delay_seconds`"));
        assert!(error(header).contains("no row"), "{}", error(header));
        let negative = error(&format!("{header}a,-1,2,3\n"));
        assert!(
            negative.starts_with("m.csv:2:3: `-1` is not a valid delay in seconds"),
            "{negative}"
        );
    }
}

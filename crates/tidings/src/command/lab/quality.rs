//! `tidings lab quality`: calculates one figure for each policy from a table of delay, cost and
//! recall.

use lab::measure::quality::{Norm, Quality, over_both_modes, quality};
use lab::world::trace::{AverageMode, MeasuredPolicy};
use serde_json::{Value, json};
use std::io::BufReader;

use super::files::open;
use super::tables::{self, BestValue, FigureColumn, share};
use crate::args::lab::QualityArgs;
use crate::error::{CliError, input_error};
use crate::output::print_json;

pub fn run(args: &QualityArgs) -> Result<(), CliError> {
    let shown = args.file.display().to_string();
    let rows = lab::world::trace::read_measured(&shown, BufReader::new(open(&args.file)?));
    let rows = rows.map_err(|e| input_error(e.to_string()))?;
    let policies = policies(&rows, &shown)?;
    let norm = norm(args, &policies)?;
    let of = |mode: AverageMode| -> Vec<Quality> {
        let rows: Vec<_> =
            rows.iter().filter(|row| row.mode == mode).map(|row| row.averages).collect();
        quality(&rows, args.weights.weights, norm)
    };
    let (feeds, entries) = (of(AverageMode::Feeds), of(AverageMode::Entries));
    let both = (!feeds.is_empty() && !entries.is_empty()).then(|| {
        let modes = feeds.iter().zip(&entries).map(|(f, e)| (f.quality, e.quality));
        over_both_modes(&modes.collect::<Vec<_>>(), args.weights.mode_weights, norm)
    });
    let single = if feeds.is_empty() { &entries } else { &feeds };
    let answer = QualityAnswer { policies, single, feeds: &feeds, entries: &entries, both };
    if args.json {
        return print_json(&answer.to_json());
    }
    answer.print()
}

struct QualityAnswer<'a> {
    policies: Vec<String>,
    single: &'a [Quality],
    feeds: &'a [Quality],
    entries: &'a [Quality],
    /// The quality over both modes, if the table has both.
    both: Option<Vec<Option<f64>>>,
}

/// Returns the policies in their order. If the table has both modes, each policy must be in both.
fn policies(rows: &[MeasuredPolicy], file: &str) -> Result<Vec<String>, CliError> {
    let names = |mode: AverageMode| -> Vec<&str> {
        rows.iter().filter(|row| row.mode == mode).map(|row| row.policy.as_str()).collect()
    };
    let (feeds, entries) = (names(AverageMode::Feeds), names(AverageMode::Entries));
    if !feeds.is_empty() && !entries.is_empty() && feeds != entries {
        return Err(input_error(format!(
            "{file}: both modes must list the same policies in the same order"
        )));
    }
    let named = if feeds.is_empty() { entries } else { feeds };
    Ok(named.into_iter().map(str::to_owned).collect())
}

fn norm(args: &QualityArgs, policies: &[String]) -> Result<Norm, CliError> {
    let Some(baseline) = &args.baseline else { return Ok(Norm::Best) };
    let row = policies.iter().position(|policy| policy == baseline).ok_or_else(|| {
        let known = policies.join(", ");
        input_error(format!("--baseline {baseline}: not in the table; it has {known}"))
    })?;
    Ok(Norm::Baseline(row))
}

impl QualityAnswer<'_> {
    fn to_json(&self) -> Value {
        let row = |i: usize| {
            let one = &self.single[i];
            let mut row = json!({
                "policy": self.policies[i],
                "delay": one.delay,
                "polls_per_entry": one.polls_per_entry,
                "recall": one.recall,
                "quality": one.quality,
            });
            if let Some(both) = &self.both {
                row["quality"] = json!(both[i]);
                row["quality_feeds"] = json!(self.feeds[i].quality);
                row["quality_entries"] = json!(self.entries[i].quality);
            }
            row
        };
        json!({ "rows": (0..self.policies.len()).map(row).collect::<Vec<_>>() })
    }

    fn print(&self) -> Result<(), CliError> {
        let column =
            |name, values| FigureColumn { name, good: BestValue::Large, values, show: share };
        let of =
            |rows: &[Quality], value: fn(&Quality) -> Option<f64>| rows.iter().map(value).collect();
        let columns = match &self.both {
            Some(both) => vec![
                column("Quality, feeds", of(self.feeds, |q| q.quality)),
                column("Quality, entries", of(self.entries, |q| q.quality)),
                column("Quality", both.clone()),
            ],
            None => vec![
                column("Delay", of(self.single, |q| q.delay)),
                column("Polls per entry", of(self.single, |q| q.polls_per_entry)),
                column("Recall", of(self.single, |q| q.recall)),
                column("Quality", of(self.single, |q| q.quality)),
            ],
        };
        tables::print("Policy", &self.policies, &columns)
    }
}

//! `tidings lab stats`: describes a trace.

use lab::world::stats::{ActivityClass, Spread, Stats};
use serde_json::{Value, json};

use super::files::read_world;
use super::tables::{count, spoken};
use crate::args::lab::TraceArgs;
use crate::error::{CliError, input_error};
use crate::output::{self, print_json, say};

/// The usual window, if nothing sets another. The statistics do not depend on windows.
pub const WINDOW: u32 = 20;

pub fn run(traces: &TraceArgs, as_json: bool) -> Result<(), CliError> {
    let world = read_world(traces, WINDOW)?;
    let stats = lab::world::stats::stats(&world);
    let stats = stats.ok_or_else(|| input_error("the trace has no entries".to_owned()))?;
    if as_json {
        return print_json(&to_json(&stats));
    }
    print(&stats)
}

fn to_json(stats: &Stats) -> Value {
    let spread = |spread: &Option<Spread>| {
        spread.map(
            |s| json!({ "mean": s.mean, "p10": s.p10, "p50": s.p50, "p90": s.p90, "max": s.max }),
        )
    };
    let class = |class: &ActivityClass| {
        json!({
            "above_per_day": class.above_per_day, "feeds": class.feeds,
            "peaks": class.peaks, "uniform": class.uniform, "waves": class.waves,
            "periodic": class.periodic, "periodic_active_hours": class.periodic_active,
        })
    };
    let patterns = stats.patterns.iter().map(|(p, n)| (p.word().to_owned(), json!(n)));
    json!({
        "feeds": stats.feeds,
        "entries": stats.entries,
        "first": stats.first.to_string(),
        "last": stats.last.to_string(),
        "gap_seconds": spread(&stats.gaps),
        "entries_per_day": spread(&stats.per_day),
        "entries_per_feed": spread(&stats.per_feed),
        "patterns": patterns.collect::<serde_json::Map<_, _>>(),
        "classes": stats.classes.iter().map(class).collect::<Vec<_>>(),
        "hours": stats.hours,
        "weekdays": stats.weekdays,
    })
}

fn print(stats: &Stats) -> Result<(), CliError> {
    say!(
        "{} feeds, {} entries from {} to {}\n",
        count(stats.feeds as f64),
        count(stats.entries as f64),
        stats.first,
        stats.last,
    )?;
    let mut table = output::table(["", "Mean", "p10", "Median", "p90", "Largest"]);
    let mut row = |name: &str, spread: Option<Spread>, show: fn(f64) -> String| {
        let Some(s) = spread else { return };
        let cells = [s.mean, s.p10, s.p50, s.p90, s.max].map(show);
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    };
    let number: fn(f64) -> String = |x| format!("{x:.2}");
    row("Gap between entries", stats.gaps, spoken);
    row("Entries a day per feed", stats.per_day, number);
    row("Entries per feed", stats.per_feed, count);
    say!("{table}\n")?;
    let share = |n: usize, of: usize| format!("{n} ({:.0} %)", 100.0 * n as f64 / of.max(1) as f64);
    let mut table = output::table(["Update pattern", "Feeds"]);
    for (pattern, n) in stats.patterns.iter().filter(|(_, n)| *n > 0) {
        table.add_row([pattern.word().to_owned(), share(*n, stats.feeds)]);
    }
    say!("{table}\n")?;
    let header =
        ["Entries a day", "Feeds", "Peaks", "Uniform", "Waves", "Periodic", "… active hours"];
    let mut table = output::table(header);
    for class in stats.classes.iter().filter(|class| class.feeds > 0) {
        let of = |n| share(n, class.feeds);
        let (peaks, uniform, waves) = (of(class.peaks), of(class.uniform), of(class.waves));
        let (periodic, active) = (of(class.periodic), of(class.periodic_active));
        let name = format!("> {}", class.above_per_day);
        table.add_row([name, class.feeds.to_string(), peaks, uniform, waves, periodic, active]);
    }
    say!("{table}\n")?;
    say!("Hours of the day (UTC)  {}", bars(&stats.hours))?;
    say!("Monday to Sunday        {}", bars(&stats.weekdays))
}

/// Returns a profile as a row of bars.
fn bars(shares: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    shares.iter().map(|share| BARS[((share / most * 7.0).round() as usize).min(7)]).collect()
}

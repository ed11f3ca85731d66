//! The part that compares strategies under a budget.

use std::time::Duration;

use super::{ExperimentReport, subject};
use crate::budget::{BudgetOptions, BudgetSetting, PollAllowance, StrategyRun, spend_all};
use crate::experiment::definition::BudgetPart;
use crate::report::{ReportSection, ReportTable};
use crate::{Phases, World};

pub(in crate::experiment) fn budget(
    report: &mut ExperimentReport<'_>,
    given: &BudgetPart,
) -> Result<(), String> {
    let phases =
        Phases::over(report.world, given.start.or(report.start), given.train, given.test, false);
    let setting = BudgetSetting {
        phases: phases.map_err(|e| e.to_string())?,
        allowance: PollAllowance { polls: given.polls, per: given.per },
        cycle: given.cycle,
        estimator: given.estimator,
        options: BudgetOptions { true_counts: given.true_counts, ..given.options },
    };
    let read = given.readers.map(|n| with_readers(report.world, n));
    let world = read.as_ref().unwrap_or(report.world);
    let spent = spend_all(world, &given.strategies, &setting, report.threads);
    for one in &spent {
        let subject = subject(&given.label, &one.spender.to_string());
        let mut add = |measure: &str, value| report.values.add(&subject, measure, value);
        add("polls", Some(one.polls as f64));
        add("completeness", one.completeness);
        add("window_freshness", one.window_freshness);
        add("delay", one.delay);
        add("delay.sd", one.delay_sd);
        add("delay.max", one.delay_max);
        add("reader_delay", one.reader_delay);
        add("missed", Some(one.missed as f64));
        add("divergence_error", one.divergence_error);
    }
    report.heading(&format!(
        "{} polls per {}, beliefs: {}{}",
        given.polls,
        polling::spoken(given.per),
        given.estimator,
        if given.label.is_empty() { String::new() } else { format!(" (“{}”)", given.label) },
    ));
    report.sections.push(ReportSection::Table(spent_table(&spent)));
    Ok(())
}

/// Spreads ranks over feeds whose order in a trace may mean something. It is prime.
const SPREAD: usize = 7919;

/// Returns the world with readers after Zipf's law: the feed of rank k has `most` / k readers, and
/// at least one.
fn with_readers(world: &World, most: u32) -> World {
    let mut read = world.clone();
    let n_feeds = read.feeds.len().max(1);
    for (i, feed) in read.feeds.iter_mut().enumerate() {
        let rank = (i * SPREAD) % n_feeds + 1;
        feed.weight = (f64::from(most) / rank as f64).round().max(1.0);
    }
    read
}

fn spent_table(spent: &[StrategyRun]) -> ReportTable {
    let seconds = |value: Option<f64>| {
        let spoken = |s: f64| polling::spoken(Duration::from_secs_f64(s.max(0.0).round()));
        value.map_or("–".to_owned(), spoken)
    };
    let share = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.3}"));
    let row = |s: &StrategyRun| {
        vec![
            s.spender.to_string(),
            s.polls.to_string(),
            share(s.completeness),
            share(s.window_freshness),
            seconds(s.delay),
            seconds(s.delay_sd),
            seconds(s.delay_max),
            seconds(s.reader_delay),
            s.missed.to_string(),
            share(s.divergence_error),
        ]
    };
    let header = [
        "Strategy",
        "Polls",
        "Completeness",
        "Window freshness",
        "Delay",
        "Deviation",
        "Longest",
        "Delay per reader",
        "Missed",
        "Divergence error",
    ];
    let best = |of: fn(&StrategyRun) -> Option<f64>, column: usize| {
        let order = |a: &usize, b: &usize| of(&spent[*a]).partial_cmp(&of(&spent[*b]));
        let found = (0..spent.len())
            .filter(|i| of(&spent[*i]).is_some())
            .min_by(|a, b| order(a, b).unwrap_or(std::cmp::Ordering::Equal));
        found.map(|row| (row, column))
    };
    let marked = [
        best(|s| s.completeness.map(|c| -c), 2),
        best(|s| s.window_freshness.map(|f| -f), 3),
        best(|s| s.delay, 4),
        best(|s| s.delay_max, 6),
    ];
    ReportTable {
        header: header.map(str::to_owned).to_vec(),
        rows: spent.iter().map(row).collect(),
        marked: marked.into_iter().flatten().collect(),
        data: data(spent),
    }
}

/// Returns the table as CSV, unrounded, times in seconds.
fn data(spent: &[StrategyRun]) -> String {
    let mut csv = "strategy,polls,completeness,window_freshness,delay_seconds,delay_sd_seconds,\
                   delay_max_seconds,missed,divergence_error\n"
        .to_owned();
    for s in spent {
        let known = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
        let figures = [s.completeness, s.window_freshness, s.delay, s.delay_sd, s.delay_max];
        let figures = figures.map(known).join(",");
        let (polls, missed, error) = (s.polls, s.missed, known(s.divergence_error));
        csv += &format!("{},{polls},{figures},{missed},{error}\n", s.spender);
    }
    csv
}

//! The part about trajectories: the intervals between polls of an active and a slow feed, and how
//! often feeds of either kind are polled.

use feed::Time;
use polling::PolicySpec;

use super::{ExperimentReport, subject};
use crate::experiment::definition::TrajectoriesPart;
use crate::measure::mean;
use crate::report::{Axis, Plot, ReportSection, ReportTable, Series, SeriesStyle, Unit};
use crate::{Phases, PolicyRun, RunProgress, Setting, WorldFeed, polls_of, run};

const DAY_MS: f64 = 86_400_000.0;

/// The feeds of one activity, by their entries in the test phase.
struct ActivityKind {
    word: &'static str,
    feeds: Vec<usize>,
}

pub(in crate::experiment) fn trajectories(
    report: &mut ExperimentReport<'_>,
    given: &TrajectoriesPart,
) -> Result<(), String> {
    let phases = Phases::over(report.world, report.start, given.train, given.test, false);
    let phases = phases.map_err(|e| e.to_string())?;
    let setting = Setting { threads: report.threads, ..Setting::new(phases) };
    let parse = |text: &String| text.parse::<PolicySpec>().map_err(|e| e.to_string());
    let specs = given.policies.iter().map(parse).collect::<Result<Vec<PolicySpec>, String>>()?;
    let progress = RunProgress::default();
    let runs: Vec<PolicyRun> =
        specs.iter().map(|spec| run(report.world, spec, &setting, &progress)).collect();
    let mut rows = Vec::new();
    report.heading("How often active and slow feeds are polled");
    for kind in kinds(&report.world.feeds, given, &phases) {
        for run in &runs {
            let name = subject(&given.label, &format!("{}/{}", kind.word, run.policy));
            let per_day = polls_per_day(run, &kind.feeds);
            report.values.add(&name, "polls_per_day", per_day);
            let n = kind.feeds.len().to_string();
            let shown = per_day.map_or("–".to_owned(), |v| format!("{v:.1}"));
            rows.push(vec![kind.word.to_owned(), n, run.policy.clone(), shown]);
        }
        let Some(feed) = kind.feeds.get(kind.feeds.len() / 2) else { continue };
        let feed = &report.world.feeds[*feed];
        let series = specs.iter().map(|spec| {
            let polls = polls_of(report.world, feed, spec, &setting);
            let hue = report.palette.hue(&spec.to_string());
            intervals(spec, hue, &polls, phases.test_start())
        });
        let plot = Plot {
            x: Axis::new("day of the test", Unit::Plain, false),
            y: Axis::new("time since the poll before", Unit::Seconds, true),
            series: series.collect(),
            ..Plot::default()
        };
        let caption =
            format!("{}: the middle one of {} {} feeds.", feed.name, kind.feeds.len(), kind.word);
        let prefix =
            if given.label.is_empty() { String::new() } else { format!("{}-", given.label) };
        report.plot(&format!("{prefix}trajectory-{}", kind.word), &caption, &plot);
    }
    let header = ["Feeds", "Number", "Policy", "Polls a day"].map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    Ok(())
}

/// Returns the active and the slow feeds of the whole test, each in the order of their entries.
fn kinds(feeds: &[WorldFeed], given: &TrajectoriesPart, phases: &Phases) -> [ActivityKind; 2] {
    let days = phases.test.as_secs_f64() * 1000.0 / DAY_MS;
    let per_day = |feed: &WorldFeed| {
        let n_by = |at: Time| feed.visible().partition_point(|t| *t <= at);
        (n_by(phases.end()) - n_by(phases.test_start())) as f64 / days
    };
    // A feed that begins within the test is new, not slow.
    let old = |feed: &WorldFeed| feed.visible().first().is_some_and(|t| *t <= phases.test_start());
    let mut rates: Vec<(f64, usize)> =
        (0..feeds.len()).filter(|i| old(&feeds[*i])).map(|i| (per_day(&feeds[i]), i)).collect();
    rates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let of = |fits: &dyn Fn(f64) -> bool| -> Vec<usize> {
        rates.iter().filter(|(rate, _)| fits(*rate)).map(|(_, i)| *i).collect()
    };
    [
        ActivityKind { word: "active", feeds: of(&|rate| rate >= given.active_from) },
        ActivityKind { word: "slow", feeds: of(&|rate| rate <= given.slow_until) },
    ]
}

fn polls_per_day(run: &PolicyRun, feeds: &[usize]) -> Option<f64> {
    let tallies = feeds.iter().filter_map(|i| run.per_feed[*i]);
    let watched = tallies.filter(|tally| tally.watched_ms > 0);
    mean(watched.map(|tally| tally.polls as f64 * DAY_MS / tally.watched_ms as f64))
}

fn intervals(spec: &PolicySpec, hue: usize, polls: &[Time], start: Time) -> Series {
    let point = |pair: &[Time]| {
        let day = pair[1].millis_since(start) as f64 / DAY_MS;
        (day, pair[1].millis_since(pair[0]) as f64 / 1000.0, String::new())
    };
    let points = polls.windows(2).map(point).collect();
    Series::new(&spec.to_string(), hue, points, SeriesStyle::Line)
}

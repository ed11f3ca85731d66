//! The report on a comparison of policies: tables, trade-off, delays, a day, the hours.

use std::convert::Infallible;
use std::time::Duration;

use feed::Time;
use polling::PolicySpec;

use super::axis::name;
use super::{Axis, Figure, Lane, Plot, Section, Series, Table, Unit, bars, day};
use crate::quality::Quality;
use crate::{Averages, Comparison, Progress, Run, Setting, World, WorldFeed, run_and_tell, stats};

/// What a report shows of one comparison.
pub struct Compared<'a> {
    pub world: &'a World,
    pub setting: &'a Setting,
    pub comparison: &'a Comparison,
    /// Before the names of its files, where a page shows several.
    pub prefix: &'a str,
}

/// The sections on one comparison.
pub fn compared(shown: &Compared<'_>) -> Vec<Section> {
    let Comparison { runs, by_feed, by_entry, .. } = shown.comparison;
    let mut sections = vec![
        Section::Heading("Every feed weighs the same".to_owned()),
        Section::Table(modes(runs, by_feed, |run| run.by_feed)),
        Section::Heading("Every entry weighs the same".to_owned()),
        Section::Table(modes(runs, by_entry, |run| run.by_entry)),
        Section::Heading("Both modes, cost and delays".to_owned()),
        Section::Table(costs(shown.comparison)),
        Section::Heading("What a shorter delay costs".to_owned()),
        Section::Prose(
            "Down and left is better. Policies of one family are joined in the order of their cost."
                .to_owned(),
        ),
        shown.figure("tradeoff-entries", "Over all entries.", &trade_off(runs, |run| run.by_entry)),
        shown.figure("tradeoff-feeds", "Over all feeds.", &trade_off(runs, |run| run.by_feed)),
        Section::Heading("How long entries waited".to_owned()),
        shown.figure("delays", "The share of entries found within a time.", &delays(runs)),
    ];
    sections.extend(shown.one_day());
    sections.extend(shown.hours());
    sections
}

impl Compared<'_> {
    fn figure(&self, file: &str, caption: &str, plot: &Plot) -> Section {
        Section::Figure(Figure {
            name: format!("{}{file}", self.prefix),
            caption: caption.to_owned(),
            svg: plot.svg(),
            csv: plot.csv(),
        })
    }

    /// The busiest day in the test phase of the feed whose number of entries is the median of
    /// those that publish about daily: a feed with something to see.
    fn one_day(&self) -> Vec<Section> {
        let phases = &self.setting.phases;
        let within = |feed: &WorldFeed| -> usize {
            let times = feed.visible();
            times.partition_point(|t| *t <= phases.end())
                - times.partition_point(|t| *t <= phases.test_start())
        };
        let days = (phases.test.as_secs() / 86_400).max(1) as usize;
        let mut feeds: Vec<(usize, &WorldFeed)> =
            self.world.feeds.iter().map(|f| (within(f), f)).collect();
        feeds.retain(|(n, _)| (3 * days..=24 * days).contains(n));
        feeds.sort_by_key(|(n, _)| *n);
        let Some((_, feed)) = feeds.get(feeds.len() / 2) else { return Vec::new() };
        let midnight = |t: &Time| Time::from_secs(t.secs().div_euclid(86_400) * 86_400);
        let counted =
            feed.visible().iter().filter(|t| **t > phases.test_start() && **t <= phases.end());
        let mut by_day: Vec<(Time, usize)> = Vec::new();
        for time in counted {
            match by_day.last_mut() {
                Some((day, n)) if *day == midnight(time) => *n += 1,
                _ => by_day.push((midnight(time), 1)),
            }
        }
        let Some((from, _)) = by_day.iter().max_by_key(|(day, n)| (*n, std::cmp::Reverse(*day)))
        else {
            return Vec::new();
        };
        let until = *from + Duration::from_secs(86_400);
        let within_day = |lane: Lane| {
            let moments = lane.moments.into_iter().filter(|t| (*from..=until).contains(t));
            Lane { moments: moments.collect(), name: lane.name }
        };
        let entries = Lane { name: "entries".to_owned(), moments: feed.visible().to_vec() };
        let entries = within_day(entries);
        let lanes = self.comparison.runs.iter().filter_map(|run| self.lane(feed, run));
        let lanes: Vec<Lane> = lanes.map(within_day).collect();
        let svg = day(*from, &entries, &lanes);
        let caption = format!(
            "{} on {}: entries above, each policy's polls below.",
            feed.name,
            &from.to_string()[..10]
        );
        vec![
            Section::Heading("A day of one feed".to_owned()),
            Section::Figure(Figure {
                name: format!("{}day", self.prefix),
                caption,
                svg,
                csv: lanes_csv(&entries, &lanes),
            }),
        ]
    }

    /// The polls of one policy at one feed, as in the run.
    fn lane(&self, feed: &WorldFeed, run: &Run) -> Option<Lane> {
        let spec: PolicySpec = run.policy.parse().ok()?;
        let feeds = vec![feed.clone()];
        let alone = World { feeds, window: self.world.window, domains: vec![vec![0]] };
        let mut moments = Vec::new();
        let mut tell = |_: &WorldFeed, polls: &[Time]| -> Result<(), Infallible> {
            moments.extend_from_slice(polls);
            Ok(())
        };
        let progress = Progress::default();
        run_and_tell(&alone, &spec, self.setting, &progress, Some(&mut tell)).ok()?;
        Some(Lane { name: run.policy.clone(), moments })
    }

    fn hours(&self) -> Vec<Section> {
        let Some(stats) = stats::stats(self.world) else { return Vec::new() };
        let hours: Vec<(String, f64)> =
            (0..).map(|h: u32| h.to_string()).zip(stats.hours).collect();
        let rows = hours.iter().map(|(hour, share)| format!("{hour},{share}\n"));
        vec![
            Section::Heading("When these feeds publish".to_owned()),
            Section::Figure(Figure {
                name: format!("{}hours", self.prefix),
                caption: "The share of all entries in each hour of the day (UTC).".to_owned(),
                svg: bars(&hours),
                csv: std::iter::once("hour,share\n".to_owned()).chain(rows).collect(),
            }),
        ]
    }
}

fn lanes_csv(entries: &Lane, lanes: &[Lane]) -> String {
    let row = |lane: &Lane| -> String {
        let name = super::plot::field(&lane.name);
        lane.moments.iter().map(|t| format!("{name},{t}\n")).collect()
    };
    std::iter::once("lane,time\n".to_owned())
        .chain(std::iter::once(entries).chain(lanes).map(row))
        .collect()
}

/// One column of a table: its figures, what is good, and how they are shown.
struct Column {
    name: &'static str,
    values: Vec<Option<f64>>,
    small_is_good: Option<bool>,
    show: fn(f64) -> String,
}

fn spoken(seconds: f64) -> String {
    name(seconds, Unit::Seconds)
}

fn digits(value: f64) -> String {
    format!("{value:.3}")
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn modes(runs: &[Run], qualities: &[Quality], mode: fn(&Run) -> Averages) -> Table {
    let of = |value: fn(&Averages) -> Option<f64>| runs.iter().map(|r| value(&mode(r))).collect();
    let quality = qualities.iter().map(|q| q.quality).collect();
    tabled(
        runs,
        &[
            Column {
                name: "Delay",
                values: of(|a| a.delay),
                small_is_good: Some(true),
                show: spoken,
            },
            Column {
                name: "Polls per entry",
                values: of(|a| a.polls_per_entry),
                small_is_good: Some(true),
                show: digits,
            },
            Column {
                name: "Recall",
                values: of(|a| a.recall),
                small_is_good: Some(false),
                show: digits,
            },
            Column { name: "Quality", values: quality, small_is_good: Some(false), show: digits },
        ],
    )
}

fn costs(comparison: &Comparison) -> Table {
    let of = |value: fn(&Run) -> Option<f64>| comparison.runs.iter().map(value).collect();
    let column = |name, small_is_good, values, show| Column { name, values, small_is_good, show };
    let mut columns = vec![
        column("Polls", None, of(|r| Some(r.total.polls as f64)), whole as fn(f64) -> String),
        column("Found", Some(false), of(|r| Some(r.total.found as f64)), whole),
        column("Missed", Some(true), of(|r| Some(r.total.missed as f64)), whole),
        column("Open", Some(true), of(|r| Some(r.total.open as f64)), whole),
        column("Half within", Some(true), of(|r| Some(r.delays?.p50)), spoken),
        column("90 % within", Some(true), of(|r| Some(r.delays?.p90)), spoken),
        column("Longest", Some(true), of(|r| Some(r.delays?.max)), spoken),
        column("Fresh", Some(false), of(|r| r.freshness), digits),
        column("Site per hour, max", Some(true), of(|r| Some(r.load.hour_max.into())), whole),
    ];
    if comparison.runs.iter().any(|run| run.has_bytes) {
        let megabytes = of(|r| r.has_bytes.then_some(r.total.bytes as f64 / 1e6));
        columns.push(column("Volume, MB", Some(true), megabytes, whole));
    }
    columns.push(column("Quality", Some(false), comparison.both.clone(), digits));
    tabled(&comparison.runs, &columns)
}

fn tabled(runs: &[Run], columns: &[Column]) -> Table {
    let mut header = vec!["Policy".to_owned()];
    header.extend(columns.iter().map(|column| column.name.to_owned()));
    let cell = |column: &Column, i: usize| column.values[i].map_or("–".to_owned(), column.show);
    let row = |(i, run): (usize, &Run)| {
        let cells = columns.iter().map(|column| cell(column, i));
        std::iter::once(run.policy.clone()).chain(cells).collect()
    };
    let mut marked = Vec::new();
    for (j, column) in columns.iter().enumerate() {
        let defined = column.values.iter().copied().flatten();
        let best = match column.small_is_good {
            Some(true) => defined.reduce(f64::min),
            Some(false) => defined.reduce(f64::max),
            None => None,
        };
        let Some(best) = best.filter(|_| runs.len() > 1).map(column.show) else { continue };
        let rows = (0..runs.len()).filter(|i| cell(column, *i) == best);
        marked.extend(rows.map(|i| (i, j + 1)));
    }
    Table { header, rows: runs.iter().enumerate().map(row).collect(), marked }
}

/// Polls per entry against delay; policies of one family are one curve.
fn trade_off(runs: &[Run], mode: fn(&Run) -> Averages) -> Plot {
    let mut series: Vec<Series> = Vec::new();
    for run in runs {
        let Averages { delay: Some(delay), polls_per_entry: Some(cost), .. } = mode(run) else {
            continue;
        };
        let family = run.policy.split([':', '@']).next().unwrap_or(&run.policy);
        let point = (cost, delay, run.policy.clone());
        if let Some(curve) = series.iter_mut().find(|s| s.name == family) {
            curve.points.push(point);
        } else {
            series.push(Series { name: family.to_owned(), points: vec![point], dots: true });
        }
    }
    for one in &mut series {
        one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Plot {
        x: Axis::new("polls per entry", Unit::Plain, true),
        y: Axis::new("mean delay", Unit::Seconds, true),
        series,
    }
}

fn delays(runs: &[Run]) -> Plot {
    let curve = |run: &Run| Series {
        name: run.policy.clone(),
        points: (1..)
            .zip(&run.delay_curve)
            .map(|(percent, delay): (u32, &f64)| {
                (delay.max(1.0), f64::from(percent) / 100.0, String::new())
            })
            .collect(),
        dots: false,
    };
    Plot {
        x: Axis::new("delay", Unit::Seconds, true),
        y: Axis::new("share of entries found", Unit::Plain, false),
        series: runs.iter().map(curve).collect(),
    }
}

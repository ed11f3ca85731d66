//! The report on a comparison of policies: tables, trade-off, delays, a day, the hours.

mod tables;

use std::time::Duration;

use feed::Time;
use polling::PolicySpec;

use super::{Axis, Drawn, Figure, Lane, Plot, Section, Series, Unit, bars, day};
use crate::{Averages, Comparison, Run, Setting, World, WorldFeed, polls_of, stats};
use tables::{costs, modes};

/// What a report shows of one comparison.
pub struct Compared<'a> {
    pub world: &'a World,
    pub setting: &'a Setting,
    pub comparison: &'a Comparison,
    /// Before the names of its files, where a page shows several.
    pub prefix: &'a str,
    /// The policy that the reader has in use, by its place among the runs: its point is marked on
    /// the trade-off.
    pub in_use: Option<usize>,
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
        shown.figure("tradeoff-entries", "Over all entries.", &shown.trade_off(|run| run.by_entry)),
        shown.figure("tradeoff-feeds", "Over all feeds.", &shown.trade_off(|run| run.by_feed)),
        Section::Heading("How long entries waited".to_owned()),
        shown.figure("delays", "The share of entries found within a time.", &delays(runs)),
    ];
    sections.extend(shown.volume());
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

    /// Polls per entry against delay; policies of one family are one curve.
    fn trade_off(&self, mode: fn(&Run) -> Averages) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        for run in &self.comparison.runs {
            let Averages { delay: Some(delay), polls_per_entry: Some(cost), .. } = mode(run) else {
                continue;
            };
            let family = run.policy.split([':', '@']).next().unwrap_or(&run.policy);
            let point = (cost, delay, run.policy.clone());
            if let Some(curve) = series.iter_mut().find(|s| s.name == family) {
                curve.points.push(point);
            } else {
                series.push(Series {
                    name: family.to_owned(),
                    points: vec![point],
                    drawn: Drawn::Dotted,
                });
            }
        }
        for one in &mut series {
            one.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let in_use = self.in_use.and_then(|i| self.comparison.runs.get(i));
        let mark = in_use.and_then(|run| {
            let Averages { delay, polls_per_entry, .. } = mode(run);
            Some((polls_per_entry?, delay?, format!("{}, in use", run.policy)))
        });
        Plot {
            x: Axis::new("polls per entry", Unit::Plain, true),
            y: Axis::new("mean delay", Unit::Seconds, true),
            series,
            mark,
        }
    }

    /// What was transferred up to the end of each day of the test.
    fn volume(&self) -> Vec<Section> {
        let known = self.comparison.runs.iter().filter(|run| run.has_bytes);
        let series: Vec<Series> = known
            .map(|run| {
                let mut sum = 0;
                let point = |(day, bytes): (u32, &u64)| {
                    sum += bytes;
                    (f64::from(day), sum as f64 / 1e6, String::new())
                };
                let points = (1..).zip(&run.bytes_by_day).map(point).collect();
                Series { name: run.policy.clone(), points, drawn: Drawn::Line }
            })
            .collect();
        if series.is_empty() {
            return Vec::new();
        }
        let plot = Plot {
            x: Axis::new("day of the test", Unit::Plain, false),
            y: Axis::new("transferred so far, MB", Unit::Plain, false),
            series,
            mark: None,
        };
        let caption = "Documents where something changed, headers where nothing did.";
        let heading = Section::Heading("What was transferred".to_owned());
        vec![heading, self.figure("volume", caption, &plot)]
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
        let moments = polls_of(self.world, feed, &spec, self.setting);
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

fn delays(runs: &[Run]) -> Plot {
    let curve = |run: &Run| Series {
        name: run.policy.clone(),
        points: (1..)
            .zip(&run.delay_curve)
            .map(|(percent, delay): (u32, &f64)| {
                (delay.max(1.0), f64::from(percent) / 100.0, String::new())
            })
            .collect(),
        drawn: Drawn::Line,
    };
    Plot {
        x: Axis::new("delay", Unit::Seconds, true),
        y: Axis::new("share of entries found", Unit::Plain, false),
        series: runs.iter().map(curve).collect(),
        mark: None,
    }
}

//! The report on a comparison of policies: tables, trade-off, delays, one day, volume.

mod one_day;
mod tables;

use super::{Axis, Plot, PointRange, ReportFigure, ReportSection, Series, SeriesStyle, Unit, bars};
use crate::world::stats;
use crate::{Averages, Participation, PolicyComparison, PolicyRun, Setting, World};
pub use tables::{BestValue, costs, modes};

/// The input of a report on one comparison.
pub struct ComparisonInput<'a> {
    pub world: &'a World,
    pub setting: &'a Setting,
    pub comparison: &'a PolicyComparison,
    /// A prefix for file names, if a page shows several comparisons.
    pub prefix: &'a str,
    /// The number of the run with the reader's current policy, which the trade-off marks.
    pub in_use: Option<usize>,
    /// The hue of each run. The same policy has the same colour on the whole page.
    pub hues: &'a [usize],
    /// The same policies on each trace alone, if there are several.
    pub by_trace: &'a [Vec<PolicyRun>],
}

/// Returns the sections on one comparison.
pub fn comparison_sections(shown: &ComparisonInput<'_>) -> Vec<ReportSection> {
    let PolicyComparison { runs, by_feed, by_entry, .. } = shown.comparison;
    let participation = Participation::of(shown.world, &shown.setting.phases);
    let mut sections = vec![
        ReportSection::Prose(participation.in_words()),
        ReportSection::Heading("Every feed weighs the same".to_owned()),
        ReportSection::Table(modes(runs, by_feed, |run| run.by_feed)),
        ReportSection::Heading("Every entry weighs the same".to_owned()),
        ReportSection::Table(modes(runs, by_entry, |run| run.by_entry)),
        ReportSection::Heading("Both modes, cost and delays".to_owned()),
        ReportSection::Table(costs(shown.comparison)),
        ReportSection::Heading("What a shorter delay costs".to_owned()),
        ReportSection::Prose(
            "Down and left is better. A thin line joins the policies of one family.".to_owned(),
        ),
        shown.figure("tradeoff-entries", "Over all entries.", &shown.trade_off(|run| run.by_entry)),
        shown.figure("tradeoff-feeds", "Over all feeds.", &shown.trade_off(|run| run.by_feed)),
        ReportSection::Heading("How long entries waited".to_owned()),
        shown.figure(
            "delays",
            "The share of all entries that were found within a time. Entries that were never \
             found count, so a curve ends at the policy's recall.",
            &shown.delays(),
        ),
    ];
    sections.extend(shown.volume());
    sections.extend(shown.one_day());
    sections.extend(shown.hours());
    sections
}

impl ComparisonInput<'_> {
    fn figure(&self, file: &str, caption: &str, plot: &Plot) -> ReportSection {
        let has_ranges = plot.series.iter().any(|series| !series.ranges.is_empty());
        let ranges = format!(
            " Bands and bars: the range over {} traces, each run by itself.",
            self.by_trace.len()
        );
        ReportSection::Figure(ReportFigure {
            name: format!("{}{file}", self.prefix),
            caption: caption.to_owned() + if has_ranges { &ranges } else { "" },
            svg: plot.svg(),
            csv: plot.csv(),
        })
    }

    /// Returns the same run on each trace alone.
    fn on_each_trace(&self, run: usize) -> impl Iterator<Item = &PolicyRun> + Clone {
        self.by_trace.iter().filter_map(move |runs| runs.get(run))
    }

    /// Draws polls per entry against delay. Policies of one family are connected.
    fn trade_off(&self, mode: fn(&PolicyRun) -> Averages) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        let mut families: Vec<(&str, Vec<(f64, f64)>)> = Vec::new();
        for (i, run) in self.comparison.runs.iter().enumerate() {
            let Averages { delay: Some(delay), polls_per_entry: Some(cost), .. } = mode(run) else {
                continue;
            };
            let family = run.policy.split([':', '@']).next().unwrap_or(&run.policy);
            match families.iter_mut().find(|(name, _)| *name == family) {
                Some((_, points)) => points.push((cost, delay)),
                None => families.push((family, vec![(cost, delay)])),
            }
            let of = |value: fn(&Averages) -> Option<f64>| {
                spread(self.on_each_trace(i).filter_map(|run| value(&mode(run))))
            };
            let ranges = of(|a| a.polls_per_entry).zip(of(|a| a.delay));
            let ranges = ranges.map(|(x, y)| PointRange { x, y }).into_iter().collect();
            let points = vec![(cost, delay, run.policy.clone())];
            let one = Series::new(&run.policy, self.hues[i], points, SeriesStyle::Scattered);
            series.push(one.within(ranges));
        }
        let mut joins: Vec<Vec<(f64, f64)>> = families.into_iter().map(|(_, p)| p).collect();
        joins.retain(|points| points.len() > 1);
        joins.iter_mut().for_each(|points| points.sort_by(|a, b| a.0.total_cmp(&b.0)));
        let in_use = self.in_use.and_then(|i| self.comparison.runs.get(i));
        let mark = in_use.and_then(|run| {
            let Averages { delay, polls_per_entry, .. } = mode(run);
            Some((polls_per_entry?, delay?, format!("{}, in use", run.policy)))
        });
        Plot {
            x: Axis::new("polls per entry", Unit::Plain, true),
            y: Axis::new("mean delay", Unit::Seconds, true),
            series,
            joins,
            mark,
        }
    }

    /// Draws the share of all entries that were found within a time.
    fn delays(&self) -> Plot {
        let curve = |(i, run): (usize, &PolicyRun)| {
            let recall = run.by_entry.recall.unwrap_or(0.0);
            let points: Vec<(f64, f64, String)> = (1..)
                .zip(&run.delay_curve)
                .map(|(percent, delay): (u32, &f64)| {
                    (delay.max(1.0), recall * f64::from(percent) / 100.0, String::new())
                })
                .collect();
            let range = |x: f64| {
                let shares = self.on_each_trace(i).filter_map(|run| run.found_within(x));
                spread(shares).map(|y| PointRange::of_y(x, y))
            };
            let ranges = points.iter().filter_map(|p| range(p.0)).collect();
            Series::new(&run.policy, self.hues[i], points, SeriesStyle::Line).within(ranges)
        };
        Plot {
            x: Axis::new("delay", Unit::Seconds, true),
            y: Axis::new("share of all entries", Unit::Plain, false),
            series: self.comparison.runs.iter().enumerate().map(curve).collect(),
            ..Plot::default()
        }
    }

    /// Draws the bytes transferred up to the end of each day of the test.
    fn volume(&self) -> Vec<ReportSection> {
        let runs = self.comparison.runs.iter().zip(self.hues);
        let series: Vec<Series> = runs
            .filter(|(run, _)| run.has_bytes)
            .map(|(run, hue)| {
                let mut sum = 0;
                let point = |(day, bytes): (u32, &u64)| {
                    sum += bytes;
                    (f64::from(day), sum as f64 / 1e6, String::new())
                };
                let points = (1..).zip(&run.bytes_by_day).map(point).collect();
                Series::new(&run.policy, *hue, points, SeriesStyle::Line)
            })
            .collect();
        if series.is_empty() {
            return Vec::new();
        }
        let plot = Plot {
            x: Axis::new("day of the test", Unit::Plain, false),
            y: Axis::new("transferred so far, MB", Unit::Plain, false),
            series,
            ..Plot::default()
        };
        let caption = "Documents where something changed, headers where nothing did.";
        let heading = ReportSection::Heading("What was transferred".to_owned());
        vec![heading, self.figure("volume", caption, &plot)]
    }

    fn hours(&self) -> Vec<ReportSection> {
        let Some(stats) = stats::stats(self.world) else { return Vec::new() };
        let hours: Vec<(String, f64)> =
            (0..).map(|h: u32| h.to_string()).zip(stats.hours).collect();
        let rows = hours.iter().map(|(hour, share)| format!("{hour},{share}\n"));
        vec![
            ReportSection::Heading("When these feeds publish".to_owned()),
            ReportSection::Figure(ReportFigure {
                name: format!("{}hours", self.prefix),
                caption: "The share of all entries in each hour of the day (UTC).".to_owned(),
                svg: bars(&hours),
                csv: std::iter::once("hour,share\n".to_owned()).chain(rows).collect(),
            }),
        ]
    }
}

/// Returns the minimum and maximum of values; `None` without values.
fn spread(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, v| match range {
        None => Some((v, v)),
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
    })
}

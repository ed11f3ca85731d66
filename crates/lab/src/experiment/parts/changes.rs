//! The part that measures how soon a policy recovers after all feeds change their behaviour.
//!
//! A policy has recovered on the first day from which its mean delay stays near that of the last
//! twenty days. Near means within a quarter, for three days in a row. The same holds for polls.

use std::convert::Infallible;
use std::time::Duration;

use feed::Time;
use polling::PolicySpec;

use super::{ExperimentReport, subject};
use crate::experiment::definition::ChangesPart;
use crate::measure::mean;
use crate::report::{Axis, Plot, ReportSection, ReportTable, Series, SeriesStyle, Unit};
use crate::world::known_rates::{KnownWorld, KnownWorldSpec, WorldChange};
use crate::{Phases, RunProgress, Setting, WorldFeed, run_and_tell};

/// A Monday. No world depends on it.
const START: Time = Time::from_secs(1_704_067_200);
const DAY: Duration = Duration::from_secs(86_400);
/// Days before the change, and days after it.
const DAYS: u32 = 60;
/// The last days, which show the final level of a policy.
const SETTLED: usize = 20;
const NEAR: f64 = 1.25;
const IN_A_ROW: usize = 3;

/// The days after the change.
struct Days {
    /// The mean delay of each day's entries, in seconds.
    delay: Vec<f64>,
    polls: Vec<f64>,
}

pub(in crate::experiment) fn changes(
    report: &mut ExperimentReport<'_>,
    given: &ChangesPart,
) -> Result<(), String> {
    let parse = |text: &String| text.parse::<PolicySpec>().map_err(|e| e.to_string());
    let specs = given.policies.iter().map(parse).collect::<Result<Vec<PolicySpec>, String>>()?;
    let mut rows = Vec::new();
    report.heading("After a change of behaviour");
    for change in WorldChange::ALL {
        let before = if change == WorldChange::Woken { 2 * DAYS } else { DAYS };
        let at = START + DAY * before;
        let days = i64::from(before + DAYS);
        let change_at = Some((change, at));
        let spec = KnownWorldSpec {
            seed: given.seed,
            feeds: given.feeds,
            start: START,
            days,
            change: change_at,
        };
        let known = KnownWorld::draw(&spec);
        let phases = Phases::over(&known.world, Some(START), DAY * before, DAY * DAYS, true);
        let phases = phases.map_err(|e| e.to_string())?;
        let setting = Setting { threads: report.threads, ..Setting::new(phases) };
        let mut series = Vec::new();
        for policy in &specs {
            let days = lived(&known, policy, &setting, at);
            let name = subject(change.word(), &policy.to_string());
            let (delay, polls) = (recovered(&days.delay), recovered(&days.polls));
            report.values.add(&name, "delay_days", Some(delay as f64));
            report.values.add(&name, "polls_days", Some(polls as f64));
            let first_week = mean(days.delay.iter().take(7).copied().filter(|d| d.is_finite()));
            report.values.add(&name, "first_week.delay", first_week);
            let hours = first_week.map_or("–".to_owned(), |d| format!("{:.1}", d / 3600.0));
            let cells = [change.word().to_owned(), policy.to_string()];
            rows.push(
                cells.into_iter().chain([delay.to_string(), polls.to_string(), hours]).collect(),
            );
            let points = days.delay.iter().enumerate().filter(|(_, delay)| delay.is_finite());
            let points = points.map(|(day, delay)| (day as f64 + 0.5, *delay, String::new()));
            let (name, points) = (policy.to_string(), points.collect());
            series.push(Series::new(&name, report.palette.hue(&name), points, SeriesStyle::Line));
        }
        let plot = Plot {
            x: Axis::new("days after the change", Unit::Plain, false),
            y: Axis::new("mean delay of the day's entries", Unit::Seconds, true),
            series,
            ..Plot::default()
        };
        let caption = format!("{}: {} feeds.", change.word(), given.feeds);
        report.plot(&format!("change-{}", change.word()), &caption, &plot);
    }
    let header = [
        "Change",
        "Policy",
        "Days until delay settled",
        "Days until polls did",
        "Delay in the first week, hours",
    ];
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
    Ok(())
}

/// Runs a policy and returns the days after the change at `at`.
fn lived(known: &KnownWorld, policy: &PolicySpec, setting: &Setting, at: Time) -> Days {
    let n = DAYS as usize;
    let (mut waited, mut n_waited, mut polls) = (vec![0.0; n], vec![0_u32; n], vec![0.0; n]);
    let day = |t: Time| (t > at).then(|| (t.since(at).as_secs() / DAY.as_secs()) as usize);
    let mut tell = |feed: &WorldFeed, looks: &[Time]| -> Result<(), Infallible> {
        for look in looks {
            if let Some(count) = day(*look).and_then(|d| polls.get_mut(d)) {
                *count += 1.0;
            }
        }
        for entry in feed.visible() {
            let found = looks.get(looks.partition_point(|look| look < entry));
            if let (Some(found), Some(d)) = (found, day(*entry).filter(|d| *d < n)) {
                waited[d] += found.since(*entry).as_secs_f64();
                n_waited[d] += 1;
            }
        }
        Ok(())
    };
    match run_and_tell(&known.world, policy, setting, &RunProgress::default(), Some(&mut tell)) {
        Ok(_) => {}
        Err(never) => match never {},
    }
    let delay = waited.iter().zip(&n_waited).map(|(sum, n)| sum / f64::from(*n));
    Days { delay: delay.collect(), polls }
}

/// Returns the first of several days in a row that are near the final level.
fn recovered(days: &[f64]) -> usize {
    let settled = mean(days[days.len() - SETTLED..].iter().copied().filter(|d| d.is_finite()));
    let Some(settled) = settled else { return days.len() };
    let near = |value: &f64| *value <= NEAR * settled && *value >= settled / NEAR;
    days.windows(IN_A_ROW).position(|row| row.iter().all(near)).unwrap_or(days.len())
}

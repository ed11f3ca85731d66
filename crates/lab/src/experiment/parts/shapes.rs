//! Online estimation on days of known shape.

use std::time::Duration;

use super::ExperimentReport;
use crate::experiment::definition::ShapesPart;
use crate::report::{Axis, Plot, ReportFigure, ReportSection, Series, SeriesStyle, Unit, bars};
use crate::shapes as online;

pub(in crate::experiment) fn shapes(report: &mut ExperimentReport<'_>, given: &ShapesPart) {
    for reading in online::ShapeReading::ALL {
        one_reading(report, given, reading);
    }
}

/// Returns what the names of a reading's figures begin with, and its words.
const fn named(reading: online::ShapeReading) -> (&'static str, &'static str) {
    match reading {
        online::ShapeReading::Counted => ("", "entries counted"),
        online::ShapeReading::Normalised => {
            ("normalised/", "each day's entries divided by their number")
        }
    }
}

fn one_reading(
    report: &mut ExperimentReport<'_>,
    given: &ShapesPart,
    reading: online::ShapeReading,
) {
    let (prefix, words) = named(reading);
    let averages: Vec<Duration> =
        given.minutes.iter().map(|m| Duration::from_secs(60 * u64::from(*m))).collect();
    let all = online::robustness(reading, &averages, given.seed, report.threads);
    for one in &all {
        let subject = format!("{prefix}{}/{}", one.shape.word(), one.online.word());
        let minutes = one.average.as_secs() / 60;
        report.values.add(&subject, &format!("error@{minutes}"), Some(one.error));
        report.values.add(&subject, &format!("honest@{minutes}"), Some(one.error_honest));
    }
    for shape in online::DayShape::ALL {
        let hours: Vec<(String, f64)> =
            (0..).map(|h: u32| h.to_string()).zip(shape.hours(reading)).collect();
        report.heading(&format!("A day of {}, {words}", shape.word()));
        report.sections.push(ReportSection::Figure(ReportFigure {
            name: format!("{}{}-hours", prefix.replace('/', "-"), shape.word()),
            caption: "The share of a day's entries in each hour.".to_owned(),
            svg: bars(&hours),
            csv: hours.iter().map(|(hour, share)| format!("{hour},{share}\n")).collect(),
        }));
        let mut series = Vec::new();
        for kind in online::OnlineEstimator::ALL {
            let of = |value: fn(&online::Robustness) -> f64| {
                let own = all.iter().filter(|r| r.shape == shape && r.online == kind);
                own.map(|r| (r.average.as_secs_f64(), value(r), String::new())).collect()
            };
            let (name, hue) = (kind.word(), series.len());
            series.push(Series::new(name, hue, of(|r| r.error), SeriesStyle::Dotted));
            let name = format!("{name}, window 20");
            series.push(Series::new(&name, hue + 1, of(|r| r.error_honest), SeriesStyle::Dotted));
        }
        let plot = Plot {
            x: Axis::new("average time between two looks", Unit::Seconds, true),
            y: Axis::new("divergence error, in days' totals", Unit::Plain, false),
            series,
            ..Plot::default()
        };
        let name = format!("{}{}-robustness", prefix.replace('/', "-"), shape.word());
        report.plot(&name, "Divergence error by how often is looked (figures 8 and 10).", &plot);
    }
    adaptation(report, given, reading);
}

/// Figure 9.
fn adaptation(
    report: &mut ExperimentReport<'_>,
    given: &ShapesPart,
    reading: online::ShapeReading,
) {
    let (prefix, words) = named(reading);
    let curves = [("hourly", 3600, 0), ("daily", 86_400, 1)].map(|(name, seconds, hue)| {
        let average = Duration::from_secs(seconds);
        let weeks =
            online::adaptation(reading, average, given.smoothing, given.seed, report.threads);
        let each = online::WEEKS_EACH as usize;
        for (week, distance) in
            weeks.iter().enumerate().filter(|(w, _)| w % each == 0 || w % each == each - 1)
        {
            let subject = format!("{prefix}{name}");
            report.values.add(&subject, &format!("distance@{}", week + 1), Some(*distance));
        }
        let points = (1..).zip(weeks).map(|(week, d): (u32, f64)| (week.into(), d, String::new()));
        Series::new(&format!("{name} looks"), hue, points.collect(), SeriesStyle::Dotted)
    });
    report.heading(&format!("Following a change of behaviour, {words}"));
    let plot = Plot {
        x: Axis::new("week: uniform, from 17 peaks, from 33 waves", Unit::Plain, false),
        y: Axis::new("distance from the real day", Unit::Plain, false),
        series: curves.to_vec(),
        ..Plot::default()
    };
    report.plot(
        &format!("{}adaptation", prefix.replace('/', "-")),
        "A periodic model when the feed changes its habits (figure 9).",
        &plot,
    );
}

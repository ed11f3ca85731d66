//! The part about habits: whether feeds keep their rates, and which days they share. Makes no
//! polls.

use std::time::Duration;

use feed::Time;
use polling::model::profile::{Profiles, normalised};

use super::ExperimentReport;
use crate::experiment::definition::HabitsPart;
use crate::report::{
    Axis, Plot, ReportFigure, ReportSection, ReportTable, Series, SeriesStyle, Unit, bars,
};
use crate::world::stats::hours_of;
use crate::{World, WorldFeed};

/// The number of profiles drawn, the most common first, as in the source.
const DRAWN: usize = 6;

pub(in crate::experiment) fn habits(report: &mut ExperimentReport<'_>, given: &HabitsPart) {
    let Some((first, _)) = report.world.span() else { return };
    let start = report.start.unwrap_or(first);
    if given.volume {
        super::volume::volume(report, start);
    }
    stability(report, given, start);
    profiles(report, given, start);
}

/// Compares the rate of each feed in one span with that in a later one.
fn stability(report: &mut ExperimentReport<'_>, given: &HabitsPart, start: Time) {
    let mut rows = Vec::new();
    report.heading("Whether rates last");
    for later in &given.later {
        let pairs = rates(report.world, start, start + *later, given.span);
        let (n, close) = (pairs.len(), pairs.iter().filter(|(a, b)| is_close(*a, *b)).count());
        let share = (n > 0).then(|| close as f64 / n as f64);
        let after = polling::written(*later);
        let name = format!("rates/{after}");
        report.values.add(&name, "within_twice", share);
        report.values.add(&name, "correlation", correlation(&pairs));
        let shown = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.3}"));
        rows.push(vec![
            polling::spoken(*later),
            n.to_string(),
            shown(share),
            shown(correlation(&pairs)),
        ]);
        let most = pairs.iter().fold(1.0, |most: f64, (a, b)| most.max(*a).max(*b));
        let diagonal = [0.1, most].map(|r| (r, r, String::new())).to_vec();
        let mut series = vec![Series::new("as before", 0, diagonal, SeriesStyle::Line)];
        let dots = pairs.iter().map(|(a, b)| (*a, *b, String::new())).collect();
        series.push(Series::new("feeds", 1, dots, SeriesStyle::Scattered));
        let plot = Plot {
            x: Axis::new("entries a day, first span", Unit::Plain, true),
            y: Axis::new("entries a day, later span", Unit::Plain, true),
            series,
            ..Plot::default()
        };
        let caption = format!("The rate of each feed {} later.", polling::spoken(*later));
        report.plot(&format!("rates-{after}"), &caption, &plot);
    }
    let header = ["Later by", "Feeds", "Within a factor of two", "Correlation"];
    let header = header.map(str::to_owned).to_vec();
    report.sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
}

/// Returns the entries per day in both spans, for feeds that published in the first.
fn rates(world: &World, first: Time, later: Time, span: Duration) -> Vec<(f64, f64)> {
    let days = span.as_secs_f64() / 86_400.0;
    let rate = |feed: &WorldFeed, from: Time| feed.between(from, from + span).len() as f64 / days;
    let pair = |feed: &WorldFeed| (rate(feed, first), rate(feed, later));
    world.feeds.iter().map(pair).filter(|(before, _)| *before > 0.0).collect()
}

fn is_close(before: f64, later: f64) -> bool {
    later <= 2.0 * before && before <= 2.0 * later
}

/// Returns Pearson's correlation; `None` if one side is constant.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let n = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs {
        xy += (x - mx) * (y - my);
        xx += (x - mx) * (x - mx);
        yy += (y - my) * (y - my);
    }
    let scale = (xx * yy).sqrt();
    (scale > 0.0).then(|| xy / scale)
}

/// Draws the day of all feeds together, and the days that many feeds share.
fn profiles(report: &mut ExperimentReport<'_>, given: &HabitsPart, start: Time) {
    let hours: Vec<[u32; 24]> = report
        .world
        .feeds
        .iter()
        .map(|feed| hours_of(feed.between(start, start + given.span)))
        .collect();
    let mut all = [0; 24];
    hours.iter().for_each(|own| all.iter_mut().zip(own).for_each(|(sum, n)| *sum += n));
    let Some(together) = normalised(&all) else { return };
    report.heading("The days that feeds share");
    figure(
        report,
        "day-of-all",
        "All feeds together: the share of entries in each hour.",
        &together,
    );
    let Some(profiles) = Profiles::fit(&hours, given.profiles) else { return };
    let mut members = vec![0_usize; profiles.centres.len()];
    let vectors: Vec<[f64; 24]> = hours.iter().filter_map(normalised).collect();
    for vector in &vectors {
        members[nearest(&profiles.centres, vector)] += 1;
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(members[*i]), *i));
    let mut peaks = std::collections::BTreeSet::new();
    for (place, i) in order.into_iter().take(DRAWN).enumerate() {
        let centre = profiles.centres[i];
        let share = members[i] as f64 / vectors.len() as f64;
        let peak = (0..24).fold(0, |best, h| if centre[h] > centre[best] { h } else { best });
        peaks.insert(peak);
        let name = format!("profile/{}", place + 1);
        report.values.add(&name, "share", Some(share));
        report.values.add(&name, "peak_hour", Some(peak as f64));
        let caption = format!("{} feeds publish most at {peak} o'clock (UTC).", members[i]);
        figure(report, &format!("profile-{}", place + 1), &caption, &centre);
    }
    report.values.add("profiles", "peak_hours", Some(peaks.len() as f64));
}

fn nearest(centres: &[[f64; 24]], vector: &[f64; 24]) -> usize {
    let distance = |centre: &[f64; 24]| -> f64 {
        centre.iter().zip(vector).map(|(c, v)| (c - v) * (c - v)).sum()
    };
    let closer = |a: &usize, b: &usize| distance(&centres[*a]).total_cmp(&distance(&centres[*b]));
    (0..centres.len()).min_by(closer).unwrap_or(0)
}

fn figure(report: &mut ExperimentReport<'_>, name: &str, caption: &str, hours: &[f64; 24]) {
    let hours: Vec<(String, f64)> = (0..).map(|h: u32| h.to_string()).zip(*hours).collect();
    let rows = hours.iter().map(|(hour, share)| format!("{hour},{share}\n"));
    report.sections.push(ReportSection::Figure(ReportFigure {
        name: name.to_owned(),
        caption: caption.to_owned(),
        svg: bars(&hours),
        csv: std::iter::once("hour,share\n".to_owned()).chain(rows).collect(),
    }));
}

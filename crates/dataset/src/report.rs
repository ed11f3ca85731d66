//! Shows the figures of a population: as tables for a terminal, as a page with drawings, and the
//! drawings alone. The drawings are those of the lab.

use lab::report::{
    Axis, Plot, ReportFigure, ReportPage, ReportSection, ReportTable, Series, SeriesStyle, Unit,
    bars, lanes,
};

use crate::statistics::{CurveShape, FactValue, PopulationStats, StatCurve, StatFact, StatSection};

/// Returns a value as people read it.
pub fn shown(value: &FactValue) -> String {
    match value {
        FactValue::Share { n, of: 0 } => format!("{n} of 0"),
        FactValue::Share { n, of } => {
            format!("{} of {} ({})", count(*n), count(*of), percent(*n as f64 / *of as f64))
        }
        FactValue::Number { value: None, .. } => "–".to_owned(),
        FactValue::Number { value: Some(value), unit } => {
            format!("{} {unit}", decimal(*value)).trim_end().to_owned()
        }
        FactValue::Words { words } => words.clone(),
    }
}

fn count(n: u64) -> String {
    lab::report::count(n as f64)
}

fn percent(share: f64) -> String {
    let per_cent = 100.0 * share;
    if per_cent > 0.0 && per_cent < 1.0 {
        format!("{per_cent:.2} %")
    } else {
        format!("{per_cent:.1} %")
    }
}

fn decimal(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1000.0 {
        lab::report::count(value)
    } else {
        format!("{value:.3}")
    }
}

/// Returns the rows of a section: name, our value, the published value.
pub fn rows(section: &StatSection) -> Vec<[String; 3]> {
    let row = |fact: &StatFact| {
        let published = fact.published.unwrap_or("").to_owned();
        [fact.name.clone(), shown(&fact.value), published]
    };
    section.facts.iter().map(row).collect()
}

/// Returns the drawing of a section, if it has one.
pub fn figure(section: &StatSection) -> Option<ReportFigure> {
    let curve = section.curve.as_ref()?;
    let (svg, csv) = match curve.shape {
        CurveShape::Bars => {
            let values: Vec<(String, f64)> =
                curve.names.iter().cloned().zip(curve.points.iter().map(|p| p.1)).collect();
            let lines = values.iter().map(|(name, value)| format!("{name},{value}\n"));
            (bars(&values), format!("{},{}\n{}", curve.x, curve.y, lines.collect::<String>()))
        }
        CurveShape::Lanes => marks(curve),
        CurveShape::Line => {
            let plot = plot(curve);
            (plot.svg(), plot.csv())
        }
    };
    let caption = format!("{} ({}).", section.title, section.source);
    Some(ReportFigure { name: section.name.to_owned(), caption, svg, csv })
}

/// Draws lanes of marks over the weeks before the last poll.
fn marks(curve: &StatCurve) -> (String, String) {
    let lane = |(number, name): (usize, &String)| {
        let own = curve.points.iter().filter(|(_, lane)| *lane == number as f64);
        (name.clone(), own.map(|(at, _)| *at).collect::<Vec<_>>())
    };
    let all: Vec<(String, Vec<f64>)> = curve.names.iter().enumerate().map(lane).collect();
    let week = |n: i32| (-7.0 * f64::from(n), if n == 0 { "0".into() } else { format!("−{n}") });
    let mut ticks: Vec<(f64, String)> = (0..=12).rev().step_by(2).map(week).collect();
    if let Some(first) = ticks.first_mut() {
        first.1.push_str(" weeks");
    }
    let line = |(name, marks): &(String, Vec<f64>)| {
        marks.iter().map(|at| format!("{name},{at:.5}\n")).collect::<String>()
    };
    let csv = all.iter().map(line).collect::<String>();
    (lanes((-84.0, 0.0), &ticks, &all), format!("{},{}\n{csv}", curve.y, curve.x))
}

fn plot(curve: &StatCurve) -> Plot {
    let point = |(x, y): &(f64, f64)| (*x, *y, String::new());
    let points = curve.points.iter().map(point).collect();
    let style = if curve.log { SeriesStyle::Scattered } else { SeriesStyle::Dotted };
    let mut series = vec![Series::new("this data set", 0, points, style)];
    let (low, high) = curve
        .points
        .iter()
        .fold((f64::MAX, f64::MIN_POSITIVE), |range, p| (range.0.min(p.0), range.1.max(p.0)));
    for (i, (name, a, b)) in curve.laws.iter().enumerate() {
        let ends = [low, high].map(|x| (x, a * x.powf(*b), String::new()));
        if low < high {
            series.push(Series::new(name, i + 1, ends.to_vec(), SeriesStyle::Line));
        }
    }
    Plot {
        x: Axis::new(curve.x, Unit::Plain, curve.log),
        y: Axis::new(curve.y, Unit::Plain, curve.log),
        series,
        ..Plot::default()
    }
}

/// Returns the page with all sections. `command` is the call that made it.
pub fn page(population: &PopulationStats, title: &str, command: &str, version: &str) -> ReportPage {
    let mut sections = Vec::new();
    for section in &population.sections {
        sections.push(ReportSection::Heading(section.title.to_owned()));
        sections.extend(section.remarks.iter().cloned().map(ReportSection::Prose));
        let header = ["", "this data set", "published"].map(str::to_owned).to_vec();
        let rows = rows(section).into_iter().map(Vec::from).collect();
        sections.push(ReportSection::Table(ReportTable::plain(header, rows)));
        sections.extend(figure(section).map(ReportSection::Figure));
    }
    let (feeds, polls, entries) =
        (count(population.feeds), count(population.polls), count(population.entries));
    ReportPage {
        title: title.to_owned(),
        lead: format!(
            "{feeds} feeds, {polls} polls and {entries} entries, compared with the figures of the \
             dissertation on 200,000 feeds in 2011 (source 003, section 3.7)."
        ),
        sections,
        command: command.to_owned(),
        version: version.to_owned(),
        limits: LIMITS.map(str::to_owned).to_vec(),
    }
}

const LIMITS: [&str; 3] = [
    "An entry that appeared and vanished between two polls is not here. A suspected miss marks \
     where this may have happened; a republished entry hides it.",
    "Attributes of documents are known only for feeds whose documents were recorded.",
    "The bars of the published figures are not in the text of the dissertation, so only single \
     values can be compared.",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::PopulationBuilder;
    use crate::tables::FeedLine;

    #[test]
    fn values_are_readable() {
        assert_eq!(shown(&FactValue::Share { n: 1500, of: 3000 }), "1,500 of 3,000 (50.0 %)");
        assert_eq!(shown(&FactValue::Share { n: 1, of: 2000 }), "1 of 2,000 (0.05 %)");
        assert_eq!(shown(&FactValue::Number { value: None, unit: "s" }), "–");
        assert_eq!(shown(&FactValue::Number { value: Some(12.5), unit: "s" }), "12.500 s");
    }

    #[test]
    fn every_section_is_on_the_page_with_its_drawing() {
        let mut builder = PopulationBuilder::default();
        builder.feed(FeedLine { feed: 1, window: Some(5), ..FeedLine::default() });
        let population = builder.finish();
        let page = page(&population, "Feeds", "tidings dataset stats", "0.1.0");
        let html = page.html();
        for section in &population.sections {
            assert!(html.contains(section.title), "{}", section.title);
        }
        assert!(page.figures().count() >= 7, "{}", page.figures().count());
        assert!(page.figures().all(|figure| figure.svg.starts_with("<svg")));
    }
}

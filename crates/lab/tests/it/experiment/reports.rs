//! Reports: the same colour for the same policy, entries that were never found, numbers that
//! programs can read, and the spread between traces.

use std::time::Duration;

use feed::Time;
use lab::measure::quality::{ModeWeights, Weights};
use lab::report::{ComparisonInput, ReportFigure, ReportPage, ReportSection, comparison_sections};
use lab::{Phases, PolicyComparison, PolicyRun, RunProgress, Setting, World};
use polling::PolicySpec;

use crate::run::runs::synthetic;

const DAY: Duration = Duration::from_secs(86_400);
const START: Time = Time::from_secs(1_500_000_000);
/// More policies than colours, two families of several, and one that misses many entries.
const POLICIES: [&str; 10] = [
    "fix:1h",
    "mavsync",
    "fix:1d",
    "fix:7d",
    "indhist:0.7",
    "indhist:10",
    "adaptive-ttl:0.1",
    "lru-2",
    "lihz:1.0",
    "tide",
];

fn setting(world: &World) -> Setting {
    Setting::new(Phases::over(world, Some(START), 4 * DAY, 8 * DAY, false).unwrap())
}

fn runs(world: &World) -> Vec<PolicyRun> {
    let run = |text: &&str| {
        let spec: PolicySpec = text.parse().unwrap();
        lab::run(world, &spec, &setting(world), &RunProgress::default())
    };
    POLICIES.iter().map(run).collect()
}

fn sections(by_trace: &[Vec<PolicyRun>]) -> (PolicyComparison, Vec<ReportSection>) {
    let world = synthetic(60, 12);
    let weights = Weights { delay: 1.0, polls_per_entry: 1.0, recall: 1.0 };
    let modes = ModeWeights { feeds: 1.0, entries: 1.0 };
    let comparison = PolicyComparison::of(runs(&world), weights, modes);
    let hues: Vec<usize> = (0..POLICIES.len()).collect();
    let shown = ComparisonInput {
        world: &world,
        setting: &setting(&world),
        comparison: &comparison,
        prefix: "",
        in_use: None,
        hues: &hues,
        by_trace,
    };
    let sections = comparison_sections(&shown);
    (comparison, sections)
}

fn figure<'a>(sections: &'a [ReportSection], name: &str) -> &'a ReportFigure {
    let mut figures = sections.iter().filter_map(|section| match section {
        ReportSection::Figure(figure) if figure.name == name => Some(figure),
        _ => None,
    });
    figures.next().unwrap_or_else(|| panic!("no figure {name}"))
}

/// Returns the colour nearest before or after the name of a policy.
fn colour(svg: &str, policy: &str, after: bool) -> String {
    let named = svg.find(&format!(">{policy}</text>")).unwrap_or_else(|| panic!("{policy}"));
    let at = match after {
        true => named + svg[named..].find("var(--s").unwrap(),
        false => svg[..named].rfind("var(--s").unwrap(),
    };
    svg[at..].split(')').next().unwrap().to_owned()
}

#[test]
fn a_policy_has_one_colour_in_all_figures() {
    let (_, sections) = sections(&[]);
    let delays = &figure(&sections, "delays").svg;
    for policy in POLICIES {
        let expected = colour(delays, policy, false);
        for name in ["tradeoff-entries", "tradeoff-feeds"] {
            let svg = &figure(&sections, name).svg;
            assert_eq!(colour(svg, policy, false), expected, "{policy} in {name}");
        }
        let day = &figure(&sections, "day").svg;
        // A policy without a poll on that day has no mark.
        let lane = day.split(&format!(">{policy}</text>")).nth(1).unwrap();
        if lane.split("<text").next().unwrap().contains("var(--s") {
            assert_eq!(colour(day, policy, true), expected, "{policy} in day");
        }
    }
}

#[test]
fn entries_that_are_never_found_count_in_the_curve_of_delays() {
    let (comparison, sections) = sections(&[]);
    let csv = &figure(&sections, "delays").csv;
    assert!(csv.starts_with("series,delay_seconds,share_of_all_entries,point\n"), "{csv}");
    for run in &comparison.runs {
        let mut own = csv.lines().filter(|line| line.starts_with(&format!("{},", run.policy)));
        let last = own.next_back().unwrap().split(',').nth(2).unwrap();
        let recall = run.by_entry.recall.unwrap();
        assert!((last.parse::<f64>().unwrap() - recall).abs() < 1e-9, "{}: {last}", run.policy);
    }
    let missing = comparison.runs.iter().find(|run| run.policy == "fix:7d").unwrap();
    assert!(missing.by_entry.recall.unwrap() < 0.9, "the test needs a policy that misses some");
}

#[test]
fn tables_as_csv_hold_plain_seconds() {
    let (comparison, sections) = sections(&[]);
    let mut tables = sections.iter().filter_map(|section| match section {
        ReportSection::Table(table) => Some(table.csv()),
        _ => None,
    });
    let csv = tables.nth(1).unwrap();
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("policy,delay_seconds,polls_per_entry,recall,quality"));
    for (line, run) in lines.zip(&comparison.runs) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[0], run.policy);
        assert_eq!(cells[1].parse(), Ok(run.by_entry.delay.unwrap()));
    }
    assert!(tables.next().unwrap().contains("p50_seconds,p90_seconds,p99_seconds,max_seconds"));
}

#[test]
fn several_traces_give_bands_and_bars() {
    let (_, alone) = sections(&[]);
    assert!(!figure(&alone, "delays").svg.contains("<polygon"));
    let by_trace = [20, 40].map(|feeds| runs(&synthetic(feeds, 12)));
    let (_, together) = sections(&by_trace);
    let delays = figure(&together, "delays");
    assert_eq!(delays.svg.matches("<polygon").count(), POLICIES.len());
    assert!(delays.caption.contains("the range over 2 traces"), "{}", delays.caption);
    assert!(
        delays.csv.starts_with("series,delay_seconds,share_of_all_entries,point,delay_seconds_")
    );
    let bars = |sections| figure(sections, "tradeoff-feeds").svg.matches("<polyline").count();
    assert_eq!(bars(&together), bars(&alone) + 2 * POLICIES.len());
}

#[test]
fn every_figure_and_table_of_a_page_links_its_data() {
    let (_, sections) = sections(&[]);
    let page = ReportPage {
        title: String::new(),
        lead: String::new(),
        sections,
        command: String::new(),
        version: String::new(),
        limits: Vec::new(),
    };
    let html = page.html();
    for figure in page.figures() {
        for ending in ["csv", "svg"] {
            assert!(html.contains(&format!("href=\"{}.{ending}\"", figure.name)));
        }
    }
    assert_eq!(page.tables().count(), 3);
    for (file, _) in page.tables() {
        assert!(html.contains(&format!("href=\"{file}\"")), "{file}");
    }
}

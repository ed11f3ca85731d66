//! `/metrics`: the format that a scraper expects, correct figures, and all metrics that the
//! dashboard and the alerts use.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::{Images, PollTotals, ServerContext, router};
use axum::Router;

use crate::fixture::{Fixture, T0, live};
use crate::get;

/// A family of samples, parsed.
#[derive(Debug, Default)]
struct Family {
    kind: String,
    samples: BTreeMap<String, f64>,
}

/// Parses the text format, and fails where a scraper would fail or warn.
fn parsed(text: &str) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n'));
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let (name, help) = line.strip_prefix("# HELP ").and_then(|l| l.split_once(' ')).unwrap();
        assert!(is_name(name) && help.ends_with('.') && !help.contains('\\'), "{line}");
        let kind = lines.next().and_then(|l| l.strip_prefix(&format!("# TYPE {name} "))).unwrap();
        assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{name}: {kind}");
        assert_eq!(kind == "counter", name.ends_with("_total"), "{name} is a {kind}");
        let mut family = Family { kind: kind.to_owned(), samples: BTreeMap::new() };
        while let Some(sample) = lines.next_if(|line| !line.starts_with('#')) {
            let (series, value) = sample.rsplit_once(' ').unwrap();
            let value: f64 = value.parse().unwrap_or_else(|e| panic!("{sample}: {e}"));
            assert!(value.is_finite() && value >= 0.0, "{sample}");
            let (own, labels) = series.split_once('{').unwrap_or((series, "}"));
            let suffix = own.strip_prefix(name).unwrap_or_else(|| panic!("{sample} under {name}"));
            let allowed: &[&str] = match kind {
                "histogram" => &["_bucket", "_sum", "_count"],
                "summary" => &["_sum", "_count"],
                _ => &[""],
            };
            assert!(allowed.contains(&suffix), "{sample}");
            check_labels(labels);
            let again = family.samples.insert(series.to_owned(), value);
            assert_eq!(again, None, "{series} twice");
        }
        assert!(!family.samples.is_empty(), "{name} has no sample");
        if kind == "histogram" {
            check_histogram(name, &family);
        }
        let again = families.insert(name.to_owned(), family);
        assert!(again.is_none(), "{name} twice");
    }
    families
}

fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(plain)
}

/// Each sample has at most one label, whose value is a word of ours.
fn check_labels(labels: &str) {
    let inside = labels.strip_suffix('}').unwrap();
    if inside.is_empty() {
        return;
    }
    let (name, value) = inside.split_once("=\"").unwrap();
    let value = value.strip_suffix('"').unwrap();
    assert!(is_name(name) && !value.is_empty() && value.len() <= 20, "{labels}");
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
    assert!(value.chars().all(plain), "{labels}");
}

fn check_histogram(name: &str, family: &Family) {
    let mut buckets: Vec<(f64, f64)> = Vec::new();
    for (series, n) in &family.samples {
        if let Some(bound) = series.strip_prefix(&format!("{name}_bucket{{le=\"")) {
            let bound = bound.strip_suffix("\"}").unwrap();
            buckets.push((bound.parse().unwrap_or(f64::INFINITY), *n));
        }
    }
    buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(buckets.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{name}: {buckets:?}");
    let last = buckets.last().unwrap();
    assert!(last.0.is_infinite() && last.1 == family.samples[&format!("{name}_count")], "{name}");
    assert!(family.samples.contains_key(&format!("{name}_sum")));
}

/// An instance that has every metric: with a budget, pictures and queries.
fn full(shelf: &Fixture) -> Router {
    let images = Images::new(&shelf.store, Arc::new(|_| Box::pin(async { None }))).unwrap();
    let spent = PollTotals {
        seen: 3,
        unchanged: 5,
        budget_polls_per_hour: Some(100.0),
        budget_bytes_per_hour: Some(1e6),
        ..PollTotals::default()
    };
    let now = Arc::new(|| T0 + std::time::Duration::from_secs(7200));
    let context = ServerContext::new(shelf.store.clone(), now, Arc::new(live), "1.2.3").unwrap();
    router(ServerContext {
        images: Some(Arc::new(images)),
        spent: Arc::new(move || spent),
        ..context
    })
}

#[tokio::test]
async fn what_is_exposed_can_be_scraped_and_its_figures_are_right() {
    let shelf = Fixture::new(true);
    shelf.query("rain", "");
    shelf.see("https://e.org/a", &["sun", "rain and \"wind\"\\\n"], 0);
    shelf.see("https://e.org/b", &["rain"], 60);
    let router = full(&shelf);
    get(&router, "/", &[]).await;
    get(&router, "/nowhere", &[]).await;
    let answer = get(&router, "/metrics", &[]).await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let families = parsed(&answer.text);
    let value = |name: &str, series: &str| families[name].samples[&format!("{name}{series}")];
    assert_eq!(value("tidings_build_info", "{version=\"1.2.3\"}"), 1.0);
    assert_eq!(value("tidings_feeds", "{state=\"all\"}"), 2.0);
    assert_eq!(value("tidings_polls_by_outcome_total", "{outcome=\"unchanged\"}"), 5.0);
    assert_eq!(value("tidings_query_matches_total", ""), 2.0);
    assert_eq!(value("tidings_queries", ""), 1.0);
    assert_eq!(value("tidings_budget_polls_left", ""), 100.0);
    assert_eq!(value("tidings_due_oldest_seconds", ""), 7200.0, "the first is due since T0");
    assert_eq!(value("tidings_http_responses_total", "{class=\"4xx\"}"), 1.0);
    assert_eq!(value("tidings_http_responses_total", "{class=\"2xx\"}"), 1.0);
    assert!(value("tidings_commit_seconds", "_count") >= 4.0);
    assert!(value("tidings_store_bytes", "{file=\"database\"}") > 1000.0);
    assert_eq!(value("tidings_writes_waiting", ""), 0.0);
    assert_eq!(families["tidings_entry_delay_seconds"].kind, "histogram");
}

#[tokio::test]
async fn delays_are_those_of_entries_that_appeared_between_two_polls() {
    let shelf = Fixture::new(true);
    shelf.see("https://e.org/a", &["old"], 0);
    let delays = shelf.store.metrics().delays;
    assert_eq!(delays.count, 0, "what was there at the first poll was not late");
    shelf.see_again("https://e.org/a", "new", 3600, 1800);
    let delays = shelf.store.metrics().delays;
    assert_eq!((delays.count, delays.total.as_secs()), (1, 1800));
    let within = |secs: u64| delays.up_to.iter().find(|(b, _)| b.as_secs() == secs).unwrap().1;
    assert_eq!((within(900), within(1800), within(3600)), (0, 1, 1));
}

/// Returns every word of a text that could be one of our metrics.
fn figures_named(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter(|w| w.starts_with("tidings_") || w.starts_with("process_")).collect()
}

#[tokio::test]
async fn the_dashboard_and_the_alerts_ask_for_what_is_there() {
    let dashboard = include_str!("../../../../../operating/grafana-dashboard.json");
    let alerts = include_str!("../../../../../operating/alerts.yml");
    let shelf = Fixture::new(true);
    let families = parsed(&get(&full(&shelf), "/metrics", &[]).await.text);
    for (file, text) in [("dashboard", dashboard), ("alerts", alerts)] {
        let named = figures_named(text);
        assert!(named.len() > 10, "{file}: {named:?}");
        for name in named {
            let family = name.strip_suffix("_bucket").unwrap_or(name);
            assert!(families.contains_key(family), "the {file} asks for {name}");
        }
    }
    let shown: BTreeSet<&str> =
        figures_named(dashboard).into_iter().chain(figures_named(alerts)).collect();
    // Metrics that the page shows better, or that are only used in joins.
    let unwatched = ["tidings_polls_failed_total", "tidings_budget_bytes_per_hour"];
    // Machines have alerts of their own.
    let machines = [
        "tidings_seat_",
        "tidings_machines",
        "tidings_grants_",
        "tidings_terminal_",
        "tidings_regions_",
        "tidings_results_",
        "tidings_window_",
        "tidings_road_",
    ];
    let is_machines = |name: &str| machines.iter().any(|start| name.starts_with(start));
    let watchable = |name: &&String| !unwatched.contains(&name.as_str()) && !is_machines(name);
    for name in families.keys().filter(watchable) {
        let watched = shown.iter().any(|s| s.strip_suffix("_bucket").unwrap_or(s) == name);
        assert!(watched, "nobody watches {name}");
    }
    let panels: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    assert!(panels["panels"].as_array().unwrap().len() > 20);
}

/// The alerts about machines ask for figures that only a shared database has.
#[tokio::test]
async fn the_alerts_about_machines_ask_for_what_is_there() {
    let alerts = include_str!("../../../../../operating/alerts-machines.yml");
    let list = include_str!("../../../../../docs/reference/metrics.md");
    for name in figures_named(alerts) {
        assert!(list.contains(&format!("`{name}`")), "metrics.md lacks {name}");
    }
    if !store::testing::is_postgres() {
        return;
    }
    let shelf = Fixture::new(true);
    let beat = store::MachineBeat {
        name: "box".into(),
        role: store::MachineRole::Terminal,
        region: None,
        version: "1".into(),
        life: "a".into(),
        since: T0,
        room: 10,
        in_flight: 1,
        polls_per_second: 1.0,
        round_trip: None,
        network_up: true,
        epoch: 0,
    };
    shelf.store.beat_machines(vec![beat]).unwrap();
    let families = parsed(&get(&shelf.router, "/metrics", &[]).await.text);
    // Only the active controller of an instance with a bus counts these.
    let of_bus = ["tidings_grants_expired_total", "tidings_results_total"];
    for name in figures_named(alerts).into_iter().filter(|name| !of_bus.contains(name)) {
        assert!(families.contains_key(name), "/metrics lacks {name}");
    }
}

#[test]
fn every_alert_has_its_paragraph() {
    let alerts = concat!(
        include_str!("../../../../../operating/alerts.yml"),
        include_str!("../../../../../operating/alerts-machines.yml")
    );
    let guide = include_str!("../../../../../docs/how-to/monitor.md");
    let names: Vec<&str> =
        alerts.lines().filter_map(|l| l.trim().strip_prefix("- alert: ")).collect();
    assert!(names.len() > 10);
    for name in names {
        assert!(guide.contains(&format!("\n### {name}\n")), "monitor.md lacks {name}");
        let anchor = format!("docs/how-to/monitor.md#{}", name.to_lowercase());
        assert!(alerts.contains(&format!("runbook: {anchor}\n")), "{name} leads nowhere");
    }
}

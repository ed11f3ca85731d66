//! The lab's commands: their output, and their messages about bad input.

use std::fs;

use serde_json::Value;

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;

/// Figure 4.8 of the source as a trace: hours of 2011-07-16, UTC.
const FIGURE_4_8: &str = "feed,published\n\
    f,2011-07-16T00:00:00Z\nf,2011-07-16T01:00:00Z\nf,2011-07-16T02:00:00Z\n\
    f,2011-07-16T03:00:00Z\nf,2011-07-16T05:00:00Z\nf,2011-07-16T06:00:00Z\n\
    f,2011-07-16T08:00:00Z\nf,2011-07-16T08:10:00Z\nf,2011-07-16T09:00:00Z\n\
    f,2011-07-16T09:10:00Z\nf,2011-07-16T09:20:00Z\nf,2011-07-16T11:00:00Z\n\
    f,2011-07-16T13:00:00Z\n";

/// Returns the call of figure 4.8, with more arguments.
fn figure_4_8<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["lab", "run", "--trace", file, "--policy", "fix:3h", "--window", "3"];
    args.extend(["--start", "2011-07-16T04:00:00Z", "--train", "0s", "--test", "8h"]);
    args.extend(more);
    args
}

fn file(instance: &Instance, name: &str, text: &str) -> String {
    let path = instance.home.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[test]
fn a_run_gives_the_figures_of_the_worked_example_and_all_polls() {
    let instance = Instance::new();
    let trace = file(&instance, "t.csv", FIGURE_4_8);
    let polls = instance.home.path().join("polls.csv").display().to_string();
    let answer = instance.run(&figure_4_8(&trace, &["--json", "--polls-out", &polls])).ok().json();
    assert_eq!(answer["trace"]["feeds"], 1);
    assert_eq!(answer["trace"]["start"], "2011-07-16T04:00:00Z");
    let run = &answer["runs"][0];
    assert_eq!(run["policy"], "fix:3h");
    assert_eq!((&run["polls"], &run["found"]), (&Value::from(2), &Value::from(5)));
    assert_eq!((&run["missed"], &run["open"]), (&Value::from(2), &Value::from(1)));
    assert_eq!(run["bytes"], Value::Null);
    assert_eq!(run["feeds"]["delay_seconds"], 3960.0);
    assert_eq!(run["entries"]["polls_per_entry"], 0.4);
    assert_eq!(run["entries"]["recall"], 0.625);
    assert_eq!(run["quality"], 1.0);
    assert_eq!(run["delay_quantiles_seconds"]["max"], 7200.0);
    let told = fs::read_to_string(polls).unwrap();
    let expect = "policy,feed,time\nfix:3h,f,2011-07-16T04:00:00Z\n\
                  fix:3h,f,2011-07-16T07:00:00Z\nfix:3h,f,2011-07-16T10:00:00Z\n";
    assert_eq!(told, expect);
}

#[test]
fn bad_input_is_named_with_its_place_and_a_remedy() {
    let instance = Instance::new();
    let good = file(&instance, "good.csv", FIGURE_4_8);
    let broken = file(&instance, "broken.csv", "feed,published\na,2011-07-16T00:00:00Z\nb\n");
    let times = file(&instance, "times.csv", "feed,published\na,16.07.2011\n");
    let empty = file(&instance, "empty.csv", "feed,published\n");
    let run = |file: &str, more: &[&str]| {
        let mut args = vec!["lab", "run", "--trace", file, "--policy", "mavsync"];
        args.extend(more);
        instance.run(&args)
    };
    run(&broken, &[]).says(2, &["broken.csv:3:1:", "1 fields where the header names 2"]);
    run(&times, &[]).says(2, &["times.csv:2:3:", "16.07.2011", "2011-07-16T05:00:00Z"]);
    run(&empty, &[]).says(2, &["empty.csv:1:1:", "no entries"]);
    run("nowhere.csv", &[]).says(2, &["nowhere.csv"]);
    run(&good, &["--start", "2031-01-01"]).says(2, &["2031-01-01", "2011-07-16T00:00:00Z"]);
    run(&good, &["--policy", "mavsink"]).says(2, &["did you mean `mavsync`"]);
    run(&good, &["--policy", "indhist:?"]).says(2, &["--match-polls"]);
    run(&good, &["--alpha", "2h", "--beta", "1h"]).says(2, &["alpha"]);
    run(&good, &["--weights", "1,1"]).says(2, &["1,1,1"]);
    run(&good, &["--timezone", "Berlin"]).says(2, &["+02:00"]);
    let budget = ["lab", "budget", "--trace", &good, "--strategy", "two-step", "--budget", "9/1h"];
    instance.run(&budget).says(2, &["did you mean `two-steps`"]);
    let budget = ["lab", "budget", "--trace", &good, "--strategy", "uniform", "--budget", "many"];
    instance.run(&budget).says(2, &["1000/1h"]);
}

#[test]
fn quality_reproduces_table_4_4() {
    let instance = Instance::new();
    let csv = "policy,delay_seconds,polls_per_entry,recall\n\
               A3,12000,1.2,.98\nA4,180,3.2,.98\nA5,360,1.6,.98\nA6,360,6.4,.49\nA7,1440,3.2,.98\n";
    let table = file(&instance, "q.csv", csv);
    let quality = |more: &[&str]| -> Vec<f64> {
        let args = [&["lab", "quality", &table, "--json"], more].concat();
        let answer = instance.run(&args).ok().json();
        let rows = answer["rows"].as_array().unwrap();
        rows.iter().map(|row| row["quality"].as_f64().unwrap()).collect()
    };
    let rounded: Vec<f64> = quality(&[]).iter().map(|q| (q * 1000.0).round() / 1000.0).collect();
    assert_eq!(rounded, [0.342, 1.0, 1.0, 0.5, 0.5]);
    assert_eq!(quality(&["--baseline", "A6"])[3], 1.0);
    instance.run(&["lab", "quality", &table, "--baseline", "A9"]).says(2, &["A9", "A3"]);
    let wrong = file(&instance, "w.csv", "policy,delay_seconds\nA,1\n");
    instance.run(&["lab", "quality", &wrong]).says(2, &["w.csv:1:1:", "polls_per_entry"]);
}

#[test]
fn a_population_is_drawn_measured_and_reported() {
    let instance = Instance::new();
    let trace = instance.home.path().join("s.csv.gz").display().to_string();
    let synth = ["lab", "synth", "--feeds", "20", "--days", "12", "--seed", "4", "--out", &trace];
    instance.run(&synth).ok();
    let stats = instance.run(&["lab", "stats", "--trace", &trace, "--json"]).ok().json();
    assert!(stats["entries"].as_u64().unwrap() > 100);
    let report = instance.home.path().join("report");
    let mut args = vec!["lab", "run", "--trace", &trace, "--start", "2011-07-09T05:00:00Z"];
    args.extend(["--train", "5d", "--test", "7d", "--policy", "mavsync", "entry-frequency"]);
    let shown = report.display().to_string();
    args.extend(["--match-polls", "mavsync", "--report", &shown, "--json"]);
    let answer = instance.run(&args).ok().json();
    let polls = |i: usize| answer["runs"][i]["polls"].as_f64().unwrap();
    assert!((polls(1) / polls(0) - 1.0).abs() <= 0.005, "{} {}", polls(0), polls(1));
    let page = fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("lab run --trace") && page.contains("<svg"));
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http"), "a page that stands alone");
    assert!(report.join("tradeoff-entries.svg").exists() && report.join("delays.csv").exists());
    for link in page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(report.join(link).exists(), "{link}");
    }
    // A report is written once; a second time only with `--force`.
    instance.run(&args).says(2, &["--report", "not empty", "--force"]);
    args.push("--force");
    instance.run(&args).ok();
}

/// One feed from the first day on, three from the 90th.
fn feeds_that_begin_later() -> String {
    let mut csv = "feed,published\n".to_owned();
    let day = |n: i64| feed::Time::from_secs(1_500_000_000 + n * 86_400);
    (0..200).for_each(|n| csv += &format!("first,{}\n", day(n)));
    for name in ["a", "b", "c"] {
        (90..200).for_each(|n| csv += &format!("{name},{}\n", day(n)));
    }
    (199..201).for_each(|n| csv += &format!("last,{}\n", day(n)));
    csv
}

#[test]
fn a_run_without_a_start_begins_where_most_feeds_exist_and_says_so() {
    let instance = Instance::new();
    let trace = file(&instance, "later.csv", &feeds_that_begin_later());
    let report = instance.home.path().join("report").display().to_string();
    let args = ["lab", "run", "--trace", &trace, "--policy", "fix:1d", "mavsync"];
    let ended = instance.run(&[&args[..], &["--report", &report]].concat()).ok();
    let begun = "--start 2017-10-05T02:40:00Z (later than the first entry): 4 of 5 feeds exist";
    assert!(ended.stderr.contains(begun), "{}", ended.stderr);
    let took_part = "4 of 5 feeds took part. 1 did not, because their first entry comes after";
    let page = fs::read_to_string(format!("{report}/index.html")).unwrap();
    for said in [&ended.stdout, &page] {
        assert!(said.contains(took_part), "{said}");
    }
    // Rounding is the same everywhere: every figure of the terminal is a cell of the report.
    let rows = ended.stdout.lines().filter(|line| line.trim_start().starts_with("mavsync"));
    let cells: Vec<String> = rows
        .flat_map(|row| row.split("  ").map(|cell| cell.trim().trim_end_matches(" *").to_owned()))
        .filter(|cell| !cell.is_empty())
        .collect();
    assert!(cells.len() > 15, "{cells:?}");
    for cell in &cells {
        assert!(page.contains(&format!(">{cell}</td>")), "`{cell}` is not in the report");
    }
    let said = instance.run(&[&args[..], &["--start", "2017-07-14", "--json"]].concat()).ok();
    assert!(!said.stderr.contains("--start"), "{}", said.stderr);
    assert_eq!(said.json()["trace"]["feeds_after_the_end"], 4);
}

#[test]
fn budgets_and_the_published_table_have_the_shape_of_the_contract() {
    let instance = Instance::new();
    let trace = file(&instance, "t.csv", FIGURE_4_8);
    let mut args = vec!["lab", "budget", "--trace", &trace, "--strategy"];
    args.extend([
        "uniform",
        "two-steps",
        "tide:365d",
        "--budget",
        "2/1h",
        "--train",
        "4h",
        "--test",
        "8h",
        "--json",
    ]);
    let answer = instance.run(&args).ok().json();
    assert_eq!(answer["runs"][0]["strategy"], "uniform");
    assert_eq!(answer["runs"][0]["polls"], 16);
    // Within eight hours the threshold of two-steps does not fall far enough for one slow feed.
    assert_eq!((&answer["runs"][1]["polls"], &answer["runs"][1]["open"]), (&0.into(), &8.into()));
    assert_eq!(answer["runs"][2]["strategy"], "tide:365d");
    for key in ["completeness", "window_freshness", "delay_seconds", "delay_sd_seconds"] {
        assert!(answer["runs"][0][key].is_number(), "{key}: {answer}");
    }
    let table = instance.run(&["lab", "table", "two-steps", "--seeds", "2", "--json"]).ok().json();
    assert_eq!(table.as_array().unwrap().len(), 15);
    assert_eq!(table[0]["completeness"]["published"], 0.4954);
}

#[test]
fn an_experiment_is_judged_by_its_expectation() {
    let instance = Instance::new();
    file(&instance, "t.csv", FIGURE_4_8);
    let definition = |expect: &str| {
        format!(
            "title = \"T\"\nsource = \"S\"\nanalysis = \"A\"\nexpect = [\"{expect}\"]\n\
             [world]\ntraces = [\"t.csv\"]\nstart = \"2011-07-16T04:00:00Z\"\nwindow = 3\n\
             [[run]]\npolicies = [\"fix:3h\"]\ntrain = \"0s\"\ntest = \"8h\"\n"
        )
    };
    let out = instance.home.path().join("record");
    let shown = out.display().to_string();
    let holds = file(&instance, "holds.toml", &definition("fix:3h found >= 5"));
    instance.run(&["lab", "experiment", &holds, "--out", &shown]).ok();
    assert!(fs::read_to_string(out.join("values.csv")).unwrap().contains("fix:3h missed,2"));
    let fails = file(&instance, "fails.toml", &definition("fix:3h missed < 2"));
    instance.run(&["lab", "experiment", &fails, "--out", &shown]).says(1, &[]);
    let wrong = file(&instance, "wrong.toml", &definition("fix:3h is good"));
    instance.run(&["lab", "experiment", &wrong, "--out", &shown]).says(2, &["wrong.toml:4:"]);
}

#[test]
fn the_own_history_is_exported_and_a_short_one_answers_no_what_if() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let data = instance.data.display().to_string();
    let out = instance.home.path().join("own.csv").display().to_string();
    let export = ["lab", "export-trace", "--data", &data, "--out", &out];
    instance.run(&export).says(1, &["nothing was recorded", "tidings run"]);
    instance.run(&["lab", "what-if", "--data", &data]).says(1, &["no entry", "tidings run"]);
}

#[test]
fn the_own_history_comes_back_as_a_trace() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let instance = Instance::new();
    let url = publisher.url("/f");
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    instance.poll(&url);
    publisher.set("/f", rss("f", 5));
    instance.poll(&url);
    let data = instance.data.display().to_string();
    let out = instance.home.path().join("own.csv.gz").display().to_string();
    let told = instance.run(&["lab", "export-trace", "--data", &data, "--out", &out]).ok();
    assert!(told.stderr.contains("5 entries of 1 feed. "), "{}", told.stderr);
    let stats = instance.run(&["lab", "stats", "--trace", &out, "--json"]).ok().json();
    assert_eq!(stats["entries"], 5, "{stats}");
    instance.run(&["lab", "what-if", "--data", &data]).says(1, &["shorter than a day"]);
}

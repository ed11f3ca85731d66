//! `lab run` and `lab budget` with wanted entries, and traces with texts.

use std::fs;

use serde_json::Value;

use crate::documents::rss_of;
use crate::program::Instance;

/// One feed, an entry every hour of two days. The title of every sixth names a volcano.
fn trace(relevant: bool) -> String {
    let column = if relevant { ",relevant" } else { "" };
    let mut text = format!("feed,published,title,categories{column}\n");
    for hour in 0..48 {
        let (day, of_day, is_wanted) = (16 + hour / 24, hour % 24, hour % 6 == 0);
        let title = if is_wanted { "A volcano, again" } else { "Nothing new" };
        let mark = match (relevant, is_wanted) {
            (false, _) => "",
            (true, true) => ",1",
            (true, false) => ",0",
        };
        text += &format!("f,2011-07-{day}T{of_day:02}:00:00Z,\"{title}\",a;b{mark}\n");
    }
    text
}

const QUERIES: &str = "CREATE FEED V AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"volcano\"";

fn file(instance: &Instance, name: &str, text: &str) -> String {
    let path = instance.home.path().join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn figures(run: &Value) -> Value {
    let mut run = run.clone();
    run.as_object_mut().unwrap().remove("quality");
    run
}

#[test]
fn queries_and_a_column_tell_the_same_wanted_entries() {
    let instance = Instance::new();
    let plain = file(&instance, "plain.csv", &trace(false));
    let marked = file(&instance, "marked.csv", &trace(true));
    let queries = file(&instance, "v.query", QUERIES);
    let base = ["--train", "1d", "--test", "23h", "--json"];
    let of = |command: &[&str], more: &[&str]| {
        let mut args = vec!["lab"];
        args.extend(command);
        args.extend(more);
        args.extend(base);
        instance.run(&args).ok().json()
    };
    let run = ["run", "--policy", "fix:2h"];
    let by_column = of(&run, &["--trace", &marked]);
    let by_queries = of(&run, &["--trace", &plain, "--queries", &queries]);
    assert_eq!(by_column["trace"]["wanted_entries"], 8);
    assert_eq!(by_column, by_queries);
    let runs = by_queries["runs"].as_array().unwrap();
    assert_eq!((&runs[0]["learns"], &runs[1]["learns"]), (&"all".into(), &"wanted".into()));
    assert_eq!((&runs[0]["policy"], &runs[1]["policy"]), (&"fix:2h".into(), &"fix:2h".into()));
    let counted = |run: &Value| {
        ["found", "missed", "open"].map(|name| run[name].as_u64().unwrap()).iter().sum::<u64>()
    };
    assert_eq!(counted(&runs[0]), 3, "6, 12 and 18 o'clock of the second day");
    let all = of(&run, &["--trace", &plain]);
    assert_eq!(all["trace"].get("wanted_entries"), None);
    assert_eq!(all["runs"].as_array().unwrap().len(), 1);
    assert_eq!(counted(&all["runs"][0]), 23);

    let budget = ["budget", "--strategy", "uniform", "--budget", "1/2h"];
    let by_column = of(&budget, &["--trace", &marked]);
    let by_queries = of(&budget, &["--trace", &plain, "--queries", &queries]);
    let runs = |answer: &Value| -> Vec<Value> {
        answer["runs"].as_array().unwrap().iter().map(figures).collect()
    };
    assert_eq!(runs(&by_column), runs(&by_queries));
    assert_eq!(by_column["runs"].as_array().unwrap().len(), 2);
    assert_eq!(counted(&by_column["runs"][0]), 3);
}

#[test]
fn gains_are_said_in_words_and_faults_with_their_place() {
    let instance = Instance::new();
    let plain = file(&instance, "plain.csv", &trace(false));
    let queries = file(&instance, "v.query", QUERIES);
    let mut args = vec!["lab", "run", "--trace", &plain, "--policy", "mavsync"];
    args.extend(["--train", "1d", "--test", "23h", "--queries", &queries]);
    let said = instance.run(&args).ok().stdout;
    assert!(said.contains("8 of 48 entries are wanted"), "{said}");
    assert!(said.contains("mavsync, polled by wanted entries:"), "{said}");
    let wrong = file(&instance, "wrong.query", "CREATE FEED V AS\nRETURN ALL FEDS");
    *args.last_mut().unwrap() = &wrong;
    let refused = instance.run(&args);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("wrong.query:2:12:"), "{}", refused.stderr);
    let marks =
        file(&instance, "marks.csv", "feed,published,relevant\nf,2011-07-16T05:00:00Z,maybe\n");
    let refused = instance.run(&["lab", "run", "--trace", &marks, "--policy", "fix:1h"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("marks.csv:2:24:"), "{}", refused.stderr);
}

#[test]
fn recorded_documents_become_a_trace_with_texts() {
    let instance = Instance::new();
    let folder = instance.home.path().join("news");
    fs::create_dir(&folder).unwrap();
    for (name, range) in [("1700000000.xml", 0..2), ("1700003600.xml", 1..4)] {
        fs::write(folder.join(name), rss_of("news", range)).unwrap();
    }
    let out = instance.home.path().join("t.csv").display().to_string();
    let folder = folder.display().to_string();
    let said = instance.run(&["lab", "trace-documents", &folder, "--out", &out]).ok().stderr;
    assert!(said.contains("4 entries of 2 documents"), "{said}");
    let text = fs::read_to_string(&out).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].starts_with("feed,published,visible,window,bytes,title,"), "{}", rows[0]);
    assert_eq!(rows.len(), 5);
    assert!(rows[1..].iter().all(|row| row.starts_with("news,")), "{text}");
    let empty = instance.home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    assert_eq!(instance.run(&["lab", "trace-documents", &empty, "--out", &out]).code, Some(2));
}

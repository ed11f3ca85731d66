//! `tidings query …` and `tidings entries --query`, with and without a daemon.

use serde_json::Value;

use crate::documents::{rss, rss_of};
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::{post, wall_clock};

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

fn apply(instance: &Instance, statements: &str) -> Value {
    let file = instance.write("q.query", statements);
    instance.run(&["query", "apply", path_text(&file), "--json"]).ok().json()
}

fn kept(instance: &Instance, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["entries", "--query"];
    all.extend(args);
    instance.run(&all).ok().lines()
}

fn titles(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["title"].as_str().unwrap()).collect()
}

#[test]
fn the_example_of_the_paper_becomes_a_stream_with_cursors_of_its_own() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("volcano", 3));
    publisher.set("/b", rss("weather", 2));
    let (a, b) = (publisher.url("/a"), publisher.url("/b"));
    let instance = Instance::new();
    let applied = apply(
        &instance,
        &format!(
            "CREATE FEED IcelandVolcano AS\nRETURN \"{a}\" | \"{b}\"\n\
             WHERE ITEM CONTAINS \"iceland\" OR \"volcano\" OR \"eruption\""
        ),
    );
    assert_eq!(applied["queries"][0]["what"], "created");
    assert_eq!(applied["feeds_added"], 2);
    assert_eq!(publisher.n_asked(), 0, "apply makes no request");
    assert_eq!(instance.feeds()[0]["tags"][0], "query:IcelandVolcano");

    instance.run(&["run", "--once", FREELY[0], FREELY[1], FREELY[2]]).ok();
    let lines = kept(&instance, &["IcelandVolcano"]);
    let expected = ["Item 0 of volcano", "Item 1 of volcano", "Item 2 of volcano"];
    assert_eq!(titles(&lines), expected, "oldest first, of the first poll too");
    let cursor = lines[0]["cursor"].as_str().unwrap();
    let rest = kept(&instance, &["IcelandVolcano", "--after", cursor]);
    assert_eq!(titles(&rest), expected[1..]);
    assert_eq!(kept(&instance, &["IcelandVolcano", "--limit", "1"]).len(), 1);

    let list = instance.run(&["query", "list", "--json"]).ok().json();
    assert_eq!((&list[0]["entries"], &list[0]["access"]), (&3.into(), &"private".into()));
    let shown = instance.run(&["query", "show", "IcelandVolcano"]).ok().stdout;
    assert!(shown.contains("CREATE FEED IcelandVolcano") && shown.contains("found by"), "{shown}");
}

#[test]
fn a_daemon_takes_queries_and_follows_them_while_it_runs() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("first", 2));
    let instance = Instance::new();
    let daemon = instance.daemon(&FREELY).ready();
    let a = publisher.url("/a");
    apply(&instance, &format!("CREATE FEED All AS RETURN \"{a}\";"));
    eventually("the feed is polled and matched", || {
        (kept(&instance, &["All"]).len() == 2).then_some(())
    });
    apply(&instance, "CREATE FEED Later AS RETURN FEED All WHERE TITLE CONTAINS \"second\"");
    publisher.set("/a", rss_of("second", 0..2));
    instance.run(&["feed", "poll", "1", "--json"]).ok();
    assert_eq!(kept(&instance, &["Later"]).len(), 2);
    assert_eq!(kept(&instance, &["All"]).len(), 4);
    // A query that another one reads cannot be dropped.
    instance.run(&["query", "drop", "All"]).says(2, &["is read by Later"]);
    let dropped = instance.run(&["query", "drop", "Later", "--json"]).ok().json();
    assert_eq!(dropped["feeds_resting"], 0);
    let dropped = instance.run(&["query", "drop", "All", "--json"]).ok().json();
    assert_eq!(dropped["feeds_resting"], 1);
    assert_eq!(instance.feed()["state"], "paused");
    instance.run(&["query", "drop", "x; DROP FEED y"]).says(2, &["no query named"]);
    instance.run(&["query", "show", "All"]).says(2, &["no query All", "query list"]);
    drop(daemon);
}

#[test]
fn bad_statements_are_refused_with_their_place() {
    let instance = Instance::new();
    let file = instance
        .write("bad.query", "CREATE FEED X AS\nRETURN ALL FEEDS\nWHERE TITLE CONTAIN \"a\"");
    for verb in ["check", "apply", "test"] {
        let ended = instance.run(&["query", verb, path_text(&file)]);
        ended.says(2, &["bad.query:3:13:", "CONTAINS"]);
        let first = ended.stderr.lines().next().unwrap();
        assert!(first.starts_with(path_text(&file)), "the place comes first: {first}");
    }
    let cycle = "CREATE FEED a AS RETURN FEED b;\nCREATE FEED b AS RETURN FEED a;";
    let file = instance.write("cycle.query", cycle);
    instance.run(&["query", "apply", path_text(&file)]).says(2, &["cycle.query:1:", "a → b → a"]);
    let file = instance.write("good.query", "CREATE FEED a AS RETURN ALL FEEDS");
    let good = instance.run(&["query", "check", path_text(&file), "--json"]).ok().json();
    assert_eq!(good["created"], 1);
    instance.run(&["query", "list"]).says(1, &["does not exist"]);
}

#[test]
fn a_test_says_what_would_have_been_kept_and_changes_nothing() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("volcano", 5));
    let instance = Instance::new();
    let a = publisher.url("/a");
    instance.run(&["feed", "add", &a, FREELY[0], FREELY[1], FREELY[2]]).ok();
    let statement = "CREATE FEED Third AS RETURN ALL FEEDS WHERE TITLE CONTAINS \"item 3\"";
    let file = instance.write("t.query", statement);
    let tried = instance.run(&["query", "test", path_text(&file), "--json"]).ok().json();
    assert_eq!((&tried["entries"], &tried["queries"][0]["kept"]), (&5.into(), &1.into()));
    assert_eq!(tried["queries"][0]["newest"][0]["title"], "Item 3 of volcano");
    assert_eq!(instance.run(&["query", "list", "--json"]).ok().json(), serde_json::json!([]));

    let applied = instance.run(&["query", "apply", path_text(&file), "--json"]).ok().json();
    assert_eq!(applied["past"], 0);
    assert!(kept(&instance, &["Third"]).is_empty(), "only what is recorded from now on");
    let again = instance.write("t.query", statement.replace("CREATE", "CREATE OR REPLACE"));
    let args = ["query", "apply", path_text(&again), "--past", "7d", "--json"];
    assert_eq!(instance.run(&args).ok().json()["past"], 1);
    assert_eq!(titles(&kept(&instance, &["Third"])), ["Item 3 of volcano"]);
}

#[test]
fn a_cursor_older_than_what_is_kept_answers_from_the_oldest_and_says_gap() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("one", 2));
    publisher.set("/b", rss("two", 2));
    let instance = Instance::new();
    apply(&instance, "CREATE FEED All AS RETURN ALL FEEDS");
    for path in ["/a", "/b"] {
        let url = publisher.url(path);
        instance.run(&["feed", "add", &url, FREELY[0], FREELY[1], FREELY[2]]).ok();
    }
    let cursor = kept(&instance, &["All"])[0]["cursor"].as_str().unwrap().to_owned();
    instance.run(&["feed", "remove", "1"]).ok();
    let ended = instance.run(&["entries", "--query", "All", "--after", &cursor]).ok();
    assert!(ended.stderr.contains("gap"), "{ended:?}");
    let lines = ended.lines();
    assert_eq!((lines.len(), &lines[0]["gap"]), (2, &true.into()));
    assert!(lines[1].get("gap").is_none());
    instance.run(&["entries", "--query", "All", "--after", "e5"]).says(2, &["not a cursor"]);
    // The same in the stream of all entries; a cursor ahead of all entries is from another store.
    for cursor in ["e1", "e99"] {
        let lines = instance.run(&["entries", "--after", cursor]).ok().lines();
        assert_eq!((lines.len(), &lines[0]["gap"]), (2, &true.into()), "{cursor}");
        assert!(lines[1].get("gap").is_none());
    }
}

#[test]
fn a_query_that_reads_its_own_published_feed_comes_to_rest() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("news", 3));
    let instance = Instance::new();
    let daemon = instance.daemon(&FREELY).ready();
    apply(&instance, "CREATE FEED Everything AS RETURN ALL FEEDS PUBLISH");
    instance.run(&["feed", "add", &publisher.url("/a")]).ok();
    let own = format!("http://{}/feeds/Everything.atom", daemon.listen);
    instance.run(&["feed", "add", &own]).ok();
    for _ in 0..5 {
        instance.run(&["feed", "poll", &own]).ok();
    }
    // The instance recognises its own entries: an entry that comes back is not new.
    assert_eq!(instance.entries().len(), 3);
}

/// Seconds from the last poll to the next, after one poll of a feed with an entry an hour. A query
/// keeps every tenth entry.
fn interval(learn: &str) -> i64 {
    let publisher = Publisher::start(1);
    let now = jiff::Timestamp::try_from(wall_clock()).unwrap();
    let items: String = (0..21)
        .map(|i| {
            let at = now - jiff::SignedDuration::from_hours(20 - i);
            format!("<item><guid>{i}</guid><title>Item {i}</title><pubDate>{at}</pubDate></item>")
        })
        .collect();
    publisher.set("/news", format!("<rss version=\"2.0\"><channel>{items}</channel></rss>"));
    let config = format!("[defaults]\npolicy = \"mavsync\"\nlearn = \"{learn}\"\n");
    let instance = Instance::with_config(&config);
    let url = publisher.url("/news");
    let statement = format!(
        "CREATE FEED Tenth AS RETURN \"{url}\" \
         WHERE TITLE CONTAINS \"item 0\" OR \"item 10\" OR \"item 20\""
    );
    let file = instance.write("q.query", statement);
    instance.run(&["query", "apply", path_text(&file)]).ok();
    for _ in 0..2 {
        instance.poll("1");
    }
    let feed = instance.feed();
    let at = |name: &str| feed[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    at("next_poll").as_second() - at("last_poll").as_second()
}

#[test]
fn a_feed_is_learned_from_the_entries_that_queries_keep_where_that_is_wanted() {
    let (all, relevant) = (interval("all"), interval("relevant"));
    assert!((3500..3700).contains(&all), "an entry an hour: {all}");
    assert!((35_000..37_000).contains(&relevant), "a wanted one every ten hours: {relevant}");
}

#[test]
fn what_a_query_gave_a_feed_is_not_taken_away_by_hand() {
    let instance = Instance::new();
    let file = instance.write("q.txt", "CREATE FEED Q AS RETURN \"http://example.org/f\"");
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let daemon = instance.daemon(&[]).ready();
    let label = "user%2F-%2Flabel%2Fquery%3AQ";
    let form = format!("s=feed%2F1&ac=edit&r={label}");
    assert_eq!(post(daemon.listen, "/reader/api/0/subscription/edit", &form).unwrap(), 200);
    assert_eq!(instance.feed()["tags"], serde_json::json!(["query:Q"]));
    instance.run(&["query", "drop", "Q"]).ok();
    assert_eq!(instance.feed()["state"], "paused", "nobody wants it any more");
}

//! Lists of feeds and polls of all feeds: filters, order, limits, and output row by row.

use serde_json::Value;

use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::publisher::Publisher;
use crate::wire::Response;

/// Feeds 1 to 4: polled, failing, gone, never polled. The last one has a tag.
fn filled() -> (Publisher, Instance) {
    let publisher = Publisher::start(1);
    publisher.set("/good", rss("Good", 2));
    publisher.set_answer("/bad", Response::new(500));
    publisher.set_answer("/gone", Response::new(410));
    let instance = Instance::new();
    for path in ["/good", "/bad", "/gone", "/never"] {
        let url = publisher.url(path);
        let args =
            ["feed", "add", &url, "--no-poll", "--tag", if path == "/never" { "t" } else { "u" }];
        instance.run(&args).ok();
    }
    for path in ["/good", "/bad", "/gone"] {
        instance.poll(&publisher.url(path));
    }
    (publisher, instance)
}

fn ids(instance: &Instance, args: &[&str]) -> Vec<u64> {
    let args = [&["feed", "list", "--json"], args].concat();
    let Value::Array(rows) = instance.run(&args).ok().json() else { panic!("{args:?}") };
    rows.iter().map(|row| row["id"].as_u64().unwrap()).collect()
}

#[test]
fn feeds_are_listed_by_state_and_tag_in_an_order_up_to_a_limit() {
    let (_publisher, instance) = filled();
    assert_eq!(ids(&instance, &[]), [1, 2, 3, 4]);
    for (state, expect) in [
        ("active", &[1, 4][..]),
        ("backing-off", &[2]),
        ("damaged", &[]),
        ("gone", &[3]),
        ("paused", &[]),
        ("never", &[4]),
    ] {
        assert_eq!(ids(&instance, &["--state", state]), expect, "{state}");
    }
    assert_eq!(ids(&instance, &["--tag", "t"]), [4]);
    assert_eq!(ids(&instance, &["--tag", "t", "--state", "gone"]), [0_u64; 0]);
    assert_eq!(ids(&instance, &["--sort", "trouble"]), [2, 3, 4, 1]);
    assert_eq!(ids(&instance, &["--sort", "last"])[..3], [3, 2, 1]);
    assert_eq!(ids(&instance, &["--sort", "next"])[0], 4, "what is due comes first");
    assert_eq!(ids(&instance, &["--sort", "title", "--limit", "1"]).len(), 1);
    let list = instance.run(&["feed", "list", "--limit", "3"]).ok().stdout;
    assert!(list.contains("1 more") && list.contains("--limit"), "{list}");
    assert!(!instance.run(&["feed", "list"]).ok().stdout.contains("more"), "scripts get all");
    instance.run(&["feed", "list", "--state", "odd"]).says(2, &["odd", "backing-off"]);
    instance.run(&["feed", "list", "--sort", "odd"]).says(2, &["odd", "trouble"]);
}

#[test]
fn a_long_list_is_written_row_by_row() {
    let instance = Instance::new();
    let outlines: String = (0..1300)
        .map(|n| format!("<outline type=\"rss\" text=\"T {n}\" xmlUrl=\"https://e.example/{n}\"/>"))
        .collect();
    instance.import(&format!("<opml version=\"2.0\"><body>{outlines}</body></opml>")).ok();
    assert_eq!(ids(&instance, &[]), (1..=1300).collect::<Vec<u64>>());
    assert_eq!(ids(&instance, &["--sort", "title"]).len(), 1300);
    let list = instance.run(&["feed", "list"]).ok().stdout;
    assert_eq!(list.lines().count(), 1301, "a header and a line for each");
    let narrow = instance.run(&["feed", "list", "--limit", "1200"]).ok().stdout;
    assert!(narrow.ends_with("100 more; `--limit N` shows more\n"), "{}", narrow.len());
}

#[test]
fn all_feeds_are_polled_with_one_answer_each_here_and_in_the_daemon() {
    let publisher = Publisher::start(1);
    let instance = Instance::new();
    for n in 0..5 {
        let path = format!("/{n}");
        publisher.set(&path, rss("f", 1));
        instance.run(&["feed", "add", &publisher.url(&path), "--no-poll"]).ok();
    }
    let polled = |instance: &Instance| {
        let args = ["feed", "poll", "--all", "--json", "--allow-private", "--domain-gap", "0s"];
        let Value::Array(rows) = instance.run(&args).ok().json() else { panic!("no array") };
        let mut feeds: Vec<u64> = rows.iter().map(|row| row["feed"].as_u64().unwrap()).collect();
        feeds.sort_unstable();
        feeds
    };
    assert_eq!(polled(&instance), [1, 2, 3, 4, 5]);
    let _daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    assert_eq!(polled(&instance), [1, 2, 3, 4, 5]);
}

#[test]
fn a_feed_is_moved_with_its_entries() {
    let publisher = Publisher::start(1);
    publisher.set("/old", rss("Item", 2));
    publisher.set("/new", rss("Item", 3));
    let instance = Instance::new();
    let (old, new) = (publisher.url("/old"), publisher.url("/new"));
    instance.run(&["feed", "add", &old, "--tag", "kept", "--no-poll"]).ok();
    instance.poll(&old);
    let file = instance.write("q.txt", format!("CREATE FEED Q AS RETURN \"{old}\""));
    instance.run(&["query", "apply", path_text(&file)]).ok();
    let done = instance.run(&["feed", "move", &old, &new]).ok().stdout;
    assert!(done.contains("feed 1 moved") && done.contains("query Q names the old"), "{done}");
    let feed = instance.feed();
    assert_eq!(
        (&feed["url"], &feed["tags"][0]),
        (&Value::from(new.as_str()), &Value::from("kept"))
    );
    publisher.take_asked();
    assert_eq!(instance.poll(&new)["new"], 1, "the two that both show are known");
    let asked = publisher.take_asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].path, "/new");
    assert_eq!(instance.entries().len(), 3);
    instance.run(&["feed", "add", &old, "--no-poll"]).ok();
    instance.run(&["feed", "move", "1", &old]).says(2, &["feed 2 has the address"]);
    instance.run(&["feed", "move", "99", &old]).says(2, &["no feed"]);
}

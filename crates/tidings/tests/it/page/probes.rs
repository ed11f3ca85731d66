//! The page and the probes answer while the daemon runs, and the demonstration shows entries
//! without any network.

use crate::documents::rss;
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::get;

#[test]
fn page_probes_and_figures_answer() {
    let publisher = Publisher::start(1);
    let title = "&lt;script&gt;alert(1)&lt;/script&gt; &amp; news";
    publisher.set("/f", rss("f", 3).replace("Feed f", title).replace("Item 1 of f", title));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--allow-private"]).ok();
    let daemon = instance.daemon(&["--allow-private"]).ready();
    let page = |path: &str| {
        let (status, body) = get(daemon.listen, path).unwrap();
        assert_eq!(status, 200, "{path}: {body}");
        body
    };
    page("/healthz");
    page("/readyz");
    let figures = page("/metrics");
    assert!(figures.contains("# TYPE tidings_"), "{figures}");
    for line in figures.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok(), "not a Prometheus line: {line}");
    }
    let front = page("/feeds");
    assert!(front.contains("&#38; news"), "the feed's title is shown as text: {front}");
    assert!(!front.contains("<script>alert"), "a title must not become markup");
    let links: Vec<&str> =
        front.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let own = links.iter().find(|l| l.starts_with('/') && l.ends_with("/1"));
    let own = own.unwrap_or_else(|| panic!("no link to the feed's page among {links:?}"));
    let feed_page = page(own);
    assert!(feed_page.contains("Item 2 of f"), "{feed_page}");
    assert!(!feed_page.contains("<script>alert"), "a title must not become markup");
    assert_eq!(get(daemon.listen, "/nothing-here").unwrap().0, 404);
}

#[test]
fn the_demonstration_shows_entries_and_needs_no_network() {
    let instance = Instance::new();
    let mut daemon = instance.daemon(&["--demo"]).ready();
    eventually("entries of the demonstration", || {
        let entries = instance.run(&["entries"]);
        (entries.code == Some(0) && entries.stdout.lines().count() > 50).then_some(())
    });
    assert!(instance.feeds().len() >= 100, "a hundred feeds");
    let is_own = |url: &str| url.starts_with("http://") && url.contains(".test:");
    assert!(instance.feeds().iter().all(|f| is_own(f["url"].as_str().unwrap())), "only its own");
    assert_eq!(get(daemon.listen, "/").unwrap().0, 200);
    assert_eq!(daemon.signal("INT").code(), Some(0), "{}", daemon.log());
}

#[test]
fn the_demonstration_asks_no_server_but_its_own() {
    let instance = Instance::new();
    let _daemon = instance.daemon(&["--demo"]).ready();
    for url in ["http://feeds.example.org/f", "http://192.0.2.1/f", "http://[2001:db8::1]/f"] {
        let added = instance.run(&["feed", "add", url, "--json"]).json();
        let poll = &added[0]["poll"];
        assert_eq!(poll["outcome"], "refused", "{added}");
        assert!(poll["detail"].as_str().unwrap().contains("without --demo"), "{added}");
    }
}

#[test]
fn the_demonstration_refuses_a_folder_with_other_feeds() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let ended = instance.run(&["run", "--demo"]);
    assert!(matches!(ended.code, Some(1 | 2)), "{ended:?}");
    let data = crate::program::path_text(&instance.data);
    assert!(ended.stderr.contains(data), "the folder is named: {}", ended.stderr);
    assert_eq!(instance.feeds().len(), 1);
}

#[test]
fn the_demonstration_sweeps_away_neither_accounts_nor_queries() {
    let instance = Instance::new();
    let password = instance.write("password", "correct horse\n");
    let mut command = instance.command(&["user", "add", "anna", "--password-stdin"]);
    command.stdin(std::fs::File::open(password).unwrap());
    crate::program::finish(command, "user add").ok();
    instance.run(&["run", "--demo"]).says(2, &["accounts", "--data"]);
    assert_eq!(instance.run(&["user", "list", "--json"]).ok().json()[0]["name"], "anna");
    let other = Instance::new();
    let file = other.write("q.txt", "CREATE FEED A AS RETURN ALL FEEDS");
    other.run(&["query", "apply", crate::program::path_text(&file)]).ok();
    other.run(&["run", "--demo"]).says(2, &["queries", "--data"]);
    assert_eq!(other.run(&["query", "list", "--json"]).ok().json()[0]["name"], "A");
}

#[test]
fn a_feed_that_rests_is_not_due() {
    let instance = Instance::new();
    for (url, tag) in [("http://a.example/f", "own"), ("http://b.example/f", "quiet")] {
        instance.run(&["feed", "add", url, "--no-poll", "--tag", tag]).ok();
    }
    instance.run(&["feed", "set", "1", "--pause"]).ok();
    instance.run(&["feed", "set", "--tag", "quiet", "--pause"]).ok();
    let daemon = instance.daemon(&[]).ready();
    let figures = get(daemon.listen, "/metrics").unwrap().1;
    assert!(figures.contains("tidings_feeds{state=\"due\"} 0\n"), "{figures}");
}

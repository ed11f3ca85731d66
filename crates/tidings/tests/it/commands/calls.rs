//! Wrong calls and failing calls: exit status 2 and 1, and a message that names the object and the
//! remedy.

use std::process::Stdio;

use crate::program::{Instance, path_text};
use crate::publisher::Publisher;
use crate::wire::Response;

#[track_caller]
fn check(args: &[&str], code: i32, parts: &[&str]) {
    Instance::new().run(args).says(code, parts);
}

#[test]
fn a_wrong_call_ends_with_two_and_names_the_word() {
    check(&["feed", "frobnicate"], 2, &["frobnicate"]);
    check(&["run", "--domain-gap", "soon"], 2, &["soon", "90s"]);
    check(&["run", "--demo", "--once"], 2, &["--once"]);
    check(&["run", "--workers", "0"], 2, &["workers"]);
    check(&["feed", "poll"], 2, &["FEED"]);
    check(&["feed", "add"], 2, &["URL"]);
    check(&["entries", "--after"], 2, &["--after"]);
    check(&["export", "--format", "csv"], 2, &["csv", "opml"]);
}

#[test]
fn an_address_that_is_none_ends_with_two_and_says_how_to_write_one() {
    check(&["feed", "add", "not a url"], 2, &["not a url", "https://"]);
    check(&["feed", "add", "ftp://example.org/f"], 2, &["ftp", "http"]);
    check(&["feed", "add", "javascript:alert(1)"], 2, &["javascript"]);
}

#[test]
fn a_feed_that_is_not_there_is_named() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    for command in ["show", "why", "poll", "remove"] {
        for name in ["4711", "http://nobody.example/f"] {
            instance.run(&["feed", command, name]).says(2, &[name]);
        }
    }
    instance.run(&["feed", "set", "4711", "--pause"]).says(2, &["4711"]);
    instance.run(&["entries", "--feed", "4711"]).says(2, &["4711"]);
}

#[test]
fn settings_that_mean_nothing_are_refused_with_what_would() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let set = |args: &[&str]| instance.run(&[&["feed", "set", "1"], args].concat());
    set(&["--policy", "hourly"]).says(2, &["hourly", "fix"]);
    set(&["--policy", "fix:never"]).says(2, &["never"]);
    set(&["--alpha", "1"]).says(2, &["15m"]);
    set(&["--alpha", "2d", "--beta", "1d"]).says(2, &["alpha"]);
    set(&["--weight=-1"]).says(2, &["weight", "from 0 up"]);
    set(&["--weight", "-1"]).says(2, &["weight", "from 0 up"]);
    set(&["--pause", "--resume"]).says(2, &["--resume"]);
    set(&[]).says(2, &["--policy"]);
}

#[test]
fn a_configuration_error_has_its_place() {
    let with = |text: &str| Instance::with_config(text).run(&["feed", "list"]);
    with("listen = \"127.0.0.1:1\"\nbogus = 1\n").says(2, &["config.toml:2:1:", "bogus"]);
    with("domain_gap = \"2 moons\"\n").says(2, &["config.toml:1:", "2 moons"]);
    with("[defaults]\npolicy = \"hourly\"\n").says(2, &["config.toml", "hourly"]);
    with("[[[").says(2, &["config.toml:1:"]);
    with("workers = 0\n").says(2, &["config.toml", "workers"]);
    // A person who means "no limit" does not lose all entries.
    for zero in ["entries_per_feed = 0", "entries = 0", "entry_age = \"0s\"", "items = 0"] {
        let name = zero.split(' ').next().unwrap();
        with(&format!("[limits]\n{zero}\n")).says(2, &["config.toml", name, "leave the key out"]);
    }
    let instance = Instance::new();
    instance.run(&["feed", "list", "--config", "nowhere.toml"]).says(2, &["nowhere.toml"]);
}

#[test]
fn adding_a_known_feed_answers_its_number() {
    let instance = Instance::new();
    let add = |url: &str| instance.run(&["feed", "add", url, "--no-poll", "--json"]).ok();
    add("http://example.org/f");
    add("HTTP://EXAMPLE.ORG:80/f#top");
    assert_eq!(instance.feeds().len(), 1);
    assert_eq!(instance.feed()["id"], 1);
    let twin = add("https://example.org/f");
    assert_eq!(instance.feeds().len(), 2, "twins are not merged silently");
    let told = format!("{}{}", twin.stdout, twin.stderr);
    assert!(told.contains("http://example.org/f"), "the twin is named: {told}");
    for name in ["1", "http://example.org/f", "http://example.org:80/f"] {
        instance.run(&["feed", "show", name, "--json"]).ok();
    }
}

#[test]
fn tags_that_queries_give_are_neither_taken_nor_brought_by_a_list() {
    for tag in ["query:Q", "", " ", "two\nlines"] {
        check(&["feed", "add", "http://example.org/", "--no-poll", "--tag", tag], 2, &["tag"]);
    }
    let instance = Instance::new();
    let list = "<opml version=\"2.0\"><body><outline text=\"query:Q\"><outline text=\"news\">\
                <outline type=\"rss\" xmlUrl=\"http://example.org/f\"/></outline></outline>\
                </body></opml>";
    instance.import(list).ok();
    let tags = instance.feed()["tags"].clone();
    assert!(!tags.to_string().contains("query:"), "{tags}");
}

#[test]
fn numbers_are_not_given_twice() {
    let instance = Instance::new();
    instance.run(&["feed", "add", "http://a.example/", "http://b.example/", "--no-poll"]).ok();
    instance.run(&["feed", "remove", "2"]).ok();
    instance.run(&["feed", "add", "http://c.example/", "--no-poll"]).ok();
    let ids: Vec<u64> = instance.feeds().iter().map(|f| f["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 3]);
}

#[test]
fn a_folder_without_feeds_lists_nothing_and_is_no_error() {
    let instance = Instance::new();
    let data = path_text(&instance.data).to_owned();
    instance.run(&["feed", "list"]).says(1, &[&data, "--data"]);
    instance.run(&["run", "--once"]).ok();
    assert_eq!(instance.run(&["feed", "list", "--json"]).ok().json(), serde_json::json!([]));
    assert_eq!(instance.run(&["entries"]).ok().stdout, "");
    instance.run(&["run", "--once"]).ok();
    instance.run(&["feed", "poll", "--all", "--json"]).ok();
}

#[test]
fn help_and_version_are_there() {
    let instance = Instance::new();
    let help = instance.run(&["--help"]).ok().stdout;
    for word in ["run", "feed", "import", "export", "entries", "discover", "parse", "doctor"] {
        assert!(help.contains(word), "{word} is not in the help");
    }
    assert!(instance.run(&["--version"]).ok().stdout.starts_with("tidings "));
}

#[test]
fn who_reads_only_the_beginning_is_no_failure() {
    let instance = Instance::new();
    let items: String = (0..2000).map(|n| format!("<item><title>t {n}</title></item>")).collect();
    let document = format!("<rss version=\"2.0\"><channel><title>T</title>{items}</channel></rss>");
    let file = instance.write("long.xml", document);
    let times: String = (0..3000).map(|n| format!("f{n},2011-07-09T05:00:00Z\n")).collect();
    let trace = instance.write("world.csv", format!("feed,published\n{times}"));
    for args in [&["parse", path_text(&file)][..], &["lab", "stats", "--trace", path_text(&trace)]]
    {
        let mut command = instance.command(args);
        let (reader, writer) = std::io::pipe().unwrap();
        command.stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Nobody reads the output. The command itself must release the writer first.
        drop((command, reader));
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {said}");
    }
}

#[test]
fn what_others_wrote_moves_no_cursor() {
    let instance = Instance::new();
    let title = "Red \\u001b[31m and \\u0007 loud";
    let document = format!(
        "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"{title}\",\"items\":[]}}"
    );
    let file = instance.write("feed.json", document);
    let shown = instance.run(&["parse", path_text(&file)]).ok().stdout;
    assert!(shown.starts_with("Red [31m and loud"), "{shown:?}");
    let publisher = Publisher::start(1);
    let page = "<html><head><link rel=alternate type=application/rss+xml title='Red \u{1b}[31m' \
                href=/f></head></html>";
    let answer = Response::new(200).with("Content-Type", "text/html").body(page);
    publisher.set_answer("/", answer);
    let found = instance.run(&["discover", &publisher.url("/"), "--allow-private"]).ok().stdout;
    assert!(found.contains("Red [31m") && !found.contains('\u{1b}'), "{found:?}");
}

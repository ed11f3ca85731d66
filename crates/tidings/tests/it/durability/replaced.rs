//! The store's files are removed, moved or replaced while the daemon runs. The daemon says so and
//! records nothing, and no command creates an empty store in their place.

use std::fs;

use crate::documents::{rss, rss_of};
use crate::program::{Daemon, Instance, eventually, finish, path_text};
use crate::publisher::Publisher;
use crate::wire;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// A daemon with one feed. Three of its entries are recorded, and a fourth is published.
fn watching() -> (Instance, Daemon, Publisher) {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let instance = Instance::in_folder();
    let daemon = instance.daemon(&FREELY).ready();
    instance.run(&["feed", "add", &publisher.url("/f")]).ok();
    assert_eq!(instance.entries().len(), 3);
    publisher.set("/f", rss_of("f", 0..4));
    (instance, daemon, publisher)
}

fn metric(daemon: &Daemon, line: &str) -> bool {
    let (_, text) = wire::get(daemon.listen, "/metrics").unwrap();
    text.lines().any(|l| l == line)
}

/// Asks the daemon for a poll. It must fail, without new entries.
fn nothing_is_recorded(daemon: &Daemon, publisher: &Publisher) {
    publisher.take_asked();
    let json = "Content-Type: application/json\r\n";
    wire::post_as(daemon.listen, "/api/v1/feeds/1/poll", json, "").unwrap();
    eventually("the poll ends as failed", || {
        let (_, text) = wire::get(daemon.listen, "/metrics").unwrap();
        let failed = "tidings_polls_by_outcome_total{outcome=\"failed\"} ";
        // The program may have tried it again meanwhile.
        text.lines().any(|l| l.strip_prefix(failed).is_some_and(|n| n != "0")).then_some(())
    });
    assert!(metric(daemon, "tidings_entries_total 3"), "a poll was reported as recorded");
}

#[track_caller]
fn not_ready(daemon: &Daemon, why: &str, file: &str) {
    let (status, text) = wire::get(daemon.listen, "/readyz").unwrap();
    assert_eq!(status, 503, "{text}");
    assert!(text.contains(why) && text.contains(file), "{text}");
}

#[test]
fn a_store_that_was_removed_is_noticed_and_no_empty_one_is_made() {
    let (instance, mut daemon, publisher) = watching();
    let file = instance.data.join("tidings.db");
    fs::remove_file(&file).unwrap();
    not_ready(&daemon, "removed", path_text(&file));
    nothing_is_recorded(&daemon, &publisher);
    let (_, page) = wire::get(daemon.listen, "/health").unwrap();
    assert!(page.contains("was removed or moved"), "{page}");
    let commands: [&[&str]; 5] = [
        &["feed", "poll", "1"],
        &["feed", "add", "http://example.org/f", "--no-poll"],
        &["feed", "list"],
        &["user", "token", "ann"],
        &["backup", "copy.db"],
    ];
    for command in commands {
        instance.run(command).says(1, &[path_text(&file), &daemon.pid().to_string()]);
    }
    let mut add = instance.command(&["user", "add", "ann", "--password-stdin"]);
    add.stdin(fs::File::open(instance.write("password", "correct horse battery")).unwrap());
    finish(add, "user add").says(1, &[path_text(&file)]);
    assert!(!file.exists(), "an empty store was made while the daemon ran");
    eventually("the log says it", || daemon.log().contains("was removed or moved").then_some(()));
    daemon.signal("TERM");
}

#[test]
fn a_store_that_was_moved_away_and_back_loses_nothing() {
    let (instance, daemon, publisher) = watching();
    let (file, away) = (instance.data.join("tidings.db"), instance.home.path().join("away.db"));
    fs::rename(&file, &away).unwrap();
    not_ready(&daemon, "moved", path_text(&file));
    nothing_is_recorded(&daemon, &publisher);
    fs::rename(&away, &file).unwrap();
    assert_eq!(instance.poll("1")["new"], 1);
    eventually("it is ready again", || {
        let (status, _) = wire::get(daemon.listen, "/readyz").unwrap();
        (status == 200).then_some(())
    });
    drop(daemon);
    assert_eq!(instance.entries().len(), 4);
}

#[test]
fn a_store_that_was_replaced_is_noticed_also_by_other_commands() {
    let (instance, daemon, publisher) = watching();
    let copy = instance.home.path().join("copy.db");
    instance.run(&["backup", path_text(&copy)]).ok();
    let file = instance.data.join("tidings.db");
    fs::rename(&copy, &file).unwrap();
    not_ready(&daemon, "replaced", path_text(&file));
    nothing_is_recorded(&daemon, &publisher);
    instance.run(&["feed", "poll", "1"]).says(1, &[path_text(&file), "replaced"]);
}

#[test]
fn who_follows_the_entries_is_told_that_the_store_was_replaced() {
    let (instance, daemon, _publisher) = watching();
    let following = instance.command(&["entries", "--follow"]);
    let file = instance.data.join("tidings.db");
    let copy = instance.home.path().join("copy.db");
    instance.run(&["backup", path_text(&copy)]).ok();
    let ended = std::thread::scope(|scope| {
        let ended = scope.spawn(|| finish(following, "entries --follow"));
        eventually("the follower has the file open", || opened_by_another(&file, &daemon));
        fs::rename(&copy, &file).unwrap();
        ended.join().unwrap()
    });
    ended.says(1, &[path_text(&file), "removed or replaced", "again"]);
}

/// Returns whether another process than the daemon has the file open.
fn opened_by_another(file: &std::path::Path, daemon: &Daemon) -> Option<()> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let others = processes.filter(|p| p.file_name() != *daemon.pid().to_string());
    let mut open = others.filter_map(|p| fs::read_dir(p.path().join("fd")).ok()).flatten();
    open.any(|fd| fd.is_ok_and(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == file)))
        .then_some(())
}

#[test]
fn a_log_that_was_removed_is_noticed() {
    let (instance, daemon, publisher) = watching();
    let log = instance.data.join("tidings.db-wal");
    fs::remove_file(&log).unwrap();
    not_ready(&daemon, "removed", path_text(&log));
    nothing_is_recorded(&daemon, &publisher);
}

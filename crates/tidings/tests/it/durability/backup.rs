//! A copy is made while the daemon records, and an instance continues from it in another folder.

use crate::documents::rss;
use crate::program::{Instance, eventually, finish, path_text};
use crate::publisher::Publisher;

fn ids(entries: &[serde_json::Value]) -> Vec<String> {
    entries.iter().map(|e| e["cursor"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_copy_of_a_running_instance_is_restored_and_read_on() {
    let publisher = Publisher::start(1);
    let instance = Instance::in_folder();
    for n in 0..30 {
        publisher.set(&format!("/{n}"), rss(&format!("f{n}"), 5));
        let url = publisher.url(&format!("/{n}"));
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    }
    let mut daemon = instance.daemon(&["--allow-private", "--domain-gap", "10ms"]).ready();
    eventually("some feeds are polled", || (instance.entries().len() >= 10).then_some(()));
    // Thirty first polls are under way now.
    let copy = instance.home.path().join("copy.db");
    let told = instance.run(&["backup", path_text(&copy), "--json"]).ok().json();
    let n_copied = told["entries"].as_u64().unwrap() as usize;
    assert!(n_copied >= 10 && n_copied.is_multiple_of(5), "whole polls: {told}");
    eventually("all feeds are polled", || (instance.entries().len() == 150).then_some(()));
    let all = ids(&instance.entries());

    instance.run(&["backup", path_text(&copy)]).says(2, &["copy.db", "--force"]);
    instance.run(&["restore", path_text(&copy), "--force"]).says(1, &["in use by process"]);
    daemon.signal("TERM");

    let other = Instance::in_folder();
    other.run(&["restore", path_text(&copy)]).ok();
    other.run(&["restore", path_text(&copy)]).says(2, &["tidings.db", "--force"]);
    let restored = ids(&other.entries());
    assert_eq!(restored, all[..n_copied], "every entry of that moment, under its cursor");
    other.run(&["doctor"]).ok();
    // Entries that were not in the copy are polled again, after every cursor handed out before.
    other.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]).ok();
    let last = all.last().unwrap();
    let after = other.run(&["entries", "--after", last]).ok().lines();
    assert_eq!(n_copied + after.len(), 150, "a reader that had everything is told of the rest");
}

#[test]
fn a_copy_goes_through_a_pipe_and_wrong_files_are_named() {
    let instance = Instance::in_folder();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let copy = instance.home.path().join("piped.db");
    let mut command = instance.command(&["backup", "-"]);
    let out = command.stdout(std::fs::File::create(&copy).unwrap()).status().unwrap();
    assert!(out.success());
    let other = Instance::in_folder();
    let mut command = other.command(&["restore", "-", "--json"]);
    command.stdin(std::fs::File::open(&copy).unwrap());
    assert_eq!(finish(command, "restore -").ok().json()["feeds"], 1);
    assert_eq!(other.feeds().len(), 1);

    let text = other.write("text.db", "no database, but long enough to be one".repeat(100));
    other
        .run(&["restore", path_text(&text), "--force"])
        .says(2, &["text.db", "not a complete copy"]);
    let whole = std::fs::read(&copy).unwrap();
    let half = other.write("half.db", &whole[..whole.len() / 2]);
    other
        .run(&["restore", path_text(&half), "--force"])
        .says(2, &["half.db", "not a complete copy"]);
    other.run(&["restore", "nowhere.db", "--force"]).says(2, &["nowhere.db"]);
    Instance::in_folder().run(&["backup", path_text(&copy)]).says(1, &["--data"]);
    let live = other.write("live.db", std::fs::read(&copy).unwrap());
    other.write("live.db-wal", "something");
    other.run(&["restore", path_text(&live), "--force"]).says(2, &["live.db", "tidings backup"]);
    assert_eq!(other.feeds().len(), 1, "nothing of this changed what was there");
}

#[test]
fn a_copy_does_not_take_the_place_of_the_store_itself() {
    let instance = Instance::in_folder();
    instance.run(&["feed", "add", "http://example.org/f", "--no-poll"]).ok();
    let _daemon = instance.daemon(&[]).ready();
    for name in ["tidings.db", "tidings.db-wal", "lock"] {
        let own = instance.data.join(name);
        instance.run(&["backup", path_text(&own), "--force"]).says(2, &[name, "another name"]);
    }
    instance.run(&["feed", "add", "http://example.net/f", "--no-poll"]).ok();
    assert_eq!(instance.feeds().len(), 2, "the daemon and others see the same file");
}

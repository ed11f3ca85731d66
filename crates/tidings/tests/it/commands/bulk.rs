//! `tidings feed change`, `feed undo`, `tag` and `rule`, with and without a daemon, and the flags
//! that name an account.

use std::fs::File;

use serde_json::{Value, json};

use crate::documents::rss;
use crate::program::{Instance, eventually, finish, path_text};
use crate::publisher::Publisher;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// Adds an account with a password.
fn account(instance: &Instance, name: &str) {
    let password = instance.write("password", "correct horse\n");
    let mut command = instance.command(&["user", "add", name, "--password-stdin"]);
    command.stdin(File::open(password).unwrap());
    finish(command, "user add").ok();
}

/// Adds feeds without polling them.
fn add(instance: &Instance, urls: &[&str], more: &[&str]) {
    instance.run(&[&["feed", "add", "--no-poll"], urls, more].concat()).ok();
}

fn tags(feeds: &Value) -> Vec<String> {
    feeds.as_array().unwrap().iter().map(|feed| feed["tags"].to_string()).collect()
}

#[test]
fn many_feeds_are_changed_and_the_change_is_undone() {
    let instance = Instance::new();
    add(&instance, &["https://a.org/", "https://b.org/"], &["--tag", "x"]);
    add(&instance, &["https://c.org/"], &[]);
    let list = |args: &[&str]| instance.run(&[&["feed", "list", "--json"], args].concat()).ok();
    // The next polls are decided again, by the same settings.
    let without_times = |mut feeds: Value| {
        for feed in feeds.as_array_mut().unwrap() {
            feed["next_poll"] = Value::Null;
        }
        feeds
    };
    let before = without_times(list(&[]).json());
    let change = |args: &[&str]| instance.run(&[&["feed", "change"], args].concat());
    let said = change(&["--tag", "x", "--add-tag", "y", "--remove-tag", "x", "--json"]).ok().json();
    assert_eq!(said["feeds"], 2, "{said}");
    assert_eq!(tags(&list(&[]).json()), [r#"["y"]"#, r#"["y"]"#, "[]"]);
    let told = instance.run(&["feed", "undo"]).ok().stdout;
    assert!(told.starts_with("undone: tagged 2 feeds with “y”"), "{told}");
    assert_eq!(without_times(list(&[]).json()), before, "exactly as it was");

    // The same through a daemon.
    let daemon = instance.daemon(&[]).ready();
    change(&["1", "https://c.org/", "--pause"]).ok();
    assert_eq!(tags(&list(&["--state", "paused"]).json()).len(), 2);
    change(&["--state", "paused", "--policy", "fix:2h"]).ok();
    assert_eq!(instance.run(&["feed", "show", "1", "--json"]).ok().json()["policy"], "fix:2h");
    instance.run(&["feed", "undo"]).ok();
    assert_eq!(instance.run(&["feed", "show", "1", "--json"]).ok().json()["policy"], Value::Null);
    change(&["--all", "--resume"]).ok();
    assert_eq!(tags(&list(&["--state", "paused"]).json()).len(), 0);
    change(&["--search", "B.org", "--unsubscribe"]).ok();
    let paused = list(&["--state", "paused"]).json();
    assert_eq!(paused[0]["url"], "https://b.org/", "it rests until it is removed");
    instance.run(&["feed", "undo"]).ok();
    assert_eq!(tags(&list(&["--state", "paused"]).json()).len(), 0);
    drop(daemon);

    change(&["--all"]).says(2, &["--add-tag"]);
    change(&["--pause"]).says(2, &["--search"]);
    change(&["1", "--all", "--pause"]).says(2, &["cannot be used"]);
    change(&["77", "--pause"]).says(2, &["there is no feed 77"]);
    change(&["1", "--policy", "nonsense"]).says(2, &["--policy"]);
}

#[test]
fn tags_are_listed_ordered_renamed_and_merged() {
    let instance = Instance::new();
    add(&instance, &["https://a.org/"], &["--tag", "x", "--tag", "y"]);
    add(&instance, &["https://b.org/"], &["--tag", "z"]);
    let tag = |args: &[&str]| instance.run(&[&["tag"], args].concat());
    let names = || -> Vec<String> {
        let list = tag(&["list", "--json"]).ok().json();
        let list = list.as_array().unwrap().iter();
        list.map(|tag| format!("{} {}", tag["tag"].as_str().unwrap(), tag["feeds"])).collect()
    };
    assert_eq!(names(), ["x 1", "y 1", "z 1"]);
    tag(&["order", "z", "y"]).ok();
    assert_eq!(names(), ["z 1", "y 1", "x 1"]);
    tag(&["rename", "z", "x"]).ok();
    assert_eq!(names(), ["y 1", "x 2"]);
    instance.run(&["feed", "undo"]).ok();
    assert_eq!(names(), ["z 1", "y 1", "x 1"]);
    instance.run(&["feed", "undo"]).ok();
    assert_eq!(names(), ["x 1", "y 1", "z 1"]);
    tag(&["remove", "y"]).ok();
    assert_eq!(names(), ["x 1", "z 1"]);
    tag(&["rename", "no", "x"]).says(2, &["the tag “no” does not exist"]);
}

#[test]
fn a_feed_of_an_account_is_given_to_the_instance_by_adding_it_again() {
    let instance = Instance::new();
    account(&instance, "anna");
    account(&instance, "bert");
    let list = |args: &[&str]| {
        let rows = instance.run(&[&["feed", "list", "--json"], args].concat()).ok().json();
        rows.as_array().unwrap().iter().map(|row| row["url"].to_string()).collect::<Vec<_>>()
    };
    add(&instance, &["https://a.org/"], &["--user", "bert", "--tag", "his"]);
    assert_eq!((list(&["--user", "anna"]).len(), list(&["--user", "bert"]).len()), (0, 1));
    assert_eq!(list(&[]).len(), 1);
    let unknown = instance.run(&["feed", "add", "https://b.org/", "--no-poll", "--user", "carl"]);
    unknown.says(2, &["the account carl does not exist"]);
    // Without --user it belongs to the instance, and stays without a subscriber.
    add(&instance, &["https://a.org/"], &[]);
    instance.run(&["feed", "remove", "https://a.org/", "--user", "bert"]).ok();
    assert_eq!(list(&["--user", "bert"]).len(), 0);
    let rows = instance.run(&["feed", "list", "--json"]).ok().json();
    assert_eq!(rows[0]["state"], "active", "{rows}");
    // A feed that only an account needed rests.
    add(&instance, &["https://c.org/"], &["--user", "bert"]);
    instance.run(&["feed", "change", "--all", "--unsubscribe", "--user", "bert"]).ok();
    let rows = instance.run(&["feed", "list", "--json", "--state", "paused"]).ok().json();
    assert_eq!(rows[0]["url"], "https://c.org/", "{rows}");
    instance.run(&["feed", "undo", "--user", "bert"]).ok();
    assert_eq!(list(&["--user", "bert"]), ["\"https://c.org/\""]);
    let pause = instance.run(&["feed", "change", "--all", "--pause", "--user", "bert"]);
    pause.says(2, &["--user", "everybody"]);
}

#[test]
fn settings_for_requests_of_an_account_make_the_feed_its_own() {
    let instance = Instance::new();
    account(&instance, "anna");
    account(&instance, "bert");
    for name in ["anna", "bert"] {
        add(&instance, &["https://a.org/"], &["--user", name, "--tag", "t"]);
    }
    let set = |args: &[&str]| instance.run(&[&["feed", "set", "https://a.org/"], args].concat());
    set(&["--user", "bert", "--cookie", "session=1"]).ok();
    let rows = |name: &str| instance.run(&["feed", "list", "--json", "--user", name]).ok().json();
    let (anna, bert) = (rows("anna"), rows("bert"));
    assert_ne!(anna[0]["id"], bert[0]["id"], "a feed with a secret is never shared");
    assert_eq!(bert[0]["tags"], json!(["t"]), "his tags move with him");
    let requests = |row: &Value| {
        let id = row[0]["id"].to_string();
        instance.run(&["feed", "show", &id, "--json"]).ok().json()["requests"].clone()
    };
    assert_eq!(requests(&anna), json!([]));
    assert_eq!(requests(&bert).as_array().unwrap().len(), 1);
    set(&["--user", "bert", "--policy", "fix:1h"]).says(2, &["--user"]);
    set(&["--user", "carl", "--cookie", "x=1"]).says(2, &["the account carl does not exist"]);
}

#[test]
fn rules_are_applied_tested_listed_switched_and_dropped() {
    let publisher = Publisher::start(1);
    publisher.set("/a", rss("a", 3));
    let instance = Instance::new();
    let url = publisher.url("/a");
    instance.run(&[&["feed", "add", &url], &FREELY[..]].concat()).ok();
    let file = instance.write(
        "star.rule",
        "CREATE RULE best\nON ALL FEEDS\nWHERE TITLE CONTAINS \"Item 1\"\nDO STAR, MARK READ",
    );
    let rule = |args: &[&str]| instance.run(&[&["rule"], args].concat());
    let tried = rule(&["test", path_text(&file), "--json"]).ok().json();
    assert_eq!((&tried["kept"], &tried["entries"]), (&1.into(), &3.into()), "{tried}");
    assert_eq!(rule(&["list", "--json"]).ok().json(), json!([]), "a test saves nothing");
    rule(&["apply", path_text(&file), "--off"]).ok();
    rule(&["apply", path_text(&file)]).says(2, &["exists already", "OR REPLACE"]);
    let listed = rule(&["list", "--json"]).ok().json();
    assert_eq!((&listed[0]["name"], &listed[0]["on"]), (&"best".into(), &false.into()));
    assert_eq!(listed[0]["actions"], json!(["STAR", "MARK READ"]));
    rule(&["on", "best"]).ok();
    let shown = rule(&["show", "best"]).ok().stdout;
    assert!(shown.contains("WHERE TITLE CONTAINS"), "{shown}");
    let again = instance.write(
        "again.rule",
        "CREATE OR REPLACE RULE best ON ALL FEEDS WHERE TITLE CONTAINS \"Item 2\" DO LABEL \"two\"",
    );
    rule(&["apply", path_text(&again), "--past"]).ok();
    let daemon = instance.daemon(&FREELY).ready();
    eventually("the daemon applies the rule to stored entries", || {
        let acted = rule(&["list", "--json"]).ok().json()[0]["acted"].clone();
        (acted == 1).then_some(())
    });
    drop(daemon);
    rule(&["off", "best"]).ok();
    rule(&["drop", "best"]).ok();
    rule(&["drop", "best"]).says(2, &["the rule best does not exist"]);
    let wrong = instance.write("wrong.rule", "CREATE RULE x\nON ALL FEEDS DO FLY");
    rule(&["apply", path_text(&wrong)]).says(2, &["wrong.rule:2:"]);
    // With accounts a rule belongs to one of them.
    account(&instance, "anna");
    rule(&["apply", path_text(&file)]).says(2, &["--user"]);
    rule(&["apply", path_text(&file), "--user", "anna"]).ok();
    assert_eq!(rule(&["list", "--json", "--user", "anna"]).ok().json()[0]["name"], "best");
}

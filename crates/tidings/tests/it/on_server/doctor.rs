//! `tidings doctor` on a server, and the commands that only SQLite has.

use serde_json::Value;
use store::{Location, testing};

use super::bus_fleet::Fleet;
use super::database;
use crate::program::{Ended, Instance, eventually, path_text};

/// Returns the level and the text of a check.
fn check<'a>(ended: &'a Value, about: &str) -> (&'a str, &'a str, &'a str) {
    let rows = ended.as_array().unwrap();
    let found = rows.iter().filter(|row| row["about"] == about);
    // The worst one counts.
    let level = |row: &&Value| ["ok", "advice", "trouble"].iter().position(|l| row["level"] == *l);
    let row = found.max_by_key(level).unwrap_or_else(|| panic!("{about}: {ended:#}"));
    let text = |name: &str| row[name].as_str().unwrap();
    (text("level"), text("says"), text("remedy"))
}

fn doctor(instance: &Instance, url: &str) -> (Ended, Value) {
    let ended = instance.run(&["doctor", "--json", "--database", url]);
    let rows = ended.json();
    (ended, rows)
}

#[test]
fn the_doctor_says_what_it_finds_on_a_server() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let (_, rows) = doctor(&instance, &url);
    let (level, says, remedy) = check(&rows, "schema");
    assert_eq!((level, says), ("advice", "no tables yet"));
    assert!(remedy.contains("tidings run"), "{remedy}");

    let daemon = instance.daemon(&["--database", &url]).ready();
    let (_, rows) = doctor(&instance, &url);
    for (about, part) in [
        ("database", "PostgreSQL"),
        ("locale", "encoding UTF8"),
        ("encryption", "this machine"),
        ("connections", "connections are in use"),
        ("schema", "step "),
        ("storage", "0 feeds"),
    ] {
        let (level, says, _) = check(&rows, about);
        assert!(level == "ok" && says.contains(part), "{about}: {level} {says}");
    }
    // A busy machine answers too late for an `ok`.
    let (level, says, _) = check(&rows, "round trip");
    assert!(level != "trouble" && says.contains(" ms"), "round trip: {level} {says}");
    // The tests run as the superuser, on a server that does not sync.
    assert_eq!(check(&rows, "rights").0, "advice");
    let (_, says, _) = check(&rows, "daemon");
    let pid = format!("process {} on ", daemon.pid());
    assert!(says.contains(&pid) && says.contains("epoch 1"), "{says}");
    assert!(check(&rows, "configuration").1.contains("contact"), "{rows:#}");
    drop(daemon);
    // The server notices the end of a killed process a moment later.
    eventually("the daemon is not running", || {
        let (_, rows) = doctor(&instance, &url);
        check(&rows, "daemon").1.contains("not running").then_some(())
    });
}

#[test]
fn the_doctor_says_whether_the_bus_answers() {
    let Some(fleet) = Fleet::start(|_, _| String::new()) else { return };
    let found = |url: &str| {
        let config = fleet.instance.write("doctor.toml", format!("[bus]\nurl = \"{url}\"\n"));
        let args = ["doctor", "--json", "--database", &fleet.url, "--config", path_text(&config)];
        let rows = fleet.instance.run(&args).json();
        let (level, says, _) = check(&rows, "bus");
        format!("{level}: {says}")
    };
    let away = found("nats://127.0.0.1:1");
    assert!(away.starts_with("trouble: it does not answer"), "{away}");
    // The bus may still be starting.
    let is_idle = |said: &str| said.starts_with("advice: it answers, but no controller does");
    eventually("the bus answers", || is_idle(&found(&fleet.bus())).then_some(()));
    let _controller = fleet.controller("decides", &fleet.bus(), &[]);
    fleet.await_roles(&[("decides", "controller")]);
    let active = "ok: it answers, and a controller is active";
    eventually("a controller answers", || (found(&fleet.bus()) == active).then_some(()));
}

#[test]
fn the_doctor_knows_a_remedy_for_each_trouble() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let place = Location::parse(&url, &|_| None).unwrap();
    instance.run(&["feed", "add", "https://example.org/", "--no-poll", "--database", &url]).ok();
    testing::execute(
        &place,
        "create role tidings_other; alter table feeds owner to tidings_other; \
         alter table queries alter column name type text collate \"de-x-icu\"",
    );
    // The role of the tests is a superuser, which owns everything.
    let least = "set role none; create role tidings_least login; \
                 grant all on schema";
    let schema = url.rsplit("%3D").next().unwrap();
    testing::execute(&place, &format!("{least} {schema} to tidings_least"));
    let as_least = url.replacen("tidings@", "tidings_least@", 1);
    let (ended, rows) = doctor(&instance, &as_least);
    assert_eq!(ended.code, Some(1));
    let (level, says, remedy) = check(&rows, "rights");
    assert!(level == "trouble" && says.contains("accounts"), "{says}");
    assert!(remedy.contains("owner to tidings_least"), "{remedy}");
    let (level, says, _) = check(&rows, "locale");
    assert!(level == "trouble" && says.contains("queries.name"), "{says}");
    let untracked = format!("{url}%20-ctrack_activities%3Doff");
    let (level, says, remedy) = {
        let (_, rows) = doctor(&instance, &untracked);
        let (level, says, remedy) = check(&rows, "takeover");
        (level.to_owned(), says.to_owned(), remedy.to_owned())
    };
    assert!(level == "trouble" && says.contains("track_activities"), "{says}");
    assert!(remedy.contains("postgresql.conf"), "{remedy}");
    testing::execute(&place, "update meta set value = '999' where key = 'version'");
    let (_, rows) = doctor(&instance, &url);
    let (level, _, remedy) = check(&rows, "schema");
    assert!(level == "trouble" && remedy.contains("newer program"), "{rows:#}");
    testing::execute(&place, "drop owned by tidings_other cascade; drop role tidings_other");
    testing::execute(&place, "drop owned by tidings_least; drop role tidings_least");

    let nowhere = "postgres://tidings@127.0.0.1:1/none";
    let (ended, rows) = doctor(&instance, nowhere);
    assert_eq!(ended.code, Some(1));
    let (level, says, remedy) = check(&rows, "database");
    assert!(level == "trouble" && says.contains("does not answer"), "{says}");
    assert!(remedy.contains("pg_isready"), "{remedy}");
    let no_database = url.replacen("/postgres?", "/nothing-here?", 1);
    let (_, rows) = doctor(&instance, &no_database);
    let (_, says, remedy) = check(&rows, "database");
    assert!(says.contains("refuses the login") && remedy.contains("pg_hba.conf"), "{rows:#}");
}

#[test]
fn copies_of_a_server_are_made_with_its_own_tools() {
    let instance = Instance::in_folder();
    let address = "postgres://tidings@127.0.0.1:1/none";
    let file = instance.write("copy", "");
    for command in ["backup", "restore"] {
        let ended = instance.run(&[command, path_text(&file), "--database", address]);
        ended.says(2, &["pg_dump", "pg_restore", "postgres-leap.sql"]);
    }
}

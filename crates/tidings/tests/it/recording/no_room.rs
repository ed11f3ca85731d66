//! A recording on a full disk pauses, says so, and continues when there is room. A recording works
//! on PostgreSQL too.

use std::process::Stdio;

use super::recorded::{CONFIG, PATHS, export, polls_by_path, serve};
use crate::database::Database;
use crate::durability::disk::{Mounted, fill};
use crate::program::{Instance, eventually, path_text};
use crate::turns::turn;

#[test]
fn a_full_disk_pauses_the_recording_and_it_continues() {
    let _turn = turn();
    let mut instance = Instance::in_folder();
    let Some(disk) = Mounted::new(&instance.data, 24 << 10) else { return };
    let (_server, urls, log) = serve(6);
    instance.configure(CONFIG);
    let list = instance.write("list.txt", urls.join("\n"));
    let err = instance.home.path().join("err");
    let args = ["record", path_text(&list), "--for", "1h", "--allow-private"];
    let mut command = instance.command(&args);
    command.stdout(Stdio::null()).stderr(std::fs::File::create(&err).unwrap());
    let mut child = command.spawn().unwrap();
    let said = |text: &str| std::fs::read_to_string(&err).unwrap().contains(text);
    eventually("some polls", || (log.n_all() >= 20).then_some(()));
    fill(&instance.data, 0);
    // The line may come in pieces.
    let pauses = || said("the recording pauses") && said("disk");
    eventually("it pauses and names the disk", || pauses().then_some(()));
    std::fs::remove_file(instance.data.join("ballast")).unwrap();
    eventually("it continues", || said("the recording continues").then_some(()));
    let before = log.n_all();
    eventually("more polls", || (log.n_all() >= before + 12).then_some(()));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    let folder = export(&instance, "set", &["--raw"]);
    let polls = polls_by_path(&folder);
    for path in PATHS {
        let (rows, sent) = (polls[path].len(), log.of(path).len());
        // The polls whose record found no room are made again: at most two of a feed.
        assert!(rows <= sent && rows + 2 >= sent, "{path}: {rows} rows of {sent} requests");
    }
    drop(disk);
}

#[test]
fn a_recording_on_postgresql_exports_every_poll() {
    let _turn = turn();
    let Some(database) = Database::start(&[]) else { return };
    let (_server, urls, log) = serve(6);
    let mut instance = database.instance_at(database.url());
    instance.configure(CONFIG);
    let list = instance.write("list.txt", urls.join("\n"));
    instance.run(&["record", path_text(&list), "--for", "9s", "--allow-private"]).ok();
    let folder = export(&instance, "set", &["--raw"]);
    let polls = polls_by_path(&folder);
    for path in PATHS {
        assert_eq!(polls[path].len(), log.of(path).len(), "{path}");
    }
    let other = Instance::in_folder();
    other.run(&["dataset", "import", path_text(&folder)]).ok();
    let stats = |of: &Instance| of.run(&["dataset", "stats", "--json"]).ok().json();
    assert_eq!(stats(&other), stats(&instance), "SQLite and PostgreSQL give the same figures");
}

//! A recording that is killed continues: every poll has its row, or was never recorded.

use std::process::Stdio;

use super::recorded::{CONFIG, PATHS, export, polls_by_path, serve};
use crate::program::{Instance, eventually, path_text};
use crate::turns::turn;

#[test]
fn a_recording_continues_after_kill_9() {
    let _turn = turn();
    let (_server, urls, log) = serve(6);
    let instance = Instance::with_config(CONFIG);
    let list = instance.write("list.txt", urls.join("\n"));
    let args = ["record", path_text(&list), "--for", "20s", "--allow-private"];
    let mut n_kills = 0;
    for rounds in [30, 60] {
        let mut command = instance.command(&args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("some polls", || (log.n_all() >= rounds).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        n_kills += 1;
    }
    let ended = instance.run(&args).ok();
    assert!(ended.stderr.contains("continuing: "), "{}", ended.stderr);
    let folder = export(&instance, "set", &["--raw"]);
    let polls = polls_by_path(&folder);
    for path in PATHS {
        let (rows, sent) = (polls[path].len(), log.of(path).len());
        // A kill interrupts at most one poll of a feed.
        assert!(rows <= sent && rows + n_kills >= sent, "{path}: {rows} rows of {sent} requests");
    }
    let sums = std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert!(sums.contains("entries.csv.gz"));
}

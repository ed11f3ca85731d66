//! The settings of a store that several processes share.

use super::{FREELY, database};
use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::publisher::Publisher;

#[test]
fn settings_out_of_range_are_refused_with_their_place() {
    for (text, parts) in [
        ("[store]\nreaders = 0\n", ["config.toml:2:11", "between 1 and 256"]),
        ("[store]\nreaders = 1000\n", ["config.toml:2:11", "between 1 and 256"]),
        ("[machine]\nseat_silence = \"1s\"\n", ["config.toml:2:16", "3 s"]),
        ("[delivery]\nfolders = \"x\"\n", ["config.toml:2:1", "folder"]),
    ] {
        Instance::with_config(text).run(&["config", "check"]).says(2, &parts);
    }
    let good =
        "[store]\nreaders = 2\n[machine]\nseat_silence = \"30s\"\n[delivery]\nfolder = \"x\"";
    Instance::with_config(good).run(&["config", "check"]).ok();
}

#[test]
fn files_are_delivered_on_a_server_only_to_a_folder_that_the_operator_names() {
    let without = Instance::in_folder();
    let Some(url) = database(&without) else { return };
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 3));
    let text = format!(
        "CREATE FEED News AS RETURN \"{}\" DELIVER TO FILE \"news.jsonl\"",
        publisher.url("/f")
    );
    let queries = without.write("queries", text);
    let apply = ["query", "apply", path_text(&queries), "--database", &url];
    without.run(&apply).says(2, &["News", "[delivery] folder"]);

    let config = "[delivery]\nfolder = \"shared\"\n[store]\nreaders = 1\n";
    let mut with = Instance::with_config(config);
    with.database = None;
    with.run(&apply).ok();
    with.run(&["run", "--once", FREELY[0], FREELY[1], FREELY[2], "--database", &url]).ok();
    let file = with.data.join("shared/news.jsonl");
    let written = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file:?}: {e}"));
    assert_eq!(written.lines().count(), 3);
}

#[test]
fn the_folder_for_files_can_be_chosen_on_sqlite_too() {
    let elsewhere = tempfile::tempdir().unwrap();
    let config = format!("[delivery]\nfolder = \"{}\"\n", elsewhere.path().display());
    let mut instance = Instance::with_config(&config);
    instance.database = None;
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 2));
    let text = format!(
        "CREATE FEED News AS RETURN \"{}\" DELIVER TO FILE \"news.jsonl\"",
        publisher.url("/f")
    );
    let queries = instance.write("queries", text);
    instance.run(&["query", "apply", path_text(&queries)]).ok();
    instance.run(&["run", "--once", FREELY[0], FREELY[1], FREELY[2]]).ok();
    let written = std::fs::read_to_string(elsewhere.path().join("news.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 2);
}

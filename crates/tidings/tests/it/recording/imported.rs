//! `tidings dataset import`, and the pages on a recording. The store after an import says the same
//! as the store that was exported.

use std::path::Path;

use dataset::tables::DocumentLine;

use super::recorded::{CONFIG, PATHS, export, read, serve};
use crate::program::{Instance, eventually, path_text};
use crate::turns::turn;
use crate::wire;

/// Records some seconds. Returns the instance and its data set with documents.
fn recorded() -> (Instance, std::path::PathBuf) {
    let (_server, urls, _log) = serve(6);
    let instance = Instance::with_config(CONFIG);
    let list = instance.write("list.txt", urls.join("\n"));
    instance.run(&["record", path_text(&list), "--for", "9s", "--allow-private"]).ok();
    let folder = export(&instance, "set", &["--raw"]);
    (instance, folder)
}

fn same_bytes(a: &Path, b: &Path, name: &str) {
    assert!(std::fs::read(a.join(name)).unwrap() == std::fs::read(b.join(name)).unwrap(), "{name}");
}

/// The documents of a data set: digest, feed, first poll and size.
fn documents(folder: &Path) -> Vec<(String, u64, i64, u64)> {
    let rows = read::<DocumentLine>(folder, "documents").into_iter();
    rows.map(|row| (row.sha256, row.feed, row.first_seen.millis(), row.bytes)).collect()
}

#[test]
fn an_import_gives_the_same_tables_and_figures_and_polls_nobody() {
    let _turn = turn();
    let (instance, folder) = recorded();
    let other = Instance::in_folder();
    let ended = other.run(&["dataset", "import", path_text(&folder)]).ok();
    assert!(ended.stderr.contains("All feeds are paused"), "{}", ended.stderr);
    assert!(other.feeds().iter().all(|feed| feed["state"] == "paused"), "{:?}", other.feeds());
    let stats = |of: &Instance| of.run(&["dataset", "stats", "--json"]).ok().json();
    assert_eq!(stats(&other), stats(&instance));
    other.run(&["dataset", "import", path_text(&folder)]).says(2, &["in the store already"]);
    for number in 1..=PATHS.len() {
        other.run(&["feed", "set", &number.to_string(), "--resume"]).ok();
    }
    let again = export(&other, "again", &["--raw"]);
    for name in ["feeds", "polls", "entries", "misses"] {
        same_bytes(&folder, &again, &format!("{name}.csv.gz"));
    }
    // The archives begin with the start of the recording, so places in them differ.
    assert_eq!(documents(&folder), documents(&again));
    damage_is_refused(&folder);
}

fn damage_is_refused(folder: &Path) {
    let other = Instance::in_folder();
    let file = folder.join("polls.csv.gz");
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let import = other.run(&["dataset", "import", path_text(folder)]);
    import.says(2, &["polls.csv.gz", "another checksum"]);
    let nothing = other.home.path().join("nothing");
    let import = other.run(&["dataset", "import", path_text(&nothing)]);
    import.says(2, &["datapackage.json", "name the folder of a data set"]);
}

/// A data set without documents and texts can be imported too.
#[test]
fn a_pseudonymised_set_can_be_imported() {
    let _turn = turn();
    let (instance, _) = recorded();
    let folder = export(&instance, "hidden", &["--pseudonymise"]);
    let other = Instance::in_folder();
    other.run(&["dataset", "import", path_text(&folder)]).ok();
    let stats = |of: &Instance| of.run(&["dataset", "stats", "--json"]).ok().json();
    let (ours, theirs) = (stats(&other), stats(&instance));
    for name in ["feeds", "polls", "entries"] {
        assert_eq!(ours[name], theirs[name], "{name}");
    }
    assert!(other.feeds().iter().all(|feed| feed["url"].as_str().unwrap().contains(".invalid")));
}

#[test]
fn damaged_documents_and_the_figures_are_on_the_pages() {
    let _turn = turn();
    let (instance, folder) = recorded();
    let broken = PATHS.iter().position(|path| *path == "/broken").unwrap() + 1;
    // Without --allow-private nobody is polled: the feeds are on loopback.
    let daemon = instance.daemon(&[]).ready();
    let get = |path: &str| wire::get(daemon.listen, path).unwrap();
    let (status, page) = get(&format!("/feed/{broken}"));
    assert_eq!(status, 200);
    assert!(page.contains("Recorded documents") && page.contains("<strong>damaged</strong>"));
    let row = page.split("<strong>damaged</strong>").nth(1).unwrap();
    let href = row.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let (status, body) = get(href);
    assert_eq!((status, body.as_str()), (200, "<rss version=\"2.0\"><channel><item><title>cut"));
    assert_eq!(get(&format!("/feed/{broken}/document/99999")).0, 404);

    let (_, page) = get("/population");
    assert!(page.contains("No figures yet"), "{page}");
    let key = page.split("name=\"form_key\" value=\"").nth(1).unwrap();
    let key = key.split('"').next().unwrap();
    let origin = format!(
        "Content-Type: application/x-www-form-urlencoded\r\nOrigin: http://{}\r\n",
        daemon.listen
    );
    let form = format!("form_key={key}");
    assert_eq!(wire::post_as(daemon.listen, "/population", &origin, &form).unwrap(), 303);
    let page = eventually("the figures", || {
        let (_, page) = get("/population");
        (!page.contains("No figures yet") && page.contains("Update patterns")).then_some(page)
    });
    assert!(page.contains("44 %") && page.contains("/population/figure/windows.svg"));
    let (status, svg) = get("/population/figure/windows.svg");
    assert!(status == 200 && svg.starts_with("<svg"), "{status}");
    // Nothing is published unless the operator says so.
    assert_eq!(get("/population/2026-10/README.md").0, 404);
    drop(daemon);
    drop(folder);
}

#[test]
fn duplicates_among_the_own_feeds_are_proposed() {
    let _turn = turn();
    let instance = Instance::in_folder();
    let urls = ["http://a.test/rss.xml", "http://a.test/atom.xml", "http://b.test/feed"];
    instance.import(&crate::documents::opml(&urls.map(str::to_owned))).ok();
    let daemon = instance.daemon(&[]).ready();
    let page = eventually("the proposal", || {
        let (_, page) = wire::get(daemon.listen, "/feeds").unwrap();
        page.contains("probably subscribed twice").then_some(page)
    });
    assert!(page.contains("is the same feed in another format"), "{page}");
    assert_eq!(instance.feeds().len(), 3, "nothing is merged");
}

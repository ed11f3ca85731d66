//! A store moves to another place: refused while a daemon runs, the same entries under the same
//! cursors afterwards, and to PostgreSQL and back if the tests have a server.

use crate::documents::rss;
use crate::program::{Instance, path_text};
use crate::publisher::Publisher;

#[test]
fn a_store_moves_to_another_place_and_keeps_its_cursors() {
    let publisher = Publisher::start(1);
    let instance = Instance::in_folder();
    for n in 0..3 {
        publisher.set(&format!("/{n}"), rss(&format!("f{n}"), 5));
        let url = publisher.url(&format!("/{n}"));
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    }
    instance.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]).ok();
    instance.run(&["doctor"]).ok();
    let entries = instance.entries();
    assert_eq!(entries.len(), 15);

    let from = path_text(&instance.data).to_owned();
    let (middle, other) = (tempfile::tempdir().unwrap(), Instance::in_folder());
    let middle = store::testing::url(middle.path())
        .unwrap_or_else(|| path_text(&middle.path().join("new")).to_owned());
    let to = path_text(&other.data).to_owned();
    {
        let _daemon = instance.daemon(&[]).ready();
        instance
            .run(&["migrate", "--from", &from, "--to", &middle])
            .says(1, &["in use by process", "stop the daemon"]);
    }
    instance.run(&["migrate", "--from", &from, "--to", &from]).says(2, &["same folder"]);
    instance
        .run(&["migrate", "--from", "nowhere", "--to", &middle])
        .says(2, &["nowhere", "--from"]);
    instance
        .run(&["migrate", "--from", &from, "--to", "postgres://h:notaport/d"])
        .says(2, &["not a database address"]);

    let moved = instance.run(&["migrate", "--from", &from, "--to", &middle, "--json"]).ok().json();
    let rows = |moved: &serde_json::Value, name: &str| {
        let tables = moved["tables"].as_array().unwrap();
        let table = tables.iter().find(|table| table["name"] == name).unwrap();
        (table["rows"].as_u64().unwrap(), table["hash"].as_str().unwrap().to_owned())
    };
    assert_eq!(rows(&moved, "entries").0, 15);
    assert_eq!(moved["findings"].as_array().unwrap().len(), 0);
    instance
        .run(&["migrate", "--from", &from, "--to", &middle])
        .says(2, &["holds data already", "empty place"]);

    let back = other.run(&["migrate", "--from", &middle, "--to", &to]).ok();
    for part in ["counts and hashes are equal", "search index", "new place only"] {
        assert!(back.stdout.contains(part), "{back:?}");
    }
    assert_eq!(other.entries(), entries, "the same entries under the same cursors");
    other.run(&["doctor"]).ok();
    other.run(&["run", "--once", "--allow-private", "--domain-gap", "0s"]).ok();
    assert_eq!(other.entries().len(), 15, "nothing is found twice");
}

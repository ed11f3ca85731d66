//! `[recording]`: a daemon that records without an end, shows its figures to strangers, and exports
//! each month.

use std::io::Read as _;

use super::recorded::{CONFIG, export, serve};
use crate::program::{Instance, eventually, path_text};
use crate::turns::turn;
use crate::wire;

/// Moves every time of a data set to an earlier month, so that the month is over.
fn moved_to_the_past(folder: &std::path::Path) {
    for name in ["feeds", "polls", "entries", "misses"] {
        let path = folder.join(format!("{name}.csv.gz"));
        let mut text = String::new();
        let file = std::fs::File::open(&path).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        let mut moved = String::new();
        for field in text.split_inclusive(',') {
            let is_time = field.len() > 20 && field.as_bytes()[10] == b'T' && field.contains(":");
            match field.strip_prefix("20").filter(|_| is_time && field.starts_with("20")) {
                Some(rest) => moved.push_str(&format!("2020-01{}", &rest[5..])),
                None => moved.push_str(field),
            }
        }
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(path, moved).unwrap();
        std::fs::remove_file(folder.join(format!("{name}.csv.gz"))).unwrap();
    }
    std::fs::remove_file(folder.join("SHA256SUMS")).unwrap();
}

#[test]
fn a_month_is_exported_and_strangers_see_figures_without_texts() {
    let _turn = turn();
    let (_server, urls, _log) = serve(6);
    let first = Instance::with_config(CONFIG);
    let list = first.write("list.txt", urls.join("\n"));
    first.run(&["record", path_text(&list), "--for", "6s", "--allow-private"]).ok();
    let folder = export(&first, "set", &[]);
    moved_to_the_past(&folder);
    let mut instance = Instance::in_folder();
    instance.run(&["dataset", "import", path_text(&folder)]).ok();
    instance.run(&["feed", "set", "1", "--resume"]).ok();
    instance.configure("[recording]\npublish = true\ncontinuous = true\n");
    let daemon = instance.daemon(&[]).ready();
    let get = |path: &str| wire::get(daemon.listen, path).unwrap();
    let page = eventually("the export of the month", || {
        let (_, page) = get("/population");
        page.contains("/population/2020-01/entries.csv.gz").then_some(page)
    });
    assert!(page.contains("SHA256SUMS") && page.contains("This page is public"), "{page}");
    let (status, readme) = get("/population/2020-01/README.md");
    assert_eq!(status, 200);
    assert!(readme.contains("salted digests") && readme.contains("of 1 web feed,"), "{readme}");
    assert_eq!(get("/population/2020-01/..%2F..%2Ftidings.db").0, 404);
    // A request under another name is a stranger's: only the published page answers.
    let as_stranger = |path: &str| {
        let host = "Host: elsewhere.example\r\n";
        let head = format!("GET {path} HTTP/1.1\r\n{host}");
        wire::raw(daemon.listen, &head, "").unwrap()
    };
    assert_eq!((as_stranger("/population"), as_stranger("/feeds")), (200, 421));
    let published = instance.data.join("published/2020-01");
    let mut text = String::new();
    for name in ["feeds", "polls", "entries"] {
        let file = std::fs::File::open(published.join(format!("{name}.csv.gz"))).unwrap();
        flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    }
    assert!(text.contains("2020-01-") && !text.contains("example.org") && !text.contains("127."));
    drop(daemon);
    // `continuous` began a recording without an end; `record` must not take it over.
    let refused = instance.run(&["record", path_text(&list), "--for", "1s"]);
    refused.says(2, &["records without an end"]);
}

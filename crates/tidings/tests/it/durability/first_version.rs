//! A data folder that the first version wrote (commit 051dd76, schema 13): two people, three feeds
//! with tags, thirteen entries, marks, stars and a query. Nothing may be lost when this version
//! takes it over, and everybody keeps what they saw.

use std::fs::File;
use std::io;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::program::{Daemon, Instance};
use crate::wire;

const WRITTEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/first-version.db.gz");
/// Tokens of the accounts in the file.
const ANNA: &str = "WIBOo3n88aXJB7d5cXpWVi6Sy7Wyjgs9";
const BERT: &str = "VBgNm4cqBrM1k7sOuR9WlV1avgCUU6tQ";

fn asked(daemon: &Daemon, token: &str, path: &str) -> Value {
    let lines = format!("X-Auth-Token: {token}\r\nAuthorization: Bearer {token}\r\n");
    let (status, text) = wire::get_with(daemon.listen, path, &lines).unwrap();
    assert_eq!(status, 200, "{path}: {text}");
    serde_json::from_str(&text).unwrap()
}

fn entries(daemon: &Daemon, token: &str, which: &str) -> Vec<u64> {
    let answer = asked(daemon, token, &format!("/v1/entries?limit=100&{which}"));
    let mut ids: Vec<u64> =
        answer["entries"].as_array().unwrap().iter().map(|e| e["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

fn titles(daemon: &Daemon, token: &str, path: &str) -> Vec<String> {
    let list = asked(daemon, token, path);
    list.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_folder_of_the_first_version_keeps_all_that_people_had() {
    let instance = Instance::in_folder();
    std::fs::create_dir_all(&instance.data).unwrap();
    let mut database = File::create(instance.data.join("tidings.db")).unwrap();
    io::copy(&mut GzDecoder::new(File::open(WRITTEN).unwrap()), &mut database).unwrap();
    drop(database);

    let daemon = instance.daemon(&[]).ready();
    let people = [(ANNA, vec![1, 2, 3], vec![5]), (BERT, vec![3, 9], vec![3, 12])];
    for (token, read, starred) in people {
        assert_eq!(titles(&daemon, token, "/v1/feeds"), ["Feed a", "Feed b", "Feed c"]);
        assert_eq!(titles(&daemon, token, "/v1/categories"), ["All", "news", "sport"]);
        assert_eq!(entries(&daemon, token, ""), Vec::from_iter(1..=13));
        assert_eq!(entries(&daemon, token, "status=read"), read);
        assert_eq!(entries(&daemon, token, "starred=true"), starred);
        let queries = asked(&daemon, token, "/api/v1/queries");
        assert_eq!(queries["queries"][0]["name"], "Oranges", "everybody still sees the query");
    }
    drop(daemon);
    instance.run(&["doctor"]).ok();
    assert_eq!(instance.entries().len(), 13);
}

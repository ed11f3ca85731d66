//! Two people with four feeds, one of them in common. Each sees exactly their own, with marks of
//! their own, over the three reader APIs, the JSON API and the page. The publisher's log shows that
//! the common feed is polled once for both.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{account, send};
use crate::documents::rss;
use crate::program::{Daemon, Instance};
use crate::publisher::Publisher;

const FEEDS: [&str; 4] = ["anna1", "anna2", "bert1", "common"];

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

struct Person {
    name: &'static str,
    token: String,
    own: &'static [&'static str],
}

impl Person {
    fn ask(&self, daemon: &Daemon, what: &str, body: &str) -> String {
        let (token, path) = (&self.token, what.split(' ').nth(1).unwrap());
        let line = match path {
            path if path.starts_with("/v1/") => format!("X-Auth-Token: {token}"),
            path if path.starts_with("/reader/") => {
                format!("{FORM}\r\nAuthorization: GoogleLogin auth={token}")
            }
            path if path.starts_with("/fever/") => FORM.to_owned(),
            _ => format!("Authorization: Bearer {token}"),
        };
        let (status, text) = send(daemon.listen, what, &format!("{line}\r\n"), body);
        assert!(matches!(status, 200 | 204), "{what}: {status} {text}");
        text
    }

    fn get(&self, daemon: &Daemon, path: &str) -> String {
        self.ask(daemon, &format!("GET {path}"), "")
    }

    /// Asks as Fever's apps do, whose key is the MD5 of name and token.
    fn fever(&self, daemon: &Daemon, asked: &str) -> String {
        let mut command = Command::new("md5sum");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let secret = format!("{}:{}", self.name, self.token);
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), secret.as_bytes()).unwrap();
        let sum = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let key = sum.split(' ').next().unwrap();
        self.ask(daemon, &format!("POST /fever/?api&{asked}"), &format!("api_key={key}"))
    }

    /// The numbers of unread entries by all three reader APIs, which must agree.
    fn unread(&self, daemon: &Daemon) -> BTreeSet<u64> {
        let miniflux: Value =
            serde_json::from_str(&self.get(daemon, "/v1/entries?status=unread")).unwrap();
        let rows = miniflux["entries"].as_array().unwrap();
        let unread: BTreeSet<u64> = rows.iter().map(|row| row["id"].as_u64().unwrap()).collect();
        let path = "/reader/api/0/stream/items/ids?s=user/-/state/com.google/reading-list\
                    &xt=user/-/state/com.google/read&n=100";
        let google: Value = serde_json::from_str(&self.get(daemon, path)).unwrap();
        let refs = google["itemRefs"].as_array().unwrap().iter();
        let refs = refs.map(|one| one["id"].as_str().unwrap().parse().unwrap());
        assert_eq!(refs.collect::<BTreeSet<u64>>(), unread, "Google Reader");
        let fever: Value = serde_json::from_str(&self.fever(daemon, "unread_item_ids")).unwrap();
        let ids = fever["unread_item_ids"].as_str().unwrap().split(',');
        assert_eq!(ids.map(|id| id.parse().unwrap()).collect::<BTreeSet<u64>>(), unread, "Fever");
        unread
    }
}

/// The feeds whose entries a text names.
fn named(text: &str) -> Vec<&'static str> {
    FEEDS.into_iter().filter(|feed| text.contains(&format!("of {feed}"))).collect()
}

fn n_polls(publisher: &Publisher, feed: &str) -> usize {
    let path = format!("/{feed}");
    publisher.take_asked().iter().filter(|asked| asked.path == path).count()
}

#[test]
fn two_people_see_their_own_feeds_everywhere_and_the_common_one_is_polled_once() {
    let publisher = Publisher::start(1);
    for feed in FEEDS {
        publisher.set(&format!("/{feed}"), rss(feed, 2));
    }
    let instance = Instance::new();
    let person = |name, own| Person { name, token: account(&instance, name), own };
    let people =
        [person("anna", &["anna1", "anna2", "common"]), person("bert", &["bert1", "common"])];
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    for person in &people {
        for feed in person.own {
            let url = publisher.url(&format!("/{feed}"));
            instance.run(&["feed", "add", &url, "--user", person.name]).ok();
        }
    }
    assert_eq!(n_polls(&publisher, "common"), 1, "the second subscriber costs no request");
    for person in &people {
        let own = person.own;
        for path in [
            "/",
            "/api/v1/reading?limit=100",
            "/v1/entries?limit=100",
            "/reader/api/0/stream/contents/user/-/state/com.google/reading-list?n=100",
        ] {
            let text = person.get(&daemon, path);
            assert_eq!(named(&text), own, "{} at {path}: {text}", person.name);
        }
        assert_eq!(named(&person.fever(&daemon, "items")), own, "{}", person.name);
        assert_eq!(person.unread(&daemon).len(), 2 * own.len());
    }
    publisher.set("/common", rss("common", 3));
    instance.run(&["feed", "poll", &publisher.url("/common")]).ok();
    assert_eq!(n_polls(&publisher, "common"), 1, "one request for both");
    let [anna, bert] = &people;
    let (of_anna, of_bert) = (anna.unread(&daemon), bert.unread(&daemon));
    assert_eq!((of_anna.len(), of_bert.len()), (7, 5), "both have the new entry");
    // An entry that one of them reads, by any app, stays unread for the other.
    let common: Vec<u64> = of_anna.intersection(&of_bert).copied().collect();
    let [first, second, third] = common[..] else { panic!("{common:?}") };
    let body = json!({"entry_ids": [first], "status": "read"}).to_string();
    anna.ask(&daemon, "PUT /v1/entries", &body);
    let read = format!("i={second}&a=user/-/state/com.google/read");
    anna.ask(&daemon, "POST /reader/api/0/edit-tag", &read);
    bert.fever(&daemon, &format!("mark=item&as=read&id={third}"));
    let without = |before: BTreeSet<u64>, read: &[u64]| -> BTreeSet<u64> {
        before.into_iter().filter(|id| !read.contains(id)).collect()
    };
    assert_eq!(anna.unread(&daemon), without(of_anna, &[first, second]));
    assert_eq!(bert.unread(&daemon), without(of_bert, &[third]));
}

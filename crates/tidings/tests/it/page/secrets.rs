//! Users, passwords and tokens in feed URLs are used but never shown, except by `export
//! --with-secrets`.

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::wire::{Response, get};

const SECRETS: [&str; 6] = ["s3cretpw", "t0ken", "k3y", "p4ss", "s1gn", "c00kie"];
const QUERY: &str =
    "?a=1&token=t0ken&api_key=k3y&Passwd=p4ss&X-Amz-Signature=s1gn&PHPSESSID=c00kie";

/// Every kind of answer that names feeds.
const PATHS: [&str; 19] = [
    "/",
    "/feeds",
    "/feed/1",
    "/feed/2",
    "/health",
    "/metrics",
    "/export.opml",
    "/api/v1/feeds",
    "/api/v1/feeds/2",
    "/api/v1/feeds/2/polls",
    "/api/v1/entries",
    "/api/v1/opml",
    "/v1/feeds",
    "/v1/entries",
    "/reader/api/0/subscription/list?output=json",
    "/reader/api/0/subscription/export",
    "/reader/api/0/stream/contents?output=json",
    "/reader/atom/feed/1",
    "/fever/?api&feeds&items",
];

#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{what} shows `{secret}`:\n{text}");
    }
}

fn secret_url(publisher: &Publisher, path: &str) -> String {
    let host = format!("{}:{}", publisher.addresses[0], publisher.server.port);
    format!("http://me:s3cretpw@{host}{path}{QUERY}")
}

#[test]
fn no_command_no_log_and_no_page_shows_a_secret() {
    let publisher = Publisher::start(1);
    publisher.set(&format!("/f{QUERY}"), rss("f", 2));
    publisher.set_answer(&format!("/bad{QUERY}"), Response::new(404));
    let instance = Instance::new();
    let (good, bad) = (secret_url(&publisher, "/f"), secret_url(&publisher, "/bad"));
    for url in [&good, &bad] {
        let args = ["feed", "add", url, "--force", "--allow-private", "--domain-gap", "0s"];
        let ended = instance.run(&args);
        hides("feed add", &format!("{}{}", ended.stdout, ended.stderr));
    }
    assert_eq!(instance.entries().len(), 2, "the URL is asked for with its secrets");

    let mut daemon = instance.daemon(&["--allow-private", "--domain-gap", "0s"]).ready();
    for args in [
        vec!["feed", "list"],
        vec!["feed", "list", "--json"],
        vec!["feed", "show", "1"],
        vec!["feed", "show", "1", "--json"],
        vec!["feed", "why", "1"],
        vec!["feed", "why", "2"],
        vec!["feed", "why", "1", "--json"],
        vec!["feed", "poll", &good],
        vec!["feed", "poll", "2"],
        vec!["feed", "poll", "2", "--json"],
        vec!["entries"],
        vec!["export"],
        vec!["export", "--format", "json"],
        vec!["doctor"],
        vec!["feed", "set", &good, "--pause"],
    ] {
        let ended = instance.run(&args);
        hides(&args.join(" "), &format!("{}{}", ended.stdout, ended.stderr));
    }
    for path in PATHS {
        let (status, text) = get(daemon.listen, path).unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        hides(path, &text);
    }
    daemon.signal("TERM");
    hides("the log", &daemon.log());

    let shown = instance.run(&["export", "--with-secrets"]).ok().stdout;
    for secret in SECRETS {
        assert!(shown.contains(secret), "--with-secrets shows `{secret}`: {shown}");
    }
    let copy = Instance::new();
    copy.import(&shown).ok();
    let urls = |i: &Instance| -> Vec<String> {
        let list = i.run(&["export", "--with-secrets"]).ok().stdout;
        list.split("xmlUrl=\"").skip(1).map(|u| u.split('"').next().unwrap().to_owned()).collect()
    };
    assert_eq!(urls(&copy), urls(&instance), "a whole list can be moved");
}

#[test]
fn a_secret_in_a_wrong_call_is_not_repeated() {
    let instance = Instance::new();
    let ended = instance.run(&["feed", "poll", "http://me:s3cretpw@nobody.example/f?token=t0ken"]);
    assert_eq!(ended.code, Some(2));
    hides("feed poll", &ended.stderr);
    let ended = instance.run(&["feed", "add", "ftp://me:s3cretpw@example.org/f"]);
    assert_eq!(ended.code, Some(2));
    hides("feed add", &ended.stderr);
}

//! Users, passwords and tokens in feed URLs are used and never shown, but by
//! `export --with-secrets`.

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::wire::{Response, get};

const SECRETS: [&str; 3] = ["s3cretpw", "t0ken", "k3y"];

#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{what} shows `{secret}`:\n{text}");
    }
}

fn secret_url(publisher: &Publisher, path: &str) -> String {
    let host = format!("{}:{}", publisher.addresses[0], publisher.server.port);
    format!("http://me:s3cretpw@{host}{path}?a=1&token=t0ken&api_key=k3y")
}

#[test]
fn no_command_no_log_and_no_page_shows_a_secret() {
    let publisher = Publisher::start(1);
    publisher.set("/f?a=1&token=t0ken&api_key=k3y", rss("f", 2));
    publisher.set_answer("/bad?a=1&token=t0ken&api_key=k3y", Response::new(404));
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
    for path in ["/", "/metrics"] {
        hides(path, &get(daemon.listen, path).unwrap().1);
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

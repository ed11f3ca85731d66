//! Addresses that people paste: pages of well-known sites become feeds by rules.

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::wire::Response;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// A site that the rules know, played by the publisher under its real name.
struct KnownSite {
    publisher: Publisher,
    instance: Instance,
}

impl KnownSite {
    fn new() -> KnownSite {
        let publisher = Publisher::start(1);
        let url = url::Url::parse(&publisher.url("/")).unwrap();
        let host = url.host_str().unwrap();
        let config = format!("[resolve]\n\"someone.substack.com\" = \"{host}\"\n");
        KnownSite { publisher, instance: Instance::with_config(&config) }
    }

    fn url(&self, path: &str) -> String {
        let url = url::Url::parse(&self.publisher.url(path)).unwrap();
        format!("http://someone.substack.com:{}{path}", url.port().unwrap())
    }

    fn add(&self, path: &str, more: &[&str]) -> crate::program::Ended {
        let url = self.url(path);
        self.instance.run(&[&["feed", "add", &url], &FREELY[..], more].concat())
    }

    fn asked(&self) -> Vec<String> {
        self.publisher.take_asked().into_iter().map(|asked| asked.path).collect()
    }
}

#[test]
fn a_page_of_a_known_site_is_added_as_its_feed_by_one_request() {
    let site = KnownSite::new();
    site.publisher.set("/feed", rss("f", 2));
    site.add("/", &[]).ok();
    assert_eq!(site.asked(), ["/feed"]);
    assert_eq!(site.instance.feeds()[0]["url"], site.url("/feed"));
    site.add("/archive", &[]).ok();
    assert_eq!(site.instance.feeds().len(), 1, "the same feed by another page");
    let found = site.instance.run(&["discover", &site.url("/"), "--allow-private", "--json"]);
    assert_eq!(found.ok().json()[0]["feeds"][0]["url"], site.url("/feed"));
}

#[test]
fn a_rule_that_is_wrong_falls_back_to_the_page() {
    let site = KnownSite::new();
    let page = r#"<link rel="alternate" type="application/rss+xml" href="/own.xml">"#;
    site.publisher.set_answer("/", Response::new(200).with("Content-Type", "text/html").body(page));
    site.publisher.set("/own.xml", rss("own", 1));
    site.add("/", &[]).ok();
    assert_eq!(site.asked(), ["/feed", "/", "/own.xml"]);
    assert_eq!(site.instance.feeds()[0]["url"], site.url("/own.xml"));
    assert_eq!(site.instance.feeds().len(), 1);
}

#[test]
fn an_address_that_is_forced_is_kept_as_it_is() {
    let site = KnownSite::new();
    site.publisher.set_answer("/", Response::new(200).body("<html><p>x</p></html>"));
    site.add("/", &["--force"]).ok();
    assert_eq!(site.instance.feeds()[0]["url"], site.url("/"));
}

#[test]
fn a_path_of_common_software_is_tried() {
    let publisher = Publisher::start(1);
    let page =
        Response::new(200).with("Content-Type", "text/html").body("<html><p>Toots</p></html>");
    publisher.set_answer("/@someone", page);
    publisher.set("/@someone.rss", rss("toots", 2));
    let instance = Instance::new();
    let url = publisher.url("/@someone");
    instance.run(&[&["feed", "add", &url], &FREELY[..]].concat()).ok();
    assert_eq!(instance.feeds()[0]["url"], publisher.url("/@someone.rss"));
    let found = instance.run(&["discover", &url, "--allow-private", "--json"]).ok().json();
    assert_eq!(found[0]["feeds"][0]["url"], publisher.url("/@someone.rss"));
    let other = Response::new(200).with("Content-Type", "text/html").body("<html><p>x</p></html>");
    publisher.set_answer("/@nobody", other);
    let ended = instance.run(&["discover", &publisher.url("/@nobody"), "--allow-private"]);
    ended.says(1, &["/@nobody", "no link to one"]);
}

#[test]
fn a_site_without_feeds_says_so_without_a_request() {
    let ended = Instance::new().run(&["discover", "https://www.instagram.com/someone"]);
    ended.says(1, &["Instagram has no feeds"]);
}

//! Addresses that people paste: pages of well-known sites become feeds by rules.

use serde_json::json;

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::wire::{self, Response};

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
        let names = ["someone.substack.com", "www.instagram.com"];
        let config: String = names.map(|name| format!("\"{name}\" = \"{host}\"\n")).concat();
        let config = format!("[resolve]\n{config}");
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
fn the_page_and_the_apis_take_the_same_addresses() {
    let post = |at, path: &str, body: serde_json::Value| {
        wire::post_as(at, path, "Content-Type: application/json\r\n", &body.to_string()).unwrap()
    };
    for way in ["form", "v1", "miniflux"] {
        let site = KnownSite::new();
        site.publisher.set("/feed", rss("f", 2));
        let daemon = site.instance.daemon(&FREELY).ready();
        let (at, url) = (daemon.listen, site.url("/p/a-post"));
        let (status, expected) = match way {
            "form" => (wire::submit(at, "/feeds", "/feeds", &[("url", &url)]).unwrap().0, 303),
            "v1" => (post(at, "/api/v1/feeds", json!({"url": url})), 200),
            _ => (post(at, "/v1/feeds", json!({"feed_url": url})), 201),
        };
        assert_eq!(status, expected, "{way}: {}", daemon.log());
        let feeds = site.instance.feeds();
        assert_eq!((feeds.len(), &feeds[0]["url"]), (1, &json!(site.url("/feed"))), "{way}");
        let asked = site.asked();
        assert!(!asked.contains(&"/p/a-post".to_owned()), "{way}: {asked:?}");
    }
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
    let site = KnownSite::new();
    let url = site.url("/someone").replace("someone.substack.com", "www.instagram.com");
    let says = &["Instagram has no feeds"];
    site.instance.run(&["discover", &url, "--allow-private"]).says(1, says);
    site.instance.run(&[&["feed", "add", &url], &FREELY[..]].concat()).says(1, says);
    assert!(site.asked().is_empty() && site.instance.feeds().is_empty());
    let page = Response::new(200).with("Content-Type", "text/html").body("<html><p>x</p></html>");
    site.publisher.set_answer("/someone", page);
    site.instance.run(&[&["feed", "add", &url, "--force"], &FREELY[..]].concat()).ok();
    assert_eq!(site.instance.feeds()[0]["url"], url, "an address that is forced is kept");
}

//! `[articles] keep_html`: the operator decides whether pages are kept as they came.

use crate::documents::opml;
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire::{self, Response};

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

/// Loads the page behind an entry, lets the site lose the page, and tries a selector on it. Returns
/// what the page of the trial shows.
fn tried(config: &str) -> String {
    let publisher = Publisher::start(1);
    let link = publisher.url("/page");
    let item = format!("<item><title>River</title><guid>1</guid><link>{link}</link></item>");
    let feed = format!("<rss version=\"2.0\"><channel><title>Feed</title>{item}</channel></rss>");
    publisher.set("/feed", feed);
    let sentence = "The river rose in the night, and the people carried their books upstairs. ";
    let page = format!("<title>River</title><article><p>{}</p></article>", sentence.repeat(20));
    let page = Response::new(200).with("Content-Type", "text/html").body(page);
    publisher.set_answer("/page", page);
    let instance = Instance::with_config(config);
    instance.import(&opml([&publisher.url("/feed")])).ok();
    let daemon = instance.daemon(&FREELY).ready();
    let at = daemon.listen;
    eventually("the entry is there", || (wire::get(at, "/entry/1").ok()?.0 == 200).then_some(()));
    let (status, _) = wire::submit(at, "/entry/1", "/entry/1/article", &[]).unwrap();
    assert_eq!(status, 303, "{}", daemon.log());
    eventually("the article is there", || {
        let (_, state) = wire::get(at, "/api/v1/entries/1/article").ok()?;
        state.contains("\"there\"").then_some(())
    });
    publisher.set_answer("/page", Response::new(404));
    let fields = [("articles", ""), ("selector", "article p")];
    let (status, shown) = wire::submit(at, "/feed/1", "/feed/1/try", &fields).unwrap();
    assert_eq!(status, 200, "{shown}");
    shown
}

#[test]
fn a_page_is_kept_only_if_the_configuration_says_so() {
    let shown = tried("[articles]\nkeep_html = true\n");
    assert!(shown.contains("<p>The river rose"), "the page was kept: {shown}");
    let shown = tried("[articles]\nkeep_html = false\n");
    assert!(shown.contains("No text:") && shown.contains("404"), "the site was asked: {shown}");
}

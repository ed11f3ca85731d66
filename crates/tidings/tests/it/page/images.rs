//! Pictures of entries come through the program, or not at all.

use crate::documents::rss;
use crate::program::Instance;
use crate::publisher::Publisher;
use crate::wire::get;

/// A feed whose first entry shows a picture, and the HTML of its page.
fn shown(config: &str) -> (Publisher, String, crate::program::Daemon) {
    let publisher = Publisher::start(1);
    publisher.set("/a.gif", "GIF89a;".to_owned());
    let picture = format!("&lt;img src=\"{}\" alt=\"A cat\"&gt;", publisher.url("/a.gif"));
    publisher.set("/f", rss("f", 1).replace("Text of item 0.", &picture));
    let instance = Instance::with_config(config);
    let url = publisher.url("/f");
    instance.run(&["feed", "add", &url, "--allow-private", "--domain-gap", "0s"]).ok();
    let daemon = instance.daemon(&["--allow-private"]).ready();
    let (status, page) = get(daemon.listen, "/entry/1").unwrap();
    assert_eq!(status, 200);
    assert!(page.contains("A cat"), "{page}");
    assert!(!page.contains("src=\"http"), "the page asks nobody else: {page}");
    (publisher, page, daemon)
}

#[test]
fn a_picture_is_shown_through_the_program() {
    let (_publisher, page, daemon) = shown("contact = \"https://example.org/\"\n");
    let rest = page.split("src=\"/image").nth(1).unwrap();
    let address = format!("/image{}", rest.split('"').next().unwrap());
    assert!(address.starts_with("/image?u="), "{address}");
    let address = address.replace("&amp;", "&").replace("&#38;", "&");
    assert_eq!(get(daemon.listen, &address).unwrap(), (200, "GIF89a;".to_owned()));
    let forged = address.replace("a.gif", "b.gif");
    assert_eq!(get(daemon.listen, &forged).unwrap().0, 403);
}

#[test]
fn pictures_can_be_turned_off() {
    let (publisher, page, daemon) = shown("images = \"off\"\n");
    assert!(!page.contains("/image?"), "{page}");
    assert_eq!(get(daemon.listen, "/image?u=x&s=y").unwrap().0, 404);
    drop(publisher);
    let ended = Instance::with_config("images = \"yes\"\n").run(&["feed", "list"]);
    ended.says(2, &["images", "`yes`", "proxy"]);
}

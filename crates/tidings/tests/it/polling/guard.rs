//! Addresses that are not public are refused when a request is made, in every spelling, and never
//! when a URL is stored.

use crate::documents::rss;
use crate::program::{Instance, eventually};
use crate::publisher::Publisher;
use crate::wire;

#[test]
fn loopback_is_refused_unless_the_operator_allows_it() {
    let publisher = Publisher::start(1);
    publisher.set("/f", rss("f", 2));
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    let ended = instance.run(&["feed", "poll", &url, "--json"]);
    assert_eq!(ended.code, Some(1));
    let answer = ended.json();
    assert_eq!(answer["outcome"], "refused", "{answer}");
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.contains("--allow-private"), "the remedy is named: {detail}");
    assert!(publisher.take_asked().is_empty(), "a request was made");

    assert_eq!(instance.poll(&url)["new"], 2, "allowed, it is polled");
}

#[test]
fn other_spellings_of_private_addresses_are_refused_too() {
    let publisher = Publisher::start(1);
    let port = publisher.server.port;
    let instance = Instance::new();
    for host in [
        "localhost",
        "127.1",
        "0x7f.0.0.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00::1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]",
        "224.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
    ] {
        let url = format!("http://{host}:{port}/f");
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
        let answer = instance.run(&["feed", "poll", &url, "--json", "--domain-gap", "0s"]).json();
        assert_eq!(answer["outcome"], "refused", "{host}: {answer}");
    }
    assert!(publisher.take_asked().is_empty(), "a request was made");
}

#[test]
fn names_for_private_addresses_need_the_flag() {
    let instance = Instance::with_config("[resolve]\n\"inside.test\" = \"127.0.0.1\"\n");
    let ended = instance.run(&["run", "--once"]);
    ended.says(2, &["[resolve]", "--allow-private"]);
}

#[test]
fn commands_that_make_no_request_need_no_flag() {
    let instance = Instance::with_config("[resolve]\n\"inside.test\" = \"127.0.0.1\"\n");
    instance.import(&crate::documents::opml(&["http://inside.test/f".to_owned()])).ok();
    for args in [vec!["feed", "list"], vec!["entries"], vec!["export"], vec!["feed", "why", "1"]] {
        instance.run(&args).ok();
    }
}

#[test]
fn discover_asks_no_private_address_either() {
    let publisher = Publisher::start(1);
    publisher.set("/", "<html></html>");
    let ended = Instance::new().run(&["discover", &publisher.url("/")]);
    ended.says(1, &["--allow-private"]);
    assert!(publisher.take_asked().is_empty(), "a request was made");
}

#[test]
fn the_page_behind_an_entry_is_no_way_around() {
    let publisher = Publisher::start(1);
    publisher.set("/page", "<article><p>A secret of this machine.</p></article>");
    let link = publisher.url("/page");
    let item = format!("<item><title>Leak</title><guid>1</guid><link>{link}</link></item>");
    let feed = format!("<rss version=\"2.0\"><channel><title>F</title>{item}</channel></rss>");
    publisher.set("/f", feed);
    let url = publisher.url("/f");
    let instance = Instance::new();
    instance.run(&["feed", "add", &url, "--no-poll"]).ok();
    assert_eq!(instance.poll(&url)["new"], 1, "this poll is allowed");
    publisher.take_asked();

    let daemon = instance.daemon(&["--domain-gap", "0s"]).ready();
    let at = daemon.listen;
    let (status, _) = wire::submit(at, "/entry/1", "/entry/1/article", &[]).unwrap();
    assert_eq!(status, 303, "{}", daemon.log());
    let state = eventually("the page is refused", || {
        let (_, state) = wire::get(at, "/api/v1/entries/1/article").ok()?;
        state.contains("\"nothing\"").then_some(state)
    });
    assert!(state.contains("--allow-private"), "{state}");
    let fields = [("articles", ""), ("selector", "article p")];
    let (status, shown) = wire::submit(at, "/feed/1", "/feed/1/try", &fields).unwrap();
    assert!(status == 200 && shown.contains("--allow-private"), "{status} {shown}");
    assert!(!shown.contains("A secret"), "{shown}");
    let asked = publisher.take_asked();
    assert!(asked.is_empty(), "{} requests were made", asked.len());
}

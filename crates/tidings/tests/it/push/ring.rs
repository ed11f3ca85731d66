//! Instances that read each other's published feeds. Each records every story once, with the feed
//! that it first came from.

use std::net::SocketAddr;

use crate::documents::{rss, rss_of};
use crate::program::{Daemon, Instance, free_address, path_text};
use crate::publisher::Publisher;
use crate::wire::get;

const FREELY: [&str; 3] = ["--allow-private", "--domain-gap", "0s"];

struct Member {
    instance: Instance,
    address: SocketAddr,
    _daemon: Daemon,
}

impl Member {
    fn start() -> Member {
        let (instance, address) = (Instance::new(), free_address());
        let daemon = instance.daemon_at(address, &FREELY).ready();
        let query = "CREATE FEED Everything AS RETURN ALL FEEDS PUBLISH";
        let file = instance.write("all.query", query);
        instance.run(&["query", "apply", path_text(&file)]).ok();
        Member { instance, address, _daemon: daemon }
    }

    fn published(&self, format: &str) -> String {
        format!("http://{}/feeds/Everything.{format}", self.address)
    }

    fn read(&self, url: &str) {
        self.instance.run(&["feed", "add", url, "--no-poll"]).ok();
    }

    /// Polls a feed. Its entries are recorded when this returns.
    #[track_caller]
    fn poll(&self, url: &str) {
        self.instance.run(&["feed", "poll", url, "--json"]).ok();
    }

    fn titles(&self) -> Vec<String> {
        let entries = self.instance.entries();
        let mut titles: Vec<String> =
            entries.iter().map(|entry| entry["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }
}

#[test]
fn three_instances_in_a_ring_take_every_story_once_with_its_first_source() {
    let publisher = Publisher::start(3);
    let ring = [Member::start(), Member::start(), Member::start()];
    let formats = ["atom", "rss", "json"];
    let own: Vec<String> = (0..3)
        .map(|n| publisher.server.url(publisher.addresses[n], &format!("/feed{n}")))
        .collect();
    for (n, member) in ring.iter().enumerate() {
        publisher.set(&format!("/feed{n}"), rss(&format!("f{n}"), 2));
        member.read(&own[n]);
        member.poll(&own[n]);
        member.read(&ring[(n + 2) % 3].published(formats[(n + 2) % 3]));
    }
    // Each story needs two steps to reach every instance, and one more to come back.
    let around = || {
        for _ in 0..3 {
            for (n, member) in ring.iter().enumerate() {
                member.poll(&ring[(n + 2) % 3].published(formats[(n + 2) % 3]));
            }
        }
        ring.each_ref().map(Member::titles)
    };
    let stories = |last: &[usize; 3]| -> Vec<String> {
        let of = |(n, last): (usize, &usize)| (0..*last).map(move |i| format!("Item {i} of f{n}"));
        let mut titles: Vec<String> = last.iter().enumerate().flat_map(of).collect();
        titles.sort();
        titles
    };
    let six = stories(&[2, 2, 2]);
    assert_eq!(around(), [six.clone(), six.clone(), six]);
    publisher.set("/feed0", rss_of("f0", 0..3));
    ring[0].poll(&own[0]);
    let seven = stories(&[3, 2, 2]);
    assert_eq!(around(), [seven.clone(), seven.clone(), seven]);
    for member in &ring {
        let (status, text) = get(member.address, "/feeds/Everything.atom").unwrap();
        assert_eq!(status, 200);
        for (url, n) in own.iter().zip([3, 2, 2]) {
            let source = format!("<source>\n<id>{url}</id>");
            assert_eq!(text.matches(&source).count(), n, "{source} in {text}");
        }
        assert_eq!(text.matches("<entry>").count(), 7);
    }
}

#[test]
fn a_feed_that_claims_entries_of_another_hides_none_of_them() {
    let publisher = Publisher::start(2);
    let (real, liar) =
        (publisher.url("/real"), publisher.server.url(publisher.addresses[1], "/liar"));
    let claim = format!("<source url=\"{real}\">Feed real</source></item>");
    let lies = rss_of("real", 0..4).replace("Item ", "Fake ").replace("</item>", &claim);
    publisher.set("/liar", lies);
    publisher.set("/real", rss("real", 3));
    let instance = Instance::new();
    let _daemon = instance.daemon(&FREELY).ready();
    let n_titled = |start: &str| {
        let entries = instance.entries();
        entries.iter().filter(|e| e["title"].as_str().unwrap().starts_with(start)).count()
    };
    let add = |url: &str| instance.run(&["feed", "add", url, "--no-poll"]).ok();
    let poll = |url: &str| instance.run(&["feed", "poll", url, "--json"]).ok();
    add(&liar);
    poll(&liar);
    assert_eq!(n_titled("Fake"), 4, "nobody has shown these yet");
    add(&real);
    poll(&real);
    assert_eq!(n_titled("Item"), 3, "what a feed shows itself is always believed");
    publisher.set("/real", rss("real", 4));
    poll(&real);
    assert_eq!(n_titled("Item"), 4);
    // A copy of an entry that is already here is not new, wherever it comes from.
    publisher.set("/relay", rss_of("real", 0..4).replace("</item>", &claim));
    let relay = publisher.server.url(publisher.addresses[1], "/relay");
    add(&relay);
    poll(&relay);
    assert_eq!(n_titled("Item"), 4);
}

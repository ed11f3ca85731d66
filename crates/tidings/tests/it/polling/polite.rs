//! A thousand feeds on fifty domains, with many cases that test a client's politeness. The server
//! must count no violation, and every entry must exist once.

use std::collections::{HashMap, HashSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::documents::{opml, rss};
use crate::program::Instance;
use crate::scene::{self, DOMAINS, FEEDS, host};
use crate::score::{Manner, Place, ScoreServer, Served};
use crate::wire::addresses;

const ITEMS: usize = 5;
/// Shorter gaps could not be measured on a busy machine.
const GAP: Duration = Duration::from_secs(1);

fn config() -> (String, Vec<Ipv4Addr>) {
    let addresses = addresses(DOMAINS as u32);
    let text = scene::config(&addresses, "policy = \"fix:1s\"\nalpha = \"1s\"\n");
    (text, addresses)
}

#[test]
fn a_server_that_keeps_score_finds_no_fault_over_a_thousand_feeds() {
    let (text, addresses) = config();
    let mut urls = Vec::new();
    let server = ScoreServer::start(&addresses, GAP, |port| {
        let (all, pages) = scene::pages(&addresses, port, ITEMS);
        urls = all;
        pages
    });
    let instance = Instance::with_config(&text);
    instance.import(&opml(&urls)).ok();
    assert_eq!(server.total(), 0, "import makes no request");

    let once = ["run", "--once", "--allow-private", "--domain-gap", "1s"];
    instance.run(&once).ok();
    let first = server.total();
    instance.run(&once).ok();
    instance.run(&["feed", "poll", "--all", "--json", "--allow-private", "--domain-gap", "1s"]);
    let daemon = instance.daemon(&["--allow-private", "--domain-gap", "1s"]);
    std::thread::sleep(Duration::from_secs(12));
    drop(daemon);
    // Feeds that waited for the Retry-After of another feed are polled again.
    for _ in 0..4 {
        if instance.entries().len() == (FEEDS - 1) * ITEMS {
            break;
        }
        instance.run(&once).ok();
    }

    let faults = server.faults();
    assert!(
        faults.is_empty(),
        "{} faults, the first: {:#?}",
        faults.len(),
        &faults[..faults.len().min(40)]
    );
    assert!(first >= FEEDS * 9 / 10, "only {first} requests in the first pass");
    assert!(server.not_modified() >= FEEDS * 3 / 2, "{} times 304", server.not_modified());
    let entries = instance.entries();
    let distinct: HashSet<(&str, &str)> = entries
        .iter()
        .map(|e| (e["feed"].as_str().unwrap(), e["link"].as_str().unwrap()))
        .collect();
    assert_eq!(distinct.len(), (FEEDS - 1) * ITEMS, "every entry is there");
    assert_eq!(entries.len(), distinct.len(), "every entry is there once");
    let loops = server.requests(&(host(600, &addresses), "/f600".to_owned()));
    assert!((6..=6 * 12).contains(&loops), "{loops} requests for a loop of redirects");
}

#[test]
fn at_most_five_redirects_are_followed() {
    let addresses = addresses(1);
    let host = addresses[0].to_string();
    let server = ScoreServer::start(&addresses, Duration::ZERO, |port| {
        let hop = |i: usize| {
            let to = format!("http://{host}:{port}/hop/{}", i + 1);
            let page = Served::steady(String::new());
            (
                (host.clone(), format!("/hop/{i}")),
                Served { manner: Manner::Redirect { status: 302, to }, ..page },
            )
        };
        let mut pages: HashMap<Place, Served> = (0..9).map(hop).collect();
        pages.insert((host.clone(), "/hop/9".to_owned()), Served::steady(rss("end", 3)));
        pages
    });
    let instance = Instance::new();
    let poll = |from: usize| {
        let url = server.server.url(addresses[0], &format!("/hop/{from}"));
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
        instance.poll(&url)
    };
    assert_eq!(poll(4)["outcome"], "seen", "five redirects lead to the feed");
    let asked = server.total();
    let refused = poll(3);
    assert_eq!(refused["outcome"], "failed", "six do not: {refused}");
    assert!(refused["detail"].as_str().unwrap().contains("redirect"), "{refused}");
    assert_eq!(server.total() - asked, 6, "one request and five redirects");
    assert_eq!(server.faults(), Vec::<String>::new());
}

#[test]
fn user_and_password_go_to_their_origin_only() {
    let addresses = addresses(2);
    let (own, other) = (addresses[0].to_string(), addresses[1].to_string());
    let server = ScoreServer::start(&addresses, Duration::ZERO, |port| {
        let to = Some(format!("http://{other}:{port}/there"));
        let authorization = "Basic bWU6czNjcmV0"; // me:s3cret
        let locked = |to| Served {
            manner: Manner::Locked { authorization, to },
            ..Served::steady(rss("locked", 2))
        };
        let stranger = Served { manner: Manner::Stranger, ..Served::steady(rss("there", 2)) };
        HashMap::from([
            ((own.clone(), "/here".to_owned()), locked(None)),
            ((own.clone(), "/away".to_owned()), locked(to)),
            ((other.clone(), "/there".to_owned()), stranger),
        ])
    });
    let instance = Instance::new();
    for path in ["/here", "/away"] {
        let url = format!("http://me:s3cret@{own}:{}{path}", server.server.port);
        instance.run(&["feed", "add", &url, "--no-poll"]).ok();
        assert_eq!(instance.poll(&url)["outcome"], "seen", "{path}");
    }
    assert_eq!(server.requests(&(other, "/there".to_owned())), 1);
    assert_eq!(server.faults(), Vec::<String>::new());
}

#[test]
fn discover_keeps_the_gap_too() {
    let addresses = addresses(1);
    let host = addresses[0].to_string();
    let server = ScoreServer::start(&addresses, GAP, |port| {
        let to = format!("http://{host}:{port}/target");
        let moved = Manner::Redirect { status: 302, to };
        let pages = [
            ("/one", Served::steady(rss("one", 1))),
            ("/two", Served { manner: moved, ..Served::steady(String::new()) }),
            ("/target", Served::steady(rss("two", 1))),
        ];
        pages.map(|(path, served)| ((host.clone(), path.to_owned()), served)).into()
    });
    let config = "contact = \"https://example.org/contact\"\ndomain_gap = \"1s\"\n";
    let instance = Instance::with_config(config);
    let urls = ["/one", "/two"].map(|path| server.server.url(addresses[0], path));
    instance.run(&["discover", &urls[0], &urls[1], "--allow-private"]).ok();
    assert_eq!((server.total(), server.faults()), (3, Vec::<String>::new()));
}

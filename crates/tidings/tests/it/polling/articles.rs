//! Feeds on a few domains with articles and icons on. Every page is on the domain of its feed. The
//! server must count no violation, and no poll may wait for pages.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use crate::documents::opml;
use crate::program::{Daemon, Instance, eventually};
use crate::score::{Coding, Place, ScoreServer, Served};
use crate::turns::turn;
use crate::wire::{self, addresses};

const DOMAINS: usize = 3;
const FEEDS_EACH: usize = 3;
/// Entries of the first window, whose pages nobody fetches, and all later ones.
const FIRST: usize = 2;
const ALL: usize = 8;
const GAP: Duration = Duration::from_secs(1);
const CONFIG: &str = "contact = \"https://example.org/contact\"\nallow_private = true\n\
                      domain_gap = \"1s\"\n[defaults]\npolicy = \"fix:8s\"\nalpha = \"1s\"\n\
                      [articles]\nfetch = \"every\"\n";
/// In the eight seconds between two polls of a feed its domain has room for eight requests. The
/// polls of the other feeds, and a request that is under way, may come before the next poll.
const BETWEEN_POLLS_MAX: usize = 8 + FEEDS_EACH + 2;
/// The first bytes of a small picture.
const GIF: &str = "GIF89a\u{10}\0\u{10}\0\0\0\0;";

fn document(host: &str, port: u16, feed: usize, n: usize) -> Served {
    let origin = format!("http://{host}:{port}");
    let mut text = format!(
        "<rss version=\"2.0\"><channel><title>Feed {feed}</title><link>{origin}/</link>\
         <description>Made for a test</description>\n"
    );
    for i in (0..n).rev() {
        let _ = writeln!(
            text,
            "<item><title>Item {i}</title><guid isPermaLink=\"false\">{feed}-{i}</guid>\
             <link>{origin}/f{feed}/page/{i}</link><description>Short.</description></item>"
        );
    }
    Served { coding: Coding::Gzip, ..Served::steady(text + "</channel></rss>\n") }
}

fn page(title: &str) -> Served {
    let words = "The river rose in the night, and the people of the village carried their books \
                 to the upper floor before the water came. ";
    let body = format!(
        "<!doctype html><html lang=en><head><title>{title}</title></head><body><article><p>{0}</p>\
         <p>{0}</p></article></body></html>",
        words.repeat(5)
    );
    Served::of_type("text/html; charset=utf-8", body)
}

/// The pages of one host. The last page of its first feed is forbidden and not served: asking for
/// it is a fault.
fn of_host(host: &str, port: u16) -> HashMap<Place, Served> {
    let forbidden = format!("User-agent: *\nDisallow: /f0/page/{}\n", ALL - 1);
    let icon =
        Served { etag: Some(b"\"icon\"".to_vec()), ..Served::of_type("image/gif", GIF.into()) };
    let mut pages: HashMap<Place, Served> = HashMap::new();
    let mut put = |path: String, served| pages.insert((host.to_owned(), path), served);
    put("/".to_owned(), Served::of_type("text/html", "<title>A site</title>".to_owned()));
    put("/robots.txt".to_owned(), Served::of_type("text/plain", forbidden));
    put("/favicon.ico".to_owned(), icon);
    for feed in 0..FEEDS_EACH {
        put(format!("/f{feed}"), document(host, port, feed, FIRST));
        for i in FIRST..ALL {
            if (feed, i) != (0, ALL - 1) {
                put(format!("/f{feed}/page/{i}"), page(&format!("Item {i}")));
            }
        }
    }
    pages
}

/// Fails if more requests lie between two polls of a feed than its pace leaves room for.
fn assert_no_poll_waited(asked: &[String]) {
    for feed in 0..FEEDS_EACH {
        let path = format!("/f{feed}");
        let polls: Vec<usize> = (0..asked.len()).filter(|n| asked[*n] == path).collect();
        for pair in polls.windows(2) {
            let between = pair[1] - pair[0] - 1;
            assert!(between <= BETWEEN_POLLS_MAX, "{between} requests between polls: {asked:#?}");
        }
    }
}

fn n_pages(asked: &[String]) -> usize {
    asked.iter().filter(|path| path.contains("/page/")).count()
}

/// The icon of a feed as a browser gets it.
fn icon(daemon: &Daemon, feed: usize) -> Option<String> {
    let location = wire::location(daemon.listen, &format!("/icons/{feed}")).ok()??;
    let (status, body) = wire::get(daemon.listen, &location).ok()?;
    (status == 200).then_some(body)
}

/// Waits for two polls of every host: what was asked before is stored then.
fn every_host_is_asked_again(server: &ScoreServer, hosts: &[String]) {
    for host in hosts {
        let n = server.asked(host).len();
        eventually("polls go on", || (server.asked(host).len() >= n + 2).then_some(()));
    }
}

#[test]
fn pages_and_icons_keep_the_pace_and_no_poll_waits_for_them() {
    let _turn = turn();
    let addresses = addresses(DOMAINS as u32);
    let hosts: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let server = ScoreServer::start(&addresses, GAP, |port| {
        hosts.iter().flat_map(|host| of_host(host, port)).collect()
    });
    let mut urls = Vec::new();
    for address in &addresses {
        urls.extend((0..FEEDS_EACH).map(|n| server.server.url(*address, &format!("/f{n}"))));
    }
    let instance = Instance::with_config(CONFIG);
    instance.import(&opml(&urls)).ok();
    instance.run(&["run", "--once"]).ok();
    for host in &hosts {
        assert_eq!(n_pages(&server.asked(host)), 0, "no page of a first window is fetched");
        let later = (0..FEEDS_EACH).map(|feed| {
            let place = (host.clone(), format!("/f{feed}"));
            (place, document(host, server.server.port, feed, ALL))
        });
        server.add(later);
    }

    let daemon = instance.daemon(&[]).ready();
    let wanted = (ALL - FIRST) * FEEDS_EACH - 1;
    eventually("every page that is allowed comes", || {
        hosts.iter().all(|host| n_pages(&server.asked(host)) >= wanted).then_some(())
    });
    for feed in 1..=urls.len() {
        let shown = eventually("the icon of each feed comes", || icon(&daemon, feed));
        assert_eq!(shown, GIF);
    }
    every_host_is_asked_again(&server, &hosts);
    drop(daemon);
    let daemon = instance.daemon(&[]).ready();
    every_host_is_asked_again(&server, &hosts);
    drop(daemon);

    let faults = server.faults();
    assert!(faults.is_empty(), "{} faults: {faults:#?}", faults.len());
    for host in &hosts {
        let asked = server.asked(host);
        let times = |path: &str| asked.iter().filter(|one| *one == path).count();
        assert_no_poll_waited(&asked);
        assert_eq!(n_pages(&asked), wanted, "each page once: {asked:#?}");
        assert_eq!(times("/robots.txt"), 1, "the rules hold for a day");
        assert_eq!(times("/favicon.ico"), 1);
        assert!(times("/") <= 1, "three requests an origin at most: {asked:#?}");
    }
}

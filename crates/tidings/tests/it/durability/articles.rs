//! Queries that wait for pages decide on each entry exactly once, also if the program is killed
//! while pages are on their way or deadlines pass.

use std::collections::HashMap;
use std::time::Duration;

use store::{OpenMode, Store};

use super::soak::{FREELY, chance};
use crate::documents::opml;
use crate::program::{Instance, eventually, path_text};
use crate::publisher::Publisher;
use crate::wire::Response;

const FEEDS: usize = 8;
/// Entries of the first window, whose pages nobody fetches, and all later ones.
const FIRST: usize = 2;
const ALL: usize = 14;
const KILLS: u64 = 6;
/// Every entry whose page was decided on is in one of the two feeds.
const QUERIES: &str = "CREATE FEED With AS RETURN ALL FEEDS WHERE ARTICLE CONTAINS \"volcano\";\n\
    CREATE FEED Rest AS RETURN ALL FEEDS WHERE NOT ARTICLE CONTAINS \"volcano\";\n";

/// The position of an entry in a query, and its link.
type KeptLink = (i64, String);

fn document(origin: &str, feed: usize, n: usize) -> String {
    let items: String = (0..n)
        .rev()
        .map(|i| {
            format!(
                "<item><title>Item {i}</title><guid isPermaLink=\"false\">{feed}-{i}</guid>\
                 <link>{origin}/{feed}/page/{i}</link><description>Short.</description></item>"
            )
        })
        .collect();
    format!("<rss version=\"2.0\"><channel><title>Feed {feed}</title>{items}</channel></rss>")
}

/// Every second page exists.
fn has_page(link: &str) -> bool {
    link.rsplit('/').next().and_then(|i| i.parse::<usize>().ok()).unwrap().is_multiple_of(2)
}

fn publisher() -> (Publisher, Vec<String>) {
    let publisher = Publisher::start(FEEDS as u32);
    let page = format!(
        "<html lang=en><head><title>A page</title></head><body><article><p>{0}</p><p>{0}</p>\
         </article></body></html>",
        "The volcano began to smoke in the night, and the people left their houses. ".repeat(6)
    );
    let origins: Vec<String> = (0..FEEDS)
        .map(|feed| publisher.server.url(publisher.addresses[feed], ""))
        .map(|url| url.trim_end_matches('/').to_owned())
        .collect();
    for (feed, origin) in origins.iter().enumerate() {
        publisher.set(&format!("/{feed}"), document(origin, feed, FIRST));
        for i in (FIRST..ALL).filter(|i| i.is_multiple_of(2)) {
            let answer = Response::new(200).with("content-type", "text/html").body(page.clone());
            publisher.set_answer(&format!("/{feed}/page/{i}"), answer);
        }
    }
    publisher.set_delay(Duration::from_millis(40));
    (publisher, origins)
}

/// The links of the entries that a query has kept, with their positions, in its order.
fn kept(instance: &Instance, query: &str) -> Vec<KeptLink> {
    let place = store::testing::location(&instance.data);
    let store = Store::open(place, OpenMode::ReadOnly).unwrap();
    let query = store.query(query).unwrap().unwrap();
    let page = store.query_entries(query.id, 0, 1000).unwrap();
    page.entries.iter().map(|one| (one.position, one.entry.link.clone().unwrap())).collect()
}

/// Kills the program again and again while pages come. Returns what the two queries have kept.
fn killed(settings: &str, seed: u64) -> (Vec<KeptLink>, Vec<KeptLink>) {
    let (publisher, origins) = publisher();
    let instance = Instance::with_config(&format!("[articles]\nfetch = \"every\"\n{settings}"));
    let urls: Vec<String> =
        origins.iter().enumerate().map(|(feed, origin)| format!("{origin}/{feed}")).collect();
    instance.import(&opml(&urls)).ok();
    let mut once = vec!["run", "--once"];
    once.extend(FREELY);
    instance.run(&once).ok();
    let file = instance.write("two.query", QUERIES);
    instance.run(&["query", "apply", path_text(&file)]).ok();
    for (feed, origin) in origins.iter().enumerate() {
        publisher.set(&format!("/{feed}"), document(origin, feed, ALL));
    }
    let mut poll = vec!["feed", "poll", "--all", "--json"];
    poll.extend(FREELY);
    instance.run(&poll).ok();
    for kill in 0..KILLS {
        let mut daemon = instance.daemon(&FREELY).ready();
        std::thread::sleep(Duration::from_millis(200 + chance(seed * 97 + kill) % 900));
        daemon.kill();
    }
    let daemon = instance.daemon(&FREELY).ready();
    let wanted = FEEDS * (ALL - FIRST);
    eventually("every entry is decided on", || {
        (kept(&instance, "With").len() + kept(&instance, "Rest").len() >= wanted).then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    let found = (kept(&instance, "With"), kept(&instance, "Rest"));
    drop(daemon);
    found
}

/// Each new entry is in one of the lists, once, and positions rise.
#[track_caller]
fn each_once(with: &[KeptLink], rest: &[KeptLink]) {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for (_, link) in with.iter().chain(rest) {
        *times.entry(link).or_default() += 1;
    }
    let twice: Vec<_> = times.iter().filter(|(_, n)| **n != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(times.len(), FEEDS * (ALL - FIRST));
    assert!(with.is_sorted_by(|a, b| a.0 < b.0) && rest.is_sorted_by(|a, b| a.0 < b.0));
}

#[test]
fn soak_killed_while_queries_wait_for_pages_each_entry_is_decided_once() {
    let (with, rest) = killed("", 1);
    each_once(&with, &rest);
    assert!(with.iter().all(|(_, link)| has_page(link)), "{with:?}");
    assert!(rest.iter().all(|(_, link)| !has_page(link)), "{rest:?}");
}

#[test]
fn soak_killed_while_deadlines_pass_each_entry_is_decided_once() {
    let (with, rest) = killed("wait = \"1s\"\n", 2);
    each_once(&with, &rest);
}

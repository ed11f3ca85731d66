//! The politeness score over many machines. The publisher judges as it does one process: no domain
//! gets two requests at once or without a gap, and every Retry-After is kept. Every entry is
//! recorded once, in one order without holes; every webhook arrives, in that order; and the
//! validators fit the entries.

use std::net::Ipv4Addr;
use std::time::Duration;

use super::entry_reader::EntryReader;
use super::machines::Machines;
use super::network::Network;
use crate::documents::opml;
use crate::program::{eventually, path_text};
use crate::receiver::{Mood, Receiver};
use crate::scene::{self, DOMAINS, FEEDS, host, is_steady, name, served};
use crate::score::ScoreServer;
use crate::wire::{addresses, now};

const ITEMS: usize = 2;
const GAP: Duration = Duration::from_millis(300);
/// Rounds and pauses of one run; `make soak` asks for more and longer ones.
const ROUNDS: usize = 5;
const NAMESPACE_ROUNDS: usize = 1;
const PAUSE_SECONDS: usize = 7;
/// One feed in so many has news in a round.
const NEWS_EVERY: usize = 10;
/// One feed in so many answers slowly: one of each third domain.
const SLOW_EVERY: usize = 61;

/// Twenty feeds of a domain take about ten seconds. A request that nobody answers ends after 14 s.
const SETTINGS: &str = "policy = \"fix:13s\"\nalpha = \"1s\"\n\
    [limits]\nheader_timeout = \"2s\"\nbody_timeout = \"2s\"\n";

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn soak_many_machines_keep_the_score_without_a_fault() {
    let rounds = number("MACHINE_ROUNDS", ROUNDS);
    let addresses = addresses(DOMAINS as u32 + 1);
    keep_the_score(rounds, &addresses, Machines::start);
}

#[test]
fn soak_machines_in_namespaces_keep_the_score_without_a_fault() {
    let rounds = number("MACHINE_ROUNDS", NAMESPACE_ROUNDS);
    let Some(mut network) = Network::start() else { return };
    let addresses = network.addresses(DOMAINS + 1);
    keep_the_score(rounds, &addresses, |config, pause, seed| {
        Machines::start_away(&mut network, config, pause, seed)
    });
}

/// Publishes news on all addresses but the last, where a receiver of webhooks is, while so many
/// rounds of mishaps befall the machines.
fn keep_the_score(
    rounds: usize,
    addresses: &[Ipv4Addr],
    start: impl FnOnce(&str, Duration, u64) -> Option<Machines>,
) {
    let (addresses, receiver) = addresses.split_at(DOMAINS);
    let pause = Duration::from_secs(number("MACHINE_PAUSE", PAUSE_SECONDS) as u64);
    let seed = number("MACHINE_SEED", std::process::id() as usize) as u64;
    eprintln!("MACHINE_SEED={seed}");
    let mut urls = Vec::new();
    let server = ScoreServer::start(addresses, GAP, |port| {
        let (all, pages) = scene::pages(addresses, port, ITEMS);
        urls = all;
        pages
    });
    server.forgive_lost_answers();
    let slow = (0..FEEDS).filter(|feed| feed % SLOW_EVERY == 0 && is_steady(*feed));
    server.slow_down(slow.map(|feed| (host(feed, addresses), format!("/{}", name(feed)))));
    let config = scene::config(addresses, SETTINGS);
    let config = format!("domain_gap = \"{}ms\"\n{config}", GAP.as_millis());
    let Some(mut machines) = start(&config, pause, seed) else { return };
    let list = machines.operator.write("list.opml", opml(&urls));
    eventually("a controller takes the list", || {
        let imported = machines.operator.run(&["import", path_text(&list)]);
        (imported.code == Some(0)).then_some(())
    });
    let mut expected = (FEEDS - 1) * ITEMS;
    let mut reader = EntryReader::default();
    reader.wait_for(&machines.operator, expected, "at first");
    let n_before = reader.found.len();
    let receiver = Receiver::start_at(receiver[0], |_| Mood::Takes);
    let query = "CREATE FEED News AS RETURN ALL FEEDS DELIVER TO WEBHOOK";
    let query = machines.operator.write("q", format!("{query} \"{}\"", receiver.url()));
    machines.operator.run(&["query", "apply", path_text(&query)]).ok();

    let mut n_changes = vec![0; FEEDS];
    for round in 0..rounds {
        let (n, begun) = (server.total(), now());
        let news = (0..FEEDS).filter(|f| f % NEWS_EVERY == round % NEWS_EVERY && is_steady(*f));
        for feed in news {
            n_changes[feed] += 1;
            expected += 1;
            let place = (host(feed, addresses), format!("/{}", name(feed)));
            server.add([(place, served(feed, ITEMS, n_changes[feed]))]);
        }
        machines.round(round);
        reader.wait_for(&machines.operator, expected, &format!("after round {round}"));
        eprintln!("round {round}: over after {:?}", begun.elapsed());
        assert!(server.total() > n + DOMAINS, "polls go on");
        let faults = server.faults();
        assert!(faults.is_empty(), "round {round}: {:#?}", &faults[..faults.len().min(20)]);
    }

    reader.check(expected);
    let found = &reader.found;
    let news: Vec<String> = found[n_before..].iter().map(|(_, title)| title.clone()).collect();
    eventually("every webhook arrives", || (receiver.titles().len() >= news.len()).then_some(()));
    assert_eq!(receiver.titles(), news, "in the order of the entries");
    eventually("every validator is the newest", || server.unsettled().is_empty().then_some(()));
    machines.end_terminals();
    assert_eq!(server.faults(), Vec::<String>::new());
    eprintln!("{rounds} rounds, {} requests, {} entries", server.total(), found.len());
}

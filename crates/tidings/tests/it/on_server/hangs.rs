//! The database server stops without closing its connections. Pages must not wait for it.

use std::net::SocketAddr;
use std::time::Duration;

use crate::database::Database;
use crate::program::{Daemon, Instance, eventually};
use crate::relay::Relay;
use crate::wire::{self, get};

/// A page says that the database does not answer within this time, also on a machine with much
/// other work. The database hangs for longer: until all pages have answered.
const PAGE_LIMIT: Duration = Duration::from_secs(60);
/// The probe of a service manager waits for nothing.
const PROBE_LIMIT: Duration = Duration::from_secs(3);

fn status(address: SocketAddr, path: &str) -> u16 {
    get(address, path).unwrap().0
}

/// Asks for pages while the server hangs.
#[track_caller]
fn pages_answer_503(daemon: &Daemon) {
    let address = daemon.listen;
    let begun = wire::now();
    std::thread::scope(|scope| {
        let pages: Vec<_> = ["/feeds", "/", "/api/v1/feeds", "/feeds?q=a"]
            .map(|path| scope.spawn(move || (path, status(address, path), begun.elapsed())))
            .into_iter()
            .collect();
        let mut probes = Vec::new();
        while pages.iter().any(|page| !page.is_finished()) {
            let asked = wire::now();
            assert_eq!(status(address, "/healthz"), 200);
            probes.push(asked.elapsed());
            std::thread::sleep(Duration::from_millis(200));
        }
        // Other work may delay some of them. A probe that waits for the database is always late.
        let n_late = probes.iter().filter(|took| **took > PROBE_LIMIT).count();
        assert!(n_late * 2 <= probes.len(), "{probes:?}");
        for page in pages {
            let (path, code, took) = page.join().unwrap();
            assert!(code == 503 && took < PAGE_LIMIT, "{path}: {code} after {took:?}");
        }
    });
}

/// Waits until the process polls, and opens pages. A process that cannot read its feeds at its
/// start ends.
fn warm_up(instance: &Instance, daemon: &Daemon) {
    eventually("it records", || daemon.log().contains("this process records now").then_some(()));
    // It answers this after it has read its feeds.
    instance.run(&["budget", "600/1h"]).ok();
    for _ in 0..10 {
        assert_eq!(status(daemon.listen, "/feeds"), 200);
        std::thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn pages_do_not_wait_for_a_network_that_carries_nothing() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let relay = Relay::start(database.folder());
    let instance = database.instance_at(relay.url());
    let daemon = instance.daemon(&[]).ready();
    warm_up(&instance, &daemon);
    relay.hold(true);
    pages_answer_503(&daemon);
    relay.hold(false);
    eventually("pages are there again", || (status(daemon.listen, "/feeds") == 200).then_some(()));
}

#[test]
fn pages_do_not_wait_for_a_server_that_stands_still() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let instance = database.instance_at(database.url());
    let daemon = instance.daemon(&[]).ready();
    warm_up(&instance, &daemon);
    let stopped = database.stop();
    pages_answer_503(&daemon);
    drop(stopped);
    eventually("pages are there again", || (status(daemon.listen, "/feeds") == 200).then_some(()));
}

//! An address with two hosts. One of them hangs.

use std::net::TcpListener;

use crate::database::Database;
use crate::program::eventually;
use crate::relay::Relay;
use crate::wire::{addresses, get};

/// The host of an address.
fn host(url: &str) -> &str {
    url.split_once('@').unwrap().1.split_once('/').unwrap().0
}

fn two_hosts(first: &str, second: &str) -> String {
    let options = "sslmode=disable&target_session_attrs=read-write";
    format!("postgres://tidings@{first},{second}/postgres?{options}")
}

#[test]
fn a_host_that_accepts_and_says_nothing_is_passed() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let silent = TcpListener::bind((addresses(1)[0], 0)).unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let url = two_hosts(&silent, host(&database.url()));
    let instance = database.instance_at(url);
    let daemon = instance.daemon(&[]).ready();
    // A new connection tries the silent host first, and a busy machine may be late then.
    eventually("a page is there", || {
        matches!(get(daemon.listen, "/feeds"), Ok((200, _))).then_some(())
    });
}

#[test]
fn pages_go_to_the_other_host_when_one_hangs() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let relay = Relay::start(database.folder());
    let url = two_hosts(host(&relay.url()), host(&database.url()));
    let instance = database.instance_at(url);
    let daemon = instance.daemon(&[]).ready();
    eventually("a page is there", || {
        matches!(get(daemon.listen, "/feeds"), Ok((200, _))).then_some(())
    });
    let n_times = |what: &str| daemon.log().matches(what).count();
    eventually("it records", || (n_times("this process records now") == 1).then_some(()));
    relay.hold(true);
    eventually("pages are there again", || {
        matches!(get(daemon.listen, "/feeds?q=a"), Ok((200, _))).then_some(())
    });
    relay.hold(false);
}

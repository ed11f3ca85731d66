//! A process of a new version over a schema of the version before. A schema that does not exist.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use store::{Location, OpenMode, Store, testing};

use super::{FREELY, database};
use crate::program::{Instance, eventually};

/// Undoes the last step of the schema.
const ONE_STEP_BACK: &str = "drop table bulk_changes; \
    alter table tag_numbers drop column position; delete from meta where key = 'step bulk'; \
    update meta set value = cast(cast(value as bigint) - 1 as text) where key = 'version'";

/// A store of the version before.
fn older(url: &str) -> Location {
    let location = Location::parse(url, &|_| None).unwrap();
    let store = Store::open(&location, OpenMode::ReadWrite).unwrap();
    store.add_account("anna", "hash", feed::Time::from_secs(1)).unwrap().unwrap();
    drop(store);
    testing::execute(&location, ONE_STEP_BACK);
    location
}

/// An address of every interface of this machine. Its port is below those that the system gives to
/// outgoing connections, so that nobody takes it before the daemon does.
fn open_address() -> SocketAddr {
    let first = 20_000 + (std::process::id() % 10_000) as u16;
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok();
    let port = (first..first + 100).find(is_free).unwrap();
    SocketAddr::from((Ipv4Addr::UNSPECIFIED, port))
}

#[test]
fn an_open_page_starts_over_an_older_schema() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let location = older(&url);
    let args = ["--database", &url, FREELY[0], FREELY[1], FREELY[2]];
    let daemon = instance.daemon_at(open_address(), &args).ready();
    eventually("it records", || daemon.log().contains("this process records now").then_some(()));
    drop(daemon);
    testing::execute(&location, "delete from accounts");
    let refused =
        instance.run(&["run", "--listen", &open_address().to_string(), "--database", &url]);
    refused.says(2, &["loopback", "tidings user add NAME"]);
}

#[test]
fn a_new_version_waits_for_the_seat_and_updates_the_schema_then() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let location = Location::parse(&url, &|_| None).unwrap();
    let holder = Store::open(&location, OpenMode::ReadWrite).unwrap();
    testing::execute(&location, ONE_STEP_BACK);
    let args = ["--database", &url, FREELY[0], FREELY[1], FREELY[2]];
    let daemon = instance.daemon(&args);
    eventually("the new version says that it waits", || {
        daemon.log().contains("a process of an older version records").then_some(())
    });
    assert!(!daemon.log().contains("this process records now"));
    drop(holder);
    let daemon = daemon.ready();
    eventually("it records", || daemon.log().contains("this process records now").then_some(()));
}

#[test]
fn a_schema_that_does_not_exist_is_named_with_its_remedy() {
    let instance = Instance::in_folder();
    let Some(url) = database(&instance) else { return };
    let (base, _) = url.split_once("search_path").unwrap();
    let url = format!("{base}search_path%3Dnowhere");
    let parts = ["search path (nowhere) names no schema", "create schema NAME authorization"];
    for args in [&["run"][..], &["feed", "add", "https://example.org/f"], &["run", "--demo"]] {
        let ended = instance.run(&[args, &["--database", &url]].concat());
        ended.says(1, &parts);
        assert!(!ended.stderr.contains("file"), "{ended:?}");
    }
}

//! The database server fails during a cold start over a thousand feeds: it is killed, its disk is
//! full, its connections are cut in the middle of a commit. The program continues by itself, and
//! every entry is there once. The tests run a few faults each; `make soak` runs more.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use store::{Location, OpenMode, Store};

use super::disk::{Mounted, fill};
use super::soak::{FEEDS, FREELY, ITEMS, chance, complete, publisher};
use crate::database::Database;
use crate::program::{Daemon, Instance, eventually};
use crate::publisher::Publisher;
use crate::relay::Relay;
use crate::wire;

/// Faults of one run; `SOAK_FAULTS` sets another number.
fn n_faults(usual: usize) -> usize {
    std::env::var("SOAK_FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The time before each answer of the publisher. Forty feeds are polled at once, so that a load
/// takes at least some seconds.
pub(super) const ANSWER_DELAY: Duration = Duration::from_millis(120);

/// Waits until so many requests have come since the load began, then for a random moment.
pub(super) fn until_asked(publisher: &Publisher, n: usize, seed: u64) {
    eventually(&format!("{n} requests have come"), || (publisher.n_asked() >= n).then_some(()));
    std::thread::sleep(Duration::from_millis(chance(seed) % 60));
}

/// Waits until every feed has its entries. Then the numbers of the entries must have no holes.
#[track_caller]
pub(super) fn ends_complete(instance: &Instance, what: &str) {
    eventually(&format!("{what}: all entries are there"), || {
        std::thread::sleep(Duration::from_millis(500));
        let listed = instance.run(&["feed", "list", "--json"]);
        let feeds = listed.json();
        let n: u64 = feeds.as_array().unwrap().iter().map(|f| f["entries"].as_u64().unwrap()).sum();
        (n >= (FEEDS * ITEMS) as u64).then_some(())
    });
    complete(instance, what);
}

/// Returns a function that reads the last number of an entry; `None` while the server is away.
fn recorded(database: &Database) -> impl Fn() -> Option<usize> + use<> {
    let url = database.url();
    let location = Location::parse(&url, &|_| None).unwrap();
    let store = Store::open(location, OpenMode::ReadOnly).unwrap();
    move || store.last_entry_id().ok().and_then(|last| usize::try_from(last.0).ok())
}

/// Fails if the daemon has ended or has panicked.
#[track_caller]
pub(super) fn still_runs(daemon: &mut Daemon) {
    assert!(!daemon.has_ended(), "the daemon has ended:\n{}", daemon.log());
    assert!(!daemon.log().contains("panicked at"), "{}", daemon.log());
}

#[test]
fn soak_a_database_server_that_is_killed_loses_nothing() {
    let Some(mut database) = Database::start(&["fsync=off"]) else { return };
    let (publisher, list) = publisher();
    let instance = database.instance_at(database.url());
    instance.import(&list).ok();
    publisher.take_asked();
    publisher.set_delay(ANSWER_DELAY);
    let mut daemon = instance.daemon(&FREELY);
    let n_kills = n_faults(5);
    let mut moments = Vec::new();
    let last_entry = recorded(&database);
    until_asked(&publisher, 1, 0);
    for n in 1..=n_kills {
        // Each kill loses the polls under way, so the progress counts and not the requests.
        let due = (n - 1) * FEEDS * ITEMS / (n_kills + 1);
        eventually(&format!("{due} entries are recorded"), || {
            last_entry().is_some_and(|last| last >= due).then_some(())
        });
        std::thread::sleep(Duration::from_millis(chance(n as u64) % 60));
        database.kill();
        let (status, _) = wire::get(daemon.listen, "/healthz").unwrap();
        assert_eq!(status, 200, "the program runs without its database");
        std::thread::sleep(Duration::from_millis(chance(n as u64) / 100 % 400));
        database.launch();
        still_runs(&mut daemon);
        moments.push(eventually("the server answers", &last_entry));
    }
    ends_complete(&instance, &format!("after kills at {moments:?}"));
    eprintln!("the server was killed with {moments:?} of {} entries", FEEDS * ITEMS);
    let n_midway = moments.iter().filter(|n| (1..FEEDS * ITEMS).contains(*n)).count();
    assert!(n_midway * 3 >= n_kills, "few kills hit the program at work: {moments:?}");
    eventually("it is ready", || {
        let (status, _) = wire::get(daemon.listen, "/readyz").ok()?;
        (status == 200).then_some(())
    });
}

#[test]
fn soak_commits_that_are_cut_are_neither_lost_nor_doubled() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let (publisher, list) = publisher();
    let instance = database.instance_at(database.url());
    instance.import(&list).ok();
    publisher.take_asked();
    let relay = Relay::start(database.folder());
    let n_cuts = n_faults(6);
    publisher.set_delay(ANSWER_DELAY);
    // The folder of this instance must exist as long as its daemon, which reads files in it.
    let relayed = database.instance_at(relay.url());
    let mut daemon = relayed.daemon(&FREELY);
    // A start needs the database; a cut would end it.
    until_asked(&publisher, 1, 0);
    relay.cut_every(9);
    eventually("the connections are cut", || {
        still_runs(&mut daemon);
        (relay.n_cut() >= n_cuts).then_some(())
    });
    relay.cut_every(0);
    ends_complete(&instance, &format!("after {} cuts", relay.n_cut()));
    eprintln!("{} commits were cut", relay.n_cut());
    still_runs(&mut daemon);
}

#[test]
fn a_database_server_whose_disk_is_full_is_named_and_nothing_is_lost() {
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let place = database.folder().join("small");
    let Some(_disk) = Mounted::new(&place, 64 << 10) else { return };
    assert!(Command::new("chown").arg("postgres").arg(&place).status().unwrap().success());
    make_tablespace(&database, &place);
    let url = format!("{}?options=-cdefault_tablespace%3Dsmall", database.url());
    let instance = database.instance_at(url);
    let (publisher, list) = publisher();
    instance.import(&list).ok();
    publisher.take_asked();
    fill(&place, 2 << 20);
    let mut daemon = instance.daemon(&FREELY);
    let why = eventually("it says that it is not ready", || {
        let (status, text) = wire::get(daemon.listen, "/readyz").ok()?;
        (status == 503 && text.contains("disk is full")).then_some(text)
    });
    still_runs(&mut daemon);
    let n_recorded = instance.entries().len();
    assert!(n_recorded < FEEDS * ITEMS, "the disk was large enough: {why}");
    std::fs::remove_file(place.join("ballast")).unwrap();
    ends_complete(&instance, &format!("after a full disk with {n_recorded} entries"));
    eventually("it is ready again", || {
        let (status, _) = wire::get(daemon.listen, "/readyz").ok()?;
        (status == 200).then_some(())
    });
}

#[test]
fn a_database_server_whose_log_has_no_space_ends_and_nothing_is_lost() {
    let settings = ["fsync=off", "max_wal_size=64MB"];
    let Some(mut database) = Database::start(&settings) else { return };
    let place = database.folder().join("log");
    let Some(_disk) = Mounted::new(&place, 200 << 10) else { return };
    database.move_log(&place);
    let (publisher, list) = publisher();
    let instance = database.instance_at(database.url());
    instance.import(&list).ok();
    publisher.take_asked();
    // Less than one more file of the log, which has 16 MB.
    fill(&place, 4 << 20);
    let mut daemon = instance.daemon(&FREELY);
    eventually("the server has ended", || database.has_ended().then_some(()));
    eventually("it says that it is not ready", || {
        let (status, text) = wire::get(daemon.listen, "/readyz").ok()?;
        (status == 503 && text.contains("does not answer")).then_some(())
    });
    let n_asked = publisher.n_asked();
    assert!(n_asked < FEEDS, "the disk was large enough");
    still_runs(&mut daemon);
    std::fs::remove_file(place.join("ballast")).unwrap();
    database.launch();
    ends_complete(&instance, &format!("after a full log with {n_asked} requests"));
    still_runs(&mut daemon);
}

fn make_tablespace(database: &Database, place: &Path) {
    let location = Location::Postgres(
        store::PgAddress::parse(&database.url(), &|_| None).unwrap_or_else(|e| panic!("{e}")),
    );
    let sql = format!("create tablespace small location '{}'", place.display());
    store::testing::execute(&location, &sql);
}

//! Two processes over one database during a cold start over a thousand feeds. The one that records
//! is killed, stopped, or cut off from the database. The other takes over, and every entry is there
//! once.

use std::time::Duration;

use super::server::{ANSWER_DELAY, ends_complete, still_runs, until_asked};
use super::soak::{FEEDS, FREELY, publisher};
use crate::database::Database;
use crate::program::{Daemon, alone, eventually};
use crate::relay::Relay;

const RECORDS: &str = "this process records now";
const WAITS: &str = "this process no longer records";

/// Counts the times that a process began or ceased to record.
fn n_times(daemon: &Daemon, what: &str) -> usize {
    daemon.log().matches(what).count()
}

#[test]
fn soak_a_process_takes_over_from_one_that_is_killed_stopped_or_cut_off() {
    let _alone = alone();
    let Some(database) = Database::start(&["fsync=off"]) else { return };
    let (publisher, list) = publisher();
    let instance = database.instance_at(database.url());
    instance.import(&list).ok();
    publisher.take_asked();
    publisher.set_delay(ANSWER_DELAY);
    let relay = Relay::start(database.folder());
    let (one, two) = (database.instance_at(relay.url()), database.instance_at(database.url()));

    let mut first = one.daemon(&FREELY).ready();
    eventually("the first process records", || (n_times(&first, RECORDS) == 1).then_some(()));
    let mut second = two.daemon(&FREELY).ready();
    until_asked(&publisher, FEEDS / 5, 1);
    first.kill();
    eventually("the second takes over", || (n_times(&second, RECORDS) == 1).then_some(()));

    let mut first = one.daemon(&FREELY).ready();
    until_asked(&publisher, 2 * FEEDS / 5, 2);
    second.send("STOP");
    eventually("the first takes over", || (n_times(&first, RECORDS) == 1).then_some(()));
    until_asked(&publisher, 3 * FEEDS / 5, 3);
    second.send("CONT");
    eventually("the second has noticed", || (n_times(&second, WAITS) == 1).then_some(()));
    assert_eq!(n_times(&second, RECORDS), 1, "one process records at a time");

    until_asked(&publisher, 4 * FEEDS / 5, 4);
    relay.hold(true);
    eventually("the second takes over again", || (n_times(&second, RECORDS) == 2).then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    relay.hold(false);
    eventually("the first has noticed", || (n_times(&first, WAITS) == 1).then_some(()));
    still_runs(&mut first);
    still_runs(&mut second);
    ends_complete(&instance, "after three takeovers");
    assert_eq!(n_times(&first, RECORDS), 1, "the second still records: {}", first.log());
}

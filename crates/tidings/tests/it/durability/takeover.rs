//! Two processes over one database during a cold start over a thousand feeds. The one that records
//! is killed, stopped, or cut off from the database. The other takes over, and every entry is there
//! once.

use std::time::Duration;

use super::server::{ANSWER_DELAY, ends_complete, still_runs, until_asked};
use super::soak::{FEEDS, FREELY, publisher};
use crate::database::Database;
use crate::program::{Daemon, eventually};
use crate::relay::Relay;
use crate::turns::turn;
use crate::wire;

const RECORDS: &str = "this process records now";
const WAITS: &str = "this process no longer records";

/// A dead process is replaced within 0.5 s, and a silent one within 6 s, on a machine without other
/// work. These limits leave room for the other tests.
const AFTER_DEATH: Duration = Duration::from_secs(4);
const AFTER_SILENCE: Duration = Duration::from_secs(12);
/// The other tests may keep the machine busy for longer than these limits, but not each time.
const TRIES: usize = 3;

/// The times that three takeovers took.
#[derive(Debug)]
struct Takeovers {
    after_kill: Duration,
    after_stop: Duration,
    after_cut: Duration,
}

/// Counts the times that a process began or ceased to record.
fn n_times(daemon: &Daemon, what: &str) -> usize {
    daemon.log().matches(what).count()
}

/// Waits until a process has begun to record so many times. Returns how long that took.
#[track_caller]
fn takes_over(what: &str, daemon: &Daemon, n: usize) -> Duration {
    let begun = wire::now();
    eventually(what, || (n_times(daemon, RECORDS) == n).then_some(()));
    begun.elapsed()
}

/// The three takeovers. Nothing may be lost, however long they take.
fn three_takeovers() -> Option<Takeovers> {
    let database = Database::start(&["fsync=off"])?;
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
    let after_kill = takes_over("the second takes over", &second, 1);

    let mut first = one.daemon(&FREELY).ready();
    until_asked(&publisher, 2 * FEEDS / 5, 2);
    second.send("STOP");
    let after_stop = takes_over("the first takes over", &first, 1);
    until_asked(&publisher, 3 * FEEDS / 5, 3);
    second.send("CONT");
    eventually("the second has noticed", || (n_times(&second, WAITS) == 1).then_some(()));
    assert_eq!(n_times(&second, RECORDS), 1, "one process records at a time");

    until_asked(&publisher, 4 * FEEDS / 5, 4);
    relay.hold(true);
    let after_cut = takes_over("the second takes over again", &second, 2);
    std::thread::sleep(Duration::from_millis(500));
    relay.hold(false);
    eventually("the first has noticed", || (n_times(&first, WAITS) == 1).then_some(()));
    still_runs(&mut first);
    still_runs(&mut second);
    ends_complete(&instance, "after three takeovers");
    assert_eq!(n_times(&first, RECORDS), 1, "the second still records: {}", first.log());
    Some(Takeovers { after_kill, after_stop, after_cut })
}

#[test]
fn soak_a_process_takes_over_from_one_that_is_killed_stopped_or_cut_off() {
    let _turn = turn();
    let mut late = Vec::new();
    for _ in 0..TRIES {
        let Some(took) = three_takeovers() else { return };
        eprintln!("took over: {took:?}");
        let is_in_time = took.after_kill < AFTER_DEATH
            && took.after_stop < AFTER_SILENCE
            && took.after_cut < AFTER_SILENCE;
        if is_in_time {
            return;
        }
        late.push(took);
    }
    panic!("too late each time: {late:?}");
}

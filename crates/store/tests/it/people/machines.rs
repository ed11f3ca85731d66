//! The rows of the processes on one database.

use std::sync::Arc;
use std::time::Duration;

use store::{
    BeatAnswer, Location, MachineBeat, MachineRole, MachineState, MachineWish, OpenMode, Store,
    testing,
};

use crate::sample::{T0, fresh};

fn beat(name: &str, life: &str, role: MachineRole) -> MachineBeat {
    MachineBeat {
        name: Arc::from(name),
        role,
        region: Some(Arc::from("eu")),
        version: Arc::from("1"),
        life: Arc::from(life),
        since: T0,
        room: 100,
        in_flight: 7,
        polls_per_second: 2.5,
        round_trip: Some(Duration::from_micros(1500)),
        network_up: true,
        epoch: 0,
    }
}

/// A data folder has one process: beats leave no rows there.
#[test]
fn a_row_lives_with_its_process() {
    let f = fresh();
    let location = testing::location(f.folder.path());
    let beats = |beats: Vec<MachineBeat>| f.store.beat_machines(beats).unwrap();
    let working = BeatAnswer::Kept(MachineWish::Work);
    let terminal = || beat("t", "a", MachineRole::Terminal);
    assert_eq!(beats(vec![terminal(), beat("w", "b", MachineRole::Web)]), [working, working]);
    if let Location::Folder(_) = location {
        assert_eq!(f.store.machines().unwrap().machines, []);
        return;
    }
    let list = f.store.machines().unwrap().machines;
    assert_eq!(list.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["t", "w"]);
    assert_eq!((list[0].in_flight, list[0].polls_per_second), (7, 2.5));
    assert_eq!(list[0].round_trip, Some(Duration::from_micros(1500)));

    // Guests may ask too. The next beat hears it, and a new life forgets it.
    let guest = Store::open(location.clone(), OpenMode::Shared).unwrap();
    assert!(guest.ask_machine("t", MachineWish::Drain).unwrap());
    assert!(!guest.ask_machine("nobody", MachineWish::Drain).unwrap());
    assert_eq!(beats(vec![terminal()]), [BeatAnswer::Kept(MachineWish::Drain)]);
    assert_eq!(beats(vec![beat("t", "c", MachineRole::Web)]), [BeatAnswer::NameTaken]);
    testing::execute(&location, "update machines set beat = beat - 11000 where name = 't'");
    assert_eq!(f.store.machines().unwrap().machines.len(), 1, "silent for eleven seconds");
    assert_eq!(beats(vec![beat("t", "c", MachineRole::Terminal)]), [working]);

    testing::execute(&location, "update machines set beat = beat - 61000 where name = 'w'");
    beats(vec![beat("t", "c", MachineRole::Terminal)]);
    assert_eq!(testing::count(&f.store, "machines"), 1, "old rows vanish");
    f.store.leave_machine("t", "c").unwrap();
    assert_eq!(testing::count(&f.store, "machines"), 0);
}

/// A new controller has just heard of the terminals, and does not know since when they work.
#[test]
fn a_terminal_keeps_its_beginning_through_a_change_of_the_controller() {
    let f = fresh();
    let Location::Postgres(_) = testing::location(f.folder.path()) else { return };
    let later = T0 + Duration::from_secs(60);
    let since_of = |role, first: &str, second: &str| {
        let second = MachineBeat { since: later, ..beat("m", second, role) };
        f.store.beat_machines(vec![beat("m", first, role)]).unwrap();
        f.store.beat_machines(vec![second]).unwrap();
        let since = f.store.machines().unwrap().machines[0].since;
        f.store.leave_machine("m", "a").unwrap();
        f.store.leave_machine("m", "b").unwrap();
        since
    };
    assert_eq!(since_of(MachineRole::Terminal, "a", "a"), T0);
    assert_eq!(since_of(MachineRole::Terminal, "a", "b"), later, "it was started again");
    assert_eq!(since_of(MachineRole::Controller, "a", "a"), later, "it has another role");
}

#[test]
fn a_process_that_misses_two_beats_is_silent() {
    let f = fresh();
    let location = testing::location(f.folder.path());
    let Location::Postgres(_) = location else { return };
    let roles = [("s", MachineRole::Standby), ("t", MachineRole::Terminal)];
    let beats = || roles.map(|(name, role)| beat(name, "a", role)).to_vec();
    let states = || {
        let rows = f.store.machines().unwrap().machines;
        rows.iter().map(|row| row.state()).collect::<Vec<_>>()
    };
    f.store.beat_machines(beats()).unwrap();
    assert_eq!(states(), [MachineState::Waiting, MachineState::Working]);
    f.store.ask_machine("t", MachineWish::Drain).unwrap();
    testing::execute(&location, "update machines set beat = beat - 5000");
    assert_eq!(states(), [MachineState::Silent, MachineState::Draining]);
    f.store.beat_machines(beats()).unwrap();
    assert_eq!(states(), [MachineState::Waiting, MachineState::Draining]);
}

#[test]
fn only_the_holder_of_the_seat_is_the_controller_and_grants_are_counted() {
    let f = fresh();
    let location = testing::location(f.folder.path());
    let Location::Postgres(_) = location else { return };
    let epoch = f.store.epoch();
    let now = MachineBeat { epoch, ..beat("now", "a", MachineRole::Controller) };
    let before = MachineBeat { epoch: epoch - 1, ..beat("old", "b", MachineRole::Controller) };
    f.store.beat_machines(vec![now, before]).unwrap();
    testing::execute(
        &location,
        "insert into grants (number, epoch, domain, terminal, until) values \
         (1, 1, 'a.example', 'now', 9000000000000), (2, 1, 'b.example', 'now', 5), \
         (3, 1, 'c.example', 'gone', 9000000000000)",
    );
    let list = f.store.machines().unwrap();
    let roles: Vec<_> = list.machines.iter().map(|row| (row.name.as_str(), row.role)).collect();
    assert_eq!(roles, [("now", MachineRole::Controller), ("old", MachineRole::Standby)]);
    assert_eq!((list.machines[0].grants, list.orphaned_grants, list.epoch), (1, 1, epoch));
}

//! The machines of the test, and what happens to them.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::sleep;
use std::time::Duration;

use super::bus_server::BusServer;
use super::member::{Member, Wires};
use super::network::Network;
use crate::cut_relay::{CutRelay, Road};
use crate::database::Database;
use crate::program::Instance;
use crate::relay::Relay;

const N_CONTROLLERS: usize = 2;
const N_TERMINALS: usize = 4;

/// The life of a grant in the tests: 5 s to send, 4 s for the exchange, and 5 s until the result.
const GRANT_LIFE: Duration = Duration::from_secs(14);

/// A mishap. Those of one round follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    ActiveControllerKilled,
    ControllerAndTerminalKilled,
    ControllerStopped,
    ControllerWithoutDatabase,
    ControllerWithoutBus,
    ControllerUnplugged,
    ControllerAndTerminalUnplugged,
    TerminalKilled,
    TerminalStopped,
    TerminalSilenced,
    TerminalCutOff,
    TerminalUnplugged,
    TerminalSwitchedOff,
    BusKilled,
    BusStopped,
    BusUnplugged,
    DatabaseKilled,
    DatabaseStopped,
}

use Mishap::*;

/// The mishaps of the first rounds: each kind once. Later rounds draw theirs.
const RELAYED: [&[Mishap]; 5] = [
    &[ActiveControllerKilled, TerminalSilenced],
    &[DatabaseKilled, TerminalKilled],
    &[ControllerStopped, BusKilled, TerminalCutOff],
    &[TerminalStopped, ControllerWithoutBus, DatabaseStopped],
    &[ControllerWithoutDatabase, BusStopped, ControllerAndTerminalKilled],
];
/// The same with a network of namespaces.
const NAMESPACED: [&[Mishap]; 3] = [
    &[ControllerUnplugged, TerminalSwitchedOff],
    &[TerminalUnplugged, BusUnplugged],
    &[ControllerAndTerminalUnplugged, ActiveControllerKilled],
];

/// All machines of an instance.
pub struct Machines {
    /// For commands, straight to the database.
    pub operator: Instance,
    controllers: Vec<Member>,
    terminals: Vec<Member>,
    bus: BusServer,
    database: Database,
    /// The mishaps of the first rounds.
    first: &'static [&'static [Mishap]],
    /// How long a machine is stopped or cut off.
    pause: Duration,
    chance: u64,
    n_started: usize,
}

impl Machines {
    /// Starts all of them on one network, with a relay on every way.
    pub fn start(config: &str, pause: Duration, seed: u64) -> Option<Machines> {
        let database = Database::start(&["fsync=off"])?;
        let bus = BusServer::start()?;
        let wires = |is_controller: bool| {
            let database = is_controller.then(|| Relay::start(database.folder()));
            Wires { bus: Some(CutRelay::start(bus.address())), database, namespace: None }
        };
        let controllers = (0..N_CONTROLLERS).map(|_| wires(true)).collect();
        let terminals = (0..N_TERMINALS).map(|_| wires(false)).collect();
        let first = &RELAYED;
        Some(Machines::with((database, bus), [controllers, terminals], config, first, pause, seed))
    }

    /// Starts each process in a namespace of its own. The database is reached through relays.
    pub fn start_away(
        network: &mut Network,
        config: &str,
        pause: Duration,
        seed: u64,
    ) -> Option<Machines> {
        let database = Database::start(&["fsync=off"])?;
        let bus = BusServer::start_away(network.namespace())?;
        let here: Ipv4Addr = network.addresses(1)[0];
        let mut wires = |is_controller: bool| {
            let database = is_controller.then(|| Relay::start_at(here, database.folder()));
            Wires { bus: None, database, namespace: Some(network.namespace()) }
        };
        let controllers = (0..N_CONTROLLERS).map(|_| wires(true)).collect();
        let terminals = (0..N_TERMINALS).map(|_| wires(false)).collect();
        let first = &NAMESPACED;
        Some(Machines::with((database, bus), [controllers, terminals], config, first, pause, seed))
    }

    fn with(
        (database, bus): (Database, BusServer),
        [controllers, terminals]: [Vec<Wires>; 2],
        config: &str,
        first: &'static [&'static [Mishap]],
        pause: Duration,
        seed: u64,
    ) -> Machines {
        let config = format!("{config}{}", bus.config());
        let member = |kind: &str, n: usize, wires: Wires| {
            let url = |address: SocketAddr, scheme: &str| format!("{scheme}://{address}");
            let to_bus = match &wires.bus {
                Some(relay) => url(relay.address, "nats"),
                None => url(bus.address(), "tls"),
            };
            let to_database = wires.database.as_ref().map(Relay::url);
            let mut member =
                Member::new(format!("{kind}-{n}"), &config, to_bus, to_database, wires);
            member.start();
            member
        };
        let all = |kind: &str, wires: Vec<Wires>| {
            wires.into_iter().enumerate().map(|(n, wires)| member(kind, n, wires)).collect()
        };
        let (controllers, terminals) = (all("controller", controllers), all("terminal", terminals));
        let operator = database.instance_at(database.url());
        let (chance, n_started) = (seed, 0);
        Machines {
            operator,
            controllers,
            terminals,
            bus,
            database,
            first,
            pause,
            chance,
            n_started,
        }
    }

    /// A random number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.chance >> 33) as usize % n
    }

    /// The mishaps of a round, at random moments.
    pub fn round(&mut self, round: usize) {
        let drawn: Vec<Mishap> = match self.first.get(round) {
            Some(first) => first.to_vec(),
            None => {
                let all: Vec<Mishap> = self.first.concat();
                (0..2).map(|_| all[self.below(all.len())]).collect()
            }
        };
        for mishap in drawn {
            let moment = Duration::from_millis(self.below(2000) as u64);
            sleep(moment);
            eprintln!("round {round}: {mishap:?} after {moment:?}");
            self.happen(mishap);
        }
        for member in self.controllers.iter_mut().chain(&mut self.terminals) {
            let log = member.daemon().log();
            assert!(!member.daemon().has_ended(), "{} has ended:\n{log}", member.name);
            assert!(!log.contains("panicked at"), "{}:\n{log}", member.name);
        }
    }

    fn happen(&mut self, mishap: Mishap) {
        let (active, pause, long) = (self.active(), self.pause, self.long_pause());
        let place = self.below(N_TERMINALS);
        match mishap {
            ActiveControllerKilled => self.controllers[active].restart(),
            ControllerAndTerminalKilled => {
                self.controllers[active].daemon().kill();
                self.replace_terminal(place);
                self.controllers[active].start();
            }
            ControllerStopped => self.controllers[active].stop_for(pause),
            ControllerWithoutDatabase => self.controllers[active].without_database(pause),
            ControllerWithoutBus => self.controllers[active].without_bus(Road::Silent, pause),
            TerminalKilled => self.replace_terminal(place),
            TerminalStopped => self.terminals[place].stop_for(long),
            TerminalSilenced => self.terminals[place].without_bus(Road::Silent, pause),
            TerminalCutOff => self.terminals[place].without_bus(Road::Cut, pause),
            BusKilled => {
                self.bus.kill();
                sleep(Duration::from_secs(2));
                self.bus.launch();
            }
            BusStopped => {
                self.bus.send("STOP");
                sleep(pause);
                self.bus.send("CONT");
            }
            DatabaseKilled => {
                self.database.kill();
                sleep(Duration::from_millis(500));
                self.database.launch();
            }
            DatabaseStopped => self.database.stop_for(pause),
            ControllerUnplugged
            | ControllerAndTerminalUnplugged
            | TerminalUnplugged
            | TerminalSwitchedOff
            | BusUnplugged => self.cut(mishap, active, place),
        }
    }

    /// A pause after which every grant of its beginning has ended.
    fn long_pause(&self) -> Duration {
        (self.pause * 2).max(GRANT_LIFE + Duration::from_secs(6))
    }

    /// Cuts a namespace off.
    fn cut(&mut self, mishap: Mishap, active: usize, place: usize) {
        let (controller, terminal) = (&self.controllers[active], &self.terminals[place]);
        let cut = match mishap {
            BusUnplugged => vec![&self.bus.away.as_ref().unwrap().0],
            ControllerUnplugged => vec![controller.namespace()],
            ControllerAndTerminalUnplugged => vec![controller.namespace(), terminal.namespace()],
            _ => vec![terminal.namespace()],
        };
        for namespace in &cut {
            match mishap {
                TerminalSwitchedOff => namespace.switch(false),
                _ => namespace.unplug(),
            }
        }
        sleep(if mishap == TerminalUnplugged { self.long_pause() } else { self.pause });
        for namespace in &cut {
            match mishap {
                TerminalSwitchedOff => namespace.switch(true),
                _ => namespace.plug(),
            }
        }
    }

    /// Kills a terminal and starts another one in its place, sometimes under the same name.
    fn replace_terminal(&mut self, place: usize) {
        self.n_started += 1;
        let number = self.n_started;
        let terminal = &mut self.terminals[place];
        if number.is_multiple_of(2) {
            terminal.name = format!("terminal-{place}-{number}");
        }
        terminal.restart();
    }

    /// The number of the active controller; some controller if nobody knows.
    fn active(&mut self) -> usize {
        let listed = self.operator.run(&["machines", "--json"]);
        let rows = listed.code.filter(|code| *code == 0).map(|_| listed.json());
        let name = rows.as_ref().and_then(|rows| {
            let rows = rows.as_array()?.iter();
            let mut active = rows.filter(|row| row["role"] == "controller");
            active.next()?["name"].as_str().map(str::to_owned)
        });
        let found = self.controllers.iter().position(|one| Some(&one.name) == name.as_ref());
        found.unwrap_or_else(|| self.below(N_CONTROLLERS))
    }

    /// Ends all terminals as an operator would. They must end well.
    pub fn end_terminals(&mut self) {
        self.terminals.iter_mut().for_each(Member::end);
    }
}

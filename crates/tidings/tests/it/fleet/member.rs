//! One process of the instance, and the ways from it to the bus and to the database.

use std::thread::sleep;
use std::time::Duration;

use dispatch::EndPoint;

use super::network::Namespace;
use crate::cut_relay::{CutRelay, Road};
use crate::program::{Daemon, Instance};
use crate::relay::Relay;

/// A process with its folder.
pub struct Member {
    pub name: String,
    /// It ends before its folder is removed, so that a failed test can print its log.
    daemon: Option<Daemon>,
    pub wires: Wires,
    instance: Instance,
    role: &'static str,
    /// The address of the bus as this process reaches it.
    bus: String,
}

/// The places at which a test cuts a process off.
#[derive(Default)]
pub struct Wires {
    pub bus: Option<CutRelay>,
    pub database: Option<Relay>,
    pub namespace: Option<Namespace>,
}

impl Member {
    /// A process that is not started yet. With a database it is a controller, else a terminal.
    pub fn new(
        name: String,
        config: &str,
        bus: String,
        database: Option<String>,
        wires: Wires,
    ) -> Member {
        let role = if database.is_some() { "controller" } else { "terminal" };
        let mut instance = Instance::in_folder();
        instance.configure(config);
        instance.database = database;
        instance.namespace = wires.namespace.as_ref().map(|namespace| namespace.name.clone());
        Member { name, wires, instance, role, bus, daemon: None }
    }

    fn args(&self) -> [&str; 6] {
        ["--role", self.role, "--name", &self.name, "--bus", &self.bus]
    }

    pub fn start(&mut self) {
        self.daemon = Some(self.instance.daemon(&self.args()));
    }

    /// Starts it so that it ends itself at this place.
    pub fn start_ending(&mut self, point: EndPoint) {
        self.daemon = Some(self.instance.daemon_ending(point, &self.args()));
    }

    pub fn daemon(&mut self) -> &mut Daemon {
        self.daemon.as_mut().unwrap()
    }

    pub fn restart(&mut self) {
        self.daemon().kill();
        self.start();
    }

    /// Ends it as an operator does. It must end well.
    #[track_caller]
    pub fn end(&mut self) {
        let status = self.daemon().signal("TERM");
        let log = self.daemon().log();
        assert!(status.success(), "{}: {log}", self.name);
    }

    pub fn stop_for(&mut self, time: Duration) {
        self.daemon().send("STOP");
        sleep(time);
        self.daemon().send("CONT");
    }

    pub fn without_bus(&self, road: Road, time: Duration) {
        let relay = self.wires.bus.as_ref().unwrap();
        relay.set(road);
        sleep(time);
        relay.set(Road::Open);
    }

    pub fn without_database(&self, time: Duration) {
        let relay = self.wires.database.as_ref().unwrap();
        relay.hold(true);
        sleep(time);
        relay.hold(false);
    }

    pub fn namespace(&self) -> &Namespace {
        self.wires.namespace.as_ref().unwrap()
    }
}

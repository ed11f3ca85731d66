//! A PostgreSQL server of one test, which the test kills, stops and cuts off.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::needed::missing;
use crate::postgres_server::Server;
use crate::program::{Instance, eventually};

/// A killed process leaves the rows of its requests, and their domains wait until these end.
/// Shorter limits of an exchange let them end after 20 s instead of 90 s.
pub const SHORT_EXCHANGES: &str = "[limits]\nheader_timeout = \"5s\"\nbody_timeout = \"5s\"\n";

/// A server with an empty database.
pub struct Database {
    server: Server,
}

impl Database {
    /// Starts a server. Without PostgreSQL the test ends with a word about it.
    pub fn start(settings: &[&str]) -> Option<Database> {
        match Server::start(settings) {
            Ok(server) => Some(Database { server }),
            Err(error) if error.to_string().contains("not installed") => {
                missing("PostgreSQL");
                None
            }
            Err(error) => panic!("{error:#}"),
        }
    }

    pub fn url(&self) -> String {
        self.server.url()
    }

    /// The folder with the socket and the data of the server.
    pub fn folder(&self) -> &Path {
        self.server.folder.path()
    }

    /// An instance whose store is at this address.
    pub fn instance_at(&self, url: String) -> Instance {
        let mut instance = Instance::in_folder();
        instance.database = Some(url);
        instance.configure(SHORT_EXCHANGES);
        instance
    }

    /// Kills the server and all its processes at once, as a power cut would end them.
    pub fn kill(&mut self) {
        let Some(mut process) = self.server.process.take() else { return };
        let id = self.server.id();
        stand_still(&id);
        let mut ids = children(&id);
        ids.push(id);
        signal("KILL", &ids);
        let _ = process.wait();
        eventually("the processes of the server end", || {
            ids.iter().all(|id| !Path::new("/proc").join(id).exists()).then_some(())
        });
    }

    /// Stops the server and all its processes for a while.
    pub fn stop_for(&self, time: Duration) {
        let _stopped = self.stop();
        std::thread::sleep(time);
    }

    /// Stops the server and all its processes, as a machine that stands still, until the value is
    /// dropped.
    pub fn stop(&self) -> Stopped {
        let id = self.server.id();
        stand_still(&id);
        let mut ids = children(&id);
        signal("STOP", &ids);
        ids.push(id);
        Stopped(ids)
    }

    /// Moves the log of the server to another folder, which may be on another disk.
    pub fn move_log(&mut self, to: &Path) {
        self.kill();
        let log = self.folder().join("data/pg_wal");
        let moved = to.join("pg_wal");
        let run = |command: &mut Command| {
            assert!(command.status().unwrap().success(), "{command:?}");
        };
        run(Command::new("mv").args([&log, &moved]));
        run(Command::new("chown").args(["-R", "postgres"]).arg(to));
        std::os::unix::fs::symlink(&moved, &log).unwrap();
        self.launch();
    }

    /// Returns whether the server has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        let Some(process) = &mut self.server.process else { return true };
        process.try_wait().is_ok_and(|ended| ended.is_some())
    }

    /// Starts the server again.
    pub fn launch(&mut self) {
        self.server.launch().unwrap();
    }
}

/// The processes of a server that stands still. They go on when it is dropped, also if the test
/// fails: a server that stands still does not end.
pub struct Stopped(Vec<String>);

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("CONT", &self.0);
    }
}

fn signal(name: &str, ids: &[String]) {
    // A process may have ended meanwhile.
    let _ = Command::new("kill").arg(format!("-{name}")).args(ids).output();
}

/// Stops a process and waits until it stands still: from then on it starts no more processes.
fn stand_still(id: &str) {
    signal("STOP", std::slice::from_ref(&id.to_owned()));
    eventually("the server stands still", || {
        // A process that has ended starts none either.
        let runs = |fields: Vec<String>| matches!(fields[0].as_str(), "R" | "S" | "D");
        (!stat(id).is_some_and(runs)).then_some(())
    });
}

/// Returns the state of a process and the fields after it. The first field after it is the parent.
fn stat(id: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(Path::new("/proc").join(id).join("stat")).ok()?;
    // The name of the program may contain spaces; it ends with the last bracket.
    let after_name = text.rsplit(')').next().unwrap_or_default();
    Some(after_name.split_whitespace().map(str::to_owned).collect())
}

/// Returns the processes that a process has started.
fn children(parent: &str) -> Vec<String> {
    let mut parents = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        if let Some(parent) = stat(&id).and_then(|fields| fields.into_iter().nth(1)) {
            parents.insert(id, parent);
        }
    }
    parents.into_iter().filter(|(_, of)| of == parent).map(|(id, _)| id).collect()
}

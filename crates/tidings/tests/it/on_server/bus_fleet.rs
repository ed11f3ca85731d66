//! Controllers and terminals with one database and one real bus.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::{FREELY, database};
use crate::needed::missing;
use crate::program::{Instance, eventually, free_address, path_text};
use crate::wire::addresses;

/// A process that is killed when it is dropped.
pub struct Running {
    child: Child,
    /// The address of its page, if it has one.
    pub listen: SocketAddr,
    log: PathBuf,
}

impl Running {
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    #[track_caller]
    pub fn says(&self, text: &str) {
        eventually(&format!("a log says `{text}`"), || self.log().contains(text).then_some(()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}:\n{}", self.log.display(), self.log());
        }
    }
}

/// Processes with one database and one bus.
pub struct Fleet {
    pub instance: Instance,
    pub url: String,
    pub address: Ipv4Addr,
    _bus: Running,
}

impl Fleet {
    /// `arrange` returns the configuration of the bus; an empty one is the server's own.
    pub fn start(arrange: impl FnOnce(&Instance, Ipv4Addr) -> String) -> Option<Fleet> {
        let instance = Instance::in_folder();
        let url = database(&instance)?;
        let address = addresses(1)[0];
        let text = arrange(&instance, address);
        let file = instance.write("nats.conf", text);
        let mut server = Command::new("nats-server");
        server.args(["-a", &address.to_string(), "-p", "4222", "-c", path_text(&file)]);
        let Ok(bus) = spawn(server, instance.home.path().join("nats.log")) else {
            missing("the program nats-server");
            return None;
        };
        Some(Fleet { instance, url, address, _bus: bus })
    }

    pub fn bus(&self) -> String {
        format!("nats://{}:4222", self.address)
    }

    pub fn run(&self, name: &str, args: &[&str], wire: Option<u32>) -> Running {
        let address = free_address();
        let listen = address.to_string();
        let first = ["run", "--name", name, "--listen", &listen];
        let mut command = self.instance.command(&[&first[..], args, &FREELY[..]].concat());
        command.env("TIDINGS_LOG", "info,terminal=debug");
        if let Some(wire) = wire {
            command.env("TIDINGS_TEST_WIRE", wire.to_string());
        }
        let log = self.instance.home.path().join(format!("{name}.log"));
        let mut running = spawn(command, log).unwrap();
        running.listen = address;
        running
    }

    pub fn controller(&self, name: &str, bus: &str, more: &[&str]) -> Running {
        let args = ["--role", "controller", "--database", &self.url, "--bus", bus];
        self.run(name, &[&args[..], more].concat(), None)
    }

    pub fn terminal(&self, name: &str, more: &[&str], wire: Option<u32>) -> Running {
        let bus = self.bus();
        self.run(name, &[&["--role", "terminal", "--bus", &bus][..], more].concat(), wire)
    }

    /// Names and roles of all machines.
    #[track_caller]
    pub fn await_roles(&self, expected: &[(&str, &str)]) {
        eventually(&format!("the machines are {expected:?}"), || {
            let args = ["machines", "--json", "--database", &self.url];
            let listed = self.instance.run(&args);
            // The first process makes the tables.
            let rows = (listed.code == Some(0)).then(|| listed.json())?;
            let rows = rows.as_array().unwrap().clone();
            let found: Vec<(&str, &str)> =
                rows.iter().map(|row| (text(row, "name"), text(row, "role"))).collect();
            (found == expected).then_some(())
        });
    }

    #[track_caller]
    pub fn asks(&self, args: &[&str]) -> crate::program::Ended {
        self.instance.run(&[args, &["--database", &self.url]].concat()).ok()
    }

    /// Subscribes to a feed, with its address as a tag. It is polled at once. Returns its number.
    #[track_caller]
    pub fn add(&self, url: &str) -> String {
        self.asks(&["feed", "add", url, "--tag", url]);
        let list = self.asks(&["feed", "list", "--json"]).json();
        list.as_array().unwrap().iter().map(|row| row["id"].to_string()).max().unwrap()
    }
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap()
}

fn spawn(mut command: Command, log: PathBuf) -> std::io::Result<Running> {
    let file = File::create(&log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(Running { child: command.spawn()?, listen: free_address(), log })
}

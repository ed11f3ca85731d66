//! A NATS server of one test, which the test kills, stops, unplugs and starts again.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::network::Namespace;
use crate::certificate::certify;
use crate::needed::missing;
use crate::program::{inside, path_text, send_signal};
use crate::wire::addresses;

const PORT: u16 = 4222;

/// A running server; it is killed when it is dropped.
pub struct BusServer {
    address: Ipv4Addr,
    /// Its namespace, and its certificate: beyond one machine the program demands TLS.
    pub away: Option<(Namespace, TempDir)>,
    process: Child,
}

impl BusServer {
    /// Starts a server. Without the program the test ends with a word about it.
    pub fn start() -> Option<BusServer> {
        BusServer::start_with(addresses(1)[0], None)
    }

    /// The same in a namespace, with TLS.
    pub fn start_away(namespace: Namespace) -> Option<BusServer> {
        let (address, folder) = (namespace.address, tempfile::tempdir().unwrap());
        certify(folder.path(), address);
        BusServer::start_with(address, Some((namespace, folder)))
    }

    fn start_with(address: Ipv4Addr, away: Option<(Namespace, TempDir)>) -> Option<BusServer> {
        if Command::new("nats-server").arg("--version").output().is_err() {
            missing("the program nats-server");
            return None;
        }
        let process = launch(address, away.as_ref()).unwrap();
        Some(BusServer { address, away, process })
    }

    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((self.address, PORT))
    }

    /// The settings of a process that uses it.
    pub fn config(&self) -> String {
        match &self.away {
            None => String::new(),
            Some((_, folder)) => {
                format!("[bus]\nca = \"{}\"\n", path_text(&folder.path().join("ca.crt")))
            }
        }
    }

    pub fn kill(&mut self) {
        let _ = self.process.kill();
        self.process.wait().unwrap();
    }

    pub fn launch(&mut self) {
        self.process = launch(self.address, self.away.as_ref()).unwrap();
    }

    pub fn send(&self, signal: &str) {
        send_signal(self.process.id(), signal);
    }
}

impl Drop for BusServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn launch(address: Ipv4Addr, away: Option<&(Namespace, TempDir)>) -> std::io::Result<Child> {
    let mut command = match away {
        None => Command::new("nats-server"),
        Some((namespace, folder)) => {
            let mut command = inside(&namespace.name, "nats-server");
            let file = |name: &str| folder.path().join(name);
            command.arg("--tls").arg("--tlscert").arg(file("bus.crt"));
            command.arg("--tlskey").arg(file("bus.key"));
            command
        }
    };
    command.args(["-a", &address.to_string(), "-p", &PORT.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
